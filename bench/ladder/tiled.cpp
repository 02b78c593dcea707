#include <algorithm>
#include <cmath>
#include <vector>

#include "scalar_tile.hpp"

namespace heed::ladder {
namespace {

/// Computes result = factor * a b, rows x columns numbers.
void multiply(float* result, int rows, int columns, int depth, float factor, const Strided& a, const Strided& b) {
  for (int i = 0; i < rows; i += kTile) {
    for (int j = 0; j < columns; j += kTile) {
      float sums[kTile][kTile] = {};
      multiply_tile(sums, depth, {a.data + i * a.row, a.row, a.column}, {b.data + j * b.column, b.row, b.column});
      for (int r = 0; r < kTile; ++r) {
        for (int c = 0; c < kTile; ++c) result[(i + r) * columns + j + c] = factor * sums[r][c];
      }
    }
  }
}

}  // namespace

void tiled(const Problem& problem) {
  const auto [heads, length, dim, query, key, value, output] = problem;
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
  std::vector<float> weights(static_cast<std::size_t>(length) * static_cast<std::size_t>(length));
  for (int head = 0; head < heads; ++head) {
    const int first = head * length * dim;
    multiply(weights.data(), length, length, dim, scale, {query + first, dim, 1}, {key + first, 1, dim});
    for (int i = 0; i < length; ++i) {
      float* const row = weights.data() + i * length;
      const float row_max = *std::max_element(row, row + length);
      float row_sum = 0.0F;
      for (int j = 0; j < length; ++j) row_sum += row[j] = std::exp(row[j] - row_max);
      for (int j = 0; j < length; ++j) row[j] /= row_sum;
    }
    multiply(output + first, length, dim, length, 1.0F, {weights.data(), length, 1}, {value + first, dim, 1});
  }
}

}  // namespace heed::ladder
