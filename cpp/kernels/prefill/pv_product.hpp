// PV: adds the weighted values of a KV block to the output of a panel.
#pragma once

#include "kernels/gemm/register_tile.hpp"
#include "kernels/softmax/online_softmax.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// Rows of V and their weights in a panel, [count][panel].
struct WeightedLines {
  FloatRows values;
  int count;
  const float* weights;
};

/// The rows and weights of a KV block.
class WeightedValues {
 public:
  void add(const WeightedLines& lines) { all_[count_++] = lines; }
  [[nodiscard]] const WeightedLines* begin() const { return all_; }
  [[nodiscard]] const WeightedLines* end() const { return all_ + count_; }

 private:
  WeightedLines all_[kMaxSegments];
  int count_ = 0;
};

/// kRows lines of the output, from `first` on: output = output * rescale + weights x values.
template <int kRows>
[[gnu::noinline]] void value_tile(const WeightedValues& values, int first, float* output, const Rescale& rescale) {
  RegisterTile<kRows> tile;
  for (auto& sums : tile) sums[0] = sums[1] = Batch(0.0F);
  for (const WeightedLines& lines : values) {
    const float* const value = lines.values.data + first;
    const std::ptrdiff_t stride = lines.values.stride;
    accumulate<kRows>(tile, lines.count, lines.weights,
                      [value, stride](int r, int k) { return value + k * stride + r; });
  }
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const Batch older = Batch::load_aligned(output + r * kPanel + vector * kLanes);
      tile[r][vector] = multiply_add(older, rescale.factor[vector], tile[r][vector]);
    }
  }
  store_tile<kRows>(tile, output);
}

/// output = output * rescale + weights x values.
inline void add_values(const Panel& panel, int value_dim, const WeightedValues& values, const Rescale& rescale) {
  for_each_tile(value_dim,
                [&]<int kRows>(int row) { value_tile<kRows>(values, row, panel.output + row * kPanel, rescale); });
}

/// The same for KV blocks whose masked or dropped values may be NaN or infinite: a value counts only in the lanes whose
/// weight is not zero. The sums are the same otherwise, and slower.
inline void add_attended_values(const Panel& panel, int value_dim, const WeightedValues& values,
                                const Rescale& rescale) {
  const Batch zero(0.0F);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    for (int e = 0; e < value_dim; ++e) {
      float* const output = panel.output + e * kPanel + first_lane;
      Batch sum(0.0F);
      for (const WeightedLines& lines : values) {
        for (int j = 0; j < lines.count; ++j) {
          const Batch weight = Batch::load_aligned(lines.weights + j * kPanel + first_lane);
          const Batch value(lines.values.row(j)[e]);
          sum = multiply_add(xsimd::select(weight == zero, zero, value), weight, sum);
        }
      }
      multiply_add(Batch::load_aligned(output), rescale.factor[vector], sum).store_aligned(output);
    }
  }
}

}  // namespace heed::kernels
