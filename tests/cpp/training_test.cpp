// Backward passes of layers against central differences of their definitions in double precision; losses and steps of
// optimizers against their formulas.
#include <catch_amalgamated.hpp>
#include <functional>

#include "heed/machine.hpp"
#include "layer_scene.hpp"
#include "operations/training/combine.hpp"
#include "operations/training/gru_backward.hpp"
#include "operations/training/losses.hpp"
#include "operations/training/norm_backward.hpp"
#include "operations/training/optimizers.hpp"
#include "operations/training/pointwise_backward.hpp"
#include "operations/training/product.hpp"
#include "operations/training/row_sums.hpp"
#include "operations/training/scatter_add.hpp"
#include "reference/layers.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

using Doubles = std::vector<double>;

Doubles doubles_of(const OwnedRows& rows) {
  Doubles made;
  for (Index row = 0; row < rows.rows.count; ++row) {
    for (Index i = 0; i < rows.rows.length; ++i) made.push_back(rows.at(row, i));
  }
  return made;
}

/// d function / d x[i] by central differences of a fourth-order formula: what it leaves out is of the order of 1e-12
/// times the fifth derivative, and rounding of 1e-13 times the function.
double slope(const std::function<double(const Doubles&)>& function, Doubles x, std::size_t i) {
  constexpr double step = 1e-3;
  const double middle = x[i];
  const auto at = [&](double shift) {
    x[i] = middle + shift * step;
    return function(x);
  };
  return (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
}

/// Compares gradients with slopes at every element, or at some of many, whose bounds are given.
void check_slopes(const std::string& name, const std::function<double(const Doubles&)>& function, const OwnedRows& x,
                  const OwnedRows& got, const Doubles& bounds) {
  const Doubles numbers = doubles_of(x);
  const std::size_t step = 1 + numbers.size() / 40;
  double worst = 0.0;
  for (std::size_t i = 0; i < numbers.size(); i += step) {
    const auto row = static_cast<Index>(i) / x.rows.length, column = static_cast<Index>(i) % x.rows.length;
    worst = std::max(worst, ratio_of(got.at(row, column), slope(function, numbers, i), bounds[i]));
  }
  INFO(name << " of " << x.rows.count << " x " << x.rows.length);
  report_ratio(name, worst);
  CHECK(worst <= 1.0);
}

/// The same with one bound for all.
void check_slopes(const std::string& name, const std::function<double(const Doubles&)>& function, const OwnedRows& x,
                  const OwnedRows& got, double bound) {
  check_slopes(name, function, x, got, Doubles(static_cast<std::size_t>(x.rows.count * x.rows.length), bound));
}

double weighted_sum(const Doubles& numbers, const OwnedRows& weights) {
  double sum = 0.0;
  const Doubles factors = doubles_of(weights);
  for (std::size_t i = 0; i < numbers.size(); ++i) sum += numbers[i] * factors[i];
  return sum;
}

/// A bound for sums of about `count` terms of about `size`, each of a few roundings.
double bound_of(Index count, double size) { return dot_bound(count, size) + 1e-9; }

double largest(const OwnedRows& rows) {
  double most = 0.0;
  for (const double number : doubles_of(rows)) most = std::max(most, std::abs(number));
  return most;
}

}  // namespace

