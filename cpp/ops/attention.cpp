#include "heed/attention.hpp"

#include <algorithm>
#include <string>

#include "kernels/instances/instances.hpp"
#include "ops/attend_parts.hpp"
#include "ops/attend_with.hpp"
#include "ops/attention_job.hpp"
#include "ops/describe.hpp"
#include "ops/scratch.hpp"
#include "plan/attention_plan.hpp"
#include "problem/attention_problem.hpp"

namespace heed {
namespace {

using kernels::AttentionBlock;
using kernels::AttentionRow;
using kernels::WeightRule;

static_assert(kMaxRowsPerTask <= kernels::kMaxRows);

AttentionJob& job_of(void* context) { return *static_cast<AttentionJob*>(context); }

void run_task(void* context, Index task, int worker) {
  const AttentionJob& job = job_of(context);
  const AttentionPlan& plan = job.plan;
  // Later rows first: where a mask is causal they see more keys, and a long task taken last
  // would leave the other workers waiting.
  const Index first = (plan.tasks_per_group - 1 - task % plan.tasks_per_group) * plan.rows_per_task;
  TaskRows rows;
  job.kernels.attend(describe_rows(job,
                                   {.group = task / plan.tasks_per_group,
                                    .first = first,
                                    .count = std::min(plan.rows_per_task, plan.rows_per_group - first)},
                                   rows, worker));
}

void attend_all(AttentionJob& job, Executor& executor) {
  if (job.plan.parts_per_group > 0) {
    attend_parts(job, executor);
    return;
  }
  executor.run(task_set(job, run_task, job.plan.task_count));
}

/// The mean of the weights of some queries: head after head, in this order whatever the tasks.
void run_mean_task(void* context, Index task, int worker) {
  const AttentionJob& job = job_of(context);
  const AttentionProblem& problem = job.problem;
  const Index batch = task / job.plan.mean_tasks_per_batch;
  const Index part = job.plan.mean_tasks_per_batch - 1 - task % job.plan.mean_tasks_per_batch;
  const Index first_query = part * job.plan.queries_per_mean_task;
  const Index count = std::min(job.plan.queries_per_mean_task, problem.query_length - first_query);
  for (Index i = 0; i < count; ++i) {
    std::fill_n(problem.outputs.mean_weights.at(batch, 0, first_query + i), problem.key_length, 0.0F);
  }

  TaskRows rows;
  for (Index head = 0; head < problem.query_heads; ++head) {
    for (Index i = 0; i < count; ++i) {
      const Index query = first_query + i;
      AttentionRow row = describe_query(problem, batch, head, query);
      row.weight_rule = weight_rule_of(job, batch, head, query);
      row.mean_weights = problem.outputs.mean_weights.at(batch, 0, query);
      rows[static_cast<std::size_t>(i)] = row;
    }
    AttentionBlock block = describe_block(problem, job.plan, batch, head / problem.heads_per_group());
    block.rows = rows.data();
    block.row_count = static_cast<int>(count);
    block.scratch = job.scratch + worker * job.scratch_per_worker;
    job.kernels.add_weights(block);
  }
}

/// For the blocks of keys and values that are widened.
Index widened_floats(const AttentionJob& job) {
  const AttentionInputs& in = job.problem.inputs;
  const int key_block = job.plan.key_block;
  return kernels::widened_floats(precision_of(in.key), job.problem.head_dim, key_block) +
         kernels::widened_floats(precision_of(in.value), job.problem.value_dim, key_block);
}

/// Of one worker, which is at rows or at a part, never at both.
Index scratch_floats(const AttentionJob& job) {
  const AttentionProblem& problem = job.problem;
  const AttentionPlan& plan = job.plan;
  const int panel = job.kernels.panel;
  const Index panels = (plan.rows_per_task + panel - 1) / panel;
  const Index of_rows =
      kernels::attention_scratch_floats(panel, panels, problem.head_dim, problem.value_dim, plan.key_block);
  if (plan.parts_per_group == 0) return of_rows;
  return std::max(of_rows,
                  Index{kernels::part_scratch_floats(panel, plan.rows_per_group, problem.head_dim, plan.key_block)});
}

Index weight_rule_floats(const AttentionProblem& problem, const AttentionPlan& plan) {
  constexpr Index floats = sizeof(WeightRule) / sizeof(float);
  return plan.mean_task_count == 0 ? 0 : floats * problem.batch * problem.query_heads * problem.query_length;
}

Status no_room(Index floats) {
  return {StatusCode::memory,
          "attention: scratch memory must fit, could not get " + std::to_string(floats) + " floats"};
}

/// The second pass: with each row's maximum and sum known, as part of the mean.
void average_weights(AttentionJob& job, Executor& executor) {
  const Index rows = job.problem.batch * job.problem.query_heads * job.problem.query_length;
  const float share = 1.0F / static_cast<float>(job.problem.query_heads);
  for (Index row = 0; row < rows; ++row) job.weight_rules[row].factor *= share;
  executor.run(task_set(job, run_mean_task, job.plan.mean_task_count));
}

}  // namespace

Status attend_with(const kernels::AttentionKernels& kernels, const AttentionInputs& inputs,
                   const AttentionOptions& options, const AttentionOutputs& outputs, Executor& executor) {
  AttentionProblem problem{};
  if (Status status = make_attention_problem(inputs, options, outputs, problem); !status.is_ok()) return status;

  const AttentionPlan plan = plan_attention(problem, {.panel = kernels.panel,
                                                      .workers = executor.worker_count(),
                                                      .work_per_worker = executor.work_per_worker(),
                                                      .short_rows = kernels.short_rows});
  if (plan.task_count == 0) return {};

  AttentionJob job{problem, plan, kernels};
  job.scratch_per_worker = scratch_floats(job) + widened_floats(job);
  const Scratch scratch(job.scratch_per_worker * plan.workers);
  const Scratch parts(part_results_floats(problem, plan));
  const Scratch rules(weight_rule_floats(problem, plan));
  for (const Scratch* memory : {&scratch, &parts, &rules}) {
    if (!memory->is_available()) return no_room(memory->floats());
  }
  job.scratch = scratch.data();
  job.part_results = parts.data();
  if (plan.mean_task_count > 0) job.weight_rules = reinterpret_cast<WeightRule*>(rules.data());

  attend_all(job, executor);
  if (plan.mean_task_count > 0 && !is_stopped(job)) average_weights(job, executor);
  if (is_stopped(job)) return {StatusCode::aborted, "attention: stopped by its caller"};
  return {};
}

Status attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                 Executor& executor) {
  return attend_with(*kernels::runnable_kernels().front(), inputs, options, outputs, executor);
}

}  // namespace heed
