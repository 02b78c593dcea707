#include "linear_error.hpp"

#include <algorithm>
#include <cmath>

#include "error_model.hpp"
#include "kernels/linear/linear_task.hpp"
#include "reference/linear_attention.hpp"
#include "reference/numbers.hpp"

namespace heed::testing {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;
constexpr double u = kUnitRoundoff;
constexpr double kTokens = kernels::kChunk;

double norm(const Row& row) {
  double sum = 0.0;
  for (const double number : row) sum += number * number;
  return std::sqrt(sum);
}

/// Sum over d of |numbers[d]| * rows[d].
Row weigh(const Row& numbers, const Matrix& rows, bool by_magnitude) {
  Row sums(rows.front().size(), 0.0);
  for (std::size_t d = 0; d < rows.size(); ++d) {
    const double number = by_magnitude ? std::abs(numbers[d]) : numbers[d];
    for (std::size_t e = 0; e < sums.size(); ++e) sums[e] += number * rows[d][e];
  }
  return sums;
}

/// One key/value head.
class Head {
 public:
  Head(const LinearInputs& inputs, const LinearOptions& options, Index batch, Index head)
      : in_(inputs), rule_(options.rule), b_(batch), g_(head) {
    const Index dim = inputs.key.shape[3];
    const Index width = inputs.value.shape[3] + (rule_ == LinearRule::elu ? 1 : 0);
    summands_ = static_cast<double>(dim + kernels::kChunk + 8);
    for (Index d = 0; d < dim; ++d) {
      state_.push_back(inputs.state.is_present() ? reference::read_row(inputs.state, batch, head, d)
                                                 : Row(static_cast<std::size_t>(width), 0.0));
      weight_.push_back(state_.back());
      for (double& number : weight_.back()) number = std::abs(number);
    }
    of_chunk_ = inputs.decay.is_present() ? kTokens * (kExp2Error + 3.0 * u) : 0.0;
    error_ = roundings_ = squared_roundings_ = Row(static_cast<std::size_t>(width), 0.0);
  }

  void write(Index t) {
    const Row key = features(in_.key, g_, t);
    Row value = reference::read_row(in_.value, b_, g_, t);
    if (rule_ == LinearRule::elu) value.push_back(1.0);
    const double of_decay = fade(t);
    Row wrong(value.size(), 0.0);
    double reach = 1.0;
    if (rule_ == LinearRule::delta || rule_ == LinearRule::gated_delta) {
      const double beta =
          in_.beta.is_present() ? static_cast<double>(*in_.beta.at(b_, in_.beta.shape[1] == 1 ? 0 : g_, t)) : 1.0;
      const Row known = weigh(key, state_, false);
      const Row size = weigh(key, weight_, true);
      for (std::size_t e = 0; e < value.size(); ++e) {
        wrong[e] = std::abs(beta) * (summands_ * u * std::abs(value[e]) + (summands_ * u + of_chunk_) * size[e]);
        value[e] = beta * (value[e] - known[e]);
      }
      reach = std::max(1.0, std::abs(1.0 - beta * norm(key) * norm(key)));
    }
    Row squares(value.size(), 0.0);
    for (std::size_t d = 0; d < key.size(); ++d) {
      for (std::size_t e = 0; e < value.size(); ++e) {
        state_[d][e] += key[d] * value[e];
        weight_[d][e] += std::abs(key[d] * value[e]);
        squares[e] += weight_[d][e] * weight_[d][e];
      }
    }
    for (std::size_t e = 0; e < value.size(); ++e) {
      wrong[e] += (of_chunk_ + kTokens * u) * std::abs(value[e]);
      error_[e] =
          reach * error_[e] + norm(key) * wrong[e] + (of_decay + of_features(in_.key, g_, t)) * std::sqrt(squares[e]);
      roundings_[e] = reach * roundings_[e] + 2.0 * u * std::sqrt(squares[e]);
      squared_roundings_[e] = reach * reach * squared_roundings_[e] + 4.0 * u * u * squares[e];
    }
  }