TEST_CASE("product multiplies matrices as they lie, in both forms") {
  Random random(900);
  for (const Index rows : {1, 3, 4, 6, 7, 95, 97}) {
    for (const Index columns : {1, 7, 8, 16, 33, 65}) {
      const Index depth = random.pick<Index>({0, 1, 2, 9, 64, 257, 513});
      for (const bool is_transposed : {false, true}) {
        const OwnedRows left = random_rows(random, is_transposed ? depth : rows, is_transposed ? rows : depth, 2);
        const OwnedRows right = random_rows(random, depth, columns, 3);
        const bool has_addend = random.chance(0.5);
        const OwnedRows addend = random_rows(random, rows, columns, 1);
        OwnedRows got(rows, columns, kUntouched, 1);
        const ProductCall call{.left = left.reading(),
                               .right = right.reading(),
                               .addend = has_addend ? addend.reading() : Rows<const float>{},
                               .is_transposed = is_transposed,
                               .output = got.rows};
        compute(call);
        double worst = 0.0;
        for (Index row = 0; row < rows; ++row) {
          for (Index column = 0; column < columns; ++column) {
            double sum = has_addend ? addend.at(row, column) : 0.0, size = std::abs(sum);
            for (Index k = 0; k < depth; ++k) {
              const double term = (is_transposed ? left.at(k, row) : left.at(row, k)) * right.at(k, column);
              sum += term;
              size += std::abs(term);
            }
            worst = std::max(worst, ratio_of(got.at(row, column), sum, dot_bound(depth + 1, size)));
          }
          CHECK(got.rows.row(row)[columns] == kUntouched);
        }
        INFO(rows << " x " << depth << " x " << columns << (is_transposed ? ", transposed" : ""));
        CHECK(worst <= 1.0);
      }
    }
  }
}

TEST_CASE("rows are summed, and scattered, in double precision's neighbourhood") {
  Random random(901);
  for (const Index length : {1, 5, 8, 127, 130}) {
    for (const Index count : {1, 2, 63, 65, 200}) {
      const OwnedRows rows = random_rows(random, count, length, 1);
      const OwnedRows addend = random_rows(random, 7, length);
      const Rows<const float> first{addend.numbers.data(), 1, length, length};
      OwnedRows sums(1, length, kUntouched), table(7, length, kUntouched);
      std::vector<std::int32_t> indices;
      for (Index i = 0; i < count; ++i) indices.push_back(static_cast<std::int32_t>(random.below(7)));
      compute(RowSumsCall{rows.reading(), first, sums.rows});
      compute(ScatterAddCall{rows.reading(), indices.data(), addend.reading(), table.rows});
      double worst = 0.0;
      const auto compare = [&](double got, double expected, double size) {
        worst = std::max(worst, ratio_of(got, expected, dot_bound(count + 1, size)));
      };
      for (Index i = 0; i < length; ++i) {
        double all = addend.at(0, i), size = std::abs(all);
        for (Index row = 0; row < count; ++row) {
          all += rows.at(row, i);
          size += std::abs(rows.at(row, i));
        }
        compare(sums.at(0, i), all, size);
        for (Index target = 0; target < 7; ++target) {
          double sum = addend.at(target, i), of_target = std::abs(sum);
          for (Index row = 0; row < count; ++row) {
            if (indices[static_cast<std::size_t>(row)] != target) continue;
            sum += rows.at(row, i);
            of_target += std::abs(rows.at(row, i));
          }
          compare(table.at(target, i), sum, of_target);
        }
      }
      INFO(count << " rows of " << length);
      CHECK(worst <= 1.0);
    }
  }
}

namespace {

/// How far the value and the slope of an activation may be off: 5e-7 (1 + |x|) for the share of x that it keeps. The
/// GELU by a tanh has 2 x a'(x) (1 - share) in its slope, of which 1 - share is off by two roundings.
double activation_error(double x) {
  const double bend = 1.6 * std::abs(x) * (1.0 + 0.134145 * x * x);
  return 5e-7 * (1.0 + std::abs(x)) + 2.0 * kUnitRoundoff * bend;
}

}  // namespace

