// A view's row as kernels read it.
#pragma once

#include <cstddef>

#include "heed/tensor_view.hpp"
#include "kernels/attention_block.hpp"

namespace heed {

inline kernels::Precision precision_of(const FloatView& view) {
  return view.dtype == DType::f16 ? kernels::Precision::half : kernels::Precision::single;
}

inline kernels::Numbers numbers_at(const FloatView& view, Index batch, Index head, Index row) {
  return {view.at(batch, head, row), precision_of(view)};
}

/// From one row, or head, to the next, as pointers of this machine are added to.
template <typename View>
std::ptrdiff_t row_stride(const View& view) {
  return static_cast<std::ptrdiff_t>(view.strides[2]);
}

template <typename View>
std::ptrdiff_t head_stride(const View& view) {
  return static_cast<std::ptrdiff_t>(view.strides[1]);
}

}  // namespace heed
