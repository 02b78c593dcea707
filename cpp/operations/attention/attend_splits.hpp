// Decode with split-KV: the splits of the keys are tasks, and their partial results are combined.
#pragma once

#include "heed/executor.hpp"
#include "operations/attention/attention_job.hpp"

namespace heed {

/// The floats that job.partials needs; 0 where groups are not split.
Index partials_floats(const AttentionProblem& problem, const AttentionPlan& plan);

void attend_splits(const AttentionJob& job, Executor& executor);

}  // namespace heed
