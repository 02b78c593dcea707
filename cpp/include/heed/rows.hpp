// A view of rows that somebody else owns: what layers read and write.
#pragma once

#include "heed/tensor_view.hpp"

namespace heed {

/// `count` rows of `length` numbers each, contiguous, `stride` apart.
template <typename T>
struct Rows {
  T* data = nullptr;
  Index count = 0;
  Index length = 0;
  Index stride = 0;

  [[nodiscard]] bool is_present() const { return data != nullptr; }
  [[nodiscard]] T* row(Index index) const { return is_present() ? data + index * stride : nullptr; }
};

}  // namespace heed
