// Packs rows of stored weights into a panel, and widens packed ones.
#pragma once

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

/// f16 and bf16: all outputs of one input after those of another.
inline void pack_half_panel(const PackPanelTask& task) {
  for (std::ptrdiff_t i = 0; i < task.inputs; ++i) {
    for (int output = 0; output < task.row_count; ++output) {
      std::memcpy(task.panel + (i * kNarrowPanel + output) * 2, task.rows + (output * task.inputs + i) * 2, 2);
    }
  }
}

template <class Format>
void pack_whole_panel(const PackPanelTask& task) {
  using Panel = typename Format::Panel;
  constexpr int kGroups = Format::kBlock.numbers / kGroup;
  const std::uint8_t* block = task.rows;
  for (int output = 0; output < task.row_count; ++output) {
    std::uint8_t* target = task.panel;
    for (std::ptrdiff_t i = 0; i < task.inputs; i += Format::kBlock.numbers, block += Format::kBlock.bytes) {
      StoredGroup groups[kGroups];
      Format::unpack(block, groups);
      for (const StoredGroup& group : groups) {
        Panel::put(target, output, group);
        scales_of<Panel>(target)[output] = group.scale;
        if constexpr (kHasOffsets<Panel>) scales_of<Panel>(target)[kNarrowPanel + output] = group.offset;
        target += Panel::kGroupBytes;
      }
    }
  }
}

void pack_panel(const PackPanelTask& task) {
  std::memset(task.panel, 0, static_cast<std::size_t>(panel_bytes(task.format, task.inputs)));
  if (is_half(task.format)) {
    pack_half_panel(task);
  } else {
    with_format(task.format, [&]<class Format>() { pack_whole_panel<Format>(task); });
  }
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
