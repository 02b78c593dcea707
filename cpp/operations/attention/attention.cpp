#include "heed/attention.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/attention.hpp"
#include "operations/attention/attention_job.hpp"
#include "operations/attention/describe.hpp"
#include "operations/attention/prepare_scores.hpp"
#include "operations/common/scratch.hpp"
#include "plan/attention_plan.hpp"
#include "problem/attention_problem.hpp"
#include "problem/failures.hpp"

namespace heed {
namespace {

static_assert(kMaxRowsPerTask <= kernels::kMaxRows);

constexpr Index kFloatsOfBest = sizeof(kernels::BestKey) / sizeof(float);

void run_task(const AttentionJob& job, Index task, int worker) {
  const AttentionPlan& plan = job.plan;
  // Later rows first: where a mask is causal they see more keys, and a long task taken last
  // would leave the other workers waiting.
  const Index first = (plan.tasks_per_group - 1 - task % plan.tasks_per_group) * plan.rows_per_task;
  TaskRows rows;
  kernels::attend(describe_rows(job,
                                {.group = task / plan.tasks_per_group,
                                 .first = first,
                                 .count = std::min(plan.rows_per_task, plan.rows_per_group - first)},
                                rows, worker));
}

void attend_once(const AttentionJob& job, Executor& executor) {
  if (job.plan.splits_per_group > 0) {
    attend_splits(job, executor);
    return;
  }
  parallel_for(executor, job, job.plan.task_count, [&](Index task, int worker) { run_task(job, task, worker); });
}

/// prob_mod rewrites weights once the stats of their rows are known.
void attend_all(AttentionJob& job, Executor& executor) {
  if (job.problem.options.expressions.have(ProgramOf::weight)) {
    job.pass = Pass::row_stats;
    attend_once(job, executor);
    if (is_stopped(job)) return;
    job.pass = Pass::weights;
  }
  attend_once(job, executor);
}

/// The floats for KV blocks that are widened. int8 that is read by streams is not.
Index widened_floats(const AttentionJob& job) {
  const FloatView& value = job.problem.inputs.value;
  if (job.plan.stream_keys > 0 && is_int8(value.dtype)) return 0;
  const int key_block = job.plan.key_block;
  return kernels::widened_floats(job.operands.key.dtype, job.problem.head_dim, key_block) +
         kernels::widened_floats(value.dtype, job.problem.value_dim, key_block);
}

/// The floats of one worker, which computes rows or a split, never both at a time.
Index scratch_floats(const AttentionJob& job) {
  const AttentionProblem& problem = job.problem;
  const AttentionPlan& plan = job.plan;
  constexpr int panel = kernels::kPanel;
  const Index panels = divide_up(plan.rows_per_task, panel);
  const Index of_rows =
      kernels::prefill_scratch_floats(panel, panels, problem.head_dim, problem.value_dim, plan.key_block);
  if (plan.splits_per_group == 0) return of_rows;
  return std::max(of_rows,
                  Index{kernels::split_scratch_floats(panel, plan.rows_per_group, problem.head_dim, plan.key_block)});
}

/// The rows of a decode task share their reads of the keys, which fixes the order of their sums, so a slice must
/// hold all of them.
bool is_partial_decode(const AttentionProblem& problem, const AttentionPlan& plan) {
  return plan.splits_per_group > 0 && problem.query_length != problem.whole.query_length;
}

Status refuse_partial_decode(const AttentionProblem& problem) {
  return broken(StatusCode::option, {"a slice of so few queries must hold all ", problem.whole.query_length, ", got ",
                                     problem.query_length});
}

Status no_room(Index floats) {
  return broken(StatusCode::memory, {"scratch memory must fit, could not get ", floats, " floats"});
}

}  // namespace

Status attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                 Executor& executor) {
  AttentionProblem problem{};
  if (Status status = make_attention_problem(inputs, options, outputs, problem); !status.is_ok()) return status;
  ScorePreparation preparation(problem, executor);
  if (const Index missing = preparation.missing_floats(); missing > 0) return no_room(missing);
  const ScoreOperands operands = preparation.run(problem);

  const AttentionPlan plan = plan_attention(problem, {.panel = kernels::kPanel,
                                                      .workers = executor.worker_count(),
                                                      .work_per_worker = executor.work_per_worker(),
                                                      .short_rows = kernels::kShortRows});
  if (plan.task_count == 0) return {};
  if (is_partial_decode(problem, plan)) return refuse_partial_decode(problem);

  AttentionJob job{problem, operands, plan};
  job.scratch_per_worker = scratch_floats(job) + widened_floats(job);
  job.expressions = describe_expressions(problem.options.expressions);
  job.registers_per_worker = register_floats(job.expressions, kernels::kPanel, plan.key_block);
  const Scratch registers(job.registers_per_worker * plan.workers);
  const Scratch scratch(job.scratch_per_worker * plan.workers);
  const Scratch splits(partials_floats(problem, plan));
  const Scratch rules(row_stats_floats(problem, plan));
  const Scratch best(problem.top_k * plan.rows_per_task * plan.workers * kFloatsOfBest);
  for (const Scratch* memory : {&registers, &scratch, &splits, &rules, &best}) {
    if (!memory->is_available()) return no_room(memory->floats());
  }
  job.registers = registers.data();
  job.scratch = scratch.data();
  job.partials = splits.data();
  job.best = reinterpret_cast<kernels::BestKey*>(best.data());
  if (rules.floats() > 0) job.row_stats = reinterpret_cast<kernels::RowStats*>(rules.data());

  attend_all(job, executor);
  if (plan.mean_task_count > 0 && !is_stopped(job)) average_weights(job, executor);
  if (is_stopped(job)) return {StatusCode::aborted, "attention: stopped by its caller"};
  return {};
}

}  // namespace heed
