// What scores of rows that share their keys are made of, whatever kind of numbers those are.
#pragma once

#include "kernels/line_walk.hpp"

namespace heed::kernels {

/// Sums of the products of kRows rows with kKeys keys, each of kParts parts, by turns: as many as there are registers
/// for, so that none waits for another.
template <class Arch, int kRows, int kKeys, int kParts>
class RowsByKeys {
 public:
  RowsByKeys() {
    for (Batch<Arch>& sum : sums_) sum = Batch<Arch>(0.0F);
  }

  /// A vector of each key, and of each row's query.
  [[gnu::always_inline]] void add(int part, const Batch<Arch> (&keys)[kKeys], const float* queries,
                                  std::ptrdiff_t stride) {
    for (int r = 0; r < kRows; ++r) {
      const Batch<Arch> query = Batch<Arch>::load_aligned(queries + r * stride);
      for (int k = 0; k < kKeys; ++k) {
        Batch<Arch>& sum = sums_[(part * kRows + r) * kKeys + k];
        sum = multiply_add<Arch>(keys[k], query, sum);
      }
    }
  }

  /// Leaves them in `room`, and starts again from zero.
  [[gnu::always_inline]] void park(float* room) {
    for (int i = 0; i < kSums; ++i) {
      sums_[i].store_aligned(room + i * kLanes<Arch>);
      sums_[i] = Batch<Arch>(0.0F);
    }
  }
  /// Adds what was left there.
  [[gnu::always_inline]] void recall(const float* room) {
    for (int i = 0; i < kSums; ++i) sums_[i] += Batch<Arch>::load_aligned(room + i * kLanes<Arch>);
  }

  /// What they add up to, times unit_of(row), as scores of the first `count` keys.
  template <class Unit>
  [[gnu::always_inline]] void store(int count, Unit unit_of, RowNumbers scores) {
    constexpr int lanes = kLanes<Arch>;
    for (int first = 0; first < kDots; first += lanes) {
      Batch<Arch> square[lanes];
      for (int i = 0; i < lanes; ++i) {
        square[i] = first + i < kDots ? sums_[first + i] : Batch<Arch>(0.0F);
        for (int part = 1; part < kParts && first + i < kDots; ++part) square[i] += sums_[part * kDots + first + i];
      }
      alignas(kScratchAlignment) float dots[lanes];
      sum_lanes<Arch>(square).store_aligned(dots);
      for (int i = 0; i < lanes && first + i < kDots; ++i) {
        const int row = (first + i) / kKeys;
        const int key = (first + i) % kKeys;
        if (key < count) scores.from(row).numbers[key] = dots[i] * unit_of(row);
      }
    }
  }

 private:
  static constexpr int kDots = kRows * kKeys;
  static constexpr int kSums = kParts * kDots;
  Batch<Arch> sums_[kSums];
};

}  // namespace heed::kernels
