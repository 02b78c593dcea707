// What rows of Q, K and V are in memory: f32, f16, or int8 with a scale a row; one after the other, or in the pages of
// a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "heed/i8_tile.hpp"

namespace heed::kernels {

/// A row of f32 or f16 numbers. One of int8 would have no scale to be read with.
struct FloatRow {
  const void* data;
  DType dtype;

  [[nodiscard]] const float* f32() const { return static_cast<const float*>(data); }
  [[nodiscard]] const std::uint16_t* f16() const { return static_cast<const std::uint16_t*>(data); }
  /// The numbers from `index` on.
  [[nodiscard]] FloatRow from(std::ptrdiff_t index) const {
    return {static_cast<const char*>(data) + index * bytes_of(dtype), dtype};
  }
};

/// A row of K or V, of any type. The numbers of an int8 row lie in its tile, and count times `scale`; the scales of the
/// rows behind it follow.
struct KvRow {
  const void* data = nullptr;
  DType dtype = DType::f32;
  const float* scale = nullptr;

  KvRow() = default;
  KvRow(const void* numbers, DType type, const float* scales = nullptr) : data(numbers), dtype(type), scale(scales) {}
  // Implicit: what takes any row takes a row of floats.
  KvRow(const FloatRow& row)  // NOLINT(google-explicit-constructor)
      : data(row.data), dtype(row.dtype) {}

  [[nodiscard]] bool is_int8() const { return heed::is_int8(dtype); }
  [[nodiscard]] const float* f32() const { return static_cast<const float*>(data); }
  [[nodiscard]] const std::uint16_t* f16() const { return static_cast<const std::uint16_t*>(data); }
  [[nodiscard]] const std::int8_t* i8() const { return static_cast<const std::int8_t*>(data); }
  /// Number i of an int8 row.
  [[nodiscard]] std::int8_t i8_at(int i) const { return i8()[i8_number_offset(dtype, i)]; }
};

/// f32 rows, `stride` floats apart.
struct FloatRows {
  const float* data;
  std::ptrdiff_t stride;

  [[nodiscard]] const float* row(std::ptrdiff_t index) const { return data + index * stride; }
  [[nodiscard]] FloatRows from(std::ptrdiff_t index) const { return {row(index), stride}; }
};

/// The keys or the values of one head: `stride` numbers from one row to the next, from `data` on; or in pages of
/// `page_size` rows, as a cache keeps them.
struct KvRows {
  DType dtype;
  const void* data;
  std::ptrdiff_t stride;

  const void* const* pages = nullptr;
  int page_size = 0;
  int skipped = 0;            // rows of the first page before row 0
  std::ptrdiff_t offset = 0;  // bytes from a page to the head's numbers
  std::ptrdiff_t scales = 0;  // and from there to their scales
  bool is_finite = false;     // is known to be

  /// The rows of the page that a row is in: [page_begin, page_end).
  [[nodiscard]] int page_begin(int index) const {
    const int begin = pages ? (skipped + index) / page_size * page_size - skipped : 0;
    return begin > 0 ? begin : 0;
  }
  [[nodiscard]] int page_end(int index) const {
    return pages ? ((skipped + index) / page_size + 1) * page_size - skipped : std::numeric_limits<std::int32_t>::max();
  }
  /// Row 0 where there are no pages. int8 lies in pages alone.
  [[nodiscard]] FloatRow first() const { return {data, dtype}; }
};

/// A row of the tiles from `first` on, in which a row takes `row_bytes` bytes.
inline KvRow row_in_i8_tiles(const KvRow& first, std::ptrdiff_t row_bytes, int row) {
  const int in_tile = row % i8_tile_rows(first.dtype);
  return {first.i8() + (row - in_tile) * row_bytes + i8_row_offset(first.dtype, in_tile), first.dtype,
          first.scale + row};
}

/// The head in the page that a row is in.
inline const char* head_of(const KvRows& rows, int index) {
  return static_cast<const char*>(rows.pages[(rows.skipped + index) / rows.page_size]) + rows.offset;
}

[[gnu::noinline]] inline KvRow row_of(const KvRows& rows, int index) {
  if (!rows.pages) return rows.first().from(index * rows.stride);
  const int in_page = (rows.skipped + index) % rows.page_size;
  const char* const head = head_of(rows, index);
  if (!is_int8(rows.dtype)) return FloatRow{head, rows.dtype}.from(in_page * rows.stride);
  return row_in_i8_tiles({head, rows.dtype, reinterpret_cast<const float*>(head + rows.scales)}, rows.stride, in_page);
}

/// The rows from one on.
[[gnu::noinline]] inline KvRows rows_from(const KvRows& rows, int index) {
  KvRows rest = rows;
  if (rows.pages) {
    rest.skipped += index;
  } else {
    rest.data = rows.first().from(index * rows.stride).data;
  }
  return rest;
}

}  // namespace heed::kernels
