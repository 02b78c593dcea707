#include <algorithm>
#include <cmath>
#include <vector>

#include "rungs.hpp"

namespace heed::ladder {
namespace {

float dot(const float* a, const float* b, int count) {
  float sum = 0.0F;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void naive(const Problem& problem) {
  const auto [heads, length, dim, query, key, value, output] = problem;
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
  std::vector<float> weights(static_cast<std::size_t>(length) * static_cast<std::size_t>(length));
  for (int head = 0; head < heads; ++head) {
    const int first = head * length;
    for (int i = 0; i < length; ++i) {
      for (int j = 0; j < length; ++j) {
        weights[static_cast<std::size_t>(i * length + j)] =
            scale * dot(query + (first + i) * dim, key + (first + j) * dim, dim);
      }
    }
    for (int i = 0; i < length; ++i) {
      float* const row = weights.data() + i * length;
      const float row_max = *std::max_element(row, row + length);
      float row_sum = 0.0F;
      for (int j = 0; j < length; ++j) row_sum += row[j] = std::exp(row[j] - row_max);
      for (int j = 0; j < length; ++j) row[j] /= row_sum;
    }
    for (int i = 0; i < length; ++i) {
      for (int e = 0; e < dim; ++e) {
        float sum = 0.0F;
        for (int j = 0; j < length; ++j) {
          sum += weights[static_cast<std::size_t>(i * length + j)] * value[(first + j) * dim + e];
        }
        output[(first + i) * dim + e] = sum;
      }
    }
  }
}

}  // namespace heed::ladder
