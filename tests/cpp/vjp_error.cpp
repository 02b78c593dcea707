#include "vjp_error.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "expression_error.hpp"
#include "pair_error.hpp"
#include "reference/expressions.hpp"
#include "reference/numbers.hpp"
#include "reference/scores.hpp"
#include "score_error.hpp"

namespace heed::testing {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kFloorOfExp2 = 0x1p-80;

double squared(double x) { return x * x; }

/// A sum of float terms, each with an error of its own.
class SumBound {
 public:
  void add(double term, double error) { add(term, std::abs(term), error); }
  /// Of a term whose own parts may cancel.
  void add(double term, double magnitude, double error) {
    sum_ += term;
    magnitude_ += magnitude;
    largest_ = std::max({largest_, std::abs(sum_), magnitude});
    squares_ += squared(magnitude);
    errors_ += error;
    count_ += 1.0;
  }
  [[nodiscard]] double in_order() const { return bound(2.0 * largest_ * std::sqrt(count_)); }
  [[nodiscard]] double in_any_order() const { return bound(magnitude_ * std::sqrt(count_)); }
  /// In four or more lanes.
  [[nodiscard]] double in_lanes() const { return bound(magnitude_ * std::sqrt(count_ / 4.0 + 3.0)); }

 private:
  [[nodiscard]] double bound(double partial_sums) const {
    // A term is made by up to three roundings; the sum is scaled at the end.
    const double roundings = kGrowth * (partial_sums + std::sqrt(3.0 * squares_)) + 4.0 * std::abs(sum_);
    return errors_ + kUnitRoundoff * roundings + count_ * 0x1p-149;
  }

  double sum_ = 0.0, magnitude_ = 0.0, largest_ = 0.0, squares_ = 0.0, errors_ = 0.0, count_ = 0.0;
};

/// A number and how wrong it may be.
struct Approximate {
  double value = 0.0;
  double error = 0.0;
};

Approximate times(const Approximate& a, const Approximate& b) {
  const double value = a.value * b.value;
  return {value, std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error +
                     kUnitRoundoff * std::abs(value)};
}

struct Sums : ScoreParameters<std::vector<SumBound>> {
  std::vector<SumBound> query, key, value, bias, sinks, tables;
  SumBound log_scale;
};

std::vector<double> in_order(const std::vector<SumBound>& sums) {
  std::vector<double> bounds;
  for (const SumBound& sum : sums) bounds.push_back(sum.in_order());
  return bounds;
}

std::vector<double> in_any_order(const std::vector<SumBound>& sums) {
  std::vector<double> bounds;
  for (const SumBound& sum : sums) bounds.push_back(sum.in_any_order());
  return bounds;
}

/// Adds what a pair has of a gradient, given its own.
void add_to(std::span<SumBound> sums, const std::vector<Derivative>& derivatives, const Approximate& of_pair) {
  for (std::size_t n = 0; n < derivatives.size(); ++n) {
    const Derivative& one = derivatives[n];
    sums[n].add(of_pair.value * one.value, std::abs(of_pair.value) * one.magnitude,
                of_pair.error * one.magnitude + std::abs(of_pair.value) * one.error);
  }
}

class Bounds {
 public:
  Bounds(const AttentionVjpInputs& given, const AttentionOptions& options, const reference::AttentionVjpResult& exact)
      : in_(given.forward),
        weights_gradient_(given.weights_gradient),
        slopes_(given.slopes),
        options_(options),
        exact_(exact),
        keys_(static_cast<std::size_t>(in_.key.shape[2])) {
    sums_.query.resize(exact.query.size());
    sums_.key.resize(exact.key.size());
    sums_.value.resize(exact.value.size());
    sums_.bias.resize(exact.bias.size());
    sums_.sinks.resize(exact.sinks.size());
    for_each_parameter([](const char*, auto& sums, const auto& gradient) { sums.resize(gradient.size()); }, sums_,
                       exact.score);
    sums_.tables.resize(exact.tables.size());
  }