TEST_CASE("the gradients of activations and factors are their slopes") {
  Random random(902);
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                      Activation::silu, Activation::tanh, Activation::sigmoid}) {
    for (const Index length : {1, 4, 7, 33}) {
      OwnedRows source = random_rows(random, 3, length, 2, 2.0F);
      // Away from the kink of ReLU, which central differences would see.
      for (float& number : source.numbers) number += number < 0.0F ? -0.01F : 0.01F;
      const OwnedRows factor = random_rows(random, 3, length);
      const OwnedRows gradient = random_rows(random, 3, length, 1);
      OwnedRows of_source(3, length, kUntouched), of_factor(3, length, kUntouched);
      compute(PointwiseBackwardCall{.gradient = gradient.reading(),
                                    .source = source.reading(),
                                    .factor = factor.reading(),
                                    .activation = activation,
                                    .source_gradient = of_source.rows,
                                    .factor_gradient = of_factor.rows});
      const auto loss = [&](const Doubles& x, const Doubles& factors) {
        Doubles made(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) made[i] = reference::activate(activation, x[i]) * factors[i];
        return weighted_sum(made, gradient);
      };
      const Doubles x = doubles_of(source), factors = doubles_of(factor), gradients = doubles_of(gradient);
      Doubles of_x, of_factors;
      for (std::size_t i = 0; i < x.size(); ++i) {
        of_factors.push_back(std::abs(gradients[i]) * activation_error(x[i]) + 1e-9);
        of_x.push_back(std::abs(factors[i]) * of_factors[i] + 1e-9);
      }
      check_slopes(
          "activation's gradient", [&](const Doubles& at) { return loss(at, factors); }, source, of_source, of_x);
      check_slopes("factor's gradient", [&](const Doubles& at) { return loss(x, at); }, factor, of_factor, of_factors);
    }
  }
}

namespace {

Doubles normalized(const Doubles& x, const Doubles& weight, const Doubles& bias, bool is_centred, double epsilon) {
  const std::size_t length = weight.size();
  Doubles made(x.size());
  for (std::size_t row = 0; row < x.size() / length; ++row) {
    const double* const numbers = x.data() + row * length;
    double mean = 0.0, variance = 0.0;
    for (std::size_t i = 0; i < length && is_centred; ++i) mean += numbers[i] / static_cast<double>(length);
    for (std::size_t i = 0; i < length; ++i) {
      variance += (numbers[i] - mean) * (numbers[i] - mean) / static_cast<double>(length);
    }
    for (std::size_t i = 0; i < length; ++i) {
      made[row * length + i] = (numbers[i] - mean) / std::sqrt(variance + epsilon) * weight[i] + bias[i];
    }
  }
  return made;
}

}  // namespace

TEST_CASE("the gradients of norms are their slopes") {
  Random random(903);
  for (const bool is_centred : {true, false}) {
    for (const Index length : {2, 4, 5, 16, 31}) {
      for (const Index count : {1, 31, 70}) {
        const OwnedRows input = random_rows(random, count, length, 1), gradient = random_rows(random, count, length);
        const OwnedRows weight = random_rows(random, 1, length), bias = random_rows(random, 1, length);
        OwnedRows of_input(count, length, kUntouched), of_weight(1, length, kUntouched), of_bias(1, length, kUntouched);
        const RowNorm norm{.is_centred = is_centred, .epsilon = 0.1F, .weight = weight.rows.data};
        compute(
            NormBackwardCall{input.reading(), gradient.reading(), norm, of_input.rows, of_weight.rows, of_bias.rows});
        const auto loss = [&](const Doubles& x, const Doubles& w, const Doubles& b) {
          return weighted_sum(normalized(x, w, b, is_centred, static_cast<double>(norm.epsilon)), gradient);
        };
        const Doubles x = doubles_of(input), w = doubles_of(weight), b = doubles_of(bias);
        const double size = largest(gradient) * (1.0 + largest(weight));
        check_slopes(
            "norm's gradient", [&](const Doubles& at) { return loss(at, w, b); }, input, of_input,
            bound_of(length, size));
        check_slopes(
            "norm's weight", [&](const Doubles& at) { return loss(x, at, b); }, weight, of_weight,
            bound_of(count, size));
        check_slopes(
            "norm's bias", [&](const Doubles& at) { return loss(x, w, at); }, bias, of_bias, bound_of(count, size));
      }
    }
  }
}

namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// A GRU in double precision. Everything is row-major.
struct DoubleGru {
  Index batch, steps, hidden;
  bool is_reversed;
  Doubles gates, weights, bias, state;

