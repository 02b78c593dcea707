// What an attention kernel is given: rows, keys, values, scratch. Plain data, the
// same for every architecture; knows nothing of heads, layouts, masks' origins.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/expression.hpp"

namespace heed::kernels {

/// What numbers are in memory; kernels compute in single precision. Bytes are in tiles: see heed::DType.
enum class Precision : std::uint8_t { single, half, byte_keys, byte_values };

/// Of a tile: its columns, and the rows whose values it has.
inline constexpr int kTileColumns = 16;
inline constexpr int kTileValues = 32;

/// The bytes of two numbers of each column.
inline constexpr int kPairBytes = 2 * kTileColumns;

struct Numbers {
  const void* data;
  Precision precision;
  const float* scale = nullptr;  // of bytes, which it multiplies; those of the rows behind it follow

  [[nodiscard]] bool are_bytes() const { return precision >= Precision::byte_keys; }
  /// From a row's first byte to number i.
  [[nodiscard]] int step_to(int i) const {
    if (precision == Precision::byte_keys) return i / 2 * kPairBytes + i % 2;
    return i / kTileColumns * (kTileValues * kTileColumns) + i % kTileColumns * 2;
  }
  /// Number i of a row of bytes.
  [[nodiscard]] std::int8_t byte(int i) const { return bytes()[step_to(i)]; }

  [[nodiscard]] const float* floats() const { return static_cast<const float*>(data); }
  [[nodiscard]] const std::uint16_t* halves() const { return static_cast<const std::uint16_t*>(data); }
  [[nodiscard]] const std::int8_t* bytes() const { return static_cast<const std::int8_t*>(data); }
  [[nodiscard]] Numbers from(std::ptrdiff_t index) const {
    if (precision == Precision::half) return {halves() + index, precision};
    return {floats() + index, precision};
  }
};

/// The keys or the values of a head: `stride` numbers from one to the next; or, as a cache keeps them, in pages.
struct HeadRows {
  Numbers first;
  std::ptrdiff_t stride;

  const void* const* pages = nullptr;
  int page_rows = 0;
  int before = 0;             // places of the first page that come before row 0
  std::ptrdiff_t offset = 0;  // bytes from a page to the head's numbers
  std::ptrdiff_t scales = 0;  // and from there to their scales
  bool is_finite = false;     // is known to be

