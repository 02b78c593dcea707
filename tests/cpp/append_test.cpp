// Rows that are appended to pages: where they come to lie, what they are rounded to, and what is left as it was.

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "f16.hpp"
#include "kernels/memory/append_rows.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

using kernels::KvRows;

constexpr int kTokens = 5, kPageRows = 32;
constexpr char kUntouchedByte = 0x55;

Index round_to(Index number, Index step) { return (number + step - 1) / step * step; }

/// A head of two pages, `dim` numbers a row, with a gap of 64 bytes behind the rows and behind what is beside them.
struct Head {
  KvRows rows;
  std::vector<char> bytes[2];
  const void* table[2];

  Head(DType dtype, int dim, int first_row) {
    const int group = dtype == DType::i8_keys ? 2 : dtype == DType::i8_values ? 16 : 1;
    const Index width = round_to(dim, group);
    rows = {.dtype = dtype,
            .data = nullptr,
            .stride = static_cast<std::ptrdiff_t>(width),
            .pages = table,
            .page_size = kPageRows,
            .skipped = first_row,
            .offset = 64,
            .scales = static_cast<std::ptrdiff_t>(kPageRows * width * bytes_of(dtype) + 64)};
    for (int page = 0; page < 2; ++page) {
      bytes[page].assign(static_cast<std::size_t>(rows.offset + rows.scales + Index{kPageRows} * 4 + 64),
                         kUntouchedByte);
      table[page] = bytes[page].data();
    }
  }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;
  Head(Head&&) = delete;
  Head& operator=(Head&&) = delete;
  ~Head() = default;

  template <typename T>
  [[nodiscard]] T read(int page, std::ptrdiff_t byte) const {
    T number;
    std::memcpy(&number, bytes[page].data() + rows.offset + byte, sizeof number);
    return number;
  }
  /// Whether number d of appended row i is `wanted`, rounded.
  [[nodiscard]] bool has(int i, int d, float wanted) const {
    const int page = (rows.skipped + i) / kPageRows, row = (rows.skipped + i) % kPageRows;
    if (rows.dtype == DType::f32) return read<float>(page, (row * rows.stride + d) * 4) == wanted;
    if (rows.dtype == DType::f16) return read<Float16>(page, (row * rows.stride + d) * 2) == round_to_half(wanted);
    const int in_tile = row % i8_tile_rows(rows.dtype);
    const double scale = read<float>(page, rows.scales + std::ptrdiff_t{row} * 4);
    const auto at =
        (row - in_tile) * rows.stride + i8_row_offset(rows.dtype, in_tile) + i8_number_offset(rows.dtype, d);
    return std::abs(read<std::int8_t>(page, at) * scale - wanted) <= 0.501 * scale;
  }
  /// How many bytes are not as they were.
  [[nodiscard]] Index changed() const {
    Index count = 0;
    for (const auto& page : bytes)
      count += std::ranges::count_if(page, [](char byte) { return byte != kUntouchedByte; });
    return count;
  }
};

TEST_CASE("appended rows lie where pages have them, across pages, and nothing else changes") {
  Random random(411);
  for (const DType dtype : {DType::f32, DType::f16, DType::i8_keys, DType::i8_values}) {
    for (const int first_row : {0, 14, kPageRows - 3}) {
      for (const int dim : {1, 7, 18, 64}) {
        const int gap = first_row == 0 ? 0 : 3;
        std::vector<float> numbers(static_cast<std::size_t>(kTokens) * static_cast<std::size_t>(dim + gap));
        for (float& number : numbers) number = random.normal();
        const Head head(dtype, dim, first_row);
        CHECK(append_rows({.dtype = DType::f32, .data = numbers.data(), .stride = dim + gap}, head.rows, kTokens, dim));
        for (int i = 0; i < kTokens; ++i) {
          for (int d = 0; d < dim; ++d) CHECK(head.has(i, d, numbers[static_cast<std::size_t>(i * (dim + gap) + d)]));
        }
        CHECK(head.changed() <= Index{kTokens} * (dim * bytes_of(dtype) + (is_int8(dtype) ? 4 : 0)));
      }
    }
  }
}

TEST_CASE("numbers at the borders of f16 are rounded as double precision rounds them, and f16 is widened exactly") {
  std::vector<float> numbers;
  for (int exponent = -27; exponent <= 16; ++exponent) {
    for (const double digits : {1.0, 1.0 + 0x1p-11, 1.0 + 0x1.8p-10, 2.0 - 0x1p-11, 2.0 - 0x1p-12, 2.0 - 0x1p-23}) {
      for (const double sign : {1.0, -1.0}) numbers.push_back(static_cast<float>(std::ldexp(sign * digits, exponent)));
    }
  }
  const int dim = static_cast<int>(numbers.size());
  const Head f16(DType::f16, dim, 0), f32(DType::f32, dim, 0);
  CHECK(append_rows({.dtype = DType::f32, .data = numbers.data(), .stride = dim}, f16.rows, 1, dim));
  std::vector<Float16> halves(numbers.size());
  std::ranges::transform(numbers, halves.begin(), round_to_half);
  CHECK(append_rows({.dtype = DType::f16, .data = halves.data(), .stride = dim}, f32.rows, 1, dim));
  for (int d = 0; d < dim; ++d) {
    CHECK(f16.has(0, d, numbers[static_cast<std::size_t>(d)]));
    CHECK(round_to_half(f32.read<float>(0, std::ptrdiff_t{d} * 4)) == halves[static_cast<std::size_t>(d)]);
  }
}

TEST_CASE("f16 pages say that a row is not finite, and int8 refuses it") {
  constexpr std::size_t dim = 6;
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 65520.0F}) {
    std::vector<float> numbers(2 * dim, 1.0F);
    numbers[dim + 5] = wrong;
    const KvRows rows{.dtype = DType::f32, .data = numbers.data(), .stride = dim};
    const Head f16(DType::f16, int{dim}, kPageRows - 1);
    const auto mark = [&](int page) { return f16.read<std::int32_t>(page, f16.rows.scales); };
    const std::int32_t before = mark(0);
    CHECK(append_rows(rows, f16.rows, 2, int{dim}));
    CHECK(mark(0) == before);
    CHECK(mark(1) == 1);

    const Head int8(DType::i8_keys, int{dim}, 0);
    CHECK(append_rows(rows, int8.rows, 1, int{dim}));
    CHECK(append_rows(rows, int8.rows, 2, int{dim}) == std::isfinite(wrong));
  }
}

}  // namespace
}  // namespace heed::testing