  /// The weighted sum of all states and, once more, of the last.
  [[nodiscard]] double loss(const OwnedRows& of_states, const OwnedRows& of_last) const {
    double sum = 0.0;
    const auto width = static_cast<std::size_t>(hidden);
    for (Index entry = 0; entry < batch; ++entry) {
      const auto first = state.begin() + static_cast<std::ptrdiff_t>(entry * hidden);
      Doubles now(first, first + static_cast<std::ptrdiff_t>(hidden));
      for (Index n = 0; n < steps; ++n) {
        const Index row = entry * steps + (is_reversed ? steps - 1 - n : n);
        const double* const input = gates.data() + row * 3 * hidden;
        const auto product = [&](std::size_t gate, std::size_t i) {
          double made = bias[gate * width + i];
          for (std::size_t k = 0; k < width; ++k) made += weights[(gate * width + i) * width + k] * now[k];
          return made;
        };
        Doubles next(width);
        for (std::size_t i = 0; i < width; ++i) {
          const double reset = sigmoid(input[i] + product(0, i)), keep = sigmoid(input[width + i] + product(1, i));
          const double fresh = std::tanh(input[2 * width + i] + reset * product(2, i));
          next[i] = (1.0 - keep) * fresh + keep * now[i];
          sum += next[i] * of_states.at(row, static_cast<Index>(i));
        }
        now = next;
      }
      for (Index i = 0; i < hidden; ++i) sum += now[static_cast<std::size_t>(i)] * of_last.at(entry, i);
    }
    return sum;
  }
};

/// A GRU whose gradients are taken.
struct GruScene {
  Index batch, steps, hidden;
  bool is_reversed;
  OwnedRows gates, matrices, bias, state, of_states, of_last;

  GruScene(Random& random, Index batch_, Index steps_, Index hidden_, bool is_reversed_)
      : batch(batch_),
        steps(steps_),
        hidden(hidden_),
        is_reversed(is_reversed_),
        gates(random_rows(random, batch_ * steps_, 3 * hidden_)),
        matrices(random_rows(random, 3 * hidden_, hidden_, 0, 0.5F)),
        bias(random_rows(random, 1, 3 * hidden_)),
        state(random_rows(random, batch_, hidden_)),
        of_states(random_rows(random, batch_ * steps_, hidden_)),
        of_last(random_rows(random, batch_, hidden_)) {}

  [[nodiscard]] DoubleGru in_doubles() const {
    return {batch,
            steps,
            hidden,
            is_reversed,
            doubles_of(gates),
            doubles_of(matrices),
            doubles_of(bias),
            doubles_of(state)};
  }
};

struct GruGradients {
  OwnedRows gates, hidden, previous, state;
};

GruGradients gradients_of(const GruScene& scene, Executor& executor) {
  const Index rows = scene.batch * scene.steps, hidden = scene.hidden;
  std::vector<WeightMatrix> matrices;
  for (Index gate = 0; gate < 3; ++gate) {
    matrices.push_back({scene.matrices.rows.row(gate * hidden), hidden, hidden, hidden, 1});
  }
  const Packed weights(matrices);
  const Packed transposed(WeightMatrix{.data = scene.matrices.rows.data,
                                       .outputs = hidden,
                                       .inputs = 3 * hidden,
                                       .output_stride = 1,
                                       .input_stride = hidden});
  const GruInputs inputs{.gates = scene.gates.reading(),
                         .weights = weights.data(),
                         .bias = scene.bias.rows.data,
                         .state = scene.state.reading()};
  const GruOptions options{.batch = scene.batch, .is_reversed = scene.is_reversed};
  OwnedRows states(rows, hidden, kUntouched), last(scene.batch, hidden, kUntouched);
  compute(GruCall{inputs, options, states.rows, last.rows}, executor);
  GruGradients got{OwnedRows(rows, 3 * hidden, kUntouched), OwnedRows(rows, 3 * hidden, kUntouched),
                   OwnedRows(rows, hidden, kUntouched), OwnedRows(scene.batch, hidden, kUntouched)};
  compute(GruBackwardCall{.forward = inputs,
                          .options = options,
                          .states = states.reading(),
                          .transposed_weights = transposed.data(),
                          .state_gradients = scene.of_states.reading(),
                          .last_gradient = scene.of_last.reading(),
                          .gates_gradient = got.gates.rows,
                          .hidden_gradient = got.hidden.rows,
                          .previous = got.previous.rows,
                          .state_gradient = got.state.rows},
          executor);
  return got;
}

}  // namespace

