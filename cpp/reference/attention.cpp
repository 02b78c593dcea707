#include "reference/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One query: its batch entry, head and position.
struct Row {
  Index b, h, i;
};

/// The element of a broadcast operand for key j, or `beyond` past the end of its keys.
template <typename T>
double element(const TensorView<const T>& view, const Row& row, Index j, double beyond) {
  if (view.shape[3] != 1 && j >= view.shape[3]) return beyond;
  const std::array<Index, 4> at = {row.b, row.h, row.i, j};
  Index offset = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (view.shape[axis] != 1) offset += at[axis] * view.strides[axis];
  }
  return static_cast<double>(view.data[offset]);
}

/// The score of key j, -infinity when it is masked.
double score(const AttentionInputs& in, const AttentionOptions& options, const Row& row, Index kv_head, Index j) {
  const Index offset = options.causal == Causal::lower_right ? in.key.shape[2] - in.query.shape[2] : 0;
  if (options.causal != Causal::none && j > row.i + offset) return -kInfinity;
  if (in.mask.is_present() && element(in.mask, row, j, 0.0) == 0.0) return -kInfinity;
  const double bias = in.bias.is_present() ? element(in.bias, row, j, -kInfinity) : 0.0;
  if (bias == -kInfinity) return -kInfinity;

  const Index head_dim = in.query.shape[3];
  const double scale =
      options.scale ? static_cast<double>(*options.scale) : 1.0 / std::sqrt(static_cast<double>(head_dim));
  const float* const query = in.query.at(row.b, row.h, row.i);
  const float* const key = in.key.at(row.b, kv_head, j);
  double dot = 0.0;
  for (Index d = 0; d < head_dim; ++d) dot += static_cast<double>(query[d]) * static_cast<double>(key[d]);
  return dot * scale + bias;
}

void attend(const AttentionInputs& in, const AttentionOptions& options, const Row& row, AttentionResult& result) {
  const Index keys = in.key.shape[2];
  const Index kv_head = row.h / (in.query.shape[1] / in.key.shape[1]);

  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(keys));
  for (Index j = 0; j < keys; ++j) weights.push_back(score(in, options, row, kv_head, j));
  const double maximum = keys == 0 ? -kInfinity : *std::ranges::max_element(weights);
  double sum = 0.0;
  for (double& weight : weights) {
    weight = weight == -kInfinity ? 0.0 : std::exp(weight - maximum);
    sum += weight;
  }
  for (double& weight : weights) weight = sum == 0.0 ? 0.0 : weight / sum;

  for (Index e = 0; e < in.value.shape[3]; ++e) {
    double total = 0.0;
    for (Index j = 0; j < keys; ++j) {
      const double weight = weights[static_cast<std::size_t>(j)];
      if (weight != 0.0) total += weight * static_cast<double>(in.value.at(row.b, kv_head, j)[e]);
    }
    result.output.push_back(total);
  }
  result.weights.insert(result.weights.end(), weights.begin(), weights.end());
  result.log_sum_exp.push_back(sum == 0.0 ? -kInfinity : maximum + std::log(sum));
}

}  // namespace

AttentionResult attention(const AttentionInputs& inputs, const AttentionOptions& options) {
  const auto [batch, heads, queries, head_dim] = inputs.query.shape;
  AttentionResult result;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < queries; ++i) attend(inputs, options, {.b = b, .h = h, .i = i}, result);
    }
  }
  return result;
}

}  // namespace heed::reference
