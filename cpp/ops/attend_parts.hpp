// Attention of groups with few rows: their keys are cut in parts, which are tasks, and merged.
#pragma once

#include "heed/executor.hpp"
#include "ops/attention_job.hpp"

namespace heed {

/// Floats that job.part_results needs; 0 where groups are not cut in parts.
Index part_results_floats(const AttentionProblem& problem, const AttentionPlan& plan);

void attend_parts(AttentionJob& job, Executor& executor);

}  // namespace heed
