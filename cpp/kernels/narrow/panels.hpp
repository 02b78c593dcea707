// Packed panels of whole numbers: for each group of 32 inputs the numbers of 16 outputs, then what scales them, in f32.
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/narrow/quantized_group.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

/// A group of a stored row: its numbers are scale * number + offset, exactly.
struct StoredGroup {
  float scale, offset;
  std::int8_t numbers[kGroup];
};

/// The same group of 16 outputs, whose rows lie so many bytes apart.
struct GroupRows {
  const std::uint8_t* numbers;
  std::ptrdiff_t stride;
};

/// Pairs of inputs of so many outputs, 8 or 16, after each other.
inline void put_pairs(std::uint8_t* group, const GroupRows& rows, int outputs) {
  for (int output = 0; output < outputs; output += 8) {
    for (int i = 0; i < kGroup; i += 16) {
      transpose_words(rows.numbers + output * rows.stride + i, rows.stride, group + i * outputs + output * 2,
                      std::ptrdiff_t{2} * outputs);
    }
  }
}

inline constexpr int kScaleBytes = kNarrowPanel * 4;

/// Two inputs of all outputs after two others: numbers lie as i32x4.dot_i16x8_s takes them.
struct Int8Panel {
  static constexpr int kPairBytes = 2 * kNarrowPanel;
  static constexpr int kNumberBytes = kPairs * kPairBytes;
  static constexpr int kGroupBytes = kNumberBytes + kScaleBytes;

  static void put(std::uint8_t* group, const GroupRows& rows) { put_pairs(group, rows, kNarrowPanel); }
  static int number_at(const std::uint8_t* group, int output, int i) {
    return static_cast<std::int8_t>(group[i / 2 * kPairBytes + 2 * output + i % 2]);
  }
  static I32Batch load_pairs(const std::uint8_t* pairs, int vector) {
    return load_i8_pairs(pairs + vector * 2 * kLanes);
  }
};

/// The same of 4 bits without sign: outputs 0 to 7 in low nibbles, 8 to 15 in high ones.
struct Int4Panel {
  static constexpr int kPairBytes = kNarrowPanel;
  static constexpr int kNumberBytes = kPairs * kPairBytes;
  static constexpr int kGroupBytes = kNumberBytes + kScaleBytes;

  static void put(std::uint8_t* group, const GroupRows& rows) {
    constexpr int kHalf = kNarrowPanel / 2;
    std::uint8_t both[kHalf][kGroup];
    for (int output = 0; output < kHalf; ++output) {
      const std::uint8_t* const low = rows.numbers + output * rows.stride;
      const std::uint8_t* const high = low + kHalf * rows.stride;
      for (int i = 0; i < kGroup; ++i) both[output][i] = static_cast<std::uint8_t>(low[i] | high[i] << 4);
    }
    put_pairs(group, {both[0], kGroup}, kHalf);
  }
  static int number_at(const std::uint8_t* group, int output, int i) {
    const int byte = group[i / 2 * kPairBytes + 2 * (output % (kNarrowPanel / 2)) + i % 2];
    return output < kNarrowPanel / 2 ? byte & 15 : byte >> 4;
  }
  static I32Batch load_pairs(const std::uint8_t* pairs, int vector) { return load_nibble_pairs(pairs, vector); }
};

/// With offsets behind the scales.
struct Int4MinPanel : Int4Panel {
  static constexpr int kGroupBytes = kNumberBytes + 2 * kScaleBytes;
};

template <class Panel>
float* scales_of(std::uint8_t* group) {
  return reinterpret_cast<float*>(group + Panel::kNumberBytes);
}
template <class Panel>
const float* scales_of(const std::uint8_t* group) {
  return reinterpret_cast<const float*>(group + Panel::kNumberBytes);
}

template <class Panel>
inline constexpr bool kHasOffsets = Panel::kGroupBytes > Panel::kNumberBytes + kScaleBytes;

}  // namespace heed::kernels
