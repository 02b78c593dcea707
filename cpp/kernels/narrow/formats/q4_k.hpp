// Q4_K: eight groups of 32 nibbles. A group's scale is an f16 number times one of 6 bits, its offset likewise: f32 has
// both exactly.
#pragma once

#include "kernels/narrow/formats/bits.hpp"
#include "kernels/narrow/panels.hpp"

namespace heed::kernels {

struct Q4KFormat {
  using Panel = Int4MinPanel;
  static constexpr BlockSize kBlock{256, 144};
  static constexpr int kGroups = 8;

  static void unpack(const std::uint8_t* block, StoredGroup* groups) {
    const std::uint8_t* const packed = block + 4;
    for (int i = 0; i < kGroups; ++i) {
      // The last four have their low bits in bytes 8 to 11, and two high ones above those of the first four.
      const bool is_first = i < 4;
      const int scale = is_first ? packed[i] & 63 : (packed[i + 4] & 15) | (packed[i - 4] >> 6 << 4);
      const int minimum = is_first ? packed[i + 4] & 63 : (packed[i + 4] >> 4) | (packed[i] >> 6 << 4);
      groups[i].scale = f16_at(block) * static_cast<float>(scale);
      groups[i].offset = -(f16_at(block + 2) * static_cast<float>(minimum));
    }
    for (int i = 0; i < kGroups; i += 2) {
      std::int8_t numbers[2 * kGroup];
      unpack_nibbles<kGroup>(block + 16 + i / 2 * kGroup, numbers);
      std::memcpy(groups[i].numbers, numbers, kGroup);
      std::memcpy(groups[i + 1].numbers, numbers + kGroup, kGroup);
    }
  }
};

}  // namespace heed::kernels
