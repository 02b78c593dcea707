#include "operations/attention/attention_job.hpp"

#include "kernels/instances/attention.hpp"

namespace heed {
namespace {

/// The floats of the partial results of one split of a group.
Index result_floats(const AttentionPlan& plan, Index value_dim) {
  return plan.rows_per_group * kernels::partial_floats(value_dim);
}

float* results_of(const AttentionJob& job, Index group, Index split, Index value_dim) {
  return job.partials + (group * job.plan.splits_per_group + split) * result_floats(job.plan, value_dim);
}

void combine_group(const AttentionJob& job, Index group, int worker) {
  TaskRows rows;
  const kernels::AttentionTask kernel_task = describe_rows(job, {group, 0, job.plan.rows_per_group}, rows, worker);
  kernels::combine_splits(kernel_task, job.plan.splits_per_group, results_of(job, group, 0, kernel_task.value_dim));
}

/// Computes the partial results of one split of a group. Pages are read as they lie in memory: all groups of a split
/// come before the next split. Without pages all splits of a group come before the next group.
void run_split(const AttentionJob& job, Index task, int worker) {
  const AttentionPlan& plan = job.plan;
  const bool by_pages = job.problem.inputs.value.pages.table != nullptr;
  const Index stride = by_pages ? plan.task_count / plan.splits_per_group : plan.splits_per_group;
  const Index group = by_pages ? task % stride : task / stride;
  const Index split = by_pages ? task / stride : task % stride;
  TaskRows rows;
  const kernels::AttentionTask kernel_task = describe_rows(job, {group, 0, plan.rows_per_group}, rows, worker);
  kernels::attend_split(kernel_task, key_split(job, split), results_of(job, group, split, kernel_task.value_dim));
  if (plan.splits_per_group == 1) combine_group(job, group, worker);
}

}  // namespace

Index partials_floats(const AttentionProblem& problem, const AttentionPlan& plan) {
  return plan.splits_per_group == 0 ? 0 : plan.task_count * result_floats(plan, problem.value_dim);
}

void attend_splits(const AttentionJob& job, Executor& executor) {
  const AttentionPlan& plan = job.plan;
  parallel_for(executor, job, plan.task_count, [&](Index task, int worker) { run_split(job, task, worker); });
  if (plan.splits_per_group == 1 || is_stopped(job)) return;
  parallel_for(executor, job, plan.task_count / plan.splits_per_group,
               [&](Index group, int worker) { combine_group(job, group, worker); });
}

}  // namespace heed
