#include "heed/attention.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/instances/instances.hpp"
#include "ops/attend_with.hpp"
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

/// What every task of one call shares.
struct Job {
  const AttentionProblem& problem;
  const AttentionPlan& plan;
  const kernels::AttentionKernels& kernels;
  float* scratch;
  Index scratch_per_worker;  // floats
  WeightRule* weight_rules;  // [B, H, L], kept for the second pass; null: there is none
};

Job& job_of(void* context) { return *static_cast<Job*>(context); }

WeightRule* weight_rule_of(const Job& job, Index batch, Index head, Index query) {
  const AttentionProblem& problem = job.problem;
  if (job.weight_rules == nullptr) return nullptr;
  return job.weight_rules + (batch * problem.query_heads + head) * problem.query_length + query;
}

AttentionRow describe_row(const Job& job, Index batch, Index head, Index query) {
  const AttentionOutputs& out = job.problem.outputs;
  const QueryRange& weight_rows = job.problem.weight_rows;
  AttentionRow row = describe_query(job.problem, batch, head, query);
  row.output = out.output.at(batch, head, query);
  if (weight_rows.begin <= query && query < weight_rows.end) {
    row.weights = out.weights.at(batch, head, query - weight_rows.begin);
  }
  row.scores = out.scores.at(batch, head, query);
  row.log_sum_exp = out.log_sum_exp.at(batch, head, query);
  row.entropy = out.entropy.at(batch, head, query);
  row.weight_rule = weight_rule_of(job, batch, head, query);
  return row;
}

void run_task(void* context, Index task, int worker) {
  const Job& job = job_of(context);
  const AttentionProblem& problem = job.problem;
  const Index group = task / job.plan.tasks_per_group;
  const Index batch = group / problem.kv_heads;
  const Index kv_head = group % problem.kv_heads;
  // Later rows first: where a mask is causal they see more keys, and a long task taken last
  // would leave the other workers waiting.
  const Index part = job.plan.tasks_per_group - 1 - task % job.plan.tasks_per_group;
  const Index first_row = part * job.plan.rows_per_task;
  const Index row_count = std::min(job.plan.rows_per_task, job.plan.rows_per_group - first_row);

  std::array<AttentionRow, kMaxRowsPerTask> rows;
  for (Index i = 0; i < row_count; ++i) {
    const Index row = first_row + i;
    const Index head = kv_head * problem.heads_per_group() + row / problem.query_length;
    rows[static_cast<std::size_t>(i)] = describe_row(job, batch, head, row % problem.query_length);
  }
  AttentionBlock block = describe_block(problem, job.plan, batch, kv_head);
  block.rows = rows.data();
  block.row_count = static_cast<int>(row_count);
  block.scratch = job.scratch + worker * job.scratch_per_worker;
  job.kernels.attend(block);
}

/// The mean of the weights of some queries: head after head, in this order whatever the tasks.
void run_mean_task(void* context, Index task, int worker) {
  const Job& job = job_of(context);
  const AttentionProblem& problem = job.problem;
  const Index batch = task / job.plan.mean_tasks_per_batch;
  const Index part = job.plan.mean_tasks_per_batch - 1 - task % job.plan.mean_tasks_per_batch;
  const Index first_query = part * job.plan.queries_per_mean_task;
  const Index count = std::min(job.plan.queries_per_mean_task, problem.query_length - first_query);
  for (Index i = 0; i < count; ++i) {
    std::fill_n(problem.outputs.mean_weights.at(batch, 0, first_query + i), problem.key_length, 0.0F);
  }

  std::array<AttentionRow, kMaxRowsPerTask> rows;
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

Status no_room(Index floats) {
  return {StatusCode::memory,
          "attention: scratch memory must fit, could not get " + std::to_string(floats) + " floats"};
}

/// The second pass: with each row's maximum and sum known, as part of the mean.
void average_weights(Job& job, Executor& executor) {
  const Index rows = job.problem.batch * job.problem.query_heads * job.problem.query_length;
  const float share = 1.0F / static_cast<float>(job.problem.query_heads);
  for (Index row = 0; row < rows; ++row) job.weight_rules[row].factor *= share;
  const AttentionPlan& plan = job.plan;
  executor.run({run_mean_task, &job, plan.mean_task_count, plan.workers, job.problem.options.stop});
}

Status outcome_of(const TaskSet& tasks) {
  if (tasks.is_stopped()) return {StatusCode::aborted, "attention: stopped by its caller"};
  return {};
}

}  // namespace

Status attend_with(const kernels::AttentionKernels& kernels, const AttentionInputs& inputs,
                   const AttentionOptions& options, const AttentionOutputs& outputs, Executor& executor) {
  AttentionProblem problem{};
  if (Status status = make_attention_problem(inputs, options, outputs, problem); !status.is_ok()) return status;

  const AttentionPlan plan = plan_attention(
      problem,
      {.panel = kernels.panel, .workers = executor.worker_count(), .work_per_worker = executor.work_per_worker()});
  if (plan.task_count == 0) return {};

  const Index panels = (plan.rows_per_task + kernels.panel - 1) / kernels.panel;
  const Index per_worker =
      kernels::attention_scratch_floats(kernels.panel, panels, problem.head_dim, problem.value_dim, plan.key_block);
  const Scratch scratch(per_worker * plan.workers);
  if (!scratch.is_available()) return no_room(per_worker * plan.workers);
  Job job{problem, plan, kernels, scratch.data(), per_worker, nullptr};
  const TaskSet tasks{run_task, &job, plan.task_count, plan.workers, options.stop};
  if (plan.mean_task_count == 0) {
    executor.run(tasks);
    return outcome_of(tasks);
  }

  constexpr Index kFloatsPerRule = sizeof(WeightRule) / sizeof(float);
  const Index rule_floats = kFloatsPerRule * problem.batch * problem.query_heads * problem.query_length;
  const Scratch rules(rule_floats);
  if (!rules.is_available()) return no_room(rule_floats);
  job.weight_rules = reinterpret_cast<WeightRule*>(rules.data());
  executor.run(tasks);
  if (!tasks.is_stopped()) average_weights(job, executor);
  return outcome_of(tasks);
}

Status attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                 Executor& executor) {
  return attend_with(*kernels::runnable_kernels().front(), inputs, options, outputs, executor);
}

}  // namespace heed
