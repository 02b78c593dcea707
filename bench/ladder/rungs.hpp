// Attention three times in plain C++, each version one idea better than the one before. They take the simplest problem
// only, and are written to be read. The kernels are the rungs above them.
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

/// Computes by the definition: all scores, all weights, all outputs, one number at a time.
void naive(const Problem& problem);

/// Computes the same three steps with 4 x 4 register tiles: every loaded number is used four times, and sixteen
/// accumulators are independent.
void tiled(const Problem& problem);

/// Computes in tiles with an online softmax: the scores of one block of keys at a time, never all of them.
void online(const Problem& problem);

}  // namespace heed::ladder
