#include "error_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::testing {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double squared(double x) { return x * x; }

/// A key that takes part, and how wrong its score may be.
struct Term {
  Index j;
  double weight;
  double score;
  double common;  // d_j, of errors that keys share
  double own;     // d_j, of the key's own roundings, kGrowth included
};

Term make_term(const float* query, const float* key, Index head_dim, double scale) {
  Term term{};
  double partial_sums = 0.0;
  double products = 0.0;
  double magnitudes = 0.0;
  double dot = 0.0;
  for (Index d = 0; d < head_dim; ++d) {
    const double product = static_cast<double>(query[d]) * static_cast<double>(key[d]) * scale;
    dot += product;
    partial_sums += squared(dot);
    products += squared(product);
    magnitudes += std::abs(static_cast<double>(key[d]));
  }
  term.score = dot;  // of which the bias is still missing
  term.common = 5.0 * kUnitRoundoff * std::abs(dot) + 0x1p-149 * (static_cast<double>(head_dim) + magnitudes);
  term.own = partial_sums + 2.0 * products;
  return term;
}

std::vector<Term> make_terms(const AttentionInputs& in, double scale, const RowPosition& row,
                             std::span<const double> weights, double log_sum_exp) {
  const Index kv_head = row.h / (in.query.shape[1] / in.key.shape[1]);
  const float* const query = in.query.at(row.b, row.h, row.i);
  const double maximum = log_sum_exp + std::log(*std::ranges::max_element(weights));
  std::vector<Term> terms;
  for (Index j = 0; j < in.key.shape[2]; ++j) {
    const double weight = weights[static_cast<std::size_t>(j)];
    if (weight == 0.0) continue;
    Term term = make_term(query, in.key.at(row.b, kv_head, j), in.query.shape[3], scale);
    const double dot = term.score;
    term.j = j;
    term.weight = weight;
    term.score = log_sum_exp + std::log(weight);
    const double bias = in.bias.is_present() ? term.score - dot : 0.0;
    term.common += kUnitRoundoff * std::abs(bias);
    term.own += squared(2.0 * bias) + squared(term.score - maximum);
    if (in.bias.is_present()) term.own += squared(term.score);
    term.own = kGrowth * kUnitRoundoff * std::sqrt(term.own);
    terms.push_back(term);
  }
  return terms;
}

/// Errors that all elements of a row's results have in common.
struct Shared {
  double rescalings;  // how often the running maximum can have risen
  double power;       // relative, of a weight before normalising
  double sum;         // relative, of the sum of weights
  double inflation;   // of everything, for what the first order leaves out
};

Shared find_shared(const std::vector<Term>& terms) {
  double rescalings = 0.0;
  double maximum = -kInfinite;
  double sum = 0.0;
  double partial_sums = 0.0;
  double largest = 0.0;
  for (const Term& term : terms) {
    if (term.score > maximum) rescalings += 1.0;
    maximum = std::max(maximum, term.score);
    sum += term.weight;
    partial_sums += squared(sum);
    largest = std::max(largest, term.common + term.own);
  }
  return {.rescalings = rescalings,
          .power = kExp2Error * (1.0 + rescalings) + rescalings * kUnitRoundoff,
          .sum = kUnitRoundoff * (kGrowth * std::sqrt(partial_sums) + rescalings),
          .inflation = std::exp(2.0 * largest)};
}

double bound_output(const std::vector<Term>& terms, const Shared& shared, const std::vector<double>& values) {
  double output = 0.0;
  double partial_sums = 0.0;
  double largest_partial = 0.0;
  double largest_value = 0.0;
  for (std::size_t n = 0; n < terms.size(); ++n) {
    const double product = terms[n].weight * values[n];
    output += product;
    partial_sums += squared(output) + squared(product);
    largest_partial = std::max(largest_partial, std::abs(output));
    largest_value = std::max(largest_value, std::abs(values[n]));
  }
  double common = 0.0;
  double own = 0.0;
  for (std::size_t n = 0; n < terms.size(); ++n) {
    const double lever = terms[n].weight * std::abs(values[n] - output);
    common += lever * (terms[n].common + shared.power);
    own += squared(lever * terms[n].own);
  }
  const double sums = kUnitRoundoff * (kGrowth * std::sqrt(partial_sums) + shared.rescalings * largest_partial) +
                      shared.sum * std::abs(output);
  const double floor = static_cast<double>(terms.size()) * (0x1p-79 * largest_value + 0x1p-149);
  return shared.inflation * (common + std::sqrt(own) + sums + 2.0 * kUnitRoundoff * std::abs(output)) + floor;
}

}  // namespace

RowBounds bound_row(const AttentionInputs& in, double scale, const RowPosition& row, std::span<const double> weights,
                    double log_sum_exp) {
  RowBounds bounds;
  bounds.output.assign(static_cast<std::size_t>(in.value.shape[3]), 0.0);
  bounds.weights.assign(weights.size(), 0.0);
  if (log_sum_exp == -kInfinite) return bounds;  // no key: exact zeros

  const std::vector<Term> terms = make_terms(in, scale, row, weights, log_sum_exp);
  const Shared shared = find_shared(terms);

  const Index kv_head = row.h / (in.query.shape[1] / in.key.shape[1]);
  std::vector<double> values(terms.size());
  for (std::size_t e = 0; e < bounds.output.size(); ++e) {
    for (std::size_t n = 0; n < terms.size(); ++n) {
      values[n] = static_cast<double>(in.value.at(row.b, kv_head, terms[n].j)[e]);
    }
    bounds.output[e] = bound_output(terms, shared, values);
  }

  double common = 0.0;
  double own = 0.0;
  double maximum = -kInfinite;
  for (const Term& term : terms) {
    common += term.weight * (term.common + shared.power);
    own += squared(term.weight * term.own);
    maximum = std::max(maximum, term.score);
  }
  const double normaliser = common + std::sqrt(own) + shared.sum;
  for (const Term& term : terms) {
    const double relative = term.common + term.own + kExp2Error + normaliser + 2.0 * kUnitRoundoff;
    bounds.weights[static_cast<std::size_t>(term.j)] = shared.inflation * term.weight * relative + 0x1p-126;
  }
  // lse = maximum * ln 2 + log(sum): two roundings and a unit in the last place of log, and the addition.
  const double last_steps = 2.0 * std::abs(maximum) + 2.0 * std::abs(log_sum_exp - maximum) + std::abs(log_sum_exp);
  const double floor = static_cast<double>(terms.size()) * 0x1p-80;
  bounds.log_sum_exp = shared.inflation * normaliser + kUnitRoundoff * last_steps + floor;
  return bounds;
}

}  // namespace heed::testing
