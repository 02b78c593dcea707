#include "operations/append.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "operations/common/parallel_for.hpp"

namespace heed {
namespace {

/// Quantized numbers lie between -127 and 127.
constexpr double kLargest = 127.0;

/// The exponent bits of f16, all of which are set in infinity and NaN.
constexpr std::uint32_t kF16Exponent = 0x7C00;

/// Rounds the last bits off, to nearest, ties to even.
std::uint32_t without_last(std::uint32_t number, std::uint32_t bits) {
  const std::uint32_t is_odd = (number >> bits) & 1U;
  return (number + (1U << (bits - 1U)) - 1U + is_odd) >> bits;
}

/// The magnitude of the nearest f16 number, ties to even, by the bits of one of f32.
std::uint32_t f16_magnitude(std::uint32_t size) {
  if (size > 0x7F800000U) return 0x7E00U;
  // 65520 lies halfway between the largest f16 and what would be the next.
  if (size >= 0x477FF000U) return kF16Exponent;
  // From 2^-14 on f16 is normal: the exponent has another bias, and 13 bits are dropped.
  if (size >= 0x38800000U) return without_last(size - 0x38000000U, 13);
  // Half of the smallest f16, 2^-24, rounds to zero.
  if (size < 0x33000000U) return 0;
  return without_last((size & 0x7FFFFFU) | 0x800000U, 126U - (size >> 23U));
}

Float16 to_f16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return static_cast<Float16>(((bits >> 16U) & 0x8000U) | f16_magnitude(bits & 0x7FFFFFFFU));
}
Float16 to_f16(Float16 number) { return number; }

bool is_finite(Float16 number) { return (static_cast<std::uint32_t>(number) & kF16Exponent) != kF16Exponent; }

float to_f32(float number) { return number; }
float to_f32(Float16 number) {
  const auto bits = static_cast<std::uint32_t>(number);
  const std::uint32_t size = bits & 0x7FFFU;
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  if (size < 0x0400U)
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24F) | sign);
  return std::bit_cast<float>(sign | ((size << 13U) + (size < kF16Exponent ? 0x38000000U : 0x70000000U)));
}

/// To the nearest whole number, of two the larger one, as JavaScript's Math.round.
double rounded(double number) {
  const double above = std::ceil(number);
  return above - 0.5 > number ? above - 1.0 : above;
}

/// Rows of a head on their way into a page.
template <class Number>
struct NewRows {
  const Number* first;
  Index stride;
  Index count;
  Index dim;

  [[nodiscard]] std::span<const Number> row(Index index) const {
    return {first + index * stride, static_cast<std::size_t>(dim)};
  }
};

/// Where they go: the K, or V, of one head in a page, from a row on.
struct Target {
  char* numbers;
  Index width;
  Index scales;
  Index row;
};

template <class Number>
void copy_rows(const NewRows<Number>& rows, const Target& target) {
  float* row = reinterpret_cast<float*>(target.numbers) + target.row * target.width;
  for (Index i = 0; i < rows.count; ++i, row += target.width) {
    std::ranges::transform(rows.row(i), row, [](Number number) { return to_f32(number); });
  }
}

/// Says in the page whether something is not finite.
template <class Number>
void round_rows(const NewRows<Number>& rows, const Target& target) {
  auto* row = reinterpret_cast<Float16*>(target.numbers) + target.row * target.width;
  bool are_finite = true;
  for (Index i = 0; i < rows.count; ++i, row += target.width) {
    std::ranges::transform(rows.row(i), row, [](Number number) { return to_f16(number); });
    are_finite = are_finite && std::all_of(row, row + rows.dim, is_finite);
  }
  if (!are_finite) *reinterpret_cast<std::int32_t*>(target.numbers + target.scales) = 1;
}

/// The largest magnitude; NaN or infinity where a number is not finite.
template <class Number>
float largest_of(std::span<const Number> numbers) {
  float largest = 0.0F;
  for (const Number number : numbers) {
    const float size = std::abs(to_f32(number));
    if (!(size <= largest)) largest = size;
    if (!(size < std::numeric_limits<float>::infinity())) break;
  }
  return largest;
}

