#include "ops/attend_parts.hpp"

namespace heed {
namespace {

AttentionJob& job_of(void* context) { return *static_cast<AttentionJob*>(context); }

/// Of one part of one group's keys.
Index result_floats(const AttentionPlan& plan, Index value_dim) {
  return plan.rows_per_group * kernels::part_result_floats(value_dim);
}

float* results_of(const AttentionJob& job, Index group, Index part, Index value_dim) {
  return job.part_results + (group * job.plan.parts_per_group + part) * result_floats(job.plan, value_dim);
}

void merge_group(void* context, Index group, int worker) {
  const AttentionJob& job = job_of(context);
  TaskRows rows;
  const kernels::AttentionBlock block = describe_rows(job, {group, 0, job.plan.rows_per_group}, rows, worker);
  job.kernels.merge_parts(block, job.plan.parts_per_group, results_of(job, group, 0, block.value_dim));
}

/// Pages are read as they lie in memory, head after head; what is in none lies head by head as a whole.
void run_part(void* context, Index task, int worker) {
  const AttentionJob& job = job_of(context);
  const AttentionPlan& plan = job.plan;
  const bool by_pages = job.problem.inputs.value.pages.table != nullptr;
  const Index run = by_pages ? plan.task_count / plan.parts_per_group : plan.parts_per_group;
  const Index group = by_pages ? task % run : task / run;
  const Index part = by_pages ? task / run : task % run;
  TaskRows rows;
  const kernels::AttentionBlock block = describe_rows(job, {group, 0, plan.rows_per_group}, rows, worker);
  job.kernels.attend_part(block, key_part(job, part), results_of(job, group, part, block.value_dim));
  if (plan.parts_per_group == 1) merge_group(context, group, worker);
}

}  // namespace

Index part_results_floats(const AttentionProblem& problem, const AttentionPlan& plan) {
  return plan.parts_per_group == 0 ? 0 : plan.task_count * result_floats(plan, problem.value_dim);
}

void attend_parts(AttentionJob& job, Executor& executor) {
  executor.run(task_set(job, run_part, job.plan.task_count));
  if (job.plan.parts_per_group == 1 || is_stopped(job)) return;
  executor.run(task_set(job, merge_group, job.plan.task_count / job.plan.parts_per_group));
}

}  // namespace heed
