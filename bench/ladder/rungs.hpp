// Attention three times in plain C++, each version one idea better than the one before. They take the simplest problem
// only, and are written to be read; the kernels are what comes after them.
#pragma once

namespace heed::ladder {

/// Self-attention of `heads` heads, dense [heads, length, dim], no masks. The length is a multiple of kTile.
struct Problem {
  int heads, length, dim;
  const float* query;
  const float* key;
  const float* value;
  float* output;
};

inline constexpr int kTile = 4;

/// By the definition: all scores, all weights, all sums, one number at a time.
void naive(const Problem& problem);

/// The same three steps, the products in tiles: what is loaded is used four times, and sixteen sums do not wait for
/// each other.
void tiled(const Problem& problem);

/// The tiles, with a softmax that corrects itself as it goes: the scores of a few keys at a time, never all of them.
void online(const Problem& problem);

}  // namespace heed::ladder