  /// The rows of the page that a row is in: [page_begin, page_end).
  [[nodiscard]] int page_begin(int index) const {
    const int begin = pages ? (before + index) / page_rows * page_rows - before : 0;
    return begin > 0 ? begin : 0;
  }
  [[nodiscard]] int page_end(int index) const {
    return pages ? ((before + index) / page_rows + 1) * page_rows - before : std::numeric_limits<std::int32_t>::max();
  }
};

/// The row at a place of a page: its first tile starts at `first`, and `stride` bytes of tiles are a row's.
static inline Numbers row_in_tiles(const Numbers& first, std::ptrdiff_t stride, int place) {
  const bool are_keys = first.precision == Precision::byte_keys;
  const int in_tile = place % (are_keys ? kTileColumns : kTileValues);
  const int start = are_keys ? 2 * in_tile : in_tile / 2 * kPairBytes + in_tile % 2;
  return {first.bytes() + (place - in_tile) * stride + start, first.precision, first.scale + place};
}

[[gnu::noinline]] static inline Numbers row_of(const HeadRows& rows, int index) {
  if (!rows.pages) return rows.first.from(index * rows.stride);
  const int place = (rows.before + index) % rows.page_rows;
  const char* const head = static_cast<const char*>(rows.pages[(rows.before + index) / rows.page_rows]) + rows.offset;
  const Numbers start{head, rows.first.precision, reinterpret_cast<const float*>(head + rows.scales)};
  return start.are_bytes() ? row_in_tiles(start, rows.stride, place) : start.from(place * rows.stride);
}

/// Those from one on.
[[gnu::noinline]] static inline HeadRows rows_from(const HeadRows& rows, int index) {
  HeadRows rest = rows;
  if (rows.pages) {
    rest.before += index;
  } else {
    rest.first = rows.first.from(index * rows.stride);
  }
  return rest;
}

/// What makes weights of scores.
enum class Normalizer : std::uint8_t {
  softmax,    // 2^(score - maximum) / their sum
  sparsemax,  // max(score - maximum - shift, 0), with the shift by which they add up to 1
  sigmoid,    // 1 / (1 + 2^-score)
  identity,   // the score
};

/// How a row's scores become weights once all of them are known, times `factor` in the end.
struct WeightRule {
  float maximum;
  float factor;
  float shift;
  // Of the best that are kept, where not all are: the lowest score, and the last key that has it.
  float threshold;
  std::int32_t last_best;
};

/// What the numbers of a query and a key add up to, dimension by dimension.
enum class Pairing : std::uint8_t {
  product,     // q k
  difference,  // (q - k)^2
  bend,        // c tanh(q + k), with the c of pair_weights
};

/// What becomes of that sum, given a number of the row's and one of the key's.
enum class Finish : std::uint8_t {
  nothing,
  by_key,       // times the key's
  by_row,       // times the row's
  root_by_row,  // its square root, times the row's
  gate,         // times the sigmoid of the row's and the key's together
};

/// One query and where its results go. A null pointer leaves a part out.
struct AttentionRow {
  Numbers query;             // head_dim of them
  float query_factor;        // that they are multiplied with before anything else
  float score_number;        // for Finish
  const std::uint8_t* mask;  // of key 0; nonzero = attend
  const float* bias;         // of key 0
  const std::uint8_t* keep;  // of its keys' block 0; 0 = the row sees none of the block
  float* output;             // value_dim numbers
  float* weights;            // key_length numbers
  float* scores;             // key_length numbers, at the block's stage
  float* log_sum_exp;
  float* entropy;
  WeightRule* weight_rule;  // attend() writes it, add_weights() reads it
  float* mean_weights;      // key_length numbers that add_weights() adds to
  float position;           // among the keys, for ALiBi
  float alibi_slope;
  float place[3];  // which batch entry, query head and query of the call it is, for expressions
  float sink;      // a logit of the denominator; -infinity: none
  std::uint32_t dropout_stream;
  std::int32_t key_begin;  // the row sees keys [key_begin, key_end) ...
  std::int32_t key_end;    // ... less those that mask or bias take away
};

/// How far the scores have come when they are handed out.
enum class ScoreStage : std::uint8_t { raw, capped, masked };

/// The most rows of one block: enough to use each run of keys well, few enough for the
/// scratch to stay in the second-level cache and the panels on the stack.
inline constexpr int kMaxRows = 64;

/// A candidate for the best keys of a row.
struct BestKey {
  float score;
  std::int32_t key;
};

/// Of a step's keys, with others between them that are left out.
inline constexpr int kMaxPieces = 4;

/// Rows that read the same keys and values.
struct AttentionBlock {
  const AttentionRow* rows;
  int row_count;  // at most kMaxRows

  HeadRows key;
  HeadRows value;  // in the same pages as the keys, if both are in any
  std::ptrdiff_t mask_stride;
  std::ptrdiff_t bias_stride;
  std::ptrdiff_t keep_stride;

  int key_length;
  int addend_length;  // keys that mask and bias have numbers for; no row sees those beyond
  int head_dim;
  int value_dim;
  int key_block;  // fixes the order of the sums: see plan/
  int run_keys;   // of each of the pieces that few rows read as they lie; 0: they read in steps
  int key_unit;   // so many are kept or left out together, from each multiple of it on; 0: all are
  int keep_keys;  // of a block of AttentionRow::keep; 0: there are none
  Pairing pairing;
  Finish finish;
  const float* key_numbers;   // one a key for Finish, and room for a whole panel from any key on
  const float* pair_weights;  // head_dim of them, aligned, then zeros up to 16
  Normalizer normalizer;
  int top_k;          // a row keeps its best so many keys, the first of equals; 0: all
  float score_units;  // scores are kept in these: log2(e) where powers of two are taken of them, else 1
  float raw_units;    // and in these up to score_mod; the same without
  float softcap;      // 0: none
  bool has_alibi;
  ScoreStage score_stage;
  bool has_dropout;
  std::uint32_t dropout_limit;  // a weight is kept if its random number is above
  float dropout_factor;         // of what is kept; 1 without dropout
  float share;                  // of the weights that add_weights() adds

  const Expression* score_mod;  // null: none
  const Expression* mask_mod;
  // Where it is given, weights are made by the rows' rules and by_rules, rewritten, and then taken for scores.
  const Expression* weight_mod;
  Normalizer by_rules;

  float* scratch;    // attention_scratch_floats(...) and widened_floats(...), aligned to kScratchAlignment
  BestKey* best;     // [kMaxRows][top_k]
  float* registers;  // register_floats(...) of the larger of the expressions, aligned likewise

