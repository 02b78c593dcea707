// A view of numbers that somebody else owns: pointer, shape, strides.
#pragma once

#include <array>
#include <cstdint>

#include "heed/i8_tile.hpp"

namespace heed {

using Index = std::int64_t;
using Shape = std::array<Index, 4>;

/// A rank-4 view, always read as [batch, heads, length, dim] whatever order the
/// numbers lie in: layouts are strides. Strides count elements; 0 broadcasts.
template <typename T>
struct TensorView {
  T* data = nullptr;
  Shape shape{};
  Shape strides{};

  [[nodiscard]] bool is_present() const { return data != nullptr; }
  [[nodiscard]] T* at(Index batch, Index head, Index row) const {
    return is_present() ? data + batch * strides[0] + head * strides[1] + row * strides[2] : nullptr;
  }
};

/// The bits of an f16 number.
enum class Float16 : std::uint16_t {};

/// An int8 number, which counts times the scale of its row.
enum class Int8 : std::int8_t {};

/// A page table: pages hold the same number of rows each, of all heads. Row r of batch entry b is row (first + r) %
/// rows of page table[b * per_batch + (first + r) / rows].
struct Pages {
  const void* const* table = nullptr;  // null: rows lie at their strides
  Index per_batch = 0;
  Index rows = 0;
  Index first = 0;
};

/// A TensorView of f32 or f16; or the keys or values that a cache keeps in pages.
struct FloatView {
  const void* data = nullptr;
  Shape shape{};
  Shape strides{};
  DType dtype = DType::f32;

  // In pages strides[0] means nothing: `offset` is the bytes from a page to the first number of its first head, and
  // `scales`, for int8, which lies in pages alone, the bytes from there to the scales of the rows of that head; for f16
  // to a word that is not 0 if some row of the head in that page is NaN or infinite. Whole int8 tiles are read, and the
  // scales of their rows, whether or not there are such rows; strides[2] is the size of a row: as many numbers as it
  // has, in whole pairs of keys and sixteens of values.
  Pages pages;
  Index offset = 0;
  Index scales = 0;

  FloatView() = default;
  // Implicit: what takes f32 or f16 takes either.
  FloatView(const TensorView<const float>& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), shape(view.shape), strides(view.strides) {}
  FloatView(const TensorView<const Float16>& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), shape(view.shape), strides(view.strides), dtype(DType::f16) {}

  [[nodiscard]] bool is_present() const { return data != nullptr || pages.table != nullptr; }
  [[nodiscard]] const void* at(Index batch, Index head, Index row) const {
    if (!is_present()) return nullptr;
    if (pages.table == nullptr) return step(data, batch * strides[0] + head * strides[1] + row * strides[2]);
    return step(page_of(batch, row), head * strides[1] + place_of(row) * strides[2]);
  }
  /// A number of an int8 row.
  [[nodiscard]] Int8 int8_at(Index batch, Index head, Index row, Index number) const {
    const Index place = place_of(row);
    const Index in_tile = place % i8_tile_rows(dtype);
    const Index start = (place - in_tile) * strides[2] + i8_row_offset(dtype, static_cast<int>(in_tile));
    const void* const first = step(page_of(batch, row), head * strides[1]);
    return static_cast<const Int8*>(first)[start + i8_number_offset(dtype, number)];
  }
  /// The scale of an int8 row.
  [[nodiscard]] const float* scale_at(Index batch, Index head, Index row) const {
    const void* const first = static_cast<const char*>(step(page_of(batch, row), head * strides[1])) + scales;
    return static_cast<const float*>(first) + place_of(row);
  }

 private:
  [[nodiscard]] Index place_of(Index row) const { return (pages.first + row) % pages.rows; }
  [[nodiscard]] const void* page_of(Index batch, Index row) const {
    const Index number = batch * pages.per_batch + (pages.first + row) / pages.rows;
    return static_cast<const char*>(pages.table[number]) + offset;
  }
  [[nodiscard]] const void* step(const void* from, Index elements) const {
    return static_cast<const char*>(from) + elements * bytes_of(dtype);
  }
};

/// [B, H, L, D], each row after the other.
template <typename T>
TensorView<T> bhnd_view(T* data, const Shape& shape) {
  const auto [batch, heads, length, dim] = shape;
  return {data, shape, {heads * length * dim, length * dim, dim, 1}};
}

/// The same shape over memory ordered [B, L, H, D], which is also [B, L, H * D].
template <typename T>
TensorView<T> bnhd_view(T* data, const Shape& shape) {
  const auto [batch, heads, length, dim] = shape;
  return {data, shape, {length * heads * dim, dim, heads * dim, 1}};
}

}  // namespace heed
