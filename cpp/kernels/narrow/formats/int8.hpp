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

  /// As quantize_row_q8_0_ref of GGML: to nearest, and away from zero between two. False if a number does not fit.
  static bool round(const float* numbers, StoredGroup* group) {
    const float largest = largest_magnitude(numbers, kGroup);
    const float scale = largest / 127.0F;
    const Batch inverse(scale == 0.0F ? 0.0F : 1.0F / scale);
    alignas(kScratchAlignment) std::int32_t whole[kGroup];
    for (int i = 0; i < kGroup; i += kLanes) {
      const Batch number = Batch::load_unaligned(numbers + i) * inverse, size = xsimd::abs(number);
      const Batch below = xsimd::trunc(size);
      const Batch rounded = xsimd::select(size - below >= Batch(0.5F), below + Batch(1.0F), below);
      xsimd::to_int(xsimd::copysign(rounded, number)).store_aligned(whole + i);
    }
    for (int i = 0; i < kGroup; ++i) group->numbers[i] = static_cast<std::int8_t>(whole[i]);
    group->scale = as_f16(scale);
    return largest < 127.0F * kF16Limit;
  }
};

}  // namespace heed::kernels
