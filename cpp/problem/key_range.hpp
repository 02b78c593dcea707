// The range of keys that causal masks, windows and lengths leave to a query. Masks and biases of single keys are the
// kernels' work.
#pragma once

#include "problem/attention_problem.hpp"

namespace heed {

/// Keys [begin, end).
struct KeyRange {
  Index begin;
  Index end;
};

/// The position of a query among the keys, for causal masks, windows and ALiBi.
Index position_of(const AttentionProblem& problem, Index batch, Index query);

/// The keys before the padding of a batch entry.
Index keys_of_entry(const AttentionProblem& problem, Index batch);

KeyRange visible_keys(const AttentionProblem& problem, Index batch, Index query);

}  // namespace heed
