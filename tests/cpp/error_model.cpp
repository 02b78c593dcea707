#include "error_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "expression_error.hpp"
#include "normalizer_error.hpp"
#include "reference/normalizers.hpp"
#include "reference/numbers.hpp"
#include "score_error.hpp"

namespace heed::testing {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double squared(double x) { return x * x; }

/// A key that takes part, and how wrong its score may be.
struct Term {
  Index j;  // kSink: the sink
  double weight;
  double score;
  double common;  // d_j, of errors that keys share
  double own;     // d_j, of the key's own roundings, kGrowth included
};

constexpr Index kSink = -1;

Score cap(const Score& raw, double softcap) {
  if (softcap == 0.0) return raw;
  const double capped = softcap * std::tanh(raw.value / softcap);
  // The slope of tanh where the error brings the score nearest to 0.
  const double nearest = std::max(0.0, std::abs(raw.value) - raw.error()) / softcap;
  const double slope = 1.0 - squared(std::tanh(nearest));
  return {.value = capped,
          .common = slope * (raw.common + 4.0 * kUnitRoundoff * std::abs(raw.value)) +
                    (kTanhError + 4.0 * kUnitRoundoff) * std::abs(capped),
          .own = squared(slope) * raw.own};
}

/// `sum` is what ALiBi and bias make of it.
Score add(const Score& capped, double alibi, double bias, double sum) {
  Score score{.value = sum,
              .common = capped.common + kUnitRoundoff * (2.0 * std::abs(alibi) + std::abs(bias)),
              .own = capped.own + squared(2.0 * bias) + squared(alibi)};
  if (alibi != 0.0) score.own += squared(capped.value + alibi);
  if (bias != 0.0) score.own += squared(sum);
  return score;
}

/// How wrong a score may be because its query was quantized to int16, as it is for an int8 cache.
double bound_i16_query(const AttentionInputs& in, const ScoreRules& rules, Index head, const std::vector<double>& query,
                       const std::vector<double>& key) {
  const ScoreKind kind = rules.score.kind;
  const bool is_product = kind != ScoreKind::additive && kind != ScoreKind::rbf && kind != ScoreKind::distance;
  if (in.key.dtype != DType::i8_keys || !is_product) return 0.0;
  const auto size_of = [](const std::vector<double>& numbers, auto power) {
    double sum = 0.0;
    for (const double number : numbers) sum += power(std::abs(number));
    return sum;
  };
  double largest = 0.0;
  if (kind == ScoreKind::general) {
    const TensorView<const float>& w = rules.score.w;
    for (std::size_t column = 0; column < key.size(); ++column) {
      double sum = 0.0;
      for (std::size_t row = 0; row < query.size(); ++row) {
        const float* const w_row = w.at(0, w.shape[1] == 1 ? 0 : head, static_cast<Index>(row));
        sum += query[row] * static_cast<double>(w_row[static_cast<Index>(column) * w.strides[3]]);
      }
      largest = std::max(largest, std::abs(sum));
    }
  } else {
    for (const double number : query) largest = std::max(largest, std::abs(number));
  }
  const auto dim = static_cast<double>(key.size());
  const double levels = std::min(32767.0, std::floor(2147483647.0 / 127.0 / dim));
  double error = std::abs(rules.scale) * largest / (2.0 * levels) * size_of(key, [](double x) { return x; });
  if (kind == ScoreKind::cosine) {
    const double norms = std::sqrt(size_of(query, squared) * size_of(key, squared));
    error = norms > 0.0 ? error / norms : 0.0;
  }
  return 1.0001 * error;  // the scale of the query is rounded, too
}

/// The scores of all keys; notes how wrong they may be when they are handed out.
std::vector<Score> make_scores(const AttentionInputs& in, const ScoreRules& rules, const RowPosition& row,
                               const ExactRow& exact, RowBounds& bounds) {
  std::vector<Score> scores;
  scores.reserve(static_cast<std::size_t>(in.key.shape[2]));
  const std::vector<double> query = reference::read_row(in.query, row.b, row.h, row.i);
  for (Index j = 0; j < in.key.shape[2]; ++j) {
    const std::vector<double>& key = exact.keys[static_cast<std::size_t>(j)];
    Score raw = bound_score(rules.score, row.h, rules.scale, query, key);
    raw.common += bound_i16_query(in, rules, row.h, query, key);
    const Score capped = cap(raw, rules.softcap);
    Score modified = capped;
    if (rules.expressions.have(ProgramOf::score)) {
      const reference::Place place{.score = capped.value, .b = row.b, .h = row.h, .i = row.i, .j = j};
      const BoundedValue made = bound_mod(rules.expressions, ProgramOf::score, place, capped.error());
      modified = {.value = made.value, .common = made.error + 2.0 * kUnitRoundoff * std::abs(made.value), .own = 0.0};
    }
    const double alibi = -rules.slope * std::abs(rules.position - static_cast<double>(j));
    const double sum = exact.scores[static_cast<std::size_t>(j)];
    const double bias = in.bias.is_present() && sum != -kInfinite ? sum - modified.value - alibi : 0.0;
    scores.push_back(add(modified, alibi, bias, sum));
    const auto hand_out = [&bounds](ScoreStage stage, const Score& score) {
      const double last_steps = 2.0 * kUnitRoundoff * std::abs(score.value);
      bounds.scores[static_cast<std::size_t>(stage)].push_back(score.error() + last_steps);
    };
    hand_out(ScoreStage::raw, raw);
    hand_out(ScoreStage::capped, capped);
    hand_out(ScoreStage::masked, scores.back());
  }
  return scores;
}

std::vector<Term> make_terms(const ScoreRules& rules, const ExactRow& exact, const std::vector<Score>& scores) {
  double row_max = -kInfinite;
  for (const Score& score : scores) row_max = std::max(row_max, score.value);
  std::vector<Term> terms;
  terms.reserve(scores.size() + 1);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (exact.weights[j] == 0.0) continue;
    const double own = scores[j].own + squared(scores[j].value - row_max);
    terms.push_back({.j = static_cast<Index>(j),
                     .weight = exact.weights[j],
                     .score = scores[j].value,
                     .common = scores[j].common,
                     .own = kGrowth * kUnitRoundoff * std::sqrt(own)});
  }
  if (rules.sink != -kInfinite) {
    const double highest = std::max(row_max, rules.sink);
    const double own = std::abs(rules.sink - highest) + 2.0;
    terms.push_back({.j = kSink,
                     .weight = std::exp(rules.sink - exact.log_sum_exp),
                     .score = rules.sink,
                     .common = kUnitRoundoff * 2.0 * std::abs(rules.sink),
                     .own = kUnitRoundoff * own});
  }
  return terms;
}

