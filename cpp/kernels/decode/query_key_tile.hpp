// The register tile of queries that share their keys, whatever the type of the keys.
#pragma once

#include "kernels/decode/interleave.hpp"

namespace heed::kernels {

/// The dot products of kRows queries with kKeys keys, in kAccumulators accumulators each: as many as there are
/// registers for, so that none waits for another.
template <int kRows, int kKeys, int kAccumulators>
class QueryKeyTile {
 public:
  QueryKeyTile() {
    for (Batch& sum : sums_) sum = Batch(0.0F);
  }

  /// Multiplies a vector of each key with one of each query.
  [[gnu::always_inline]] void add(int accumulator, const Batch (&keys)[kKeys], const float* queries,
                                  std::ptrdiff_t stride) {
    for (int r = 0; r < kRows; ++r) {
      const Batch query = Batch::load_aligned(queries + r * stride);
      for (int k = 0; k < kKeys; ++k) {
        Batch& sum = sums_[(accumulator * kRows + r) * kKeys + k];
        sum = multiply_add(keys[k], query, sum);
      }
    }
  }

  /// Stores the accumulators in `room`, and starts again from zero.
  [[gnu::always_inline]] void spill(float* room) {
    for (int i = 0; i < kSums; ++i) {
      sums_[i].store_aligned(room + i * kLanes);
      sums_[i] = Batch(0.0F);
    }
  }
  /// Adds what spill() stored there.
  [[gnu::always_inline]] void recall(const float* room) {
    for (int i = 0; i < kSums; ++i) sums_[i] += Batch::load_aligned(room + i * kLanes);
  }

  /// Writes the dot products, times scale_of(row), as scores of the first `count` keys.
  template <class Scale>
  [[gnu::always_inline]] void store(int count, Scale scale_of, StridedRows scores) {
    constexpr int lanes = kLanes;
    for (int first = 0; first < kDots; first += lanes) {
      Batch square[lanes];
      for (int i = 0; i < lanes; ++i) {
        square[i] = first + i < kDots ? sums_[first + i] : Batch(0.0F);
        for (int accumulator = 1; accumulator < kAccumulators && first + i < kDots; ++accumulator)
          square[i] += sums_[accumulator * kDots + first + i];
      }
      alignas(kScratchAlignment) float dots[lanes];
      sum_lanes(square).store_aligned(dots);
      for (int i = 0; i < lanes && first + i < kDots; ++i) {
        const int row = (first + i) / kKeys;
        const int key = (first + i) % kKeys;
        if (key < count) scores.from(row).numbers[key] = dots[i] * scale_of(row);
      }
    }
  }

 private:
  static constexpr int kDots = kRows * kKeys;
  static constexpr int kSums = kAccumulators * kDots;
  Batch sums_[kSums];
};

}  // namespace heed::kernels
