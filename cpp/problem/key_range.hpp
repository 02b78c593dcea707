// Which keys the structural rules leave to a query: causal, window and lengths, all of them a
// range. What single keys mask and bias take away is the kernels' business.
#pragma once

#include "problem/attention_problem.hpp"

namespace heed {

/// Keys [begin, end).
struct KeyRange {
  Index begin;
  Index end;
};

/// Where a query stands among the keys, for causal, window and ALiBi.
Index position_of(const AttentionProblem& problem, Index batch, Index query);

KeyRange visible_keys(const AttentionProblem& problem, Index batch, Index query);

}  // namespace heed
