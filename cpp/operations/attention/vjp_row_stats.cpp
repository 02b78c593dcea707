#include <algorithm>

#include "kernels/instances/attention.hpp"
#include "kernels/instances/backward.hpp"
#include "operations/attention/vjp_job.hpp"
#include "operations/common/parallel_for.hpp"

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
  if (job.row_stats != nullptr) find_stats(job, rows, group, worker);
  if (job.deltas == nullptr) return;
  const kernels::AttentionTask task = task_for(job, group, rows, worker);
  kernels::FunctionSlopes of_weights = job.slopes_of(job.weight_mod, 0);
  of_weights.read_count = 0;
  kernels::find_deltas(task,
                       {.rows = rows.backward.data(),
                        .differentiates_weights = true,
                        .of_weights = of_weights,
                        .scratch = task.scratch.floats + forward_scratch_floats(job)},
                       job.deltas + job.row_index(group, first));
}

}  // namespace

Index row_stats_floats(const AttentionVjpProblem& problem, const AttentionVjpPlan& plan) {
  constexpr Index floats = sizeof(kernels::RowStats) / sizeof(float);
  const AttentionProblem& forward = problem.forward;
  if (forward.top_k == 0 && forward.options.normalizer != Normalizer::sparsemax) return 0;
  return floats * forward.batch * forward.groups * plan.rows_per_group;
}

Index deltas_floats(const AttentionVjpProblem& problem, const AttentionVjpPlan& plan) {
  const bool is_mean = problem.is_softmax() || problem.forward.options.normalizer == Normalizer::sparsemax;
  if (!is_mean || problem.has_plain_deltas()) return 0;
  return problem.forward.batch * problem.forward.groups * plan.rows_per_group;
}

void find_row_stats(const VjpJob& job, Executor& executor) {
  if (job.row_stats == nullptr && job.deltas == nullptr) return;
  const Tasks tasks{job.group_count() * job.tasks_per_group(), job.plan.workers, job.forward().options.stop};
  parallel_for(executor, tasks, [&](Index task, int worker) { run_task(job, task, worker); });
}

}  // namespace heed
