// A window on somebody else's numbers: pointer, shape, strides. Owns nothing.
#pragma once

#include <array>
#include <cstdint>

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

/// A number of IEEE 754's half precision, by its bits.
enum class Half : std::uint16_t {};

/// A number of eight bits, which stands for itself times its row's scale.
enum class Byte : std::int8_t {};

/// Bytes lie in tiles, each of them pairs of 16 columns: what meets them two by two in the order of memory. A tile of
/// keys is 16 rows, whose numbers come two at a time; one of values 32 rows of 16 numbers each, two rows at a time.
enum class DType : std::uint8_t { f32 = 0, f16 = 1, i8_keys = 2, i8_values = 3 };

constexpr bool is_of_bytes(DType dtype) { return dtype == DType::i8_keys || dtype == DType::i8_values; }

/// Pieces of memory that hold the same number of rows each, of all heads. Row r of batch entry b is at place
/// (first + r) % rows of page table[b * per_batch + (first + r) / rows].
struct Pages {
  const void* const* table = nullptr;  // null: rows lie at their strides
  Index per_batch = 0;
  Index rows = 0;
  Index first = 0;
  bool is_finite = false;  // no row in them holds NaN or infinity; false: it is not known
};

/// As a TensorView, of numbers in single or half precision; or of keys and values that a cache keeps in pages.
struct FloatView {
  const void* data = nullptr;
  Shape shape{};
  Shape strides{};
  DType dtype = DType::f32;

  // In pages, where strides[0] means nothing: bytes from a page to the first number of its first head, and of bytes,
  // which lie in pages alone, from there to the scales of that head's rows. Whole tiles of bytes are read, and the
  // scales of their rows, whether or not there are such rows; strides[2] is a row's share of them: as many numbers as
  // it has, in whole pairs of keys and sixteens of values.
  Pages pages;
  Index offset = 0;
  Index scales = 0;

  FloatView() = default;
  // Implicit: wherever numbers of either precision will do, one of them will.
  FloatView(const TensorView<const float>& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), shape(view.shape), strides(view.strides) {}
  FloatView(const TensorView<const Half>& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), shape(view.shape), strides(view.strides), dtype(DType::f16) {}

  [[nodiscard]] bool is_present() const { return data != nullptr || pages.table != nullptr; }
  [[nodiscard]] const void* at(Index batch, Index head, Index row) const {
    if (!is_present()) return nullptr;
    if (pages.table == nullptr) return step(data, batch * strides[0] + head * strides[1] + row * strides[2]);
    return step(page_of(batch, row), head * strides[1] + place_of(row) * strides[2]);
  }
  /// A number of a row of bytes.
  [[nodiscard]] Byte byte_at(Index batch, Index head, Index row, Index number) const {
    const bool are_keys = dtype == DType::i8_keys;
    const Index place = place_of(row);
    const Index rows = are_keys ? 16 : 32;
    const Index column = are_keys ? place % rows : number % 16;
    const Index in_pairs = are_keys ? number : place % rows;
    const Index tile = place / rows * rows * strides[2] + (are_keys ? 0 : number / 16 * 512);
    const void* const first = step(page_of(batch, row), head * strides[1]);
    return static_cast<const Byte*>(first)[tile + in_pairs / 2 * 32 + column * 2 + in_pairs % 2];
  }
  /// What the row's bytes are times.
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
    if (is_of_bytes(dtype)) return static_cast<const Byte*>(from) + elements;
    if (dtype == DType::f16) return static_cast<const Half*>(from) + elements;
    return static_cast<const float*>(from) + elements;
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
