// The mean of the weights over the heads: a second pass, for which the first keeps the stats of each row.
#pragma once

#include "heed/executor.hpp"
#include "operations/attention/attention_job.hpp"

namespace heed {

/// Floats that job.row_stats needs; 0 where no mean is wanted.
Index row_stats_floats(const AttentionProblem& problem, const AttentionPlan& plan);

void average_weights(const AttentionJob& job, Executor& executor);

}  // namespace heed
