// Q4_1: an f16 scale, an f16 minimum and 32 nibbles.
#pragma once

#include "kernels/narrow/formats/bits.hpp"
#include "kernels/narrow/panels.hpp"

namespace heed::kernels {

struct Int4MinFormat {
  using Panel = Int4MinPanel;
  static constexpr BlockSize kBlock{32, 20};

  static void unpack(const std::uint8_t* block, StoredGroup* group) {
    group->scale = f16_at(block);
    group->offset = f16_at(block + 2);
    unpack_nibbles(block + 4, group->numbers);
  }
};

}  // namespace heed::kernels
