#include "linear_vjp_reference.hpp"

#include <algorithm>
#include <cmath>

#include "error_model.hpp"
#include "reference/linear_attention.hpp"
#include "reference/numbers.hpp"

namespace heed::testing {
namespace {

using Row = std::vector<double>;
constexpr double u = kUnitRoundoff;

double norm(const Row& row) {
  double sum = 0.0;
  for (const double number : row) sum += number * number;
  return std::sqrt(sum);
}

Bounded operator*(const Bounded& a, const Bounded& b) {
  const double value = a.value * b.value;
  return {value, std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error + u * std::abs(value)};
}

Bounded operator-(const Bounded& a) { return {-a.value, a.error}; }

class Sum {
 public:
  void add(const Bounded& term) {
    value_ += term.value;
    error_ += term.error;
    magnitude_ += std::abs(term.value);
    count_ += 1.0;
  }
  [[nodiscard]] Bounded result() const { return {value_, error_ + (count_ + 2.0) * u * magnitude_}; }

 private:
  double value_ = 0.0, error_ = 0.0, magnitude_ = 0.0, count_ = 0.0;
};

/// A row of keys or queries, as the rule computes with it, and its relative error.
struct Features {
  Row numbers;
  double error = 0.0;

  [[nodiscard]] Bounded at(std::size_t d) const { return {numbers[d], error * std::abs(numbers[d])}; }
};

/// A column of the state or of its gradient, and the 2-norm of its error.
struct Column {
  Row numbers;
  double error = 0.0;

  [[nodiscard]] Bounded at(std::size_t d) const { return {numbers[d], error}; }

  [[nodiscard]] Bounded dot(const Features& row) const {
    Sum sum;
    for (std::size_t d = 0; d < numbers.size(); ++d) sum.add(Bounded{numbers[d]} * row.at(d));
    Bounded result = sum.result();
    result.error += norm(row.numbers) * error;
    return result;
  }

  /// Adds row * factor, of which the error is `own`.
  void add(const Features& row, double factor, double own) {
    for (std::size_t d = 0; d < numbers.size(); ++d) numbers[d] += row.numbers[d] * factor;
    const double size = norm(row.numbers);
    error += size * own + (row.error + 2.0 * u) * size * std::abs(factor) + u * norm(numbers);
  }

  void decay(const Row& logarithms) {
    double most = 0.0, relative = 0.0;
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      const double g = logarithms[logarithms.size() == 1 ? 0 : d];
      const double factor = std::exp(g);
      numbers[d] *= factor;
      most = std::max(most, factor);
      if (factor > 0.0) {
        relative = std::max(relative, (std::abs(g) < 0.5 ? 0.0 : kExp2Error) + 11.0 * u * std::abs(g));
      }
    }
    error = most * error + (relative + 3.0 * u) * norm(numbers);
  }
};

/// One key/value head.
class Head {
 public:
  Head(const LinearVjpInputs& inputs, const LinearOptions& options, Index batch, Index group)
      : inputs_(inputs), in_(inputs.forward), options_(options), b_(batch), g_(group) {
    is_kernel_ = options.rule == LinearRule::elu;
    is_delta_ = options.rule == LinearRule::delta || options.rule == LinearRule::gated_delta;
    columns_ = static_cast<std::size_t>(in_.value.shape[3] + (is_kernel_ ? 1 : 0));
    dim_ = static_cast<std::size_t>(in_.key.shape[3]);
    heads_ = in_.query.shape[1] / in_.key.shape[1];
    state_ = read_state(in_.state);
    gradient_ = read_state(inputs.state_gradient);
  }

  void run(LinearVjpReference& all) {
    const Index keys = in_.key.shape[2], queries = in_.query.shape[2];
    for (Index t = 0; t < keys; ++t) write(t);
    after_.push_back(state_);
    for (Index t = queries - 1; t >= 0 && !options_.causal; --t) read_back(t, after_.back(), all);
    for (Index t = keys - 1; t >= 0; --t) {
      if (options_.causal) read_back(t, after_[static_cast<std::size_t>(t)], all);
      write_back(t, all);
    }
    for (std::size_t d = 0; d < dim_; ++d) {
      for (std::size_t e = 0; e < columns_; ++e) {
        all.state[static_cast<std::size_t>(b_ * in_.key.shape[1] + g_) * dim_ * columns_ + d * columns_ + e] =
            gradient_[e].at(d);
      }
    }
  }