  void add(const RowPosition& at, std::size_t row, const std::vector<double>& of_output, const ForwardBounds& forward,
           std::span<const std::vector<double>> keys, std::span<const std::vector<double>> values) {
    const RowBounds& bounds = forward.rows[row];
    is_open_ = is_open_ || bounds.is_open || is_support_open(row, forward.undropped[row]);
    const std::vector<Approximate> of_weights = weights_back(at, row, of_output, forward, values);
    const bool is_plain = options_.normalizer == Normalizer::softmax && !options_.expressions.have(ProgramOf::weight) &&
                          !weights_gradient_.is_present();
    const Approximate delta = is_plain ? find_delta(row, of_output, bounds) : find_mean(row, of_weights, forward);
    if (options_.sinks != nullptr) add_sink(at, row, delta, bounds);
    const Index kv_head = at.h / (in_.query.shape[1] / in_.key.shape[1]);
    const std::vector<double> query = reference::read_row(in_.query, at.b, at.h, at.i);
    const double scale = reference::scale_of(options_, query.size());
    for (std::size_t j = 0; j < keys_; ++j) {
      const std::size_t pair = row * keys_ + j;
      if (exact_.forward.scores[2][pair] == -kInfinite) continue;
      const auto key_row = static_cast<std::size_t>((at.b * in_.key.shape[1] + kv_head) * in_.key.shape[2]) + j;
      const Approximate weight = find_weight(pair, j, row, forward);
      const Approximate rewritten = rewrite(place_of(at, j, weight.value), weight);
      const double kept = exact_.forward.kept[pair];
      for (std::size_t e = 0; e < of_output.size() && kept != 0.0; ++e) {
        sums_.value[key_row * of_output.size() + e].add(rewritten.value * kept * of_output[e],
                                                        rewritten.error * kept * std::abs(of_output[e]));
      }
      const Approximate of_score = through_normalizer(pair, weight, delta, of_weights[j], bounds.scores[2][j]);
      if (!exact_.bias.empty()) add_bias(at, static_cast<Index>(j), of_score);
      const Approximate capped{exact_.forward.scores[1][pair], bounds.scores[1][j]};
      const Approximate of_capped =
          through_function(ProgramOf::score, place_of(at, j, capped.value), capped.error, of_score);
      const Approximate of_raw = times(of_capped, slope_of_softcap(pair, bounds.scores[0][j]));
      const double raw = exact_.forward.scores[0][pair];
      const double error = raw == 0.0 ? 0.0 : bounds.scores[0][j] / std::abs(raw);
      const PairDerivatives of_pair = differentiate_pair(options_.score, at.h, query, keys[j], error);
      const Approximate scaled{scale * of_raw.value, std::abs(scale) * of_raw.error};
      add_to(std::span(sums_.query).subspan(row * query.size()), of_pair.query, scaled);
      add_to(std::span(sums_.key).subspan(key_row * keys[j].size()), of_pair.key, scaled);
      add_parameters(at.h, of_pair, scaled);
      double magnitude = std::abs(raw);
      for (std::size_t d = 0; d < query.size(); ++d)
        magnitude += std::abs(scale * query[d]) * of_pair.query[d].magnitude;
      const double relative = kUnitRoundoff * (kGrowth * std::sqrt(static_cast<double>(query.size())) + 12.0) + error;
      sums_.log_scale.add(of_raw.value * raw, std::abs(of_raw.value) * magnitude,
                          magnitude * (of_raw.error + std::abs(of_raw.value) * relative));
    }
  }

  [[nodiscard]] std::optional<VjpBounds> finish() const {
    if (is_open_) return std::nullopt;
    const bool is_product = options_.score.kind <= ScoreKind::dot;
    VjpBounds bounds;
    bounds.query = is_product ? in_order(sums_.query) : in_any_order(sums_.query);
    bounds.key = is_product ? in_order(sums_.key) : in_any_order(sums_.key);
    bounds.value = in_order(sums_.value);
    bounds.bias = in_any_order(sums_.bias);
    bounds.sinks = in_order(sums_.sinks);
    bounds.tables = in_any_order(sums_.tables);
    bounds.log_scale = sums_.log_scale.in_any_order();
    for_each_parameter([](const char*, auto& bound, const auto& sums) { bound = in_any_order(sums); }, bounds, sums_);
    return bounds;
  }

 private:
  Approximate find_delta(std::size_t row, const std::vector<double>& of_output, const RowBounds& bounds) const {
    SumBound sum;
    double delta = 0.0;
    for (std::size_t e = 0; e < of_output.size(); ++e) {
      const double output = exact_.forward.output[row * of_output.size() + e];
      delta += of_output[e] * output;
      sum.add(of_output[e] * output, std::abs(of_output[e]) * bounds.output[e]);
    }
    return {delta, sum.in_lanes()};
  }

  /// Whether a key may or may not have a weight.
  [[nodiscard]] bool is_support_open(std::size_t row, const RowBounds& bounds) const {
    if (options_.normalizer != Normalizer::sparsemax) return false;
    const auto weights = std::span(exact_.forward.probabilities).subspan(row * keys_, keys_);
    const auto scores = std::span(exact_.forward.scores[2]).subspan(row * keys_, keys_);
    const auto some = std::ranges::max_element(weights);
    if (some == weights.end() || *some == 0.0) return false;
    const double threshold = scores[static_cast<std::size_t>(some - weights.begin())] - *some;
    for (std::size_t j = 0; j < keys_; ++j) {
      if (std::abs(scores[j] - threshold) <= bounds.scores[2][j] + bounds.weights[j] + kUnitRoundoff) return true;
    }
    return false;
  }

