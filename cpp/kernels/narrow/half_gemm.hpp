// Rows times packed weights of 16 bits. They are widened in pieces, and then f32 tiles multiply; for a row alone, as
// they come from memory. Compiled as the tiles are, so that both have the same bits.
#pragma once

#include <cstring>

#include "kernels/gemm/gemm_task.hpp"
#include "kernels/memory/widen.hpp"
#include "kernels/narrow/narrow_tasks.hpp"
#include "kernels/simd/dot_i16.hpp"

namespace heed::kernels {

struct Bf16Weights {
  Batch operator()(I32Batch bits) { return xsimd::bitwise_cast<float>(bits << 16); }
  static bool are_right() { return true; }
};

struct F16Weights {
  Batch operator()(I32Batch bits) { return widen(bits); }
  static bool are_right() { return true; }
};

/// f16 in a third of the instructions, as F16Widener does it: right if none of them was an infinity or NaN.
class FiniteF16Weights {
 public:
  FiniteF16Weights() : FiniteF16Weights(opaque(&kF16Constants)) {}

  [[gnu::always_inline]] Batch operator()(I32Batch bits) {
    const I32Batch kept = (bits << 13) & kept_;
    largest_ = xsimd::max(largest_, kept & magnitude_);
    return xsimd::bitwise_cast<float>(kept) * bias_;
  }
  [[nodiscard]] bool are_right() const { return xsimd::reduce_max(largest_) < 0x7C00 << 13; }

 private:
  explicit FiniteF16Weights(const F16Constants* c)
      : kept_(c->kept), magnitude_(kept_ & I32Batch(0x7FFFFFFF)), largest_(0), bias_(c->bias) {}

  I32Batch kept_, magnitude_, largest_;
  Batch bias_;
};

/// Widens an input after the other of a panel; false if that is to be done again by what is right for all numbers.
template <class Weights>
[[gnu::noinline]] bool widen_half_panel(const std::uint8_t* panel, int depth, float* target) {
  Weights weights;
  for (int k = 0; k < depth; ++k, panel += kNarrowPanel * 2, target += kPanel) {
    for (int first = 0; first < kNarrowPanel; first += kLanes) {
      weights(load_i16_lanes(panel + first * 2))
          .store_aligned(target + first / kPanel * depth * kPanel + first % kPanel);
    }
  }
  return weights.are_right();
}

/// sums[kNarrowPanel] = row x panel, added up by blocks of the depth as in a packed GEMM; false as above.
template <class Weights>
[[gnu::noinline]] bool multiply_half_row(const float* row, const std::uint8_t* panel, int depth, float* sums) {
  constexpr int kVectors = kNarrowPanel / kLanes;
  Weights weights;
  for (int first = 0; first < depth; first += kDepthBlock) {
    const int end = depth - first < kDepthBlock ? depth : first + kDepthBlock;
    Batch tile[kVectors];
    for (auto& sum : tile) sum = Batch(0.0F);
    for (int k = first; k < end; ++k, panel += kNarrowPanel * 2) {
      const Batch number = Batch::broadcast(row[k]);
      for (int v = 0; v < kVectors; ++v) {
        tile[v] = multiply_add(number, weights(load_i16_lanes(panel + v * kLanes * 2)), tile[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      if (first > 0) tile[v] += Batch::load_aligned(sums + v * kLanes);
      tile[v].store_aligned(sums + v * kLanes);
    }
  }
  return weights.are_right();
}

inline constexpr int kHalfPanels = (kNarrowPanel + kPanel - 1) / kPanel;

std::ptrdiff_t narrow_scratch_floats(WeightFormat format) {
  return is_half(format) ? (kHalfPanels * kDepthBlock + kMostNarrowRows) * kPanel : 0;
}

/// Called by tables, as tiles are.
struct HalfKernels {
  decltype(&widen_half_panel<Bf16Weights>) widen;
  decltype(&multiply_half_row<Bf16Weights>) multiply_row;
};
template <class Weights>
inline constexpr HalfKernels kHalfKernelsOf{widen_half_panel<Weights>, multiply_half_row<Weights>};
inline constexpr HalfKernels kHalfKernels[] = {kHalfKernelsOf<FiniteF16Weights>, kHalfKernelsOf<Bf16Weights>,
                                               kHalfKernelsOf<F16Weights>};
inline constexpr int kSafeKernels = 2;

void multiply_half(const NarrowGemmTask& task) {
  float* const last_panel = task.scratch + kHalfPanels * kDepthBlock * kPanel;
  if constexpr (kPanel > kNarrowPanel) {
    std::memset(task.scratch, 0, static_cast<std::size_t>(kDepthBlock * kPanel) * sizeof(float));
  }
  const HalfKernels* const fast = kHalfKernels + static_cast<int>(task.format);
  const HalfKernels* const safe = kHalfKernels + kSafeKernels;
  const std::ptrdiff_t stride = panel_bytes(task.format, task.inputs);
  const std::uint8_t* panel = task.panels;
  for (int column = 0; column < task.columns; column += kNarrowPanel, panel += stride) {
    const int columns = task.columns - column < kNarrowPanel ? task.columns - column : kNarrowPanel;
    if (task.row_count == 1) {
      if (!fast->multiply_row(task.rows, panel, task.inputs, last_panel)) {
        safe->multiply_row(task.rows, panel, task.inputs, last_panel);
      }
      std::memcpy(task.sums + column, last_panel, static_cast<std::size_t>(columns) * sizeof(float));
      continue;
    }
    for (int first = 0; first < task.inputs; first += kDepthBlock) {
      const int depth = task.inputs - first < kDepthBlock ? task.inputs - first : kDepthBlock;
      const std::uint8_t* const rows = panel + std::ptrdiff_t{first} * kNarrowPanel * 2;
      if (!fast->widen(rows, depth, task.scratch)) safe->widen(rows, depth, task.scratch);
      packed_gemm({.rows = task.rows + first,
                   .row_stride = task.row_stride,
                   .row_count = task.row_count,
                   .panels = task.scratch,
                   .depth = depth,
                   .columns = columns,
                   .sums = task.sums + column,
                   .sum_stride = task.sum_stride,
                   .last_panel = last_panel,
                   .are_added = first > 0});
    }
  }
}

}  // namespace heed::kernels