  [[nodiscard]] Row of_output(Index h, Index t, double scale) const {
    const Row query = features(in_.query, h, t);
    Row bound = weigh(query, weight_, true);
    const double rounding = (summands_ + 2.0) * u + of_chunk_ + of_features(in_.query, h, t);
    for (std::size_t e = 0; e < bound.size(); ++e)
      bound[e] = norm(query) * of_state(e) + rounding * bound[e] + 0x1p-140;
    if (rule_ != LinearRule::elu) {
      for (double& number : bound) number *= std::abs(scale);
      return bound;
    }
    const Row found = weigh(query, state_, false);
    const double sum = found.back();
    const double of_sum = bound.back();
    bound.pop_back();
    for (std::size_t e = 0; e < bound.size(); ++e) {
      const double quotient = std::abs(found[e] / sum);
      bound[e] = (bound[e] + quotient * of_sum) / (sum - of_sum) + 2.0 * u * quotient;
    }
    return bound;
  }

  void append_state_to(Row& all) const {
    for (const Row& row : weight_) {
      for (std::size_t e = 0; e < row.size(); ++e) all.push_back(of_state(e) + 2.0 * u * row[e] + 0x1p-140);
    }
  }

 private:
  [[nodiscard]] double of_state(std::size_t e) const {
    return error_[e] + std::min(roundings_[e], kGrowth * std::sqrt(squared_roundings_[e]));
  }

  [[nodiscard]] Row features(const FloatView& view, Index head, Index t) const {
    Row row = reference::read_row(view, b_, head, t);
    for (double& number : row) number = reference::feature_of(rule_, number);
    return row;
  }

  [[nodiscard]] double of_features(const FloatView& view, Index head, Index t) const {
    if (rule_ != LinearRule::elu) return 0.0;
    double largest = 0.0;
    for (const double number : reference::read_row(view, b_, head, t)) largest = std::max(largest, std::abs(number));
    return kExp2Error + u * (2.0 + 2.0 * largest);
  }

  /// Returns the decay's relative error.
  double fade(Index t) {
    if (!in_.decay.is_present()) return 0.0;
    const Row decay = reference::read_row(in_.decay, b_, g_, t);
    double most = 0.0;
    double error = 0.0;
    for (std::size_t d = 0; d < state_.size(); ++d) {
      const double g = decay[decay.size() == 1 ? 0 : d];
      most = std::max(most, std::exp(g));
      const bool is_little = std::abs(g) < 0.5 / kTokens;
      error = std::max(error, (is_little ? 0.0 : kExp2Error) + (2.0 * kTokens + 8.0) * u * std::abs(g));
      for (double& number : state_[d]) number *= std::exp(g);
      for (double& number : weight_[d]) number *= std::exp(g);
    }
    for (std::size_t e = 0; e < error_.size(); ++e) {
      error_[e] *= most;
      roundings_[e] *= most;
      squared_roundings_[e] *= most * most;
    }
    return error;
  }

  const LinearInputs& in_;
  LinearRule rule_;
  Index b_, g_;
  double summands_;
  double of_chunk_;
  Matrix state_;
  Matrix weight_;
  // Of each column, the 2-norm: all errors but those that round the state, and the sum of those, and of their squares.
  Row error_, roundings_, squared_roundings_;
};

}  // namespace

LinearBounds bound_linear(const LinearInputs& inputs, const LinearOptions& options) {
  const auto [batch, heads, length, dim] = inputs.query.shape;
  const Index groups = inputs.key.shape[1];
  const Index value_dim = inputs.value.shape[3];
  const double scale = options.scale ? static_cast<double>(*options.scale) : 1.0 / std::sqrt(static_cast<double>(dim));
  LinearBounds bounds;
  bounds.output.resize(static_cast<std::size_t>(batch * heads * length * value_dim));
  for (Index b = 0; b < batch; ++b) {
    for (Index g = 0; g < groups; ++g) {
      Head head(inputs, options, b, g);
      const auto read = [&](Index query) {
        for (Index h = g * (heads / groups); h < (g + 1) * (heads / groups); ++h) {
          const Row row = head.of_output(h, query, scale);
          std::ranges::copy(
              row, bounds.output.begin() + static_cast<std::ptrdiff_t>(((b * heads + h) * length + query) * value_dim));
        }
      };
      for (Index t = 0; t < inputs.key.shape[2]; ++t) {
        head.write(t);
        if (options.causal) read(t);
      }
      for (Index t = 0; t < length && !options.causal; ++t) read(t);
      head.append_state_to(bounds.state);
    }
  }
  return bounds;
}

}  // namespace heed::testing
