// A view as JavaScript writes it into a call, and the views that C++ makes of it.
#pragma once

#include <cstdint>

#include "heed/tensor_view.hpp"

namespace heed::bindings {

struct PackedView {
  std::uint32_t address;  // 0: absent
  std::int32_t shape[4];
  std::int32_t strides[4];
};

template <typename T>
TensorView<T> unpack(const PackedView& view) {
  TensorView<T> unpacked;
  unpacked.data = reinterpret_cast<T*>(view.address);
  for (std::size_t axis = 0; axis < 4; ++axis) {
    unpacked.shape[axis] = view.shape[axis];
    unpacked.strides[axis] = view.strides[axis];
  }
  return unpacked;
}

inline FloatView unpack(const PackedView& view, std::int32_t dtype) {
  FloatView unpacked = unpack<const float>(view);
  unpacked.dtype = static_cast<DType>(dtype);
  return unpacked;
}

/// The caller's numbers at an address; null at 0.
template <typename T>
const T* numbers(std::uint32_t address) {
  return reinterpret_cast<const T*>(address);
}

}  // namespace heed::bindings
