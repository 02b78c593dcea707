#include "score_error.hpp"

#include <algorithm>
#include <cmath>

#include "error_model.hpp"
#include "reference/scores.hpp"

namespace heed::testing {
namespace {

using Numbers = std::vector<double>;

double squared(double x) { return x * x; }

double dim_of(const Numbers& numbers) { return static_cast<double>(numbers.size()); }

double magnitudes(const Numbers& numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += std::abs(number);
  return sum;
}

double length(const Numbers& numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += squared(number);
  return std::sqrt(sum);
}

/// A sum of products, and the squares of what its roundings are of.
struct Sum {
  double value = 0.0;
  double partial_sums = 0.0;
  double products = 0.0;

  void add(double product) {
    value += product;
    partial_sums += squared(value);
    products += squared(product);
  }
};

Score product(const Numbers& query, const Numbers& key, double scale) {
  Sum sum;
  for (std::size_t d = 0; d < query.size(); ++d) sum.add(query[d] * key[d] * scale);
  return {.value = sum.value,
          .common = 5.0 * kUnitRoundoff * std::abs(sum.value) + 0x1p-149 * (dim_of(query) + magnitudes(key)),
          .own = sum.partial_sums + 2.0 * sum.products};
}

Score cosine(const Numbers& query, const Numbers& key, double scale) {
  const double lengths = length(query) * length(key);
  if (lengths == 0.0) return {.value = 0.0, .common = 0.0, .own = 0.0};
  Score score = product(query, key, scale / lengths);
  score.common += std::abs(score.value) * kUnitRoundoff * (kGrowth * std::sqrt(2.0 * dim_of(query)) + 6.0);
  return score;
}

/// The squares of what the roundings of each element of w x are of; zeros without a matrix.
Numbers roundings_of_projection(const TensorView<const float>& w, Index head, const Numbers& x, std::size_t count) {
  Numbers roundings(count);
  for (std::size_t row = 0; row < count && w.is_present(); ++row) {
    Sum sum;
    for (std::size_t column = 0; column < x.size(); ++column) {
      sum.add(reference::parameter(w, head, static_cast<Index>(row), static_cast<Index>(column)) * x[column]);
    }
    roundings[row] = sum.partial_sums + sum.products;
  }
  return roundings;
}

Score general(const ScoreFunction& function, Index head, const Numbers& query, const Numbers& key, double scale) {
  Numbers turned(key.size());
  double in_query = 0.0;
  for (std::size_t d = 0; d < key.size(); ++d) {
    Sum sum;
    for (std::size_t i = 0; i < query.size(); ++i) {
      sum.add(query[i] * reference::parameter(function.w, head, static_cast<Index>(i), static_cast<Index>(d)));
    }
    turned[d] = sum.value;
    in_query += (sum.partial_sums + sum.products) * squared(scale * key[d]);
  }
  Score score = product(turned, key, scale);
  score.common += kGrowth * kUnitRoundoff * std::sqrt(in_query);
  return score;
}

/// The sum of squared differences, exact but for its own roundings.
Score squared_distance(const Numbers& query, const Numbers& key) {
  Sum sum;
  for (std::size_t d = 0; d < query.size(); ++d) sum.add(squared(query[d] - key[d]));
  return {.value = sum.value, .common = 0x1p-148 * dim_of(query), .own = sum.partial_sums + 5.0 * sum.products};
}

Score rbf(const ScoreFunction& function, Index head, const Numbers& query, const Numbers& key, double scale) {
  const double factor = scale / (2.0 * squared(reference::parameter(function.bandwidth, head, 0, 0)));
  const Score distance = squared_distance(query, key);
  const double value = -factor * distance.value;
  return {.value = value,
          .common = 5.0 * kUnitRoundoff * std::abs(value) + std::abs(factor) * distance.common,
          .own = squared(factor) * distance.own};
}

Score distance(const Numbers& query, const Numbers& key, double scale) {
  const Score square = squared_distance(query, key);
  const double root = std::sqrt(square.value);
  // Where squares are no normal numbers any more, the root is off by no more than the root of what they are off by.
  const double lost = root == 0.0 ? 0.0 : std::min(std::sqrt(square.common), square.common / root);
  return {.value = -scale * root,
          .common = std::abs(scale) * (5.0 * kUnitRoundoff * root + lost),
          .own = root == 0.0 ? 0.0 : squared(scale) * square.own / (4.0 * square.value)};
}

Score gated(const ScoreFunction& function, Index head, const Numbers& query, const Numbers& key, double scale) {
  Sum of_query;
  Sum of_key;
  for (std::size_t d = 0; d < query.size(); ++d) {
    of_query.add(reference::parameter(function.w, head, 0, static_cast<Index>(d)) * query[d]);
    of_key.add(reference::parameter(function.w, head, 0, static_cast<Index>(d + query.size())) * key[d]);
  }
  const double offset = function.b.is_present() ? reference::parameter(function.b, head, 0, 0) : 0.0;
  const double argument = of_query.value + offset + of_key.value;
  const double roundings = of_query.partial_sums + of_query.products + of_key.partial_sums + of_key.products;
  const double error =
      kUnitRoundoff * (kGrowth * std::sqrt(roundings) + std::abs(of_query.value + offset) + 3.0 * std::abs(argument));
  const double gate = 1.0 / (1.0 + std::exp(-argument));
  Score score = product(query, key, scale * gate);
  const double steepest = 1.0 - 1.0 / (1.0 + std::exp(error - argument));
  score.common += std::abs(score.value) * (std::expm1(error) * steepest + kSigmoidError + kUnitRoundoff);
  return score;
}

Score additive(const ScoreFunction& function, Index head, const Numbers& query, const Numbers& key, double scale) {
  const Numbers of_query = reference::projected(function.wq, head, query);
  const Numbers of_key = reference::projected(function.wk, head, key);
  const Numbers in_query = roundings_of_projection(function.wq, head, query, of_query.size());
  const Numbers in_key = roundings_of_projection(function.wk, head, key, of_key.size());
  Sum sum;
  double shared = 0.0;
  double own = 0.0;
  double bent = 0.0;
  for (std::size_t c = 0; c < of_query.size(); ++c) {
    const auto column = static_cast<Index>(c);
    const double offset = function.b.is_present() ? reference::parameter(function.b, head, 0, column) : 0.0;
    const double weight = scale * (function.v.is_present() ? reference::parameter(function.v, head, 0, column) : 1.0);
    const double moved = of_query[c] + offset;
    const double argument = moved + of_key[c];
    const double of_moved = in_query[c] + (offset == 0.0 ? 0.0 : squared(moved));
    const double error = kGrowth * kUnitRoundoff * std::sqrt(of_moved + in_key[c] + squared(argument));
    const double slope = 1.0 - squared(std::tanh(std::max(0.0, std::abs(argument) - error)));
    shared += squared(weight * slope) * of_moved;
    own += squared(weight * slope) * (in_key[c] + squared(argument));
    sum.add(weight * std::tanh(argument));
    bent += std::abs(weight * std::tanh(argument));
  }
  return {.value = sum.value,
          .common = kGrowth * kUnitRoundoff * std::sqrt(shared) + kTanhError * bent +
                    3.0 * kUnitRoundoff * std::abs(sum.value) + 0x1p-149 * dim_of(of_query),
          .own = own + sum.partial_sums + 5.0 * sum.products};
}

}  // namespace

double Score::error() const { return common + kGrowth * kUnitRoundoff * std::sqrt(own); }

Score bound_score(const ScoreFunction& score, Index head, double scale, const Numbers& query, const Numbers& key) {
  switch (score.kind) {
    case ScoreKind::cosine:
      return cosine(query, key, scale);
    case ScoreKind::general:
      return general(score, head, query, key, scale);
    case ScoreKind::additive:
      return additive(score, head, query, key, scale);
    case ScoreKind::gated:
      return gated(score, head, query, key, scale);
    case ScoreKind::rbf:
      return rbf(score, head, query, key, scale);
    case ScoreKind::distance:
      return distance(query, key, scale);
    default:
      return product(query, key, scale);
  }
}

}  // namespace heed::testing
