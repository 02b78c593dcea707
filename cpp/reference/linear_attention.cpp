#include "reference/linear_attention.hpp"

#include <algorithm>
#include <cmath>

#include "reference/numbers.hpp"

namespace heed::reference {
namespace {

using Row = std::vector<double>;

/// The state of one key/value head, and what tokens do to it.
class State {
 public:
  State(const LinearInputs& inputs, LinearRule rule, Index batch, Index head)
      : inputs_(inputs), rule_(rule), batch_(batch), head_(head) {
    const Index width = inputs.value.shape[3] + (rule == LinearRule::elu ? 1 : 0);
    for (Index d = 0; d < inputs.key.shape[3]; ++d) {
      rows_.push_back(inputs.state.is_present() ? read_row(inputs.state, batch, head, d)
                                                : Row(static_cast<std::size_t>(width), 0.0));
    }
  }

  void write(Index token) {
    const bool is_gated = rule_ == LinearRule::gated || rule_ == LinearRule::gated_delta;
    const bool is_delta = rule_ == LinearRule::delta || rule_ == LinearRule::gated_delta;
    const Row key = features(inputs_.key, head_, token);
    Row value = read_row(inputs_.value, batch_, head_, token);
    if (rule_ == LinearRule::elu) value.push_back(1.0);
    if (is_gated) fade(read_row(inputs_.decay, batch_, head_, token));
    if (is_delta) {
      const Row known = read_with(key);
      const double beta = beta_of(token);
      for (std::size_t e = 0; e < value.size(); ++e) value[e] = beta * (value[e] - known[e]);
    }
    for (std::size_t d = 0; d < rows_.size(); ++d) {
      for (std::size_t e = 0; e < value.size(); ++e) rows_[d][e] += key[d] * value[e];
    }
  }

  [[nodiscard]] Row read(Index query_head, Index query, double scale) const {
    Row found = read_with(features(inputs_.query, query_head, query));
    if (rule_ == LinearRule::elu) {
      const double sum = found.back();
      found.pop_back();
      scale = sum == 0.0 ? 0.0 : 1.0 / sum;
    }
    for (double& number : found) number *= scale;
    return found;
  }

  void append_to(Row& all) const {
    for (const Row& row : rows_) all.insert(all.end(), row.begin(), row.end());
  }

 private:
  [[nodiscard]] Row features(const FloatView& view, Index head, Index token) const {
    Row row = read_row(view, batch_, head, token);
    for (double& number : row) number = feature_of(rule_, number);
    return row;
  }

  [[nodiscard]] Row read_with(const Row& numbers) const {
    Row found(rows_.front().size(), 0.0);
    for (std::size_t d = 0; d < rows_.size(); ++d) {
      for (std::size_t e = 0; e < found.size(); ++e) found[e] += numbers[d] * rows_[d][e];
    }
    return found;
  }

  void fade(const Row& decay) {
    for (std::size_t d = 0; d < rows_.size(); ++d) {
      for (double& number : rows_[d]) number *= std::exp(decay[decay.size() == 1 ? 0 : d]);
    }
  }

  [[nodiscard]] double beta_of(Index token) const {
    const TensorView<const float>& beta = inputs_.beta;
    return beta.is_present() ? static_cast<double>(*beta.at(batch_, beta.shape[1] == 1 ? 0 : head_, token)) : 1.0;
  }

  const LinearInputs& inputs_;
  LinearRule rule_;
  Index batch_, head_;
  std::vector<Row> rows_;
};

}  // namespace

double feature_of(LinearRule rule, double number) {
  if (rule != LinearRule::elu) return number;
  return number > 0.0 ? number + 1.0 : std::exp(number);
}

LinearResult linear_attention(const LinearInputs& inputs, const LinearOptions& options) {
  const auto [batch, heads, length, dim] = inputs.query.shape;
  const Index groups = inputs.key.shape[1];
  const Index value_dim = inputs.value.shape[3];
  const double scale = options.scale ? static_cast<double>(*options.scale) : 1.0 / std::sqrt(static_cast<double>(dim));
  LinearResult result;
  result.output.resize(static_cast<std::size_t>(batch * heads * length * value_dim));
  for (Index b = 0; b < batch; ++b) {
    for (Index g = 0; g < groups; ++g) {
      State state(inputs, options.rule, b, g);
      const auto read = [&](Index query) {
        for (Index h = g * (heads / groups); h < (g + 1) * (heads / groups); ++h) {
          const Row row = state.read(h, query, scale);
          std::ranges::copy(
              row, result.output.begin() + static_cast<std::ptrdiff_t>(((b * heads + h) * length + query) * value_dim));
        }
      };
      for (Index t = 0; t < inputs.key.shape[2]; ++t) {
        state.write(t);
        if (options.causal) read(t);
      }
      for (Index t = 0; t < length && !options.causal; ++t) read(t);
      state.append_to(result.state);
    }
  }
  return result;
}

}  // namespace heed::reference
