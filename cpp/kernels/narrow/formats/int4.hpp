// Q4_0: an f16 scale and 32 nibbles, of which 8 is subtracted. The kernels subtract it from sums.
#pragma once

#include "kernels/narrow/formats/bits.hpp"
#include "kernels/narrow/panels.hpp"

namespace heed::kernels {

struct Int4Format {
  using Panel = Int4Panel;
  static constexpr BlockSize kBlock{32, 18};

  static void unpack(const std::uint8_t* block, StoredGroup* group) {
    group->scale = f16_at(block);
    group->offset = -8.0F * group->scale;
    unpack_nibbles(block + 2, group->numbers);
  }
};

}  // namespace heed::kernels
