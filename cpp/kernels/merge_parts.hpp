// Merges what the parts of a row's keys gave: the step of the online softmax once more, with parts in place
// of blocks and in their order, so that the same bits come out whoever computed them.
#pragma once

#include <cmath>

#include "kernels/results.hpp"

namespace heed::kernels {

/// A part's result of one row: see part_result_floats.
struct PartOfRow {
  float maximum, sum, spread;
  float* output;
};

inline PartOfRow part_of_row(float* result) { return {result[0], result[1], result[2], result + kPartHeader}; }

/// What a part counts under the maximum of all.
struct PartWeight {
  float fallen;  // by how much its own maximum is lower
  float factor;
};

inline PartWeight weigh_part(const PartOfRow& part, float maximum) {
  if (part.sum == 0.0F) return {0.0F, 0.0F};
  const float fallen = part.maximum - maximum;
  const float floor = kExp2OfSummands.floor;
  return {fallen, fallen < floor ? std::exp2(floor) : std::exp2(fallen)};
}

/// The parts of one row, `part_floats` apart, merged into the first of them.
template <class Arch>
inline PartOfRow merge_row(float* first, int parts, std::int64_t part_floats, int value_dim) {
  PartOfRow merged = part_of_row(first);
  merged.maximum = kNoMaximum;
  for (int p = 0; p < parts; ++p) {
    const float maximum = part_of_row(first + p * part_floats).maximum;
    if (maximum > merged.maximum) merged.maximum = maximum;
  }
  merged.sum = merged.spread = 0.0F;
  for (int p = 0; p < parts; ++p) {
    const PartOfRow part = part_of_row(first + p * part_floats);
    const auto [fallen, factor] = weigh_part(part, merged.maximum);
    merged.sum += factor * part.sum;
    // Further down, the distance could be infinite.
    if (!(fallen < kExp2OfSummands.floor)) merged.spread += factor * (part.spread + part.sum * fallen);
    for (int e = 0; e < value_dim; e += kLanes<Arch>) {
      Batch<Arch> output = Batch<Arch>::load_aligned(part.output + e) * Batch<Arch>(factor);
      if (p > 0) output += Batch<Arch>::load_aligned(merged.output + e);
      output.store_aligned(merged.output + e);
    }
  }
  return merged;
}

/// See AttentionKernels.
template <class Arch>
void merge_parts(const AttentionBlock& block, int parts, float* results) {
  const std::int64_t row_floats = part_result_floats(block.value_dim);
  for (int index = 0; index < block.row_count; ++index) {
    const AttentionRow& row = block.rows[index];
    const PartOfRow merged =
        merge_row<Arch>(results + index * row_floats, parts, block.row_count * row_floats, block.value_dim);
    const float factor = write_statistics<Arch>(row, block, {.maximum = merged.maximum}, merged.sum, merged.spread);
    for (int e = 0; row.output && e < block.value_dim; e += kLanes<Arch>) {
      const int left = block.value_dim - e;
      const Batch<Arch> output = Batch<Arch>::load_aligned(merged.output + e) * Batch<Arch>(factor);
      store_some<Arch>(output, row.output + e, left < kLanes<Arch> ? left : kLanes<Arch>);
    }
  }
}

}  // namespace heed::kernels
