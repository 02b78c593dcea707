#include "heed/attention.hpp"

#include <algorithm>

#include "kernels/instances/instances.hpp"
#include "ops/attend_parts.hpp"
#include "ops/attend_with.hpp"
#include "ops/attention_job.hpp"
#include "ops/average_weights.hpp"
#include "ops/describe.hpp"
#include "ops/prepare_scores.hpp"
#include "ops/scratch.hpp"
#include "plan/attention_plan.hpp"
#include "problem/attention_problem.hpp"
#include "problem/failures.hpp"

namespace heed {
namespace {

static_assert(kMaxRowsPerTask <= kernels::kMaxRows);

constexpr Index kFloatsOfBest = sizeof(kernels::BestKey) / sizeof(float);

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

void attend_once(AttentionJob& job, Executor& executor) {
  if (job.plan.parts_per_group > 0) {
    attend_parts(job, executor);
    return;
  }
  executor.run(task_set(job, run_task, job.plan.task_count));
}

/// Weights that are rewritten are those of rows of which all is known.
void attend_all(AttentionJob& job, Executor& executor) {
  if (job.problem.options.expressions.have(ProgramOf::weight)) {
    job.pass = Pass::rules;
    attend_once(job, executor);
    if (is_stopped(job)) return;
    job.pass = Pass::weights;
  }
  attend_once(job, executor);
}

/// For the blocks of keys and values that are widened: none of bytes in runs, which are multiplied as they lie.
Index widened_floats(const AttentionJob& job) {
  const AttentionInputs& in = job.problem.inputs;
  if (job.plan.run_keys > 0 && is_of_bytes(in.value.dtype)) return 0;
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

/// Few rows share their reads of the keys, which fixes the order of their sums.
bool is_torn(const AttentionProblem& problem, const AttentionPlan& plan) {
  return plan.parts_per_group > 0 && problem.query_length != problem.whole.query_length;
}

Status torn(const AttentionProblem& problem) {
  return broken(StatusCode::option, {"a slice of so few queries must hold all ", problem.whole.query_length, ", got ",
                                     problem.query_length});
}

Status no_room(Index floats) {
  return broken(StatusCode::memory, {"scratch memory must fit, could not get ", floats, " floats"});
}

}  // namespace

Status attend_with(const kernels::AttentionKernels& kernels, const AttentionInputs& inputs,
                   const AttentionOptions& options, const AttentionOutputs& outputs, Executor& executor) {
  AttentionProblem problem{};
  if (Status status = make_attention_problem(inputs, options, outputs, problem); !status.is_ok()) return status;
  ScorePreparation preparation(problem, kernels, executor);
  if (const Index missing = preparation.missing_floats(); missing > 0) return no_room(missing);
  preparation.run(problem);

  const AttentionPlan plan = plan_attention(problem, {.panel = kernels.panel,
                                                      .workers = executor.worker_count(),
                                                      .work_per_worker = executor.work_per_worker(),
                                                      .short_rows = kernels.short_rows});
  if (plan.task_count == 0) return {};
  if (is_torn(problem, plan)) return torn(problem);

  AttentionJob job{problem, plan, kernels};
  job.scratch_per_worker = scratch_floats(job) + widened_floats(job);
  job.expressions = describe_expressions(problem.options.expressions);
  job.registers_per_worker = register_floats(job.expressions, kernels.panel, plan.key_block);
  const Scratch registers(job.registers_per_worker * plan.workers);
  const Scratch scratch(job.scratch_per_worker * plan.workers);
  const Scratch parts(part_results_floats(problem, plan));
  const Scratch rules(weight_rule_floats(problem, plan));
  const Scratch best(problem.top_k * plan.rows_per_task * plan.workers * kFloatsOfBest);
  for (const Scratch* memory : {&registers, &scratch, &parts, &rules, &best}) {
    if (!memory->is_available()) return no_room(memory->floats());
  }
  job.registers = registers.data();
  job.scratch = scratch.data();
  job.part_results = parts.data();
  job.best = reinterpret_cast<kernels::BestKey*>(best.data());
  if (rules.floats() > 0) job.weight_rules = reinterpret_cast<kernels::WeightRule*>(rules.data());

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
