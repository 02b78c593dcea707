// Sizes as people write them, for messages: [1, 8, 512, 64].
#pragma once

#include <string>

#include "heed/tensor_view.hpp"

namespace heed {

inline std::string describe(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace heed
