// The scratch memory of one worker, and how much of it a task needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/rounding.hpp"
#include "heed/vocabulary.hpp"
#include "kernels/simd/width.hpp"

namespace heed::kernels {

/// A candidate for the best keys of a row.
struct BestKey {
  float score;
  std::int32_t key;
};

struct TaskScratch {
  float* floats;     // prefill_scratch_floats(...) or split_scratch_floats(...), and widened_floats(...), aligned to
                     // kScratchAlignment
  BestKey* best;     // [kMaxRows][top_k]
  float* registers;  // register_floats(...) of the larger of the expressions, aligned likewise
};

/// What a row keeps while its keys pass: row_max, row_sum and entropy_sum.
inline constexpr int kStatistics = 3;
/// What normalizers that look at all scores first keep beside that: see Panel. It lies away from what every block
/// needs, which is 1 % faster.
inline constexpr int kPassStatistics = 4;

/// Prefill: per panel the packed queries [head_dim][panel], the output before its division [value_dim][panel] and
/// running statistics; and for the panel at work its scores and what is added to them, [key_block][panel] each.
constexpr std::int64_t prefill_scratch_floats(int panel, std::int64_t panels, std::int64_t head_dim,
                                              std::int64_t value_dim, int key_block) {
  return panel * (panels * (head_dim + value_dim + kStatistics + kPassStatistics) + 2 * std::int64_t{key_block});
}

/// Before the output of a row stand its row_max, row_sum and entropy_sum; a cache line, for the alignment.
inline constexpr int kPartialHeader = 16;

/// The partial result of one row for one split.
constexpr std::int64_t partial_floats(std::int64_t value_dim) { return kPartialHeader + round_up(value_dim, 16); }

/// Decode, one row: its scaled query, its statistics by lane, and the scale of its quantized query.
constexpr std::int64_t query_scratch_floats(int panel, std::int64_t head_dim) {
  return round_up(head_dim, panel) + std::int64_t{kStatistics + 1} * panel;
}

/// Decode: that of the rows, their scores, and what is added to those of the row at work; key_block is a multiple of
/// the panel.
constexpr std::int64_t split_scratch_floats(int panel, std::int64_t rows, std::int64_t head_dim, int key_block) {
  return rows * (query_scratch_floats(panel, head_dim) + key_block) + key_block;
}

/// Behind either, first for the keys and then for the values: a KV block widened to f32, where it is of another type.
/// `length` numbers a key.
constexpr std::int64_t widened_floats(DType dtype, std::int64_t length, int key_block) {
  constexpr std::int64_t line = kScratchAlignment / sizeof(float);
  return dtype == DType::f32 ? 0 : round_up(length * key_block, line);
}

}  // namespace heed::kernels
