// The two products of attention for a single row: its query with keys, and its weights with values. Head
// dimensions lie in lanes, so that keys and values are read as fast as they come, each number once.
#pragma once

#include <cstddef>

#include "kernels/broadcast_tile.hpp"
#include "kernels/online_softmax.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

/// Keys side by side in one tile: a vector of scores. More of them, read line by line in turns, slow the
/// prefetching of their memory.
template <class Arch>
inline constexpr int kDotKeys = kLanes<Arch>;

/// Sums of one key: fewer than 8 in all would wait for each other.
template <class Arch>
inline constexpr int kDotSums = kLanes<Arch> < 8 ? 8 / kLanes<Arch> : 1;

/// A query against a run of keys.
struct DotInput {
  const float* query;  // aligned, zeros up to a whole vector
  int head_dim;
  const float* key;
  std::ptrdiff_t stride;
  int count;  // at least 1
};

/// scores[kDotKeys]; where the keys run out, those of the last one.
template <class Arch>
[[gnu::noinline]] void dot_tile(const DotInput& input, float* scores) {
  constexpr int lanes = kLanes<Arch>;
  constexpr int step = kDotSums<Arch> * lanes;
  const float* key[kDotKeys<Arch>];
  for (int j = 0; j < kDotKeys<Arch>; ++j) key[j] = input.key + (j < input.count ? j : input.count - 1) * input.stride;

  Batch<Arch> sums[kDotSums<Arch>][kDotKeys<Arch>];
  for (auto& line : sums) {
    for (Batch<Arch>& sum : line) sum = Batch<Arch>(0.0F);
  }
  int d = 0;
  for (; d + step <= input.head_dim; d += step) {
    for (int s = 0; s < kDotSums<Arch>; ++s) {
      const int first = d + s * lanes;
      const Batch<Arch> query = Batch<Arch>::load_aligned(input.query + first);
      for (int j = 0; j < kDotKeys<Arch>; ++j) {
        sums[s][j] = multiply_add<Arch>(Batch<Arch>::load_unaligned(key[j] + first), query, sums[s][j]);
      }
    }
  }
  // A copy: arrays that are handed on by address would be kept in memory in the loop.
  Batch<Arch> square[kDotKeys<Arch>];
  for (int j = 0; j < kDotKeys<Arch>; ++j) {
    square[j] = sums[0][j];
    for (int s = 1; s < kDotSums<Arch>; ++s) square[j] += sums[s][j];
  }
  for (; d < input.head_dim; d += lanes) {
    const int count = input.head_dim - d < lanes ? input.head_dim - d : lanes;
    const Batch<Arch> query = Batch<Arch>::load_aligned(input.query + d);
    for (int j = 0; j < kDotKeys<Arch>; ++j) {
      square[j] = multiply_add<Arch>(load_some<Arch>(key[j] + d, count), query, square[j]);
    }
  }
  xsimd::transpose(square, square + lanes);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) square[j] += square[j + half];
  }
  square[0].store_aligned(scores);
}

/// A row's weights against a run of values, some vectors of their numbers at a time.
template <class Arch>
struct RowValues {
  const float* weights;
  int count;
  const float* value;
  std::ptrdiff_t stride;
  Rescale<Arch> rescale;
};

/// output[kVectors][lanes] = output * rescale + weights x values. With kSelect a weight of zero leaves
/// its value out, whatever it is.
template <class Arch, int kVectors, bool kSelect>
[[gnu::noinline]] void row_value_tile(const RowValues<Arch>& input, float* output) {
  constexpr std::ptrdiff_t lanes = kLanes<Arch>;
  Batch<Arch> sums[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    sums[v] = Batch<Arch>::load_aligned(output + v * lanes);
    if (input.rescale.is_needed) sums[v] = sums[v] * input.rescale.factor[0];
  }
  const float* value = input.value;
  for (int j = 0; j < input.count; ++j, value += input.stride) {
    if (kSelect && input.weights[j] == 0.0F) continue;
    const Batch<Arch> weight = Batch<Arch>::broadcast(input.weights[j]);
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = multiply_add<Arch>(weight, Batch<Arch>::load_unaligned(value + v * lanes), sums[v]);
    }
  }
  for (int v = 0; v < kVectors; ++v) sums[v].store_aligned(output + v * lanes);
}

/// The same for the numbers behind the last whole vector.
template <class Arch, bool kSelect>
[[gnu::noinline]] void row_value_rest(const RowValues<Arch>& input, int rest, float* output) {
  Batch<Arch> sum = Batch<Arch>::load_aligned(output);
  if (input.rescale.is_needed) sum = sum * input.rescale.factor[0];
  for (int j = 0; j < input.count; ++j) {
    if (kSelect && input.weights[j] == 0.0F) continue;
    const Batch<Arch> value = load_some<Arch>(input.value + j * input.stride, rest);
    sum = multiply_add<Arch>(Batch<Arch>::broadcast(input.weights[j]), value, sum);
  }
  sum.store_aligned(output);
}

/// output[value_dim], aligned and with room up to a whole vector.
template <class Arch, bool kSelect>
inline void add_row_values(const RowValues<Arch>& input, int value_dim, float* output) {
  constexpr int lanes = kLanes<Arch>;
  const int whole = value_dim / lanes;
  const auto from = [&input](int first) {
    RowValues<Arch> rest = input;
    rest.value += first;
    return rest;
  };
  int vector = 0;
  const auto add = [&]<int kVectors>() {
    for (; vector + kVectors <= whole; vector += kVectors) {
      const int first = vector * lanes;
      row_value_tile<Arch, kVectors, kSelect>(from(first), output + first);
    }
  };
  add.template operator()<8>();
  add.template operator()<4>();
  add.template operator()<1>();
  const int done = whole * lanes;
  if (done < value_dim) row_value_rest<Arch, kSelect>(from(done), value_dim - done, output + done);
}

}  // namespace heed::kernels
