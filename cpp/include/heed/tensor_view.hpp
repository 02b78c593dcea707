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

enum class DType : std::uint8_t { f32 = 0, f16 = 1 };

/// As a TensorView, of numbers in single or half precision.
struct FloatView {
  const void* data = nullptr;
  Shape shape{};
  Shape strides{};
  DType dtype = DType::f32;

  FloatView() = default;
  // Implicit: wherever numbers of either precision will do, one of them will.
  FloatView(const TensorView<const float>& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), shape(view.shape), strides(view.strides) {}
  FloatView(const TensorView<const Half>& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), shape(view.shape), strides(view.strides), dtype(DType::f16) {}

  [[nodiscard]] bool is_present() const { return data != nullptr; }
  [[nodiscard]] const void* at(Index batch, Index head, Index row) const {
    const Index offset = batch * strides[0] + head * strides[1] + row * strides[2];
    if (!is_present()) return nullptr;
    if (dtype == DType::f16) return static_cast<const Half*>(data) + offset;
    return static_cast<const float*>(data) + offset;
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
