// Numbers of 16 bits in blocks, which lie at any address.
#pragma once

#include <bit>
#include <cstring>

#include "kernels/memory/widen.hpp"

namespace heed::kernels {

/// An f16 number in f32, which has all of them.
inline float widen_f16(std::uint16_t bits) {
  const std::uint32_t size = bits & 0x7FFFU, sign = (bits & 0x8000U) << 16U;
  // The exponents of f32 are 112 larger, that of infinity and NaN twice as much.
  const float magnitude = std::bit_cast<float>(size << 13U) * 0x1p112F;
  const std::uint32_t special = (size << 13U) + (224U << 23U);
  return std::bit_cast<float>(sign | (size < 0x7C00U ? std::bit_cast<std::uint32_t>(magnitude) : special));
}

inline float f16_at(const std::uint8_t* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return widen_f16(bits);
}

/// The bits of a number that loses its last ones, to nearest, ties to even.
inline std::uint32_t without_last(std::uint32_t number, std::uint32_t bits) {
  return (number + (1U << (bits - 1U)) - 1U + (number >> bits & 1U)) >> bits;
}

/// The bits of the nearest f16 number. From 65520 on it is infinite; NaN stays NaN.
inline std::uint16_t round_to_f16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = bits >> 16U & 0x8000U, size = bits & 0x7FFFFFFFU;
  std::uint32_t rounded = 0;
  if (size > 0x7F800000U) {
    rounded = 0x7E00U;
  } else if (size >= 0x477FF000U) {
    rounded = 0x7C00U;
  } else if (size >= 0x38800000U) {
    rounded = without_last(size - 0x38000000U, 13U);
  } else if (size >= 0x33000000U) {
    rounded = without_last((size & 0x7FFFFFU) | 0x800000U, 126U - (size >> 23U));
  }
  return static_cast<std::uint16_t>(sign | rounded);
}

/// Those of the nearest bf16.
inline std::uint16_t round_to_bf16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
  return static_cast<std::uint16_t>(without_last(bits, 16U));
}

/// Numbers from here on are none of f16.
inline constexpr float kF16Limit = 65520.0F;

/// A number as f16 has it.
inline float as_f16(float number) { return widen_f16(round_to_f16(number)); }

/// Nibbles of 16 bytes: the low ones, then the high ones.
template <int kCount = 16>
void unpack_nibbles(const std::uint8_t* bytes, std::int8_t* numbers) {
  // The copy overlaps nothing, so the compiler need not test whether the loops write what they read.
  std::uint8_t both[kCount];
  std::memcpy(both, bytes, kCount);
  for (int i = 0; i < kCount; ++i) numbers[i] = static_cast<std::int8_t>(both[i] & 15);
  for (int i = 0; i < kCount; ++i) numbers[kCount + i] = static_cast<std::int8_t>(both[i] >> 4);
}

}  // namespace heed::kernels
