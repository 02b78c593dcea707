#include "reference/scores.hpp"

#include <cmath>

namespace heed::reference {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

double cosine(const std::vector<double>& query, const std::vector<double>& key) {
  const double lengths = std::sqrt(dot(query, query)) * std::sqrt(dot(key, key));
  return lengths == 0.0 ? 0.0 : dot(query, key) / lengths;
}

double additive(const ScoreFunction& score, Index head, const std::vector<double>& query,
                const std::vector<double>& key) {
  const std::vector<double> of_query = projected(score.wq, head, query);
  const std::vector<double> of_key = projected(score.wk, head, key);
  double sum = 0.0;
  for (std::size_t c = 0; c < of_query.size(); ++c) {
    const auto column = static_cast<Index>(c);
    const double offset = score.b.is_present() ? parameter(score.b, head, 0, column) : 0.0;
    const double weight = score.v.is_present() ? parameter(score.v, head, 0, column) : 1.0;
    sum += weight * std::tanh(of_query[c] + of_key[c] + offset);
  }
  return sum;
}

double gated(const ScoreFunction& score, Index head, const std::vector<double>& query, const std::vector<double>& key) {
  double gate = score.b.is_present() ? parameter(score.b, head, 0, 0) : 0.0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    gate += parameter(score.w, head, 0, static_cast<Index>(d)) * query[d];
    gate += parameter(score.w, head, 0, static_cast<Index>(d + query.size())) * key[d];
  }
  return dot(query, key) / (1.0 + std::exp(-gate));
}

}  // namespace

double parameter(const TensorView<const float>& view, Index head, Index row, Index column) {
  return static_cast<double>(view.at(0, view.shape[1] == 1 ? 0 : head, row)[column * view.strides[3]]);
}

std::vector<double> projected(const TensorView<const float>& w, Index head, const std::vector<double>& x) {
  if (!w.is_present()) return x;
  std::vector<double> result(static_cast<std::size_t>(w.shape[2]));
  for (std::size_t row = 0; row < result.size(); ++row) {
    for (std::size_t column = 0; column < x.size(); ++column) {
      result[row] += parameter(w, head, static_cast<Index>(row), static_cast<Index>(column)) * x[column];
    }
  }
  return result;
}

double scale_of(const AttentionOptions& options, std::size_t head_dim) {
  if (options.scale) return static_cast<double>(*options.scale);
  return options.score.kind == ScoreKind::scaled_dot ? 1.0 / std::sqrt(static_cast<double>(head_dim)) : 1.0;
}

double pair_score(const ScoreFunction& score, Index head, const std::vector<double>& query,
                  const std::vector<double>& key) {
  switch (score.kind) {
    case ScoreKind::scaled_dot:
    case ScoreKind::dot:
      return dot(query, key);
    case ScoreKind::cosine:
      return cosine(query, key);
    case ScoreKind::general:
      return dot(query, projected(score.w, head, key));
    case ScoreKind::additive:
      return additive(score, head, query, key);
    case ScoreKind::gated:
      return gated(score, head, query, key);
    case ScoreKind::rbf: {
      const double bandwidth = parameter(score.bandwidth, head, 0, 0);
      return -squared_distance(query, key) / (2.0 * bandwidth * bandwidth);
    }
    case ScoreKind::distance:
      return -std::sqrt(squared_distance(query, key));
  }
  return 0.0;
}

}  // namespace heed::reference
