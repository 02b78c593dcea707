#include "reference/pair_gradients.hpp"

#include <cmath>

#include "reference/scores.hpp"

namespace heed::reference {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

/// The gradient of a parameter's element for a query head; of an absent parameter, one that nobody reads.
double& element(std::vector<double>& gradient, const TensorView<const float>& parameter, Index head, std::size_t row,
                std::size_t column) {
  static double nowhere;
  if (gradient.empty()) return nowhere;
  const Index own = parameter.shape[1] == 1 ? 0 : head;
  const auto rows = static_cast<std::size_t>(own * parameter.shape[2]) + row;
  return gradient[rows * static_cast<std::size_t>(parameter.shape[3]) + column];
}

void add_cosine(const Pair& pair, const PairGradients& gradients) {
  const auto& [query, key, of_score] = pair;
  const double of_query = std::sqrt(dot(query, query));
  const double of_key = std::sqrt(dot(key, key));
  if (of_query == 0.0 || of_key == 0.0) return;
  const double cosine = dot(query, key) / (of_query * of_key);
  for (std::size_t d = 0; d < query.size(); ++d) {
    gradients.query[d] += of_score * (key[d] / of_key - cosine * query[d] / of_query) / of_query;
    gradients.key[d] += of_score * (query[d] / of_query - cosine * key[d] / of_key) / of_key;
  }
}

void add_general(const ScoreFunction& score, Index head, const Pair& pair, const PairGradients& gradients) {
  for (std::size_t r = 0; r < pair.query.size(); ++r) {
    for (std::size_t c = 0; c < pair.key.size(); ++c) {
      const double w = parameter(score.w, head, static_cast<Index>(r), static_cast<Index>(c));
      gradients.query[r] += pair.of_score * w * pair.key[c];
      gradients.key[c] += pair.of_score * w * pair.query[r];
      element(gradients.score.w, score.w, head, r, c) += pair.of_score * pair.query[r] * pair.key[c];
    }
  }
}

/// A number of a projection, and its gradient.
struct Projected {
  std::size_t row;
  double gradient;
};

/// What a projection passes on to what it projects, and its matrix; the identity where there is none.
void add_projection(const TensorView<const float>& w, Index head, const Projected& projected,
                    const std::vector<double>& x, std::span<double> of_x, std::vector<double>& of_w) {
  const auto& [row, of_projected] = projected;
  if (!w.is_present()) {
    of_x[row] += of_projected;
    return;
  }
  for (std::size_t d = 0; d < x.size(); ++d) {
    of_x[d] += of_projected * parameter(w, head, static_cast<Index>(row), static_cast<Index>(d));
    element(of_w, w, head, row, d) += of_projected * x[d];
  }
}

void add_additive(const ScoreFunction& score, Index head, const Pair& pair, const PairGradients& gradients) {
  const std::vector<double> of_query = projected(score.wq, head, pair.query);
  const std::vector<double> of_key = projected(score.wk, head, pair.key);
  for (std::size_t c = 0; c < of_query.size(); ++c) {
    const auto column = static_cast<Index>(c);
    const double offset = score.b.is_present() ? parameter(score.b, head, 0, column) : 0.0;
    const double weight = score.v.is_present() ? parameter(score.v, head, 0, column) : 1.0;
    const double tanh_of_sum = std::tanh(of_query[c] + of_key[c] + offset);
    const double of_sum = pair.of_score * weight * (1.0 - tanh_of_sum * tanh_of_sum);
    element(gradients.score.v, score.v, head, 0, c) += pair.of_score * tanh_of_sum;
    element(gradients.score.b, score.b, head, 0, c) += of_sum;
    add_projection(score.wq, head, {c, of_sum}, pair.query, gradients.query, gradients.score.wq);
    add_projection(score.wk, head, {c, of_sum}, pair.key, gradients.key, gradients.score.wk);
  }
}

void add_gated(const ScoreFunction& score, Index head, const Pair& pair, const PairGradients& gradients) {
  const auto& [query, key, of_score] = pair;
  const std::size_t dim = query.size();
  double logit = score.b.is_present() ? parameter(score.b, head, 0, 0) : 0.0;
  for (std::size_t d = 0; d < dim; ++d) {
    logit += parameter(score.w, head, 0, static_cast<Index>(d)) * query[d];
    logit += parameter(score.w, head, 0, static_cast<Index>(d + dim)) * key[d];
  }
  const double gate = 1.0 / (1.0 + std::exp(-logit));
  const double of_logit = of_score * dot(query, key) * gate * (1.0 - gate);
  for (std::size_t d = 0; d < dim; ++d) {
    const double of_query = parameter(score.w, head, 0, static_cast<Index>(d));
    const double of_key = parameter(score.w, head, 0, static_cast<Index>(d + dim));
    gradients.query[d] += of_score * gate * key[d] + of_logit * of_query;
    gradients.key[d] += of_score * gate * query[d] + of_logit * of_key;
    element(gradients.score.w, score.w, head, 0, d) += of_logit * query[d];
    element(gradients.score.w, score.w, head, 0, d + dim) += of_logit * key[d];
  }
  element(gradients.score.b, score.b, head, 0, 0) += of_logit;
}

/// Adds the gradients of a function of query - key, whose gradient is `factor` times that difference.
void add_difference(const Pair& pair, double factor, const PairGradients& gradients) {
  for (std::size_t d = 0; d < pair.query.size(); ++d) {
    const double difference = factor * pair.of_score * (pair.query[d] - pair.key[d]);
    gradients.query[d] += difference;
    gradients.key[d] -= difference;
  }
}

double squared_distance(const Pair& pair) {
  double sum = 0.0;
  for (std::size_t d = 0; d < pair.query.size(); ++d) {
    sum += (pair.query[d] - pair.key[d]) * (pair.query[d] - pair.key[d]);
  }
  return sum;
}

}  // namespace

void add_pair_gradients(const ScoreFunction& score, Index head, const Pair& pair, const PairGradients& gradients) {
  switch (score.kind) {
    case ScoreKind::scaled_dot:
    case ScoreKind::dot:
      for (std::size_t d = 0; d < pair.query.size(); ++d) {
        gradients.query[d] += pair.of_score * pair.key[d];
        gradients.key[d] += pair.of_score * pair.query[d];
      }
      return;
    case ScoreKind::cosine:
      add_cosine(pair, gradients);
      return;
    case ScoreKind::general:
      add_general(score, head, pair, gradients);
      return;
    case ScoreKind::additive:
      add_additive(score, head, pair, gradients);
      return;
    case ScoreKind::gated:
      add_gated(score, head, pair, gradients);
      return;
    case ScoreKind::rbf: {
      const double bandwidth = parameter(score.bandwidth, head, 0, 0);
      add_difference(pair, -1.0 / (bandwidth * bandwidth), gradients);
      element(gradients.score.bandwidth, score.bandwidth, head, 0, 0) +=
          pair.of_score * squared_distance(pair) / (bandwidth * bandwidth * bandwidth);
      return;
    }
    case ScoreKind::distance: {
      // The distance of equal vectors has no gradient; zero is one of its subgradients.
      const double distance = std::sqrt(squared_distance(pair));
      if (distance > 0.0) add_difference(pair, -1.0 / distance, gradients);
      return;
    }
  }
}

}  // namespace heed::reference