  static reference::Place place_of(const RowPosition& at, std::size_t j, double taken) {
    return {taken, at.b, at.h, at.i, static_cast<Index>(j)};
  }

  /// The gradients of the weights of a row, as the normalizer makes them.
  std::vector<Approximate> weights_back(const RowPosition& at, std::size_t row, const std::vector<double>& of_output,
                                        const ForwardBounds& forward, std::span<const std::vector<double>> values) {
    std::vector<Approximate> all(keys_);
    for (std::size_t j = 0; j < keys_; ++j) {
      const std::size_t pair = row * keys_ + j;
      if (exact_.forward.scores[2][pair] == -kInfinite) continue;
      SumBound sum;
      const double kept = exact_.forward.kept[pair];
      for (std::size_t e = 0; e < of_output.size() && kept != 0.0; ++e)
        sum.add(kept * of_output[e] * values[j][e], 0.0);
      if (weights_gradient_.is_present()) {
        sum.add(kept * static_cast<double>(weights_gradient_.at(at.b, at.h, at.i)[j]), 0.0);
      }
      const Approximate weight = find_weight(pair, j, row, forward);
      all[j] = through_function(ProgramOf::weight, place_of(at, j, weight.value), weight.error,
                                {exact_.of_rewritten[pair], sum.in_order()});
    }
    return all;
  }

  /// What weight_mod makes of a weight.
  [[nodiscard]] Approximate rewrite(const reference::Place& place, const Approximate& weight) const {
    if (!options_.expressions.have(ProgramOf::weight)) return weight;
    const BoundedValue made = bound_mod(options_.expressions, ProgramOf::weight, place, weight.error);
    return {made.value, made.error};
  }

  /// The gradient of what a function takes, which is off by `error`, given that of what it makes. Adds those of tables.
  Approximate through_function(ProgramOf which, const reference::Place& place, double error,
                               const Approximate& of_made) {
    const Expressions& expressions = options_.expressions;
    if (!expressions.have(which)) return of_made;
    const auto through = [&](std::int32_t start) {
      const BoundedValue slope = bound_program(expressions, start, place, error);
      return times(of_made, {slope.value, slope.error});
    };
    for (Index n = 0; n < slopes_.read_count; ++n) {
      const TableRead& read = slopes_.reads[n];
      if (read.reader != static_cast<std::int32_t>(which)) continue;
      double indices[4] = {};
      for (std::size_t axis = 0; axis < 4 && read.indices[axis] != 0; ++axis) {
        indices[axis] = reference::run_program(expressions, read.indices[axis], place);
      }
      const Approximate term = through(read.slope);
      const Index number = reference::number_in_table(expressions, read.table, indices);
      sums_.tables[static_cast<std::size_t>(number)].add(term.value, term.error);
    }
    return through(which == ProgramOf::score ? slopes_.score : slopes_.weight);
  }

  /// The mean of the gradients of weights: by the weights, or of those that are not zero.
  [[nodiscard]] Approximate find_mean(std::size_t row, const std::vector<Approximate>& of_weights,
                                      const ForwardBounds& forward) const {
    SumBound sum;
    double total = 0.0;
    double count = 0.0;
    for (std::size_t j = 0; j < keys_; ++j) {
      const std::size_t pair = row * keys_ + j;
      if (exact_.forward.probabilities[pair] == 0.0) continue;
      const bool is_softmax = options_.normalizer == Normalizer::softmax;
      const Approximate term = is_softmax ? times(find_weight(pair, j, row, forward), of_weights[j]) : of_weights[j];
      sum.add(term.value, term.error);
      total += term.value;
      count += is_softmax ? 0.0 : 1.0;
    }
    if (count == 0.0) return {total, sum.in_order()};
    return {total / count, sum.in_order() / count};
  }

  [[nodiscard]] Approximate find_weight(std::size_t pair, std::size_t j, std::size_t row,
                                        const ForwardBounds& forward) const {
    const double weight = exact_.forward.probabilities[pair];
    const double error = forward.rows[row].scores[2][j];
    if (options_.top_k > 0 || options_.normalizer == Normalizer::sparsemax || options_.normalizer == Normalizer::hard) {
      return {weight, forward.undropped[row].weights[j] + kFloorOfExp2};
    }
    switch (options_.normalizer) {
      case Normalizer::softmax: {
        const double lse = exact_.forward.log_sum_exp[row];
        const double own = 2.0 * std::abs(lse) + std::abs(exact_.forward.scores[2][pair] - lse);
        const double relative = error + forward.rows[row].log_sum_exp + kUnitRoundoff * own + kExp2Error;
        return {weight, weight * std::expm1(relative) + kFloorOfExp2};
      }
      case Normalizer::sigmoid:
        return {weight, weight * std::expm1(error) + kSigmoidError * weight + kFloorOfExp2};
      default:
        return {weight, error};
    }
  }

