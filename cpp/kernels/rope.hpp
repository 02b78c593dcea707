// Turns the pairs of every head at one position.
#pragma once

#include <cstdint>

#include "kernels/half.hpp"
#include "kernels/rope_block.hpp"

namespace heed::kernels {

/// Numbers 2i and 2i + 1 in each other's place.
template <class Arch>
inline Batch<Arch> swap_neighbours(Batch<Arch> numbers) {
  const auto pairs = xsimd::bitwise_cast<std::uint64_t>(numbers);
  return xsimd::bitwise_cast<float>((pairs << 32) | (pairs >> 32));
}

/// Pairs i and i + pairs.
template <class Arch>
inline void rotate_halves(const RopeBlock& block, Numbers input, float* output) {
  for (int i = 0; i < block.pairs; i += kLanes<Arch>) {
    const int count = block.pairs - i < kLanes<Arch> ? block.pairs - i : kLanes<Arch>;
    const Batch<Arch> cosine = Batch<Arch>::load_aligned(block.cosines + i);
    const Batch<Arch> sine = Batch<Arch>::load_aligned(block.sines + i);
    const Batch<Arch> x = load_numbers<Arch>(input, i, count);
    const Batch<Arch> y = load_numbers<Arch>(input, block.pairs + i, count);
    store_some<Arch>(multiply_add<Arch>(x, cosine, -(y * sine)), output + i, count);
    store_some<Arch>(multiply_add<Arch>(x, sine, y * cosine), output + block.pairs + i, count);
  }
}

template <class Arch>
inline void rotate_neighbours(const RopeBlock& block, Numbers input, float* output) {
  for (int i = 0; i < 2 * block.pairs; i += kLanes<Arch>) {
    const int count = 2 * block.pairs - i < kLanes<Arch> ? 2 * block.pairs - i : kLanes<Arch>;
    const Batch<Arch> cosine = Batch<Arch>::load_aligned(block.cosines + i);
    const Batch<Arch> sine = Batch<Arch>::load_aligned(block.sines + i);
    const Batch<Arch> numbers = load_numbers<Arch>(input, i, count);
    store_some<Arch>(multiply_add<Arch>(numbers, cosine, swap_neighbours<Arch>(numbers) * sine), output + i, count);
  }
}

template <class Arch>
void rotate(const RopeBlock& block) {
  for (int head = 0; head < block.heads; ++head) {
    const Numbers input = block.input.from(head * block.input_stride);
    float* const output = block.output + head * block.output_stride;
    if (block.interleaved) {
      rotate_neighbours<Arch>(block, input, output);
    } else {
      rotate_halves<Arch>(block, input, output);
    }
    for (int i = 2 * block.pairs; i < block.head_dim; i += kLanes<Arch>) {
      const int count = block.head_dim - i < kLanes<Arch> ? block.head_dim - i : kLanes<Arch>;
      store_some<Arch>(load_numbers<Arch>(input, i, count), output + i, count);
    }
  }
}

}  // namespace heed::kernels