  const std::atomic<std::uint32_t>* stop;  // once set, the blocks to come are left out; null: never
};

inline bool is_stopped(const AttentionBlock& block) {
  return block.stop != nullptr && block.stop->load(std::memory_order_relaxed) != 0;
}

inline constexpr std::size_t kScratchAlignment = 64;

/// Kept of a row while its keys pass: maximum, sum and spread.
inline constexpr int kStatistics = 3;
/// And where normalizers look at all scores first: see Panel. Away from what every block needs, which is 1 % faster.
inline constexpr int kLookStatistics = 4;

/// The scratch of one worker: per panel the packed queries [head_dim][panel], the
/// unnormalised output [value_dim][panel] and running statistics; and for the
/// panel at work its scores and what is added to them, [key_block][panel] each.
constexpr std::int64_t attention_scratch_floats(int panel, std::int64_t panels, std::int64_t head_dim,
                                                std::int64_t value_dim, int key_block) {
  return panel * (panels * (head_dim + value_dim + kStatistics + kLookStatistics) + 2 * std::int64_t{key_block});
}

/// Keys [begin, end) of a block that are computed by themselves, and merged with the others later.
struct KeyPart {
  int begin;
  int end;
};

constexpr std::int64_t round_up_to(std::int64_t count, std::int64_t step) { return (count + step - 1) / step * step; }

/// Before a row's output stand its maximum, sum and spread; a cache line, for the alignment.
inline constexpr int kPartHeader = 16;

/// What a part gives of one row.
constexpr std::int64_t part_result_floats(std::int64_t value_dim) { return kPartHeader + round_up_to(value_dim, 16); }

/// Of one row at attend_part(): its scaled query, its statistics by lane, and the unit of its query's products.
constexpr std::int64_t row_scratch_floats(int panel, std::int64_t head_dim) {
  return round_up_to(head_dim, panel) + std::int64_t{kStatistics + 1} * panel;
}

/// The scratch of one worker for attend_part(): that of its rows, their scores and what is added to those of
/// the row at work; key_block a multiple of the panel.
constexpr std::int64_t part_scratch_floats(int panel, std::int64_t rows, std::int64_t head_dim, int key_block) {
  return rows * (row_scratch_floats(panel, head_dim) + key_block) + key_block;
}

/// Behind either, first for the keys and then for the values: a block of them in single precision, where
/// they are in another. `length` numbers a key.
constexpr std::int64_t widened_floats(Precision precision, std::int64_t length, int key_block) {
  constexpr std::int64_t unit = kScratchAlignment / sizeof(float);
  return precision == Precision::single ? 0 : round_up_to(length * key_block, unit);
}

/// A vector and where what is made of it goes.
struct SourceRow {
  Numbers source;
  float* target;
};

/// target = matrix source + offset, for up to kMaxRows rows.
struct ProjectionBlock {
  const SourceRow* rows;
  int row_count;
  int source_dim;
  int target_dim;
  const float* matrix;  // [target_dim, source_dim], or, transposed, [source_dim, target_dim]; null: the identity
  std::ptrdiff_t matrix_stride;
  bool is_transposed;
  const float* offset;  // target_dim of them; null: none
  float* scratch;       // projection_scratch_floats(...), aligned to kScratchAlignment
};

constexpr std::int64_t projection_scratch_floats(int panel, std::int64_t source_dim, std::int64_t target_dim) {
  return panel * (source_dim + target_dim);
}

/// One architecture's kernels.
struct AttentionKernels {
  const char* name;
  int lanes;
  int panel;       // rows computed side by side; a task's rows are cut in panels
  int short_rows;  // up to so many rows it pays to attend in parts
  void (*attend)(const AttentionBlock& block);
  /// The same for a part of the keys: results[row][part_result_floats], aligned as scratch is.
  void (*attend_part)(const AttentionBlock& block, const KeyPart& part, float* results);
  /// Writes the rows' results from those of all parts, results[part][row], which it uses up.
  void (*merge_parts)(const AttentionBlock& block, int parts, float* results);
  /// After attend(): adds every row's weights, computed once more, to its mean_weights.
  void (*add_weights)(const AttentionBlock& block);
  /// The same after attend_part() and merge_parts(), of a part of the keys.
  void (*add_part_weights)(const AttentionBlock& block, const KeyPart& part);
  void (*project)(const ProjectionBlock& block);
  /// target[0] = 1 / the length of source, for `count` rows; 0 where it is shorter than 2^-126.
  void (*invert_lengths)(const SourceRow* rows, int count, int dim);
};

}  // namespace heed::kernels
