#include "reference/layers.hpp"

#include <cmath>
#include <numbers>

namespace heed::reference {
namespace {

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

std::size_t place(Index row, Index length, Index i) { return static_cast<std::size_t>(row * length + i); }

}  // namespace

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::gelu_tanh: {
      const double argument = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return x * logistic(2.0 * argument);  // which is 0.5 x (1 + tanh(argument)), without its cancellation
    }
    case Activation::silu:
      return x * logistic(x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return logistic(x);
  }
  return x;
}

std::vector<double> pointwise(const std::vector<double>& numbers, Index rows, Index length, const Pointwise& rule) {
  std::vector<double> made(numbers.size());
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < length; ++i) {
      double x = numbers[place(row, length, i)];
      if (rule.bias != nullptr) x += static_cast<double>(rule.bias[i]);
      x = activate(rule.activation, x);
      if (rule.factor.is_present()) x *= static_cast<double>(rule.factor.row(row % rule.factor.count)[i]);
      if (rule.addend.is_present()) x += static_cast<double>(rule.addend.row(row % rule.addend.count)[i]);
      made[place(row, length, i)] = x;
    }
  }
  return made;
}

std::vector<double> product(const Rows<const float>& input, const WeightMatrix& weights) {
  std::vector<double> made;
  for (Index row = 0; row < input.count; ++row) {
    for (Index o = 0; o < weights.outputs; ++o) {
      double sum = 0.0;
      for (Index i = 0; i < weights.inputs; ++i) {
        const float weight = weights.data[o * weights.output_stride + i * weights.input_stride];
        sum += static_cast<double>(input.row(row)[i]) * static_cast<double>(weight);
      }
      made.push_back(sum);
    }
  }
  return made;
}

NormalizedRows normalize_rows(const Rows<const float>& input, const RowNorm& norm) {
  NormalizedRows made;
  const auto length = static_cast<double>(input.length);
  for (Index row = 0; row < input.count; ++row) {
    double mean = 0.0;
    for (Index i = 0; i < input.length && norm.is_centred; ++i) mean += static_cast<double>(input.row(row)[i]) / length;
    double variance = 0.0;
    for (Index i = 0; i < input.length; ++i) {
      const double difference = static_cast<double>(input.row(row)[i]) - mean;
      variance += difference * difference / length;
    }
    const double inverse = 1.0 / std::sqrt(variance + static_cast<double>(norm.epsilon));
    made.mean.push_back(mean);
    made.inverse_deviation.push_back(inverse);
    for (Index i = 0; i < input.length; ++i) {
      const double weight = norm.weight == nullptr ? 1.0 : static_cast<double>(norm.weight[i]);
      const double bias = norm.bias == nullptr ? 0.0 : static_cast<double>(norm.bias[i]);
      made.output.push_back((static_cast<double>(input.row(row)[i]) - mean) * inverse * weight + bias);
    }
  }
  return made;
}

std::vector<double> gru(const GruInputs& inputs, const GruOptions& options, const float* matrices) {
  const Index hidden = inputs.gates.length / 3;
  const Index steps = inputs.gates.count / options.batch;
  std::vector<double> made(static_cast<std::size_t>(inputs.gates.count * hidden));
  for (Index entry = 0; entry < options.batch; ++entry) {
    std::vector<double> state(static_cast<std::size_t>(hidden), 0.0);
    for (Index i = 0; i < hidden && inputs.state.is_present(); ++i) {
      state[static_cast<std::size_t>(i)] = static_cast<double>(inputs.state.row(entry)[i]);
    }
    const auto of_state = [&](Index gate, Index i) {
      double sum = inputs.bias == nullptr ? 0.0 : static_cast<double>(inputs.bias[gate * hidden + i]);
      for (Index j = 0; j < hidden; ++j) {
        sum += static_cast<double>(matrices[(gate * hidden + i) * hidden + j]) * state[static_cast<std::size_t>(j)];
      }
      return sum;
    };
    for (Index n = 0; n < steps; ++n) {
      const Index row = entry * steps + (options.is_reversed ? steps - 1 - n : n);
      const auto of_input = [&](Index gate, Index i) {
        return static_cast<double>(inputs.gates.row(row)[gate * hidden + i]);
      };
      std::vector<double> next;
      for (Index i = 0; i < hidden; ++i) {
        const double reset = logistic(of_input(0, i) + of_state(0, i));
        const double keep = logistic(of_input(1, i) + of_state(1, i));
        const double fresh = std::tanh(of_input(2, i) + reset * of_state(2, i));
        next.push_back((1.0 - keep) * fresh + keep * state[static_cast<std::size_t>(i)]);
      }
      state = next;
      for (Index i = 0; i < hidden; ++i) made[place(row, hidden, i)] = state[static_cast<std::size_t>(i)];
    }
  }
  return made;
}

}  // namespace heed::reference
