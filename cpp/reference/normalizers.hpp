// Normalizers by their definition: the scores of a row become its weights.
#pragma once

#include <vector>

#include "heed/attention.hpp"

namespace heed::reference {

struct Normalized {
  std::vector<double> weights;
  double log_sum_exp;  // -infinity for a row without a key, whatever the normalizer
  double entropy;      // -sum w ln w
};

/// The scores that are kept, with -infinity for the others: the top_k best of them, the first of equals.
std::vector<double> best_of(std::vector<double> scores, const AttentionOptions& options);

/// Masked scores are -infinity. A sink of -infinity is none.
Normalized normalize(const std::vector<double>& given, const AttentionOptions& options, double sink);

}  // namespace heed::reference
