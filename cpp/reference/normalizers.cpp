#include "reference/normalizers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace heed::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The t by which max(score - t, 0) adds up to 1: by sorting (Martins and Astudillo 2016, algorithm 1).
double simplex_threshold(std::vector<double> scores) {
  std::ranges::sort(scores, std::greater<>());
  double sum = 0.0;
  double threshold = 0.0;
  for (std::size_t n = 0; n < scores.size() && scores[n] != -kInfinity; ++n) {
    sum += scores[n];
    const auto count = static_cast<double>(n + 1);
    if (1.0 + count * scores[n] <= sum) break;
    threshold = (sum - 1.0) / count;
  }
  return threshold;
}

std::vector<double> weights_at(const std::vector<double>& scores, Normalizer normalizer) {
  const double threshold = normalizer == Normalizer::sparsemax ? simplex_threshold(scores) : 0.0;
  std::vector<double> weights;
  weights.reserve(scores.size());
  for (const double score : scores) {
    if (score == -kInfinity) {
      weights.push_back(0.0);
    } else if (normalizer == Normalizer::sparsemax) {
      weights.push_back(std::max(score - threshold, 0.0));
    } else if (normalizer == Normalizer::sigmoid) {
      weights.push_back(1.0 / (1.0 + std::exp(-score)));
    } else {
      weights.push_back(score);
    }
  }
  return weights;
}

}  // namespace

std::vector<double> best_of(std::vector<double> scores, const AttentionOptions& options) {
  const Index wanted = options.normalizer == Normalizer::hard ? 1 : options.top_k;
  if (wanted == 0 || wanted >= std::ssize(scores)) return scores;
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&scores](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  for (auto place = static_cast<std::size_t>(wanted); place < order.size(); ++place) scores[order[place]] = -kInfinity;
  return scores;
}

Normalized normalize(const std::vector<double>& given, const AttentionOptions& options, double sink) {
  const std::vector<double> scores = best_of(given, options);
  Normalized result{.weights = std::vector<double>(scores.size()), .log_sum_exp = -kInfinity, .entropy = 0.0};
  const double highest = scores.empty() ? -kInfinity : *std::ranges::max_element(scores);
  if (highest == -kInfinity) return result;

  const double row_max = std::max(highest, sink);
  double sum = std::exp(sink - row_max);
  for (const double score : scores) sum += std::exp(score - row_max);
  result.log_sum_exp = row_max + std::log(sum);
  if (options.normalizer == Normalizer::softmax || options.normalizer == Normalizer::hard) {
    for (std::size_t j = 0; j < scores.size(); ++j) result.weights[j] = std::exp(scores[j] - row_max) / sum;
  } else {
    result.weights = weights_at(scores, options.normalizer);
  }
  for (const double weight : result.weights) {
    if (weight > 0.0) result.entropy -= weight * std::log(weight);
  }
  return result;
}

}  // namespace heed::reference
