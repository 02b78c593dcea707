// Rows that are appended to pages: where they come to lie, and what is left as it was. tests/unit/append.test.ts holds
// their bits to those that JavaScript writes.

#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "f16.hpp"
#include "operations/append.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

constexpr Index kBatch = 2, kHeads = 3, kTokens = 5, kRows = 40, kKeyDim = 7, kValueDim = 18;
constexpr char kUntouchedByte = 0x55;

Index round_to(Index number, Index step) { return (number + step - 1) / step * step; }

/// As wide as `dtype` wants rows, with a gap of 64 bytes behind each part.
PageLayout layout_of(DType dtype) {
  PageLayout layout{.dtype = dtype, .head_bytes = 0, .keys = {}, .values = {}};
  const auto place = [&](Index dim, Index rows) {
    const PagePart part{layout.head_bytes, dim, round_to(rows * dim * bytes_of(dtype), 64) + 64};
    layout.head_bytes = part.offset + part.scales + rows * 4 + 64;
    layout.head_bytes = round_to(layout.head_bytes, 64);
    return part;
  };
  layout.keys = place(is_int8(dtype) ? round_to(kKeyDim, 2) : kKeyDim, round_to(kRows, 16));
  layout.values = place(is_int8(dtype) ? round_to(kValueDim, 16) : kValueDim, round_to(kRows, 32));
  return layout;
}

/// [B, n, H, D], as layers make it.
struct Tokens {
  std::vector<float> keys, values;
  NewTokens views;

  explicit Tokens(Random& random) {
    const auto fill = [&](std::vector<float>& numbers, Index dim) {
      for (Index i = 0; i < kBatch * kTokens * kHeads * dim; ++i) numbers.push_back(random.normal());
      return bnhd_view<const float>(numbers.data(), {kBatch, kHeads, kTokens, dim});
    };
    views = {fill(keys, kKeyDim), fill(values, kValueDim)};
  }
};

template <typename T>
T read(const char* address) {
  T number;
  std::memcpy(&number, address, sizeof number);
  return number;
}

/// Whether number d of a row is `wanted`, rounded.
bool is_number(float wanted, const char* head, const PagePart& part, DType dtype, Index row, Index d) {
  const char* const numbers = head + part.offset;
  if (dtype == DType::f32) return read<float>(numbers + (row * part.width + d) * 4) == wanted;
  if (dtype == DType::f16) return read<Float16>(numbers + (row * part.width + d) * 2) == round_to_half(wanted);
  const Index in_tile = row % i8_tile_rows(dtype);
  const Index at =
      (row - in_tile) * part.width + i8_row_offset(dtype, static_cast<int>(in_tile)) + i8_number_offset(dtype, d);
  const double scale = read<float>(numbers + part.scales + row * 4);
  return std::abs(read<std::int8_t>(numbers + at) * scale - wanted) <= 0.501 * scale;
}

TEST_CASE("appended rows lie where pages have them, and nothing else changes") {
  Random random(411);
  for (const DType dtype : {DType::f32, DType::f16, DType::i8_keys}) {
    const PageLayout layout = layout_of(dtype);
    const DType value_dtype = is_int8(dtype) ? DType::i8_values : dtype;
    for (const Index row : {Index{0}, Index{14}, kRows - 3}) {
      const Tokens tokens(random);
      std::vector<char> page(static_cast<std::size_t>(kHeads * layout.head_bytes), kUntouchedByte);
      const std::vector<char> before = page;
      const PageRows rows{.page = page.data(), .source = nullptr, .entry = 1, .row = row, .token = 2, .count = 3};
      CHECK(append_head(tokens.views, layout, rows, 1));
      for (Index i = 0; i < rows.count; ++i) {
        const char* const head = page.data() + layout.head_bytes;
        const auto check = [&](const FloatView& view, const PagePart& part, DType type) {
          for (Index d = 0; d < view.shape[3]; ++d) {
            const auto* const wanted = static_cast<const float*>(view.at(1, 1, 2 + i));
            CHECK(is_number(wanted[d], head, part, type, row + i, d));
          }
        };
        check(tokens.views.keys, layout.keys, dtype);
        check(tokens.views.values, layout.values, value_dtype);
      }
      // As many bytes as the rows have, in the one head.
      Index changed = 0;
      for (std::size_t i = 0; i < page.size(); ++i) {
        if (page[i] == before[i]) continue;
        ++changed;
        CHECK(static_cast<Index>(i) / layout.head_bytes == 1);
      }
      CHECK(changed <= rows.count * ((kKeyDim + kValueDim) * bytes_of(dtype) + (is_int8(dtype) ? 8 : 0)));
    }
  }
}

TEST_CASE("a page that is to be a copy has the other's rows beside the new ones") {
  Random random(412);
  const PageLayout layout = layout_of(DType::f32);
  const Tokens tokens(random);
  const std::vector<char> source(static_cast<std::size_t>(kHeads * layout.head_bytes), kUntouchedByte);
  std::vector<char> page(source.size(), 0);
  std::vector<char> expected = source;
  for (Index head = 0; head < kHeads; ++head) {
    CHECK(append_head(tokens.views, layout, {expected.data(), nullptr, 0, 3, 0, 2}, head));
    CHECK(append_head(tokens.views, layout, {page.data(), source.data(), 0, 3, 0, 2}, head));
  }
  CHECK(page == expected);
}

TEST_CASE("f16 pages say that a row is not finite, and int8 refuses it") {
  Random random(413);
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 65520.0F}) {
    Tokens tokens(random);
    tokens.values[kValueDim * kHeads] = wrong;  // of the second token
    const PageLayout f16_layout = layout_of(DType::f16);
    std::vector<char> page(static_cast<std::size_t>(kHeads * f16_layout.head_bytes), 0);
    const auto marks = [&] {
      const char* const start = page.data();
      return std::pair(read<int>(start + f16_layout.keys.offset + f16_layout.keys.scales),
                       read<int>(start + f16_layout.values.offset + f16_layout.values.scales));
    };
    CHECK(append_head(tokens.views, f16_layout, {page.data(), nullptr, 0, 0, 0, 1}, 0));
    CHECK(marks() == std::pair(0, 0));
    CHECK(append_head(tokens.views, f16_layout, {page.data(), nullptr, 0, 1, 1, 1}, 0));
    CHECK(marks() == std::pair(0, 1));

    const PageLayout bytes = layout_of(DType::i8_keys);
    page.assign(static_cast<std::size_t>(kHeads * bytes.head_bytes), 0);
    CHECK(append_head(tokens.views, bytes, {page.data(), nullptr, 0, 1, 1, 1}, 0) == std::isfinite(wrong));
    CHECK(append_head(tokens.views, bytes, {page.data(), nullptr, 0, 1, 1, 1}, 1));
  }
}

}  // namespace
}  // namespace heed::testing