 private:
  /// What a token met in the state, and what it wrote.
  struct Met {
    std::vector<Column> decayed;
    std::vector<Bounded> missing, written;
  };

  [[nodiscard]] std::vector<Column> read_state(const TensorView<const float>& view) const {
    std::vector<Column> columns(columns_, Column{Row(dim_, 0.0)});
    for (std::size_t d = 0; view.is_present() && d < dim_; ++d) {
      const Row row = reference::read_row(view, b_, g_, static_cast<Index>(d));
      for (std::size_t e = 0; e < columns_; ++e) columns[e].numbers[d] = row[e];
    }
    return columns;
  }

  [[nodiscard]] Features features(const FloatView& view, Index head, Index t) const {
    Features row{reference::read_row(view, b_, head, t)};
    double largest = 0.0;
    for (double& number : row.numbers) {
      largest = std::max(largest, std::abs(number));
      number = reference::feature_of(options_.rule, number);
    }
    if (is_kernel_) row.error = kExp2Error + 2.0 * u * (1.0 + largest);
    return row;
  }

  [[nodiscard]] double beta_of(Index t) const {
    const TensorView<const float>& beta = in_.beta;
    return beta.is_present() ? static_cast<double>(*beta.at(b_, beta.shape[1] == 1 ? 0 : g_, t)) : 1.0;
  }

  /// Of the delta rules: column + beta key (value - column . key).
  static void replace(Column& column, const Features& key, double beta, double value) {
    Column exact = column;
    exact.error = 0.0;
    const Bounded found = exact.dot(key);
    const double missing = value - found.value;
    const double own = std::abs(beta) * (found.error + 2.0 * u * std::abs(missing));
    const double size = norm(key.numbers);
    column.error *= std::max(1.0, std::abs(1.0 - beta * size * size));
    column.add(key, beta * missing, own);
  }

  void write(Index t) {
    const Features key = features(in_.key, g_, t);
    Row value = reference::read_row(in_.value, b_, g_, t);
    if (is_kernel_) value.push_back(1.0);
    if (in_.decay.is_present()) {
      for (Column& column : state_) column.decay(reference::read_row(in_.decay, b_, g_, t));
    }
    Met met{state_, {}, {}};
    const Bounded beta{beta_of(t)};
    for (std::size_t e = 0; e < columns_; ++e) {
      Bounded missing{value[e]};
      if (is_delta_) {
        const Bounded found = state_[e].dot(key);
        missing = {value[e] - found.value, found.error + u * std::abs(value[e] - found.value)};
        replace(state_[e], key, beta.value, value[e]);
      } else {
        state_[e].add(key, value[e], 0.0);
      }
      met.missing.push_back(missing);
      met.written.push_back(beta * missing);
    }
    met_.push_back(std::move(met));
    after_.push_back(state_);
  }

  /// The slope of elu + 1 where it is `feature`.
  [[nodiscard]] Bounded slope(const Features& row, std::size_t d) const {
    if (!is_kernel_ || row.numbers[d] > 1.0) return {1.0, 0.0};
    return row.at(d);
  }

  [[nodiscard]] Bounded factor_of(const Features& query, const std::vector<Column>& state) const {
    if (!is_kernel_) {
      const double scale = options_.scale ? static_cast<double>(*options_.scale) : 1.0 / std::sqrt(dim_);
      return {scale, 2.0 * u * std::abs(scale)};
    }
    const Bounded sum = state.back().dot(query);
    if (sum.value == 0.0) return {};
    return {1.0 / sum.value, sum.error / (sum.value * (sum.value - sum.error)) + u / sum.value};
  }

  void read_back(Index t, const std::vector<Column>& state, LinearVjpReference& all) {
    for (Index h = g_ * heads_; h < (g_ + 1) * heads_; ++h) {
      const Features query = features(in_.query, h, t);
      const Bounded factor = factor_of(query, state);
      std::vector<Bounded> given;
      for (const double number : reference::read_row(inputs_.output_gradient, b_, h, t)) {
        given.push_back(factor * Bounded{number});
      }
      std::vector<Sum> sums(dim_);
      const auto add = [&](std::size_t e) {
        for (std::size_t d = 0; d < dim_; ++d) sums[d].add(state[e].at(d) * given[e]);
        gradient_[e].add(query, given[e].value, given[e].error);
      };
      for (std::size_t e = 0; e < given.size(); ++e) add(e);
      if (is_kernel_) {
        Sum of_sum;
        for (std::size_t d = 0; d < dim_; ++d) of_sum.add(query.at(d) * sums[d].result());
        given.push_back(-(factor * of_sum.result()));
        add(columns_ - 1);
      }
      const auto row = static_cast<std::size_t>((b_ * in_.query.shape[1] + h) * in_.query.shape[2] + t) * dim_;
      for (std::size_t d = 0; d < dim_; ++d) all.query[row + d] = sums[d].result() * slope(query, d);
    }
  }

