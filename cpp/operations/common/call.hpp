// Packed calls: the parameters of an operation as JavaScript writes them into the heap, in 32-bit words without
// padding.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"
#include "heed/fields.hpp"

namespace heed {

/// The start of every call.
struct CallHeader {
  std::uint32_t stop;      // anything but 0, written while the call runs, aborts it
  std::int32_t operation;  // its place in bindings/operations.hpp

  HEED_FIELDS(stop, operation)
};

inline const StopFlag* stop_of(const CallHeader& header) { return reinterpret_cast<const StopFlag*>(&header.stop); }

struct PackedView {
  std::uint32_t address;  // 0: absent
  std::int32_t shape[4];
  std::int32_t strides[4];
};

/// The page table of a cache.
struct PackedPages {
  std::uint32_t pages;  // its address; 0: there are no pages
  std::int32_t per_batch;
  std::int32_t page_rows;
  std::int32_t first_row;

  HEED_FIELDS(pages, per_batch, page_rows, first_row)
};

/// A call that is the start of another. TypeScript writes it by the fields of its own.
template <class Call>
struct PackedCall {
  Call call;
};

/// The caller's numbers at an address; null at 0.
template <typename T>
T* pointer(std::uint32_t address) {
  return reinterpret_cast<T*>(std::uintptr_t{address});  // NOLINT(performance-no-int-to-ptr): JavaScript has no other
}

template <typename T>
TensorView<T> unpack(const PackedView& view) {
  TensorView<T> unpacked;
  unpacked.data = pointer<T>(view.address);
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

}  // namespace heed
