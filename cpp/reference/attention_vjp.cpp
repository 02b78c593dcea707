#include "reference/attention_vjp.hpp"

#include <cmath>
#include <limits>
#include <span>

#include "reference/expression_gradients.hpp"
#include "reference/normalizers.hpp"
#include "reference/numbers.hpp"
#include "reference/pair_gradients.hpp"
#include "reference/scores.hpp"

namespace heed::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One query: its batch entry, head and position, and its number among all.
struct Row {
  Index b, h, i;
  std::size_t number;
};

/// The numbers of a row in a [B, H, L, S] result.
std::span<const double> of_row(const std::vector<double>& numbers, const Row& row, std::size_t keys) {
  return std::span(numbers).subspan(row.number * keys, keys);
}

std::size_t row_number(const Shape& shape, Index b, Index h, Index i) {
  return static_cast<std::size_t>((b * shape[1] + h) * shape[2] + i);
}

/// The element of `view`, by its number in order, that a broadcast view repeats at key j of a row.
std::size_t broadcast_element(const Shape& shape, const Row& row, Index j) {
  const Index at[] = {row.b, row.h, row.i, j};
  Index number = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) number = number * shape[axis] + (shape[axis] == 1 ? 0 : at[axis]);
  return static_cast<std::size_t>(number);
}

/// The gradients of a row's scores, given those of its weights. `seen` holds -infinity where a key takes no part.
std::vector<double> through_normalizer(Normalizer normalizer, std::span<const double> weights,
                                       const std::vector<double>& seen, const std::vector<double>& of_weights) {
  std::vector<double> of_scores(weights.size());
  double mean = 0.0;  // softmax: of the gradients, by the weights; sparsemax: over the keys with a weight
  double support = 0.0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (normalizer == Normalizer::softmax) mean += weights[j] * of_weights[j];
    if (normalizer != Normalizer::sparsemax || weights[j] == 0.0) continue;
    mean += of_weights[j];
    support += 1.0;
  }
  if (support > 0.0) mean /= support;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (seen[j] == -kInfinity) continue;
    switch (normalizer) {
      case Normalizer::softmax:
        of_scores[j] = weights[j] * (of_weights[j] - mean);
        break;
      case Normalizer::sparsemax:
        of_scores[j] = weights[j] > 0.0 ? of_weights[j] - mean : 0.0;
        break;
      case Normalizer::sigmoid:
        of_scores[j] = weights[j] * (1.0 - weights[j]) * of_weights[j];
        break;
      case Normalizer::hard:
        break;
      case Normalizer::none:
        of_scores[j] = of_weights[j];
        break;
    }
  }
  return of_scores;
}

double slope_of_softcap(const AttentionOptions& options, double raw) {
  if (options.softcap == 0.0F) return 1.0;
  const double tanh_of_raw = std::tanh(raw / static_cast<double>(options.softcap));
  return 1.0 - tanh_of_raw * tanh_of_raw;
}

/// A query head and what it reads.
struct Head {
  Index b, h, kv_head;
  std::vector<std::vector<double>> keys, values;
};

class Backward {
 public:
  Backward(const AttentionInputs& in, const AttentionOptions& options, const TensorView<const float>& output_gradient,
           const TensorView<const float>& weights_gradient, AttentionVjpResult& result)
      : in_(in),
        options_(options),
        output_gradient_(output_gradient),
        weights_gradient_(weights_gradient),
        result_(result) {}

  void row(const Head& head, const Row& row) {
    const std::size_t keys = head.keys.size();
    const std::span<const double> weights = of_row(result_.forward.probabilities, row, keys);
    const std::span<const double> scores = of_row(result_.forward.scores[2], row, keys);
    const std::vector<double> seen = best_of({scores.begin(), scores.end()}, options_);
    const std::vector<double> of_weights = values(head, row, seen);
    const std::vector<double> of_scores = through_normalizer(options_.normalizer, weights, seen, of_weights);
    if (options_.sinks != nullptr) sink(row, weights, of_weights);

    const std::vector<double> query = read_row(in_.query, row.b, row.h, row.i);
    for (std::size_t j = 0; j < keys; ++j) {
      const double slope = slope_of_softcap(options_, of_row(result_.forward.scores[0], row, keys)[j]);
      const double capped = of_row(result_.forward.scores[1], row, keys)[j];
      const double of_raw =
          seen[j] == -kInfinity ? 0.0 : slope * through_function(ProgramOf::score, row, j, capped, of_scores[j]);
      result_.of_weights.push_back(of_weights[j]);
      result_.of_scores.push_back(of_scores[j]);
      result_.of_raw.push_back(of_raw);
      if (seen[j] == -kInfinity) continue;
      const auto key = static_cast<Index>(j);
      if (in_.bias.is_present()) result_.bias[broadcast_element(in_.bias.shape, row, key)] += of_scores[j];
      score(head, row, query, key, of_raw);
    }
  }