/// Roundings of the sum of weights, in units of u. Equal weights are rounded alike, as where an expression gives many
/// keys one score: all of them may be lost beside a large one.
double roundings_of_sum(const std::vector<Term>& terms) {
  std::map<double, std::vector<double>> partial_sums;
  double sum = 0.0;
  for (const Term& term : terms) partial_sums[term.weight].push_back(sum += term.weight);
  double alike = 0.0;
  double own = 0.0;
  for (const auto& [weight, sums] : partial_sums) {
    if (sums.size() == 1) own += squared(sums.front());
    for (const double partial : sums) alike += sums.size() == 1 ? 0.0 : partial;
  }
  return alike + kGrowth * std::sqrt(own);
}

/// Errors that all elements of a row's results have in common.
struct Shared {
  double rescalings;  // how often the running maximum can have risen
  double power;       // relative, of a weight before normalising
  double sum;         // relative, of the sum of weights
  double rescale;     // relative, of all weights, by a sink
  double last_steps;  // relative, of outputs and weights: the division, and dropout
  double inflation;   // of everything, for what the first order leaves out
};

Shared find_shared(const std::vector<Term>& terms, bool has_dropout) {
  double rescalings = 0.0;
  double row_max = -kInfinite;
  double largest = 0.0;
  double rescale = 0.0;
  for (const Term& term : terms) {
    if (term.j == kSink) rescale = kUnitRoundoff * (8.0 + std::max(0.0, term.score - row_max));
    if (term.score > row_max) rescalings += 1.0;
    row_max = std::max(row_max, term.score);
    largest = std::max(largest, term.common + term.own);
  }
  return {.rescalings = rescalings,
          .power = kExp2Error * (1.0 + rescalings) + rescalings * kUnitRoundoff,
          .sum = kUnitRoundoff * (roundings_of_sum(terms) + rescalings),
          .rescale = rescale,
          .last_steps = (has_dropout ? 4.0 : 2.0) * kUnitRoundoff,
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
                      (shared.sum + shared.rescale) * std::abs(output);
  const double floor = static_cast<double>(terms.size()) * (0x1p-79 * largest_value + 0x1p-149);
  return shared.inflation * (common + std::sqrt(own) + sums + shared.last_steps * std::abs(output)) + floor;
}

double kept_of(const ExactRow& exact, Index j) {
  return exact.kept.empty() ? 1.0 : exact.kept[static_cast<std::size_t>(j)];
}

/// What is common to the weights of a row, relative: errors in the sum that they are divided by.
double bound_normaliser(const std::vector<Term>& terms, const Shared& shared) {
  double common = 0.0;
  double own = 0.0;
  for (const Term& term : terms) {
    common += term.weight * (term.common + shared.power);
    own += squared(term.weight * term.own);
  }
  return common + std::sqrt(own) + shared.sum + shared.rescale;
}

double bound_log_sum_exp(const std::vector<Term>& terms, const Shared& shared, double normaliser, double exact) {
  double row_max = -kInfinite;
  for (const Term& term : terms) row_max = std::max(row_max, term.score);
  // lse = maximum * ln 2 + log(sum): two roundings and a unit in the last place of log, and the addition.
  const double last_steps = 2.0 * std::abs(row_max) + 2.0 * std::abs(exact - row_max) + std::abs(exact);
  const double floor = static_cast<double>(terms.size()) * 0x1p-80;
  return shared.inflation * normaliser + kUnitRoundoff * last_steps + floor;
}

double bound_entropy(const std::vector<Term>& terms, const Shared& shared, const ExactRow& exact) {
  double highest = -kInfinite;
  double lowest = kInfinite;
  double total = 0.0;
  for (const Term& term : terms) {
    if (term.j == kSink) continue;
    highest = std::max(highest, term.score);
    lowest = std::min(lowest, term.score);
    total += term.weight;
  }
  const double offset = total - exact.entropy;
  double common = 0.0;
  double own = 0.0;
  double spread = 0.0;  // A, and its roundings
  double roundings = 0.0;
  for (const Term& term : terms) {
    const double logarithm = term.score - exact.log_sum_exp;
    const double lever = term.weight * (term.j == kSink ? std::abs(offset) : std::abs(logarithm + 1.0 - offset));
    common += lever * term.common + term.weight * (std::abs(logarithm) + std::abs(offset)) * shared.power;
    own += squared(lever * term.own);
    if (term.j == kSink) continue;
    const double product = term.weight * (highest - term.score);
    spread += product;
    roundings += squared(spread) + squared(product);
  }
  const double logs = total * std::abs(exact.log_sum_exp - highest);  // B
  const double sums =
      kUnitRoundoff * kGrowth * std::sqrt(roundings) + shared.rescalings * (kExp2Error + 3.0 * kUnitRoundoff) * spread +
      (shared.sum + shared.rescale) * (1.0 + exact.entropy) + kUnitRoundoff * (6.0 * (spread + logs) + 4.0 * total);
  const double floor = static_cast<double>(terms.size()) * (0x1p-72 + 0x1p-79 * (highest - lowest));
  return shared.inflation * (common + std::sqrt(own) + sums) + floor;
}

/// Of the scores as normalizers take them.
std::vector<double> errors_of(const std::vector<Score>& scores) {
  std::vector<double> errors;
  errors.reserve(scores.size());
  for (const Score& score : scores) errors.push_back(score.error() + 2.0 * kUnitRoundoff * std::abs(score.value));
  return errors;
}

/// Tells whether the errors may have exchanged one of the best with another key, and how far apart these are.
void bound_selection(std::span<const double> scores, const std::vector<double>& best, const std::vector<double>& errors,
                     RowBounds& bounds) {
  struct Limit {
    double score, with_error;
  };
  Limit lowest_kept{kInfinite, kInfinite};
  Limit highest_dropped{-kInfinite, -kInfinite};
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (scores[j] == -kInfinite) continue;
    if (best[j] == -kInfinite) {
      highest_dropped.score = std::max(highest_dropped.score, scores[j]);
      highest_dropped.with_error = std::max(highest_dropped.with_error, scores[j] + errors[j]);
    } else {
      lowest_kept.score = std::min(lowest_kept.score, scores[j]);
      lowest_kept.with_error = std::min(lowest_kept.with_error, scores[j] - errors[j]);
    }
  }
  bounds.is_open = highest_dropped.with_error >= lowest_kept.with_error;
  bounds.apart = lowest_kept.score - highest_dropped.score;
}

