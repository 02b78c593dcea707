#include "pair_error.hpp"

#include <cmath>

#include "error_model.hpp"
#include "reference/pair_gradients.hpp"
#include "reference/scores.hpp"
#include "score_error.hpp"

namespace heed::testing {
namespace {

double sum_of_products(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += std::abs(a[d] * b[d]);
  return sum;
}

double length(const std::vector<double>& a) { return std::sqrt(sum_of_products(a, a)); }

/// The exact derivatives, without magnitudes and errors.
PairDerivatives exact_derivatives(const ScoreFunction& score, Index head, const std::vector<double>& query,
                                  const std::vector<double>& key) {
  std::vector<double> of_query(query.size());
  std::vector<double> of_key(key.size());
  reference::ScoreVjpResult of_score;
  const auto start = [](const char* /*name*/, std::vector<double>& gradient, const TensorView<const float>& view) {
    if (view.is_present()) gradient.resize(static_cast<std::size_t>(view.shape[1] * view.shape[2] * view.shape[3]));
  };
  for_each_parameter(start, of_score, score);
  reference::add_pair_gradients(score, head, {query, key, 1.0}, {of_query, of_key, of_score});
  const auto all = [](const std::vector<double>& values) {
    std::vector<Derivative> derivatives;
    for (const double value : values) derivatives.push_back({.value = value});
    return derivatives;
  };
  PairDerivatives made;
  made.query = all(of_query);
  made.key = all(of_key);
  const auto take_own = [&](const char* /*name*/, std::vector<Derivative>& own, const std::vector<double>& values,
                            const TensorView<const float>& view) {
    if (!view.is_present()) return;
    const auto count = static_cast<std::ptrdiff_t>(view.shape[2] * view.shape[3]);
    const auto first = values.begin() + (view.shape[1] == 1 ? 0 : static_cast<std::ptrdiff_t>(head)) * count;
    own = all({first, first + count});
  };
  for_each_parameter(take_own, made, of_score, score);
  return made;
}

void add(Derivative& derivative, double magnitude, double error) {
  derivative.magnitude += magnitude;
  derivative.error += error;
}

class Pair {
 public:
  Pair(const ScoreFunction& score, Index head, const std::vector<double>& query, const std::vector<double>& key)
      : result(exact_derivatives(score, head, query, key)), score_(score), head_(head), query_(query), key_(key) {
    const auto dims = static_cast<double>(query.size() + key.size());
    relative_ = kUnitRoundoff * (kGrowth * std::sqrt(dims) + 12.0);
  }

  void product() {
    for (std::size_t d = 0; d < query_.size(); ++d) {
      both(d, std::abs(key_[d]), std::abs(query_[d]), 0.0);
    }
  }

  void cosine() {
    const double of_query = length(query_);
    const double of_key = length(key_);
    if (of_query == 0.0 || of_key == 0.0) return;
    const double all = sum_of_products(query_, key_) / (of_query * of_key);
    for (std::size_t d = 0; d < query_.size(); ++d) {
      const double q = std::abs(query_[d]) / of_query;
      const double k = std::abs(key_[d]) / of_key;
      both(d, (k + all * q) / of_query, (q + all * k) / of_key, 4.0 * relative_);
    }
  }

  void general() {
    const std::size_t columns = key_.size();
    for (std::size_t r = 0; r < query_.size(); ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const double w = parameter(score_.w, r, c);
        part(result.query[r], w * key_[c], 2.0 * relative_);
        part(result.key[c], w * query_[r], 2.0 * relative_);
        part(result.w[r * columns + c], query_[r] * key_[c], 2.0 * relative_);
      }
    }
  }

  void additive() {
    const std::vector<double> of_query = reference::projected(score_.wq, head_, query_);
    const std::vector<double> of_key = reference::projected(score_.wk, head_, key_);
    for (std::size_t c = 0; c < of_query.size(); ++c) {
      const double offset = score_.b.is_present() ? parameter(score_.b, 0, c) : 0.0;
      const double weight = score_.v.is_present() ? parameter(score_.v, 0, c) : 1.0;
      const double bent = std::tanh(of_query[c] + of_key[c] + offset);
      const double argument = relative_ * (magnitude_of_projection(score_.wq, c, query_) +
                                           magnitude_of_projection(score_.wk, c, key_) + std::abs(offset));
      const double slope = 1.0 - bent * bent;
      const double off = 0.77 * argument + 2.0 * kTanhError + 6.0 * kUnitRoundoff;
      projection(score_.wq, c, weight, {slope, off}, query_, result.query, result.wq);
      projection(score_.wk, c, weight, {slope, off}, key_, result.key, result.wk);
      if (!result.b.empty()) add(result.b[c], std::abs(weight) * slope, std::abs(weight) * (relative_ * slope + off));
      if (!result.v.empty()) add(result.v[c], std::abs(bent), argument + kTanhError + relative_);
    }
  }

