// Combines the partial results of the splits of a row by the step of the online softmax, with splits in place of KV
// blocks. Splits come in their order, so that the same bits come out whoever computed them.
#pragma once

#include <cmath>

#include "kernels/softmax/results.hpp"

namespace heed::kernels {

/// The partial result of one row: see partial_floats().
struct PartialRow {
  float row_max, sum, entropy_sum;
  float* output;
};

inline PartialRow partial_row(float* result) { return {result[0], result[1], result[2], result + kPartialHeader}; }

/// The weight of a partial result under the row_max of all splits.
struct PartialWeight {
  float max_difference;  // its own row_max minus that of all splits: 0 or less
  float factor;          // 2^max_difference
};

inline PartialWeight weigh_partial(const PartialRow& split, float row_max) {
  if (split.sum == 0.0F) return {0.0F, 0.0F};
  const float max_difference = split.row_max - row_max;
  const float floor = kExp2OfSummands.floor;
  return {max_difference, max_difference < floor ? std::exp2(floor) : std::exp2(max_difference)};
}

/// Combines the partial results of one row, which lie `partial_floats` apart, into the first of them.
inline PartialRow combine_row(float* first, int splits, std::int64_t part_floats, int value_dim) {
  PartialRow merged = partial_row(first);
  merged.row_max = kNoRowMax;
  for (int p = 0; p < splits; ++p) {
    const float row_max = partial_row(first + p * part_floats).row_max;
    if (row_max > merged.row_max) merged.row_max = row_max;
  }
  merged.sum = merged.entropy_sum = 0.0F;
  for (int p = 0; p < splits; ++p) {
    const PartialRow split = partial_row(first + p * part_floats);
    const auto [max_difference, factor] = weigh_partial(split, merged.row_max);
    merged.sum += factor * split.sum;
    // Below the floor the difference could be infinite.
    if (!(max_difference < kExp2OfSummands.floor)) {
      merged.entropy_sum += factor * (split.entropy_sum + split.sum * max_difference);
    }
    for (int e = 0; e < value_dim; e += kLanes) {
      Batch output = Batch::load_aligned(split.output + e) * Batch(factor);
      if (p > 0) output += Batch::load_aligned(merged.output + e);
      output.store_aligned(merged.output + e);
    }
  }
  return merged;
}

void combine_splits(const AttentionTask& task, int splits, float* results) {
  const std::int64_t row_floats = partial_floats(task.value_dim);
  for (int index = 0; index < task.row_count; ++index) {
    const AttentionRow& row = task.rows[index];
    const PartialRow merged =
        combine_row(results + index * row_floats, splits, task.row_count * row_floats, task.value_dim);
    const float factor = write_statistics(row, task, {.row_max = merged.row_max}, merged.sum, merged.entropy_sum);
    for (int e = 0; row.output && e < task.value_dim; e += kLanes) {
      const int left = task.value_dim - e;
      const Batch output = Batch::load_aligned(merged.output + e) * Batch(factor);
      store_some(output, row.output + e, left < kLanes ? left : kLanes);
    }
  }
}

}  // namespace heed::kernels
