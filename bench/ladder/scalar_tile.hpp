// The scalar rungs' microkernel: four rows of one matrix times four columns of another, in sixteen accumulators.
#pragma once

#include "rungs.hpp"

namespace heed::ladder {

/// A matrix of f32: its first number, and the strides of its rows and columns.
struct Strided {
  const float* data;
  int row, column;
};

/// sums[r][c] += sum over k of a(r, k) * b(k, c).
inline void multiply_tile(float (&sums)[kTile][kTile], int depth, const Strided& a, const Strided& b) {
  for (int k = 0; k < depth; ++k) {
    for (int r = 0; r < kTile; ++r) {
      for (int c = 0; c < kTile; ++c) {
        sums[r][c] += a.data[r * a.row + k * a.column] * b.data[k * b.row + c * b.column];
      }
    }
  }
}

}  // namespace heed::ladder