  void gated() {
    const std::size_t dim = query_.size();
    double logit = score_.b.is_present() ? parameter(score_.b, 0, 0) : 0.0;
    double terms = std::abs(logit);
    for (std::size_t d = 0; d < dim; ++d) {
      for (const double term : {parameter(score_.w, 0, d) * query_[d], parameter(score_.w, 0, d + dim) * key_[d]}) {
        logit += term;
        terms += std::abs(term);
      }
    }
    const double gate = 1.0 / (1.0 + std::exp(-logit));
    const double off = kSigmoidError + relative_ * terms;
    const double dots = sum_of_products(query_, key_);
    const double slope = gate * (1.0 - gate);
    const auto through_gate = [&](Derivative& derivative, double factor) {
      const double all = dots * std::abs(factor);
      add(derivative, all * slope, all * (slope * relative_ + 2.0 * off + 3.0 * kUnitRoundoff));
    };
    for (std::size_t d = 0; d < dim; ++d) {
      part(result.query[d], gate * key_[d], relative_ + off);
      part(result.key[d], gate * query_[d], relative_ + off);
      through_gate(result.query[d], parameter(score_.w, 0, d));
      through_gate(result.key[d], parameter(score_.w, 0, d + dim));
      through_gate(result.w[d], query_[d]);
      through_gate(result.w[d + dim], key_[d]);
    }
    if (!result.b.empty()) through_gate(result.b[0], 1.0);
  }

  /// Of a function of the difference, times `factor`.
  void difference(double factor, double error) {
    for (std::size_t d = 0; d < query_.size(); ++d) {
      const double all = factor * std::abs(query_[d] - key_[d]);
      both(d, all, all, error);
    }
    for (Derivative& of_bandwidth : result.bandwidth) part(of_bandwidth, of_bandwidth.value, error);
  }

  [[nodiscard]] double distance() const {
    double sum = 0.0;
    for (std::size_t d = 0; d < query_.size(); ++d) sum += (query_[d] - key_[d]) * (query_[d] - key_[d]);
    return std::sqrt(sum);
  }

  PairDerivatives result;

 private:
  struct Slope {
    double value, error;
  };

  [[nodiscard]] double parameter(const TensorView<const float>& view, std::size_t row, std::size_t column) const {
    return reference::parameter(view, head_, static_cast<Index>(row), static_cast<Index>(column));
  }

  void part(Derivative& derivative, double value, double error) const {
    add(derivative, std::abs(value), std::abs(value) * (relative_ + error));
  }

  void both(std::size_t d, double of_query, double of_key, double error) {
    part(result.query[d], of_query, error);
    part(result.key[d], of_key, error);
  }

  [[nodiscard]] double magnitude_of_projection(const TensorView<const float>& w, std::size_t row,
                                               const std::vector<double>& x) const {
    if (!w.is_present()) return std::abs(x[row]);
    double sum = 0.0;
    for (std::size_t d = 0; d < x.size(); ++d) sum += std::abs(parameter(w, row, d) * x[d]);
    return sum;
  }

  void projection(const TensorView<const float>& w, std::size_t row, double weight, const Slope& slope,
                  const std::vector<double>& x, std::vector<Derivative>& of_x, std::vector<Derivative>& of_w) const {
    const auto through = [&](Derivative& derivative, double factor) {
      const double all = std::abs(weight * factor);
      add(derivative, all * slope.value, all * (slope.value * relative_ + slope.error));
    };
    if (!w.is_present()) {
      through(of_x[row], 1.0);
      return;
    }
    for (std::size_t d = 0; d < x.size(); ++d) {
      through(of_x[d], parameter(w, row, d));
      through(of_w[row * x.size() + d], x[d]);
    }
  }

  const ScoreFunction& score_;
  Index head_;
  const std::vector<double>& query_;
  const std::vector<double>& key_;
  double relative_;
};

}  // namespace

PairDerivatives differentiate_pair(const ScoreFunction& score, Index head, const std::vector<double>& query,
                                   const std::vector<double>& key, double error) {
  Pair pair(score, head, query, key);
  switch (score.kind) {
    case ScoreKind::cosine:
      pair.cosine();
      break;
    case ScoreKind::general:
      pair.general();
      break;
    case ScoreKind::additive:
      pair.additive();
      break;
    case ScoreKind::gated:
      pair.gated();
      break;
    case ScoreKind::rbf: {
      const double bandwidth = reference::parameter(score.bandwidth, head, 0, 0);
      pair.difference(1.0 / (bandwidth * bandwidth), error);
      break;
    }
    case ScoreKind::distance:
      if (const double distance = pair.distance(); distance > 0.0) pair.difference(1.0 / distance, error);
      break;
    default:
      pair.product();
      break;
  }
  return pair.result;
}

}  // namespace heed::testing
