#include "normalizer_error.hpp"

#include <algorithm>
#include <cmath>

#include "reference/numbers.hpp"
#include "score_error.hpp"

namespace heed::testing {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double squared(double x) { return x * x; }

/// What the t of a row's sparsemax is off by.
double threshold_error(std::span<const double> weights, const std::vector<double>& best,
                       const std::vector<double>& errors) {
  const double highest = *std::ranges::max_element(best);
  double worst = 0.0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    // Nobody else is within 1 of the maximum.
    if (best[j] > highest - 1.0 - 4.0 * errors[j]) worst = std::max(worst, errors[j]);
  }
  return worst + kUnitRoundoff * (kGrowth + 6.0);
}

/// How far each weight may be from the exact one, before dropout.
std::vector<double> weight_errors(Normalizer normalizer, const ExactRow& exact, const std::vector<double>& best,
                                  const std::vector<double>& errors) {
  const bool is_sparse = normalizer == Normalizer::sparsemax;
  const double of_threshold = is_sparse ? threshold_error(exact.weights, best, errors) : 0.0;
  double threshold = 0.0;
  for (std::size_t j = 0; j < best.size() && is_sparse; ++j) {
    if (exact.weights[j] > 0.0) threshold = best[j] - exact.weights[j];
  }
  std::vector<double> result(best.size());
  for (std::size_t j = 0; j < best.size(); ++j) {
    if (best[j] == -kInfinite) continue;
    const double weight = exact.weights[j];
    if (normalizer == Normalizer::sigmoid) {
      const double steepest = 1.0 - 1.0 / (1.0 + std::exp(errors[j] - best[j]));
      result[j] = weight * (std::expm1(errors[j]) * steepest + kSigmoidError) + 0x1p-126;
    } else if (is_sparse) {
      const double error = errors[j] + of_threshold;
      result[j] = best[j] - threshold + error > 0.0 ? error : 0.0;
    } else {
      result[j] = errors[j] + 2.0 * kUnitRoundoff * std::abs(weight);
    }
  }
  return result;
}

double entropy_term(double weight) { return weight > 0.0 ? -weight * std::log(weight) : 0.0; }

double bound_entropy(std::span<const double> weights, const std::vector<double>& errors) {
  double bound = 0.0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const double term = entropy_term(weights[j]);
    const double less = entropy_term(weights[j] - errors[j]);
    const double more = entropy_term(weights[j] + errors[j]);
    // Between, the term is nowhere further off, but where it has its maximum, 1 / e.
    const double top =
        weights[j] - errors[j] < std::exp(-1.0) && weights[j] + errors[j] > std::exp(-1.0) ? std::exp(-1.0) : term;
    bound += std::max({std::abs(less - term), std::abs(more - term), top - term}) + 4.0 * kUnitRoundoff * term;
  }
  return bound + kUnitRoundoff * kGrowth * std::sqrt(static_cast<double>(weights.size()));
}

}  // namespace

void bound_each(Normalizer normalizer, const ExactRow& exact, const std::vector<double>& best,
                const std::vector<double>& errors, RowBounds& bounds) {
  const std::vector<double> of_weights = weight_errors(normalizer, exact, best, errors);
  std::vector<double> outputs(bounds.output.size());
  std::vector<double> roundings(bounds.output.size());
  for (std::size_t j = 0; j < best.size(); ++j) {
    const double kept = exact.kept.empty() ? 1.0 : exact.kept[j];
    bounds.weights[j] = kept * (of_weights[j] + 2.0 * kUnitRoundoff * std::abs(exact.weights[j]));
    if (best[j] == -kInfinite || kept == 0.0) continue;
    if (exact.weights[j] == 0.0 && of_weights[j] == 0.0) continue;
    const std::vector<double>& value = exact.values[j];
    const double floor = normalizer == Normalizer::sigmoid ? 0x1p-79 : 0.0;
    for (std::size_t e = 0; e < outputs.size(); ++e) {
      const double product = kept * exact.weights[j] * value[e];
      outputs[e] += product;
      roundings[e] += squared(outputs[e]) + squared(product);
      bounds.output[e] += kept * (of_weights[j] + floor) * std::abs(value[e]) + 0x1p-149;
    }
  }
  for (std::size_t e = 0; e < outputs.size(); ++e) {
    bounds.output[e] += kUnitRoundoff * (kGrowth * std::sqrt(roundings[e]) + 4.0 * std::abs(outputs[e]));
  }
  if (normalizer == Normalizer::sparsemax) bounds.entropy = bound_entropy(exact.weights, of_weights);
}

}  // namespace heed::testing