/// With weights as the normalizer makes them.
RowBounds bound_normalized(const AttentionInputs& in, const ScoreRules& rules, const RowPosition& row,
                           const ExactRow& exact) {
  RowBounds bounds;
  bounds.output.assign(static_cast<std::size_t>(in.value.shape[3]), 0.0);
  bounds.weights.assign(exact.weights.size(), 0.0);
  const std::vector<Score> scores = make_scores(in, rules, row, exact, bounds);
  if (exact.log_sum_exp == -kInfinite) return bounds;  // no key: exact zeros

  const std::vector<double> errors = errors_of(scores);
  const AttentionOptions selection{{}, {}, {.normalizer = rules.normalizer, .top_k = rules.top_k}};
  const std::vector<double> best = reference::best_of({exact.scores.begin(), exact.scores.end()}, selection);
  bound_selection(exact.scores, best, errors, bounds);
  if (rules.normalizer != Normalizer::softmax && rules.normalizer != Normalizer::hard) {
    bound_each(rules.normalizer, exact, best, errors, bounds);
    return bounds;
  }

  const std::vector<Term> terms = make_terms(rules, exact, scores);
  const Shared shared = find_shared(terms, !exact.kept.empty());

  std::vector<double> values(terms.size());
  for (std::size_t e = 0; e < bounds.output.size(); ++e) {
    for (std::size_t n = 0; n < terms.size(); ++n) {
      const Index j = terms[n].j;
      values[n] = j == kSink ? 0.0 : kept_of(exact, j) * exact.values[static_cast<std::size_t>(j)][e];
    }
    bounds.output[e] = bound_output(terms, shared, values);
  }

  const double normaliser = bound_normaliser(terms, shared);
  for (const Term& term : terms) {
    if (term.j == kSink) continue;
    const double relative = term.common + term.own + kExp2Error + normaliser + shared.last_steps;
    bounds.weights[static_cast<std::size_t>(term.j)] =
        kept_of(exact, term.j) * (shared.inflation * term.weight * relative + 0x1p-126);
  }
  bounds.log_sum_exp = bound_log_sum_exp(terms, shared, normaliser, exact.log_sum_exp);
  bounds.entropy = bound_entropy(terms, shared, exact);
  return bounds;
}

