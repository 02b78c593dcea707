#include <algorithm>

#include "kernels/instances/attention.hpp"
#include "kernels/instances/backward.hpp"
#include "operations/attention/vjp_job.hpp"

namespace heed {
namespace {

/// Makes the stats of some rows as the first pass of attention does: without values, and so without dropout.
void find_stats(const VjpJob& job, const VjpRows& rows, Index group, int worker) {
  kernels::AttentionTask task = task_for(job, group, rows, worker);
  task.value_dim = 0;
  task.weight.has_dropout = false;
  task.weight.dropout_factor = 1.0F;
  kernels::attend(task);
}

void run_task(const VjpJob& job, Index number, int worker) {
  const AttentionProblem& forward = job.forward();
  const Index group = number / job.tasks_per_group();
  const Index first = number % job.tasks_per_group() * kMaxRowsPerTask;
  VjpRows rows;
  describe_rows(job, {.group = group, .first_row = first, .first_key = 0, .end_key = forward.key_length}, rows);
  if (job.rows.stats.data() != nullptr) find_stats(job, rows, group, worker);
  if (job.rows.deltas.data() == nullptr) return;
  const kernels::AttentionTask task = task_for(job, group, rows, worker);
  kernels::FunctionSlopes of_weights = job.slopes_of(job.functions.weight, 0);
  of_weights.read_count = 0;
  kernels::find_deltas(task,
                       {.rows = rows.backward.data(),
                        .differentiates_weights = true,
                        .of_weights = of_weights,
                        .scratch = task.scratch.floats + forward_scratch_floats(job)},
                       job.rows.deltas.data() + job.row_index(group, first));
}

bool needs_stats(const AttentionProblem& forward) {
  return forward.top_k > 0 || forward.options.normalizer == Normalizer::sparsemax;
}

bool needs_deltas(const AttentionVjpProblem& problem) {
  const bool is_mean = problem.is_softmax() || problem.forward.options.normalizer == Normalizer::sparsemax;
  return is_mean && !problem.has_plain_deltas();
}

}  // namespace

VjpRowStats::VjpRowStats(const VjpWork& work)
    : stats(needs_stats(work.forward()) ? floats_for<kernels::RowStats>(work.group_count() * work.plan.rows_per_group)
                                        : 0),
      deltas(needs_deltas(work.problem) ? work.group_count() * work.plan.rows_per_group : 0) {}

void find_row_stats(const VjpJob& job) {
  if (job.rows.stats.data() == nullptr && job.rows.deltas.data() == nullptr) return;
  parallel_for(job.executor, job.tasks(job.task_count()), [&](Index task, int worker) { run_task(job, task, worker); });
}

}  // namespace heed
