// Q8_0: an f16 scale and 32 numbers with sign.
#pragma once

#include "kernels/narrow/formats/bits.hpp"
#include "kernels/narrow/panels.hpp"

namespace heed::kernels {

struct Int8Format {
  using Panel = Int8Panel;
  static constexpr BlockSize kBlock{32, 34};

  static void unpack(const std::uint8_t* block, StoredGroup* group) {
    group->scale = f16_at(block);
    group->offset = 0.0F;
    std::memcpy(group->numbers, block + 2, sizeof group->numbers);
  }
};

}  // namespace heed::kernels
