#include "reference/attention.hpp"

#include <cmath>
#include <limits>

namespace heed::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The element of a broadcast operand, or `beyond` past the end of its keys.
template <typename T>
double element(const TensorView<const T>& view, Index b, Index h, Index i, Index j, double absent, double beyond) {
  if (!view.is_present()) return absent;
  if (view.shape[3] != 1 && j >= view.shape[3]) return beyond;
  const auto index = [&view](std::size_t axis, Index at) {
    return view.shape[axis] == 1 ? 0 : at * view.strides[axis];
  };
  return static_cast<double>(view.data[index(0, b) + index(1, h) + index(2, i) + index(3, j)]);
}

}  // namespace

AttentionResult attention(const AttentionInputs& in, const AttentionOptions& options) {
  const auto [batch, heads, queries, head_dim] = in.query.shape;
  const Index keys = in.key.shape[2];
  const Index value_dim = in.value.shape[3];
  const Index group = heads / in.key.shape[1];
  const double scale =
      options.scale ? static_cast<double>(*options.scale) : 1.0 / std::sqrt(static_cast<double>(head_dim));
  const Index offset = options.causal == Causal::lower_right ? keys - queries : 0;

  AttentionResult result;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < queries; ++i) {
        std::vector<double> scores;
        double maximum = -kInfinity;
        for (Index j = 0; j < keys; ++j) {
          double score = 0.0;
          for (Index d = 0; d < head_dim; ++d) {
            score += static_cast<double>(in.query.at(b, h, i)[d]) * static_cast<double>(in.key.at(b, h / group, j)[d]);
          }
          const double bias = element(in.bias, b, h, i, j, 0.0, -kInfinity);
          const bool is_masked = element(in.mask, b, h, i, j, 1.0, 0.0) == 0.0 || bias == -kInfinity ||
                                 (options.causal != Causal::none && j > i + offset);
          scores.push_back(is_masked ? -kInfinity : score * scale + bias);
          if (!is_masked) maximum = std::max(maximum, scores.back());
        }

        double sum = 0.0;
        for (double& score : scores) {
          score = score == -kInfinity ? 0.0 : std::exp(score - maximum);
          sum += score;
        }
        for (double& weight : scores) weight = sum == 0.0 ? 0.0 : weight / sum;

        for (Index e = 0; e < value_dim; ++e) {
          double total = 0.0;
          for (Index j = 0; j < keys; ++j) {
            const double weight = scores[static_cast<std::size_t>(j)];
            if (weight != 0.0) total += weight * static_cast<double>(in.value.at(b, h / group, j)[e]);
          }
          result.output.push_back(total);
        }
        result.weights.insert(result.weights.end(), scores.begin(), scores.end());
        result.log_sum_exp.push_back(sum == 0.0 ? -kInfinity : maximum + std::log(sum));
      }
    }
  }
  return result;
}

}  // namespace heed::reference
