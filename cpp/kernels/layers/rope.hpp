// Rotary position embedding: rotates the pairs of every head at one position.
#pragma once

#include <cstdint>

#include "kernels/layers/rope_task.hpp"
#include "kernels/memory/widen.hpp"

namespace heed::kernels {

/// Swaps numbers 2i and 2i + 1.
inline Batch swap_neighbours(Batch numbers) {
  const auto pairs = xsimd::bitwise_cast<std::uint64_t>(numbers);
  return xsimd::bitwise_cast<float>((pairs << 32) | (pairs >> 32));
}

/// Rotates pairs of numbers i and i + pairs.
inline void rotate_halves(const RopeTask& task, FloatRow input, float* output) {
  for (int i = 0; i < task.pairs; i += kLanes) {
    const int count = task.pairs - i < kLanes ? task.pairs - i : kLanes;
    const Batch cosine = Batch::load_aligned(task.cosines + i);
    const Batch sine = Batch::load_aligned(task.sines + i);
    const Batch x = load_widened(input, i, count);
    const Batch y = load_widened(input, task.pairs + i, count);
    store_some(multiply_add(x, cosine, -(y * sine)), output + i, count);
    store_some(multiply_add(x, sine, y * cosine), output + task.pairs + i, count);
  }
}

inline void rotate_neighbours(const RopeTask& task, FloatRow input, float* output) {
  for (int i = 0; i < 2 * task.pairs; i += kLanes) {
    const int count = 2 * task.pairs - i < kLanes ? 2 * task.pairs - i : kLanes;
    const Batch cosine = Batch::load_aligned(task.cosines + i);
    const Batch sine = Batch::load_aligned(task.sines + i);
    const Batch numbers = load_widened(input, i, count);
    store_some(multiply_add(numbers, cosine, swap_neighbours(numbers) * sine), output + i, count);
  }
}

void rotate(const RopeTask& task) {
  for (int head = 0; head < task.heads; ++head) {
    const FloatRow input = task.input.from(head * task.input_stride);
    float* const output = task.output + head * task.output_stride;
    if (task.interleaved) {
      rotate_neighbours(task, input, output);
    } else {
      rotate_halves(task, input, output);
    }
    for (int i = 2 * task.pairs; i < task.head_dim; i += kLanes) {
      const int count = task.head_dim - i < kLanes ? task.head_dim - i : kLanes;
      store_some(load_widened(input, i, count), output + i, count);
    }
  }
}

}  // namespace heed::kernels