TEST_CASE("the gradients of a GRU are its slopes, through time") {
  Random random(904);
  for (const bool is_reversed : {false, true}) {
    for (const Index hidden : {1, 3, 8, 17}) {
      for (const Index batch : {1, 2, 13}) {
        const Index steps = random.pick<Index>({1, 2, 5});
        const GruScene scene(random, batch, steps, hidden, is_reversed);
        const GruGradients got = gradients_of(scene, calling_thread());
        const auto loss_of = [&](Doubles DoubleGru::* part) {
          return [&scene, part](const Doubles& at) {
            DoubleGru changed = scene.in_doubles();
            changed.*part = at;
            return changed.loss(scene.of_states, scene.of_last);
          };
        };
        const double bound = bound_of(hidden * steps * 4, 1.0);
        check_slopes("GRU's gates", loss_of(&DoubleGru::gates), scene.gates, got.gates, bound);
        check_slopes("GRU's state", loss_of(&DoubleGru::state), scene.state, got.state, bound);
        OwnedRows of_weights(3 * hidden, hidden, kUntouched), of_bias(1, 3 * hidden, kUntouched);
        compute(ProductCall{.left = got.hidden.reading(),
                            .right = got.previous.reading(),
                            .is_transposed = true,
                            .output = of_weights.rows});
        compute(RowSumsCall{.rows = got.hidden.reading(), .output = of_bias.rows});
        const double summed = bound_of(hidden * steps * batch * 4, 1.0);
        check_slopes("GRU's weights", loss_of(&DoubleGru::weights), scene.matrices, of_weights, summed);
        check_slopes("GRU's bias", loss_of(&DoubleGru::bias), scene.bias, of_bias, summed);
      }
    }
  }
}

namespace {

double cross_entropy_of(const Doubles& logits, const std::vector<std::int32_t>& targets, double smoothing) {
  const std::size_t length = logits.size() / targets.size();
  double sum = 0.0, counted = 0.0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    const double* const x = logits.data() + row * length;
    double total = 0.0, mean = 0.0;
    for (std::size_t i = 0; i < length; ++i) {
      total += std::exp(x[i]);
      mean += x[i] / static_cast<double>(length);
    }
    sum += std::log(total) - (1.0 - smoothing) * x[targets[row]] - smoothing * mean;
    counted += 1.0;
  }
  return counted == 0.0 ? 0.0 : sum / counted;
}

}  // namespace

TEST_CASE("cross-entropy and its gradient, with smoothed labels and rows that do not count") {
  Random random(905);
  for (const Index length : {1, 2, 4, 9, 33, 257}) {
    for (const Index count : {1, 5, 40}) {
      for (const float smoothing : {0.0F, 0.1F}) {
        const OwnedRows logits = random_rows(random, count, length, 1, 3.0F);
        std::vector<std::int32_t> targets;
        for (Index i = 0; i < count; ++i) {
          targets.push_back(i > 0 && random.chance(0.2) ? -100 : static_cast<std::int32_t>(random.below(length)));
        }
        OwnedRows loss(1, 1, kUntouched), gradient(count, length, kUntouched, 2);
        compute(CrossEntropyCall{.logits = logits.reading(),
                                 .targets = targets.data(),
                                 .smoothing = smoothing,
                                 .loss = loss.rows,
                                 .gradient = gradient.rows});
        const auto expected = [&](const Doubles& at) {
          return cross_entropy_of(at, targets, static_cast<double>(smoothing));
        };
        CHECK(std::abs(loss.at(0, 0) - expected(doubles_of(logits))) < 4e-6 * (1.0 + largest(logits)));
        check_slopes("cross-entropy's gradient", expected, logits, gradient, 2e-6);
      }
    }
  }
}

TEST_CASE("logits of any size have a cross-entropy") {
  const std::vector<float> logits{1e30F, -1e30F, 0.0F, 200.0F, -200.0F, 199.0F};
  const std::vector<std::int32_t> targets{0, 2};
  OwnedRows loss(1, 1, kUntouched), gradient(2, 3, kUntouched);
  compute(CrossEntropyCall{
      .logits = {logits.data(), 2, 3, 3}, .targets = targets.data(), .loss = loss.rows, .gradient = gradient.rows});
  CHECK(std::abs(loss.at(0, 0) - 0.5 * std::log1p(std::exp(1.0))) < 1e-6);
  for (const double number : doubles_of(gradient)) CHECK(std::isfinite(number));
}

