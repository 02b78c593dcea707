// A view's row as kernels read it.
#pragma once

#include <cstddef>

#include "heed/tensor_view.hpp"
#include "kernels/attention_block.hpp"

namespace heed {

inline kernels::Precision precision_of(const FloatView& view) {
  static_assert(static_cast<int>(DType::f16) == static_cast<int>(kernels::Precision::half) &&
                static_cast<int>(DType::i8_keys) == static_cast<int>(kernels::Precision::byte_keys) &&
                static_cast<int>(DType::i8_values) == static_cast<int>(kernels::Precision::byte_values));
  return static_cast<kernels::Precision>(view.dtype);
}

/// A row that is in no page.
inline kernels::Numbers numbers_at(const FloatView& view, Index batch, Index head, Index row) {
  return {view.at(batch, head, row), precision_of(view)};
}

/// The rows of a head.
inline kernels::HeadRows rows_of(const FloatView& view, Index batch, Index head) {
  const Pages& pages = view.pages;
  const auto stride = static_cast<std::ptrdiff_t>(view.strides[2]);
  if (pages.table == nullptr) return {numbers_at(view, batch, head, 0), stride};
  const auto bytes = std::ptrdiff_t{is_of_bytes(view.dtype) ? 1 : (view.dtype == DType::f16 ? 2 : 4)};
  return {.first = {nullptr, precision_of(view)},
          .stride = stride,
          .pages = pages.table + batch * pages.per_batch,
          .page_rows = static_cast<int>(pages.rows),
          .before = static_cast<int>(pages.first),
          .offset = static_cast<std::ptrdiff_t>(view.offset + head * view.strides[1] * bytes),
          .scales = static_cast<std::ptrdiff_t>(view.scales),
          .is_finite = pages.is_finite};
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