  void write_back(Index t, LinearVjpReference& all) {
    const Features key = features(in_.key, g_, t);
    const Met& met = met_[static_cast<std::size_t>(t)];
    const Bounded beta{beta_of(t)};
    std::vector<Sum> of_key(dim_), of_decay(dim_);
    Sum of_beta;
    const auto token = static_cast<std::size_t>((b_ * in_.key.shape[1] + g_) * in_.key.shape[2] + t);
    for (std::size_t e = 0; e < columns_; ++e) {
      Column& column = gradient_[e];
      const Bounded of_written = column.dot(key);
      const Bounded of_value = beta * of_written;
      of_beta.add(of_written * met.missing[e]);
      for (std::size_t d = 0; d < dim_; ++d) {
        of_key[d].add(column.at(d) * met.written[e]);
        if (is_delta_) of_key[d].add(-(met.decayed[e].at(d) * of_value));
      }
      if (is_delta_) replace(column, key, beta.value, 0.0);
      for (std::size_t d = 0; d < dim_; ++d) of_decay[d].add(column.at(d) * met.decayed[e].at(d));
      if (in_.decay.is_present()) column.decay(reference::read_row(in_.decay, b_, g_, t));
      const auto width = static_cast<std::size_t>(in_.value.shape[3]);
      if (e < width) all.value[token * width + e] = of_value;
    }
    for (std::size_t d = 0; d < dim_; ++d) all.key[token * dim_ + d] = of_key[d].result() * slope(key, d);
    store_decay(t, token, of_decay, all);
    if (in_.beta.is_present()) add_beta(t, of_beta.result(), all);
  }

  void store_decay(Index /*t*/, std::size_t token, const std::vector<Sum>& sums, LinearVjpReference& all) const {
    if (!in_.decay.is_present()) return;
    Sum all_of_them;
    for (std::size_t d = 0; d < dim_; ++d) {
      if (in_.decay.shape[3] == in_.key.shape[3]) all.decay[token * dim_ + d] = sums[d].result();
      all_of_them.add(sums[d].result());
    }
    if (in_.decay.shape[3] != in_.key.shape[3]) all.decay[token] = all_of_them.result();
  }

  void add_beta(Index t, const Bounded& gradient, LinearVjpReference& all) const {
    const TensorView<const float>& beta = in_.beta;
    const Index head = beta.shape[1] == 1 ? 0 : g_;
    Bounded& sum = all.beta[static_cast<std::size_t>((b_ * beta.shape[1] + head) * beta.shape[2] + t)];
    sum.value += gradient.value;
    sum.error += gradient.error + static_cast<double>(in_.key.shape[1]) * u * std::abs(gradient.value);
  }

  const LinearVjpInputs& inputs_;
  const LinearInputs& in_;
  const LinearOptions& options_;
  Index b_, g_, heads_;
  bool is_kernel_, is_delta_;
  std::size_t columns_, dim_;
  std::vector<Column> state_, gradient_;
  std::vector<Met> met_;
  std::vector<std::vector<Column>> after_;
};

std::size_t size_of(const Shape& shape) { return static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]); }

}  // namespace

LinearVjpReference reference_vjp(const LinearVjpInputs& inputs, const LinearOptions& options) {
  const LinearInputs& in = inputs.forward;
  LinearVjpReference all;
  all.query.resize(size_of(in.query.shape));
  all.key.resize(size_of(in.key.shape));
  all.value.resize(size_of(in.value.shape));
  all.decay.resize(in.decay.is_present() ? size_of(in.decay.shape) : 0);
  all.beta.resize(in.beta.is_present() ? size_of(in.beta.shape) : 0);
  const Shape& k = in.key.shape;
  all.state.resize(size_of({k[0], k[1], k[3], in.value.shape[3] + (options.rule == LinearRule::elu ? 1 : 0)}));
  for (Index b = 0; b < k[0]; ++b) {
    for (Index g = 0; g < k[1]; ++g) Head(inputs, options, b, g).run(all);
  }
  return all;
}

}  // namespace heed::testing
