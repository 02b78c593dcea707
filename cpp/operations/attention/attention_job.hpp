// What all tasks of one attention call share, and how their rows are described to the kernels.
#pragma once

#include <algorithm>
#include <array>

#include "heed/executor.hpp"
#include "kernels/task/attention_task.hpp"
#include "operations/attention/call_expressions.hpp"
#include "operations/attention/score_operands.hpp"
#include "operations/common/parallel_for.hpp"
#include "plan/attention_plan.hpp"
#include "problem/attention_problem.hpp"

namespace heed {

/// A call is one pass over its rows, unless prob_mod needs normalized weights: then the first pass computes the stats
/// of the rows and what depends on scores, and the second pass computes weights and outputs.
enum class Pass : std::uint8_t { only, row_stats, weights };

struct AttentionJob {
  const AttentionProblem& problem;
  const ScoreOperands& operands;
  const AttentionPlan& plan;
  CallExpressions expressions = {};
  Pass pass = Pass::only;
  float* scratch = nullptr;
  Index scratch_per_worker = 0;  // floats
  float* registers = nullptr;
  Index registers_per_worker = 0;          // floats
  kernels::BestKey* best = nullptr;        // [worker][rows_per_task][top_k]
  kernels::RowStats* row_stats = nullptr;  // [B, H, L], kept for the second pass; null: there is none
  float* partials = nullptr;               // [group][split][row], where the keys of a group are split
};

/// Calls task(index, worker) for the job's tasks, by as many workers as its plan says, until its caller stops it.
template <typename Task>
void parallel_for(Executor& executor, const AttentionJob& job, Index count, Task task) {
  parallel_for(executor, {count, job.plan.workers, job.problem.options.stop}, task);
}

/// Whether the caller stopped the job, so that tasks may be missing.
inline bool is_stopped(const AttentionJob& job) { return is_set(job.problem.options.stop); }

using TaskRows = std::array<kernels::AttentionRow, kMaxRowsPerTask>;

/// Consecutive rows of one group.
struct GroupRows {
  Index group;
  Index first;
  Index count;
};

/// The keys of one split.
inline kernels::KeySplit key_split(const AttentionJob& job, Index split) {
  const Index begin = split * job.plan.keys_per_split;
  const Index end = std::min<Index>(begin + job.plan.keys_per_split, job.problem.key_length);
  return {.begin = static_cast<int>(begin), .end = static_cast<int>(end)};
}

/// The keys and values of one group of heads of one batch entry, and a worker's memory; no rows yet.
kernels::AttentionTask task_for(const AttentionJob& job, Index batch, Index group, int worker);

/// Describes the rows, with all their results, in `rows`, and what the kernels need beside them.
kernels::AttentionTask describe_rows(const AttentionJob& job, const GroupRows& run, TaskRows& rows, int worker);

/// The address of the stats that the first pass leaves for the second; null: there is no second.
kernels::RowStats* row_stats_of(const AttentionJob& job, Index batch, Index head, Index query);

/// The floats that job.partials needs; 0 where groups are not split.
Index partials_floats(const AttentionProblem& problem, const AttentionPlan& plan);

/// Decode with split-KV: the splits of the keys are tasks, and their partial results are combined.
void attend_splits(const AttentionJob& job, Executor& executor);

/// Floats that job.row_stats needs; 0 where no mean is wanted.
Index row_stats_floats(const AttentionProblem& problem, const AttentionPlan& plan);

/// The mean of the weights over the heads: a second pass, for which the first keeps the stats of each row.
void average_weights(const AttentionJob& job, Executor& executor);

}  // namespace heed