/// The weights and outputs of a row whose weights are rewritten, and which of its keys are not masked: see weight_mod.
/// Gives the new weights.
std::vector<double> bound_rewritten(const ScoreRules& rules, const RowPosition& row, const ExactRow& exact,
                                    RowBounds& bounds) {
  const AttentionOptions selection{{}, {}, {.normalizer = rules.normalizer, .top_k = rules.top_k}};
  const std::vector<double> best = reference::best_of({exact.scores.begin(), exact.scores.end()}, selection);
  std::vector<double> outputs(bounds.output.size());
  std::vector<double> roundings(bounds.output.size());
  std::vector<double> weights(best.size());
  std::ranges::fill(bounds.output, 0.0);
  for (std::size_t j = 0; j < best.size(); ++j) {
    if (best[j] == -kInfinite) continue;
    const auto key = static_cast<Index>(j);
    const reference::Place place{.score = exact.weights[j], .b = row.b, .h = row.h, .i = row.i, .j = key};
    const BoundedValue made = bound_mod(rules.expressions, ProgramOf::weight, place, bounds.weights[j]);
    weights[j] = made.value;
    const double kept = kept_of(exact, key);
    bounds.weights[j] = kept * (made.error + 3.0 * kUnitRoundoff * std::abs(made.value));
    const std::vector<double>& value = exact.values[j];
    for (std::size_t e = 0; e < outputs.size(); ++e) {
      const double product = kept * made.value * value[e];
      outputs[e] += product;
      roundings[e] += squared(outputs[e]) + squared(product);
      bounds.output[e] += bounds.weights[j] * std::abs(value[e]) + 0x1p-149;
    }
  }
  for (std::size_t e = 0; e < outputs.size(); ++e) {
    bounds.output[e] += kUnitRoundoff * (kGrowth * std::sqrt(roundings[e]) + 4.0 * std::abs(outputs[e]));
  }
  return weights;
}