TEST_CASE("squared errors and binary cross-entropy, and their gradients") {
  Random random(906);
  for (const ElementLoss kind : {ElementLoss::squared_error, ElementLoss::binary_cross_entropy}) {
    const OwnedRows predictions = random_rows(random, 1, 37, 0, 3.0F);
    OwnedRows targets = random_rows(random, 1, 37), loss(1, 1, kUntouched), gradient(1, 37, kUntouched);
    for (float& target : targets.numbers) target = static_cast<float>(sigmoid(static_cast<double>(target)));
    compute(ElementLossCall{predictions.reading(), targets.reading(), kind, loss.rows, gradient.rows});
    const auto expected = [&](const Doubles& x) {
      double sum = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double target = targets.at(0, static_cast<Index>(i));
        const double chance = sigmoid(x[i]);
        sum += kind == ElementLoss::squared_error
                   ? (x[i] - target) * (x[i] - target)
                   : -target * std::log(chance) - (1.0 - target) * std::log(1.0 - chance);
      }
      return sum / static_cast<double>(x.size());
    };
    CHECK(std::abs(loss.at(0, 0) - expected(doubles_of(predictions))) < 1e-5);
    check_slopes("loss's gradient", expected, predictions, gradient, 1e-6);
  }
}

TEST_CASE("Adam, AdamW and SGD step as their formulas say") {
  Random random(907);
  constexpr Index length = 21;
  const OwnedRows parameters = random_rows(random, 1, length), gradients = random_rows(random, 1, length);
  const OwnedRows means = random_rows(random, 1, length);
  OwnedRows squares = random_rows(random, 1, length);
  for (float& square : squares.numbers) square *= square;
  for (const bool is_decoupled : {false, true}) {
    const AdamRule rule{.learning_rate = 0.01F,
                        .beta1 = 0.9F,
                        .beta2 = 0.9999F,
                        .rest1 = 0.1F,
                        .rest2 = 0.0001F,
                        .epsilon = 1e-8F,
                        .weight_decay = 0.1F,
                        .correction1 = 0.271F,
                        .correction2 = 0.0297F,
                        .is_decoupled = is_decoupled};
    OwnedRows next(1, length, kUntouched), next_means(1, length, kUntouched), next_squares(1, length, kUntouched);
    compute(AdamCall{parameters.reading(), gradients.reading(), means.reading(), squares.reading(), rule, next.rows,
                     next_means.rows, next_squares.rows});
    for (Index i = 0; i < length; ++i) {
      double parameter = parameters.at(0, i), gradient = gradients.at(0, i);
      if (is_decoupled) {
        parameter *= 1.0 - 0.01 * 0.1;
      } else {
        gradient += 0.1 * parameter;
      }
      const double mean = 0.9 * means.at(0, i) + 0.1 * gradient;
      const double square = 0.9999 * squares.at(0, i) + 0.0001 * gradient * gradient;
      parameter -= 0.01 * (mean / 0.271) / (std::sqrt(square / 0.0297) + 1e-8);
      CHECK(std::abs(next.at(0, i) - parameter) < 1e-6);
      CHECK(std::abs(next_means.at(0, i) - mean) < 1e-6);
      CHECK(std::abs(next_squares.at(0, i) - square) < 2e-7 * square);
    }
  }
  for (const bool is_nesterov : {false, true}) {
    for (const bool is_first : {false, true}) {
      const SgdRule rule{.learning_rate = 0.1F, .momentum = 0.9F, .weight_decay = 0.01F, .is_nesterov = is_nesterov};
      OwnedRows next(1, length, kUntouched), velocities(1, length, kUntouched);
      compute(SgdCall{parameters.reading(), gradients.reading(), is_first ? Rows<const float>{} : means.reading(), rule,
                      next.rows, velocities.rows});
      for (Index i = 0; i < length; ++i) {
        const double gradient = gradients.at(0, i) + 0.01 * parameters.at(0, i);
        const double velocity = is_first ? gradient : 0.9 * means.at(0, i) + gradient;
        const double change = is_nesterov ? gradient + 0.9 * velocity : velocity;
        CHECK(std::abs(next.at(0, i) - (parameters.at(0, i) - 0.1 * change)) < 1e-6);
        CHECK(std::abs(velocities.at(0, i) - velocity) < 1e-6);
      }
    }
  }
}

