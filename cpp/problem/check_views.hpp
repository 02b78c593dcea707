// Rules that hold for the views of every operation.
#pragma once

#include <algorithm>

#include "problem/failures.hpp"
#include "problem/max_size.hpp"

namespace heed {

/// The rules for the views of an operation, whose name begins their messages.
struct ViewRules {
  const char* operation;

  [[nodiscard]] Status broken(StatusCode code, std::initializer_list<MessagePart> rule) const {
    return heed::broken(operation, code, rule);
  }

  template <typename View>
  [[nodiscard]] Status check_sizes(const char* name, const View& view) const {
    for (const Index size : view.shape) {
      if (size >= 0 && size <= kMaxSize) continue;
      return broken(StatusCode::shape, {"every size must be between 0 and 2^30, got ", name, " ", view.shape});
    }
    return {};
  }

  /// Likewise, of what is no cache: only those have int8.
  [[nodiscard, gnu::noinline]] Status check_floats(const char* name, const FloatView& view) const {
    if (view.dtype <= DType::f16) return check_sizes(name, view);
    return broken(StatusCode::option, {name, " must be f32 or f16"});
  }

  template <typename View>
  [[nodiscard]] Status check_present(const char* name, const View& view) const {
    const bool has_elements = std::ranges::find(view.shape, 0) == view.shape.end();
    if (view.is_present() || !has_elements) return {};
    return broken(StatusCode::shape, {name, " must have data, got none for ", view.shape});
  }

  template <typename View>
  [[nodiscard]] Status check_contiguous(const char* name, const View& view) const {
    if (!view.is_present() || view.shape[3] <= 1 || view.strides[3] == 1) return {};
    return broken(StatusCode::shape, {name, " must be contiguous along its last axis, got stride ", view.strides[3]});
  }

  /// An absent view has any shape.
  template <typename View>
  [[nodiscard]] Status check_shape(const char* name, const View& view, const Shape& expected) const {
    if (!view.is_present() || view.shape == expected) return {};
    return broken(StatusCode::shape, {name, " must be ", expected, ", got ", view.shape});
  }
};

}  // namespace heed