/// Values in a tile, whose weights are quantized with one scale.
constexpr Index kI8TileValues = 32;

/// Adds the errors of outputs from weights of int8 values, which are quantized to int16: half a scale of each weight,
/// and the scale is a 32767th of the largest weight times scale in its tile.
void add_i16_weight_errors(const ExactRow& exact, const Pages& pages, std::span<const double> given,
                           std::vector<double>& outputs) {
  const std::size_t count = exact.values.size();
  std::vector<double> scales(count);
  std::map<Index, double> largest_of_tile;
  const auto tile_of = [&pages](std::size_t j) {
    const Index place = pages.first + static_cast<Index>(j);
    return place / pages.rows * pages.rows + place % pages.rows / kI8TileValues;
  };
  for (std::size_t j = 0; j < count; ++j) {
    double largest = 0.0;
    for (const double value : exact.values[j]) largest = std::max(largest, std::abs(value));
    scales[j] = largest / 127.0;
    double& of_tile = largest_of_tile[tile_of(j)];
    of_tile = std::max(of_tile, std::abs(given[j]) * kept_of(exact, static_cast<Index>(j)) * scales[j]);
  }
  for (std::size_t e = 0; e < outputs.size(); ++e) {
    for (std::size_t j = 0; j < count; ++j) {
      if (scales[j] == 0.0) continue;
      outputs[e] += 1.0001 * largest_of_tile[tile_of(j)] * std::abs(exact.values[j][e]) / scales[j] / 65534.0;
    }
  }
}

}  // namespace

RowBounds bound_row(const AttentionInputs& in, const ScoreRules& rules, const RowPosition& row, const ExactRow& exact) {
  ExactRow undropped = exact;
  std::vector<double> weights(exact.weights.begin(), exact.weights.end());
  const bool are_rewritten = rules.expressions.have(ProgramOf::weight);
  if (are_rewritten) undropped.kept = {};
  RowBounds bounds = bound_normalized(in, rules, row, undropped);
  if (are_rewritten) weights = bound_rewritten(rules, row, exact, bounds);
  if (in.value.dtype == DType::i8_values) add_i16_weight_errors(exact, in.value.pages, weights, bounds.output);
  return bounds;
}

}  // namespace heed::testing
