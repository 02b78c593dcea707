// Rows that layers read and write, and the rules that hold for them.
#pragma once

#include "operations/common/call.hpp"
#include "problem/failures.hpp"
#include "problem/max_size.hpp"

namespace heed {

/// A view of `count` rows of `length` numbers each, contiguous, `stride` apart.
template <typename T>
struct Rows {
  T* data = nullptr;
  Index count = 0;
  Index length = 0;
  Index stride = 0;

  [[nodiscard]] bool is_present() const { return data != nullptr; }
  [[nodiscard]] T* row(Index index) const { return is_present() ? data + index * stride : nullptr; }
};

/// Numbers from one row to the next, as an offset of pointers.
template <typename T>
std::ptrdiff_t stride_of(const Rows<T>& rows) {
  return static_cast<std::ptrdiff_t>(rows.stride);
}

/// Rows come as views of [1, 1, count, length].
template <typename T>
Rows<T> unpack_rows(const PackedView& view) {
  return {pointer<T>(view.address), view.shape[2], view.shape[3], view.strides[2]};
}

/// Matrices of one size. They come as views of [1, count, rows, columns].
template <typename T>
struct Matrices {
  Rows<T> first;
  Index count = 1;
  Index step = 0;  // numbers from one to the next

  constexpr Matrices() = default;
  constexpr Matrices(const Rows<T>& one) : first(one) {}  // NOLINT(google-explicit-constructor): one is some
  Matrices(const PackedView& view) : first(unpack_rows<T>(view)), count(view.shape[1]), step(view.strides[1]) {}

  [[nodiscard]] Rows<T> at(Index index) const {
    Rows<T> matrix = first;
    if (first.is_present()) matrix.data += index * step;
    return matrix;
  }
};

struct RowRules {
  const char* operation;

  [[nodiscard]] Status broken(StatusCode code, std::initializer_list<MessagePart> rule) const {
    return heed::broken(operation, code, rule);
  }

  /// Checks that the view is present, with `count` rows of `length` numbers.
  template <typename T>
  [[nodiscard]] Status check(const char* name, const Rows<T>& rows, Index count, Index length) const {
    if (rows.count != count || rows.length != length) {
      return broken(StatusCode::shape,
                    {name, " must be ", count, " rows of ", length, " numbers, got ", rows.count, " of ", rows.length});
    }
    return check_sizes(name, rows);
  }

  /// Absent rows have any sizes.
  template <typename T>
  [[nodiscard]] Status check_if_present(const char* name, const Rows<T>& rows, Index count, Index length) const {
    return rows.is_present() ? check(name, rows, count, length) : Status{};
  }

  /// The same for so many matrices.
  template <typename T>
  [[nodiscard]] Status check(const char* name, const Matrices<T>& matrices, Index matrix_count, Index count,
                             Index length) const {
    if (matrices.count == matrix_count) return check(name, matrices.first, count, length);
    return broken(StatusCode::shape, {name, " must be ", matrix_count, " matrices, got ", matrices.count});
  }

  /// The end of an operation, which may have been stopped.
  [[nodiscard]] Status end(const StopFlag* stop) const {
    return is_set(stop) ? broken(StatusCode::aborted, {"stopped by its caller"}) : Status{};
  }

  template <typename T>
  [[nodiscard]] Status check_sizes(const char* name, const Rows<T>& rows) const {
    const bool is_small = rows.count >= 0 && rows.length >= 0 && rows.count <= kMaxSize && rows.length <= kMaxSize;
    if (!is_small) {
      return broken(StatusCode::shape, {name, " must have between 0 and 2^30 rows and numbers in each, got ",
                                        rows.count, " of ", rows.length});
    }
    if (rows.count > 1 && rows.stride < rows.length && rows.stride != 0) {
      return broken(StatusCode::shape, {"rows of ", name, " must not overlap, got stride ", rows.stride});
    }
    if (rows.is_present() || rows.count == 0 || rows.length == 0) return {};
    return broken(StatusCode::shape, {name, " must have data, got none"});
  }
};

}  // namespace heed
