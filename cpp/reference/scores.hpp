// Score functions by their definition: one query, one key, a number.
#pragma once

#include <vector>

#include "heed/attention.hpp"

namespace heed::reference {

/// The element of a parameter for a query head at [row, column].
double parameter(const TensorView<const float>& view, Index head, Index row, Index column);

/// w x, with the matrix of a query head; x where there is none.
std::vector<double> projected(const TensorView<const float>& w, Index head, const std::vector<double>& x);

/// The scale of scores of queries of head_dim numbers.
double scale_of(const AttentionOptions& options, std::size_t head_dim);

/// The score of a query and a key of query head `head`, before any scale.
double pair_score(const ScoreFunction& score, Index head, const std::vector<double>& query,
                  const std::vector<double>& key);

}  // namespace heed::reference