  /// The gradient of a score, given that of its weight.
  [[nodiscard]] Approximate through_normalizer(std::size_t pair, const Approximate& weight, const Approximate& delta,
                                               const Approximate& of_weight, double error_of_score) const {
    const double difference = of_weight.value - delta.value;
    const Approximate apart{difference, of_weight.error + delta.error + kUnitRoundoff * std::abs(difference)};
    switch (options_.normalizer) {
      case Normalizer::softmax:
        return times(weight, apart);
      case Normalizer::sparsemax:
        return weight.value == 0.0 ? Approximate{} : apart;
      case Normalizer::sigmoid: {
        const double slope = weight.value * (1.0 - weight.value);
        const double error = error_of_score / 10.0 + kSigmoidError * weight.value + 2.0 * kUnitRoundoff;
        return exact_.of_scores[pair] == 0.0 ? Approximate{} : times({slope, error + kFloorOfExp2}, of_weight);
      }
      case Normalizer::hard:
        return {};
      case Normalizer::none:
        break;
    }
    return of_weight;
  }

  Approximate slope_of_softcap(std::size_t pair, double error_of_raw) const {
    if (options_.softcap == 0.0F) return {1.0, 0.0};
    const auto cap = static_cast<double>(options_.softcap);
    const double bent = std::tanh(exact_.forward.scores[0][pair] / cap);
    return {1.0 - bent * bent, 0.77 * error_of_raw / cap + 2.0 * bent * bent * kTanhError + 4.0 * kUnitRoundoff};
  }

  void add_parameters(Index head, const PairDerivatives& of_pair, const Approximate& scaled) {
    const auto add = [&](const char* /*name*/, std::vector<SumBound>& sums,
                         const std::vector<Derivative>& derivatives) {
      if (derivatives.empty()) return;
      const bool is_shared = sums.size() == derivatives.size();
      add_to(std::span(sums).subspan(is_shared ? 0 : static_cast<std::size_t>(head) * derivatives.size()), derivatives,
             scaled);
    };
    for_each_parameter(add, sums_, of_pair);
  }

  void add_bias(const RowPosition& row, Index j, const Approximate& of_score) {
    const Index at[] = {row.b, row.h, row.i, j};
    const Shape& shape = in_.bias.shape;
    Index number = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) number = number * shape[axis] + (shape[axis] == 1 ? 0 : at[axis]);
    sums_.bias[static_cast<std::size_t>(number)].add(of_score.value, of_score.error);
  }

  void add_sink(const RowPosition& at, std::size_t row, const Approximate& delta, const RowBounds& bounds) {
    const double lse = exact_.forward.log_sum_exp[row];
    if (lse == -kInfinite) return;
    const double sink = static_cast<double>(options_.sinks[at.h]);
    const double weight = std::exp(sink - lse);
    const double relative =
        bounds.log_sum_exp + kUnitRoundoff * (2.0 * std::abs(lse) + 3.0 * std::abs(sink - lse) + 8.0);
    const Approximate term = times({weight, weight == 0.0 ? 0.0 : weight * std::expm1(relative) + 0x1p-126}, delta);
    sums_.sinks[static_cast<std::size_t>(at.h)].add(term.value, term.error);
  }

  const AttentionInputs& in_;
  const TensorView<const float>& weights_gradient_;
  const ExpressionSlopes& slopes_;
  const AttentionOptions& options_;
  const reference::AttentionVjpResult& exact_;
  std::size_t keys_;
  Sums sums_;
  bool is_open_ = false;
};

}  // namespace

std::optional<VjpBounds> bound_vjp(const AttentionVjpInputs& given, const AttentionOptions& options,
                                   const reference::AttentionVjpResult& exact, const ForwardBounds& forward) {
  const AttentionInputs& inputs = given.forward;
  Bounds bounds(given, options, exact);
  const auto [batch, heads, length, dim] = inputs.query.shape;
  std::size_t row = 0;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      const Index kv_head = h / (heads / inputs.key.shape[1]);
      const auto keys = reference::read_rows(inputs.key, b, kv_head);
      const auto values = reference::read_rows(inputs.value, b, kv_head);
      for (Index i = 0; i < length; ++i, ++row) {
        bounds.add({b, h, i}, row, reference::read_row(given.output_gradient, b, h, i), forward, keys, values);
      }
    }
  }
  return bounds.finish();
}

}  // namespace heed::testing
