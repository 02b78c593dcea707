// The second product of attention: adds a block's values, weighted, to a panel's output.
#pragma once

#include "kernels/broadcast_tile.hpp"
#include "kernels/online_softmax.hpp"
#include "kernels/panel.hpp"

namespace heed::kernels {

/// True when none of `count` values is infinite or NaN, so that a weight of zero takes it out of a sum.
template <class Arch>
inline bool are_all_finite(const Lines& values, int count, int value_dim) {
  constexpr int lanes = kLanes<Arch>;
  constexpr std::ptrdiff_t next = lanes;
  const Batch<Arch> zero(0.0F);
  constexpr int sums = 4;   // that do not wait for each other
  Batch<Arch> zeros[sums];  // stay zero unless 0 * value is NaN
  for (Batch<Arch>& sum : zeros) sum = zero;
  for (int j = 0; j < count; ++j) {
    const float* const value = values.line(j);
    int e = 0;
    for (; e + sums * lanes <= value_dim; e += sums * lanes) {
      for (int s = 0; s < sums; ++s) {
        zeros[s] = multiply_add<Arch>(Batch<Arch>::load_unaligned(value + e + s * next), zero, zeros[s]);
      }
    }
    for (; e < value_dim; e += lanes) {
      const int left = value_dim - e < lanes ? value_dim - e : lanes;
      zeros[0] = multiply_add<Arch>(load_some<Arch>(value + e, left), zero, zeros[0]);
    }
  }
  return xsimd::all((zeros[0] + zeros[1]) + (zeros[2] + zeros[3]) == zero);
}

/// Values that lie one after the other, and a panel's weights of them, [count][panel].
struct WeightedLines {
  Lines values;
  int count;
  const float* weights;
};

/// Those of a step.
class WeightedValues {
 public:
  void add(const WeightedLines& lines) { all_[count_++] = lines; }
  [[nodiscard]] const WeightedLines* begin() const { return all_; }
  [[nodiscard]] const WeightedLines* end() const { return all_ + count_; }

 private:
  WeightedLines all_[kMaxPieces];
  int count_ = 0;
};

/// kRows lines of the output, from `first` on: output = output * rescale + weights x values.
template <class Arch, int kRows>
[[gnu::noinline]] void value_tile(const WeightedValues& values, int first, float* output,
                                  const Rescale<Arch>& rescale) {
  Tile<Arch, kRows> tile;
  for (auto& sums : tile) sums[0] = sums[1] = Batch<Arch>(0.0F);
  for (const WeightedLines& lines : values) {
    const float* const value = lines.values.numbers + first;
    const std::ptrdiff_t stride = lines.values.stride;
    accumulate<Arch, kRows>(tile, lines.count, lines.weights,
                            [value, stride](int r, int k) { return value + k * stride + r; });
  }
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const Batch<Arch> older = Batch<Arch>::load_aligned(output + r * kPanel<Arch> + vector * kLanes<Arch>);
      tile[r][vector] = multiply_add<Arch>(older, rescale.factor[vector], tile[r][vector]);
    }
  }
  store_tile<Arch, kRows>(tile, output);
}

/// output = output * rescale + weights x values.
template <class Arch>
inline void add_values(const Panel& panel, int value_dim, const WeightedValues& values, const Rescale<Arch>& rescale) {
  for_each_tile(value_dim, [&]<int kRows>(int row) {
    value_tile<Arch, kRows>(values, row, panel.output + row * kPanel<Arch>, rescale);
  });
}

/// The same for steps whose masked or dropped values may be NaN or infinite: a value counts
/// only in the lanes whose weight is not zero. The same sums otherwise, more slowly.
template <class Arch>
inline void add_attended_values(const Panel& panel, int value_dim, const WeightedValues& values,
                                const Rescale<Arch>& rescale) {
  const Batch<Arch> zero(0.0F);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    for (int e = 0; e < value_dim; ++e) {
      float* const output = panel.output + e * kPanel<Arch> + first_lane;
      Batch<Arch> sum(0.0F);
      for (const WeightedLines& lines : values) {
        for (int j = 0; j < lines.count; ++j) {
          const Batch<Arch> weight = Batch<Arch>::load_aligned(lines.weights + j * kPanel<Arch> + first_lane);
          const Batch<Arch> value(lines.values.line(j)[e]);
          sum = multiply_add<Arch>(xsimd::select(weight == zero, zero, value), weight, sum);
        }
      }
      multiply_add<Arch>(Batch<Arch>::load_aligned(output), rescale.factor[vector], sum).store_aligned(output);
    }
  }
}

}  // namespace heed::kernels
