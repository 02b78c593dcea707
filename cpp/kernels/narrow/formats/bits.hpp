// Numbers of 16 bits in blocks, which lie at any address.
#pragma once

#include <cstring>

#include "kernels/memory/widen.hpp"

namespace heed::kernels {

inline float f16_at(const std::uint8_t* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return widen(I32Batch(bits)).get(0);
}

/// Nibbles of 16 bytes: the low ones, then the high ones.
inline void unpack_nibbles(const std::uint8_t* bytes, std::int8_t* numbers, int count = 16) {
  for (int i = 0; i < count; ++i) {
    numbers[i] = static_cast<std::int8_t>(bytes[i] & 15);
    numbers[count + i] = static_cast<std::int8_t>(bytes[i] >> 4);
  }
}

}  // namespace heed::kernels
