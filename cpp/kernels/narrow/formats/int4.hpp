// Q4_0: an f16 scale and 32 nibbles, of which 8 is subtracted. The kernels subtract it from sums.
#pragma once

#include <cmath>

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

  /// As quantize_row_q4_0_ref of GGML: of the numbers of largest magnitude the first becomes -8 times the scale. False
  /// if a number does not fit.
  static bool round(const float* numbers, StoredGroup* group) {
    const float size = largest_magnitude(numbers, kGroup);
    const bool does_fit = size < 8.0F * kF16Limit;
    int first = 0;
    while (does_fit && std::abs(numbers[first]) != size) ++first;
    const float scale = numbers[first] / -8.0F;
    const Batch inverse(scale == 0.0F ? 0.0F : 1.0F / scale);
    alignas(kScratchAlignment) std::int32_t whole[kGroup];
    for (int i = 0; i < kGroup; i += kLanes) {
      // Numbers are positive, so what is cut off is what a floor takes.
      const Batch number = Batch::load_unaligned(numbers + i) * inverse + Batch(8.5F);
      xsimd::min(xsimd::to_int(number), I32Batch(15)).store_aligned(whole + i);
    }
    for (int i = 0; i < kGroup; ++i) group->numbers[i] = static_cast<std::int8_t>(whole[i]);
    group->scale = as_f16(scale);
    return does_fit;
  }
};

}  // namespace heed::kernels
