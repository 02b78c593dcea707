// Rows of a TensorView as kernels read them: FloatRow, KvRows and strides.
#pragma once

#include <cstddef>

#include "heed/tensor_view.hpp"
#include "kernels/memory/kv_rows.hpp"

namespace heed {

/// A row of a view that has no pages.
inline kernels::FloatRow float_row(const FloatView& view, Index batch, Index head, Index row) {
  return {view.at(batch, head, row), view.dtype};
}

/// Whether no page says that it has a row of f16 numbers which is NaN or infinite.
inline bool are_finite(const kernels::KvRows& rows, Index pages) {
  if (rows.dtype != DType::f16) return false;
  for (Index page = 0; page < pages; ++page) {
    const char* const head = static_cast<const char*>(rows.pages[page]) + rows.offset;
    if (*reinterpret_cast<const std::int32_t*>(head + rows.scales) != 0) return false;
  }
  return true;
}

/// The rows of a head.
inline kernels::KvRows rows_of(const FloatView& view, Index batch, Index head) {
  const Pages& pages = view.pages;
  const auto stride = static_cast<std::ptrdiff_t>(view.strides[2]);
  if (pages.table == nullptr) return {.dtype = view.dtype, .data = view.at(batch, head, 0), .stride = stride};
  kernels::KvRows rows{
      .dtype = view.dtype,
      .data = nullptr,
      .stride = stride,
      .pages = pages.table + batch * pages.per_batch,
      .page_size = static_cast<int>(pages.rows),
      .skipped = static_cast<int>(pages.first),
      .offset = static_cast<std::ptrdiff_t>(view.offset + head * view.strides[1] * bytes_of(view.dtype)),
      .scales = static_cast<std::ptrdiff_t>(view.scales)};
  rows.is_finite = are_finite(rows, pages.per_batch);
  return rows;
}

/// Numbers from one row, or head, to the next, as an offset of pointers.
template <typename View>
std::ptrdiff_t row_stride(const View& view) {
  return static_cast<std::ptrdiff_t>(view.strides[2]);
}

template <typename View>
std::ptrdiff_t head_stride(const View& view) {
  return static_cast<std::ptrdiff_t>(view.strides[1]);
}

}  // namespace heed