/// Gives each row a scale of its own. Returns false where a number is not finite.
template <class Number>
bool quantize_rows(const NewRows<Number>& rows, const Target& target, DType dtype) {
  auto* const scales = reinterpret_cast<float*>(target.numbers + target.scales);
  for (Index i = 0; i < rows.count; ++i) {
    const std::span<const Number> numbers = rows.row(i);
    const float largest = largest_of(numbers);
    if (!std::isfinite(largest)) return false;
    const Index at = target.row + i;
    const auto scale = static_cast<float>(largest / kLargest);
    scales[at] = scale;
    // A row so small that its scale underflows becomes zeros.
    const double inverse = scale == 0.0F ? 0.0 : 1.0 / scale;
    const auto in_tile = static_cast<int>(at % i8_tile_rows(dtype));
    auto* const row =
        reinterpret_cast<std::int8_t*>(target.numbers) + (at - in_tile) * target.width + i8_row_offset(dtype, in_tile);
    for (int d = 0; d < rows.dim; ++d) {
      const double whole = rounded(to_f32(numbers[static_cast<std::size_t>(d)]) * inverse);
      row[i8_number_offset(dtype, d)] = static_cast<std::int8_t>(std::clamp(whole, -kLargest, kLargest));
    }
  }
  return true;
}

template <class Number>
bool append_rows(const NewRows<Number>& rows, const Target& target, DType dtype) {
  if (is_int8(dtype)) return quantize_rows(rows, target, dtype);
  if (dtype == DType::f16) {
    round_rows(rows, target);
  } else {
    copy_rows(rows, target);
  }
  return true;
}

/// The new rows of K, or V, of a head.
bool append_part(const FloatView& view, const PageRows& rows, Index head, const Target& target, DType dtype) {
  const void* const first = view.at(rows.entry, head, rows.token);
  const Index stride = view.strides[2], dim = view.shape[3];
  if (view.dtype == DType::f16) {
    return append_rows<Float16>({static_cast<const Float16*>(first), stride, rows.count, dim}, target, dtype);
  }
  return append_rows<float>({static_cast<const float*>(first), stride, rows.count, dim}, target, dtype);
}

PagePart unpack(const PackedPagePart& part) { return {part.offset, part.width, part.scales}; }

PageRows unpack(const AppendedPage& page) {
  return {.page = pointer<char>(page.page.address),
          .source = pointer<const char>(page.source.address),
          .entry = page.entry,
          .row = page.row,
          .token = page.token,
          .count = page.count};
}

}  // namespace

bool append_head(const NewTokens& tokens, const PageLayout& layout, const PageRows& rows, Index head) {
  char* const start = rows.page + head * layout.head_bytes;
  if (rows.source != nullptr) {
    std::memcpy(start, rows.source + head * layout.head_bytes, static_cast<std::size_t>(layout.head_bytes));
  }
  const auto append = [&](const FloatView& view, const PagePart& part, DType dtype) {
    return append_part(view, rows, head, {start + part.offset, part.width, part.scales, rows.row}, dtype);
  };
  return append(tokens.keys, layout.keys, layout.dtype) &&
         append(tokens.values, layout.values, is_int8(layout.dtype) ? DType::i8_values : layout.dtype);
}

Status run(const AppendCall& call, Executor& executor) {
  const NewTokens tokens{unpack(call.key, call.key_type), unpack(call.value, call.value_type)};
  const PageLayout layout{.dtype = static_cast<DType>(call.page_type),
                          .head_bytes = call.head_bytes,
                          .keys = unpack(call.keys),
                          .values = unpack(call.values)};
  const std::span pages(&call.first, static_cast<std::size_t>(call.pages));
  const auto [batch, heads, count, dim] = tokens.keys.shape;
  const auto numbers = static_cast<double>(batch * heads * count * (dim + tokens.values.shape[3]));
  std::atomic<bool> are_finite = true;
  parallel_for(executor, {call.pages * heads, choose_workers(executor, numbers)}, [&](Index index, int /*worker*/) {
    const PageRows rows = unpack(pages[static_cast<std::size_t>(index / heads)]);
    if (!append_head(tokens, layout, rows, index % heads)) are_finite = false;
  });
  if (are_finite) return {};
  return {StatusCode::option, "attention: a cache of i8 takes finite numbers, got others"};
}

}  // namespace heed
