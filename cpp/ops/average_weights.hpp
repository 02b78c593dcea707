// The mean of the weights over the heads: a second pass, for which the first keeps a rule for each row.
#pragma once

#include "heed/executor.hpp"
#include "ops/attention_job.hpp"

namespace heed {

/// Floats that job.weight_rules needs; 0 where no mean is wanted.
Index weight_rule_floats(const AttentionProblem& problem, const AttentionPlan& plan);

void average_weights(AttentionJob& job, Executor& executor);

}  // namespace heed
