// PV: adds the weighted values of a KV block to the output of a panel.
#pragma once

#include "kernels/gemm/register_tile.hpp"
#include "kernels/softmax/online_softmax.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// Rows of V and their weights as panels, for each segment of a KV block.
class WeightedValues {
 public:
  void add(const TileOperands& segment) { all_[count_++] = segment; }
  [[nodiscard]] const TileOperands* begin() const { return all_; }
  [[nodiscard]] const TileOperands* end() const { return all_ + count_; }

 private:
  TileOperands all_[kMaxSegments];
  int count_ = 0;
};

/// output = output * rescale + weights x values.
inline void add_values(const Panel& panel, int value_dim, const WeightedValues& values, const Rescale& rescale) {
  for_each_tile(value_dim, [&]<int kRows>(int row) {
    multiply_nn<kRows, MultiplyAdd>(values, row, rescale.factor, panel.output + row * kPanel);
  });
}

/// A value counts only in the lanes whose weight is not zero.
struct MultiplyAddAttended {
  Batch operator()(int /*k*/, Batch weight, Batch value, Batch sum) const {
    const Batch zero(0.0F);
    return multiply_add(xsimd::select(weight == zero, zero, value), weight, sum);
  }
};

/// The same for KV blocks whose masked or dropped values may be NaN or infinite. The sums are the same otherwise, and
/// slower.
inline void add_attended_values(const Panel& panel, int value_dim, const WeightedValues& values,
                                const Rescale& rescale) {
  for (int row = 0; row < value_dim; ++row) {
    multiply_nn<1, MultiplyAddAttended>(values, row, rescale.factor, panel.output + row * kPanel);
  }
}

}  // namespace heed::kernels