TEST_CASE("combine adds multiples, and squares are summed") {
  Random random(908);
  const OwnedRows x = random_rows(random, 1, 29), y = random_rows(random, 1, 29);
  OwnedRows got(1, 29, kUntouched), squares(1, 1, kUntouched);
  compute(CombineCall{.x = x.reading(), .y = y.reading(), .a = 2.0F, .b = -3.0F, .output = got.rows});
  compute(SquareSumCall{x.reading(), squares.rows});
  double sum = 0.0;
  for (Index i = 0; i < 29; ++i) {
    CHECK(std::abs(got.at(0, i) - (2.0 * x.at(0, i) - 3.0 * y.at(0, i))) < 2e-6);
    sum += x.at(0, i) * x.at(0, i);
  }
  CHECK(std::abs(squares.at(0, 0) - sum) < 1e-6 * sum);
}

TEST_CASE("backward passes on thread pools give the bits of one thread", "[threads]") {
  Random random(909);
  const OwnedRows left = random_rows(random, 300, 130), right = random_rows(random, 300, 150);
  const OwnedRows norm_input = random_rows(random, 300, 40), norm_gradient = random_rows(random, 300, 40);
  const GruScene scene(random, 30, 4, 20, false);
  const auto all = [&](Executor& executor) {
    OwnedRows made(130, 150, kUntouched), of_input(300, 40, kUntouched), of_weight(1, 40, kUntouched),
        of_bias(1, 40, kUntouched);
    compute(ProductCall{.left = left.reading(), .right = right.reading(), .is_transposed = true, .output = made.rows},
            executor);
    compute(
        NormBackwardCall{
            norm_input.reading(), norm_gradient.reading(), {}, of_input.rows, of_weight.rows, of_bias.rows},
        executor);
    const GruGradients gru = gradients_of(scene, executor);
    std::vector<float> numbers;
    for (const OwnedRows* const rows : std::initializer_list<const OwnedRows*>{&made, &of_input, &of_weight, &of_bias,
                                                                               &gru.gates, &gru.hidden, &gru.state}) {
      numbers.insert(numbers.end(), rows->numbers.begin(), rows->numbers.end());
    }
    return numbers;
  };
  const std::vector<float> expected = all(calling_thread());
  for (const int workers : {2, 3, 8}) {
    ReverseExecutor pool(workers);
    CHECK(all(pool) == expected);
  }
}

TEST_CASE("backward passes refuse what does not fit, and write nothing") {
  Random random(910);
  const OwnedRows rows = random_rows(random, 4, 5), other = random_rows(random, 3, 6);
  OwnedRows output(4, 6, kUntouched), one(1, 1, kUntouched);
  const std::vector<std::int32_t> indices{0, 1, 2, 9};
  std::vector<Status> refused;
  refused.push_back(
      run(ProductCall{.left = rows.reading(), .right = other.reading(), .output = output.rows}, calling_thread()));
  refused.push_back(run(RowSumsCall{.rows = rows.reading(), .output = output.rows}, calling_thread()));
  refused.push_back(
      run(ScatterAddCall{.rows = rows.reading(), .indices = indices.data(), .output = rows.rows}, calling_thread()));
  refused.push_back(run(
      CrossEntropyCall{.logits = rows.reading(), .targets = indices.data(), .loss = one.rows, .gradient = rows.rows},
      calling_thread()));
  refused.push_back(
      run(PointwiseBackwardCall{.gradient = rows.reading(), .source = other.reading(), .source_gradient = output.rows},
          calling_thread()));
  for (const Status& status : refused) CHECK_FALSE(status.is_ok());
  for (const float number : output.numbers) CHECK(number == kUntouched);
}

}  // namespace heed::testing
