#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scalar_tile.hpp"

namespace heed::ladder {
namespace {

/// The number of keys whose V stays in the first-level cache while it is used.
constexpr int kBlock = 64;

/// Four queries, and their partial results (m, l, O) after the keys so far.
struct Rows {
  const float* query;
  float* output;  // weighted sums of V, relative to exp(row_max)
  float row_max[kTile];
  float row_sum[kTile];
};

/// Computes the weights of a block of keys, and rescales `rows` to the new row max.
void weigh(float (&weights)[kTile][kBlock], Rows& rows, const float* key, int keys, int dim, float scale) {
  for (int j = 0; j < keys; j += kTile) {
    float sums[kTile][kTile] = {};
    multiply_tile(sums, dim, {rows.query, dim, 1}, {key + j * dim, 1, dim});
    for (int r = 0; r < kTile; ++r) {
      for (int c = 0; c < kTile; ++c) weights[r][j + c] = scale * sums[r][c];
    }
  }
  for (int r = 0; r < kTile; ++r) {
    const float row_max = std::max(rows.row_max[r], *std::max_element(weights[r], weights[r] + keys));
    const float rescale = std::exp(rows.row_max[r] - row_max);
    rows.row_max[r] = row_max;
    rows.row_sum[r] *= rescale;
    for (int e = 0; e < dim; ++e) rows.output[r * dim + e] *= rescale;
    for (int j = 0; j < keys; ++j) rows.row_sum[r] += weights[r][j] = std::exp(weights[r][j] - row_max);
  }
}

void add_values(const float (&weights)[kTile][kBlock], const Rows& rows, const float* value, int keys, int dim) {
  for (int e = 0; e < dim; e += kTile) {
    float sums[kTile][kTile] = {};
    multiply_tile(sums, keys, {&weights[0][0], kBlock, 1}, {value + e, dim, 1});
    for (int r = 0; r < kTile; ++r) {
      for (int c = 0; c < kTile; ++c) rows.output[r * dim + e + c] += sums[r][c];
    }
  }
}

}  // namespace

void online(const Problem& problem) {
  const auto [heads, length, dim, query, key, value, output] = problem;
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
  for (int first = 0; first < heads * length; first += kTile) {
    const int head = first / length * length * dim;
    Rows rows{.query = query + first * dim, .output = output + first * dim, .row_max = {}, .row_sum = {}};
    std::fill_n(rows.row_max, kTile, -std::numeric_limits<float>::infinity());
    std::fill_n(rows.output, kTile * dim, 0.0F);
    for (int j = 0; j < length; j += kBlock) {
      const int keys = std::min(kBlock, length - j);
      float weights[kTile][kBlock];
      weigh(weights, rows, key + head + j * dim, keys, dim, scale);
      add_values(weights, rows, value + head + j * dim, keys, dim);
    }
    for (int r = 0; r < kTile; ++r) {
      for (int e = 0; e < dim; ++e) rows.output[r * dim + e] /= rows.row_sum[r];
    }
  }
}

}  // namespace heed::ladder
