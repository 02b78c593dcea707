#include "kernels/memory/append_rows.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/memory/widen.hpp"

namespace heed::kernels {
namespace {

/// Quantized numbers lie between -127 and 127.
constexpr double kLargestI8 = 127.0;

/// Larger numbers are infinite in f16: it lies halfway between the largest and what would be the next.
constexpr float kF16End = 65520.0F;

/// The nearest f16 number, ties to even.
std::uint16_t to_f16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t size = bits & 0x7FFFFFFFU;
  const auto magnitude = std::bit_cast<float>(size);
  std::uint32_t f16 = 0x7E00U;
  if (magnitude < 0x1p-14F) {
    // The last bit of 0.5 counts 2^-24, as that of an f16 number which is not normal.
    f16 = std::bit_cast<std::uint32_t>(magnitude + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  } else if (magnitude < kF16End) {
    // The exponent has another bias, and 13 bits are dropped.
    f16 = (size - 0x38000000U + 0x0FFFU + ((size >> 13U) & 1U)) >> 13U;
  } else if (magnitude >= kF16End) {
    f16 = 0x7C00U;
  }
  return static_cast<std::uint16_t>(sign | f16);
}

/// To the nearest whole number, of two the larger one.
std::int8_t to_i8(double number) {
  const double above = std::ceil(number);
  const double whole = above - 0.5 > number ? above - 1.0 : above;
  // Beyond that is only what has a scale of few bits.
  return static_cast<std::int8_t>(whole > kLargestI8 ? kLargestI8 : whole < -kLargestI8 ? -kLargestI8 : whole);
}

/// What the task writes to is the cache's own.
template <typename T>
T* writable(const T* number) {
  return const_cast<T*>(number);  // NOLINT(cppcoreguidelines-pro-type-const-cast): kernels read pages everywhere else
}

template <class Visit>
void for_each_vector(const KvRow& row, int dim, Visit visit) {
  for (int d = 0; d < dim; d += kLanes) {
    const int count = dim - d < kLanes ? dim - d : kLanes;
    visit(load_widened(row, d, count), d, count);
  }
}

}  // namespace

bool append_rows(const KvRows& rows, const KvRows& pages, int count, int dim) {
  for (int i = 0; i < count; ++i) {
    const KvRow source = row_of(rows, i);
    const KvRow row = row_of(pages, i);
    double inverse = 0.0;
    if (row.is_int8()) {
      I32Batch magnitudes(0);
      for_each_vector(source, dim, [&](Batch numbers, int /*first*/, int /*count*/) {
        magnitudes = xsimd::max(magnitudes, magnitudes_of(numbers));
      });
      // NaN where there is one.
      const float largest = largest_of_lanes(magnitudes);
      if (!(largest <= std::numeric_limits<float>::max())) return false;
      const auto scale = static_cast<float>(largest / kLargestI8);
      *writable(row.scale) = scale;
      // A row so small that its scale underflows becomes zeros.
      if (scale > 0.0F) inverse = 1.0 / scale;
    }
    for_each_vector(source, dim, [&](Batch numbers, int d, int some) {
      if (row.dtype == DType::f32) {
        store_some(numbers, writable(row.f32()) + d, some);
        return;
      }
      alignas(kScratchAlignment) float lanes[kLanes];
      numbers.store_aligned(lanes);
      for (int lane = 0; lane < some; ++lane, ++d) {
        if (row.dtype == DType::f16) {
          const std::uint16_t f16 = to_f16(lanes[lane]);
          writable(row.f16())[d] = f16;
          if ((f16 & 0x7C00) == 0x7C00)
            *writable(reinterpret_cast<const std::int32_t*>(head_of(pages, i) + pages.scales)) = 1;
        } else {
          writable(row.i8())[i8_number_offset(row.dtype, d)] = to_i8(lanes[lane] * inverse);
        }
      }
    });
  }
  return true;
}

}  // namespace heed::kernels