 private:
  /// Adds to the gradients of the values, and returns those of the weights.
  std::vector<double> values(const Head& head, const Row& row, const std::vector<double>& seen) {
    const std::vector<double> of_output = read_row(output_gradient_, row.b, row.h, row.i);
    const std::span<const double> kept = of_row(result_.forward.kept, row, seen.size());
    const std::span<const double> weights = of_row(result_.forward.weights, row, seen.size());
    const std::span<const double> probabilities = of_row(result_.forward.probabilities, row, seen.size());
    std::vector<double> of_weights(seen.size());
    for (std::size_t j = 0; j < seen.size(); ++j) {
      if (seen[j] == -kInfinity || kept[j] == 0.0) continue;
      if (weights_gradient_.is_present()) {
        of_weights[j] = kept[j] * static_cast<double>(weights_gradient_.at(row.b, row.h, row.i)[j]);
      }
      const std::size_t place =
          row_number(in_.value.shape, row.b, head.kv_head, static_cast<Index>(j)) * of_output.size();
      for (std::size_t e = 0; e < of_output.size(); ++e) {
        of_weights[j] += kept[j] * of_output[e] * head.values[j][e];
        result_.value[place + e] += weights[j] * of_output[e];
      }
    }
    result_.of_rewritten.insert(result_.of_rewritten.end(), of_weights.begin(), of_weights.end());
    for (std::size_t j = 0; j < seen.size(); ++j) {
      if (seen[j] == -kInfinity) continue;
      of_weights[j] = through_function(ProgramOf::weight, row, j, probabilities[j], of_weights[j]);
    }
    return of_weights;
  }

  /// The gradient of what a function of the caller's takes, given that of what it makes.
  double through_function(ProgramOf which, const Row& row, std::size_t j, double taken, double of_made) {
    if (!options_.expressions.have(which)) return of_made;
    const FunctionGradients slopes =
        differentiate(options_.expressions, which, {taken, row.b, row.h, row.i, static_cast<Index>(j)});
    for (const auto& [number, slope] : slopes.of_tables) result_.tables[number] += of_made * slope;
    return of_made * slopes.of_score;
  }

  /// A sink is a key whose value is zero.
  void sink(const Row& row, std::span<const double> weights, const std::vector<double>& of_weights) {
    const double log_sum_exp = result_.forward.log_sum_exp[row.number];
    if (log_sum_exp == -kInfinity) return;
    double mean = 0.0;
    for (std::size_t j = 0; j < weights.size(); ++j) mean += weights[j] * of_weights[j];
    const double weight = std::exp(static_cast<double>(options_.sinks[row.h]) - log_sum_exp);
    result_.sinks[static_cast<std::size_t>(row.h)] -= weight * mean;
  }

  /// Adds what the score of a pair passes on, given its gradient with the scale.
  void score(const Head& head, const Row& row, const std::vector<double>& query, Index j, double of_raw) {
    const std::vector<double>& key = head.keys[static_cast<std::size_t>(j)];
    const double of_pair = scale_of(options_, query.size()) * of_raw;
    const std::size_t of_query = row.number * query.size();
    const std::size_t of_key = row_number(in_.key.shape, row.b, head.kv_head, j) * key.size();
    const PairGradients gradients{std::span(result_.query).subspan(of_query, query.size()),
                                  std::span(result_.key).subspan(of_key, key.size()), result_.score};
    add_pair_gradients(options_.score, row.h, {query, key, of_pair}, gradients);
    result_.log_scale += of_pair * pair_score(options_.score, row.h, query, key);
  }

  const AttentionInputs& in_;
  const AttentionOptions& options_;
  const TensorView<const float>& output_gradient_;
  const TensorView<const float>& weights_gradient_;
  AttentionVjpResult& result_;
};

std::vector<double> zeros(const Shape& shape) {
  return std::vector<double>(static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
}

}  // namespace

AttentionVjpResult attention_vjp(const AttentionInputs& inputs, const AttentionOptions& options,
                                 const TensorView<const float>& output_gradient,
                                 const TensorView<const float>& weights_gradient) {
  AttentionVjpResult result{.forward = attention(inputs, options),
                            .query = zeros(inputs.query.shape),
                            .key = zeros(inputs.key.shape),
                            .value = zeros(inputs.value.shape)};
  if (inputs.bias.is_present()) result.bias = zeros(inputs.bias.shape);
  for_each_parameter(
      [](const char* /*name*/, std::vector<double>& gradient, const TensorView<const float>& parameter) {
        if (parameter.is_present()) gradient = zeros(parameter.shape);
      },
      result.score, options.score);
  const Shape& shape = inputs.query.shape;
  if (options.sinks != nullptr) result.sinks.resize(static_cast<std::size_t>(shape[1]));
  result.tables.resize(static_cast<std::size_t>(options.expressions.number_count));
  Backward backward(inputs, options, output_gradient, weights_gradient, result);
  for (Index b = 0; b < shape[0]; ++b) {
    for (Index h = 0; h < shape[1]; ++h) {
      const Index kv_head = h / (shape[1] / inputs.key.shape[1]);
      const Head head{b, h, kv_head, read_rows(inputs.key, b, kv_head), read_rows(inputs.value, b, kv_head)};
      for (Index i = 0; i < shape[2]; ++i) backward.row(head, {b, h, i, row_number(shape, b, h, i)});
    }
  }
  return result;
}

}  // namespace heed::reference
