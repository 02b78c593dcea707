// Packs rows of stored weights into a panel, and widens packed ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/narrow/formats.hpp"

namespace heed::kernels {

BlockSize block_of(WeightFormat format) {
  if (is_half(format)) return {1, 2};
  return with_format(format, []<class Format>() { return Format::kBlock; });
}

std::ptrdiff_t panel_bytes(WeightFormat format, std::ptrdiff_t inputs) {
  if (is_half(format)) return inputs * kNarrowPanel * 2;
  return with_format(format, [inputs]<class Format>() { return inputs / kGroup * Format::Panel::kGroupBytes; });
}

/// f16 and bf16: all outputs of one input after those of another. `row_at(at, count, bits)` gives the
/// bits of up to 8 inputs from a number of all rows on.
template <class RowAt>
void pack_half_panel(const PackPanelTask& task, RowAt row_at) {
  constexpr int kInputs = 8, kRowBytes = 2 * kInputs;
  for (std::ptrdiff_t i = 0; i < task.inputs; i += kInputs) {
    const auto count = static_cast<int>(std::min<std::ptrdiff_t>(kInputs, task.inputs - i));
    std::uint8_t rows[kNarrowPanel][kRowBytes] = {}, lines[kInputs][2 * kNarrowPanel];
    for (int output = 0; output < task.row_count; ++output) row_at(output * task.inputs + i, count, rows[output]);
    for (int half = 0; half < 2; ++half) {
      transpose_words(rows[8 * half], kRowBytes, lines[0] + kRowBytes * half, 2 * kNarrowPanel);
    }
    std::memcpy(task.panel + i * 2 * kNarrowPanel, lines, static_cast<std::size_t>(count) * 2 * kNarrowPanel);
  }
}

inline void put_half_rows(const PackPanelTask& task) {
  pack_half_panel(task, [&](std::ptrdiff_t at, int count, std::uint8_t* bits) {
    std::memcpy(bits, task.rows + at * 2, static_cast<std::size_t>(count) * 2);
  });
}

/// False if a number is finite in f32 and not in 16 bits.
inline bool round_half_rows(const PackPanelTask& task) {
  const bool is_f16 = task.format == WeightFormat::f16;
  const auto* const numbers = reinterpret_cast<const float*>(task.rows);
  bool do_fit = true;
  pack_half_panel(task, [&](std::ptrdiff_t at, int count, std::uint8_t* row) {
    for (int i = 0; i < count; ++i) {
      const float number = numbers[at + i];
      const std::uint16_t bits = is_f16 ? round_to_f16(number) : round_to_bf16(number);
      const int exponent = is_f16 ? 0x7C00 : 0x7F80;
      do_fit = do_fit && ((bits & exponent) != exponent || !(std::abs(number) <= std::numeric_limits<float>::max()));
      std::memcpy(row + i * 2, &bits, sizeof bits);
    }
  });
  return do_fit;
}

/// `next(output, block, groups)` gives the groups of a block of a row.
template <class Format, class Next>
void pack_whole_panel(const PackPanelTask& task, Next next) {
  using Panel = typename Format::Panel;
  constexpr int kGroups = Format::kBlock.numbers / kGroup;
  // Lanes without an output stay zero.
  StoredGroup groups[kNarrowPanel][kGroups] = {};
  std::uint8_t* target = task.panel;
  for (std::ptrdiff_t block = 0; block < task.inputs / Format::kBlock.numbers; ++block) {
    for (int output = 0; output < task.row_count; ++output) next(output, block, groups[output]);
    for (int i = 0; i < kGroups; ++i, target += Panel::kGroupBytes) {
      for (int output = 0; output < kNarrowPanel; ++output) {
        const StoredGroup& group = groups[output][i];
        scales_of<Panel>(target)[output] = group.scale;
        if constexpr (kHasOffsets<Panel>) scales_of<Panel>(target)[kNarrowPanel + output] = group.offset;
      }
      Panel::put(target, {reinterpret_cast<const std::uint8_t*>(groups[0][i].numbers), sizeof groups[0]});
    }
  }
}

template <class Format>
void put_whole_rows(const PackPanelTask& task) {
  const std::ptrdiff_t blocks = task.inputs / Format::kBlock.numbers;
  pack_whole_panel<Format>(task, [&](std::ptrdiff_t output, std::ptrdiff_t block, StoredGroup* groups) {
    Format::unpack(task.rows + (output * blocks + block) * Format::kBlock.bytes, groups);
  });
}

template <class Format>
bool round_whole_rows(const PackPanelTask& task) {
  const auto* const numbers = reinterpret_cast<const float*>(task.rows);
  bool do_fit = true;
  pack_whole_panel<Format>(task, [&](std::ptrdiff_t output, std::ptrdiff_t block, StoredGroup* group) {
    do_fit = Format::round(numbers + output * task.inputs + block * kGroup, group) && do_fit;
  });
  return do_fit;
}

bool is_rounded_to(WeightFormat format) { return format <= WeightFormat::int4; }

bool pack_panel(const PackPanelTask& task) {
  if (task.are_floats) {
    if (is_half(task.format)) return round_half_rows(task);
    return task.format == WeightFormat::int8 ? round_whole_rows<Int8Format>(task) : round_whole_rows<Int4Format>(task);
  }
  if (is_half(task.format)) {
    put_half_rows(task);
  } else {
    with_format(task.format, [&]<class Format>() { put_whole_rows<Format>(task); });
  }
  return true;
}

/// Widens one number of 16 bits.
inline float half_at(WeightFormat format, const std::uint8_t* bytes) {
  if (format == WeightFormat::f16) return f16_at(bytes);
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

template <class Format>
void widen_whole(const WidenTask& task, float* target) {
  using Panel = typename Format::Panel;
  const auto output = static_cast<int>(task.output % kNarrowPanel);
  const std::uint8_t* group = task.panels + task.output / kNarrowPanel * (task.inputs / kGroup * Panel::kGroupBytes) +
                              task.first / kGroup * Panel::kGroupBytes;
  for (int i = 0; i < task.count; i += kGroup, group += Panel::kGroupBytes) {
    const float* const scales = scales_of<Panel>(group) + output;
    for (int k = 0; k < kGroup; ++k) {
      const int number = Panel::number_at(group, output, k);
      if constexpr (kHasOffsets<Panel>) {
        target[i + k] = static_cast<float>(number) * scales[0] + scales[kNarrowPanel];
      } else {
        target[i + k] = static_cast<float>(number - (std::is_same_v<Panel, Int4Panel> ? 8 : 0)) * scales[0];
      }
    }
  }
}

void widen_weights(const WidenTask& task, float* target) {
  if (!is_half(task.format)) {
    with_format(task.format, [&]<class Format>() { widen_whole<Format>(task, target); });
    return;
  }
  const std::uint8_t* const panel = task.panels + task.output / kNarrowPanel * panel_bytes(task.format, task.inputs);
  for (int i = 0; i < task.count; ++i) {
    target[i] = half_at(task.format, panel + ((task.first + i) * kNarrowPanel + task.output % kNarrowPanel) * 2);
  }
}

}  // namespace heed::kernels
