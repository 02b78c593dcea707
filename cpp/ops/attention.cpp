#include "heed/attention.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/instances/instances.hpp"
#include "ops/attend_with.hpp"
#include "ops/scratch.hpp"
#include "plan/attention_plan.hpp"
#include "problem/attention_problem.hpp"
#include "problem/key_range.hpp"

namespace heed {
namespace {

using kernels::AttentionRow;

static_assert(kMaxRowsPerTask <= kernels::kMaxRows);

/// What every task of one call shares.
struct Job {
  const AttentionProblem& problem;
  const AttentionPlan& plan;
  const kernels::AttentionKernels& kernels;
  float* scratch;
  Index scratch_per_worker;  // floats
};

AttentionRow describe_row(const AttentionProblem& problem, Index batch, Index head, Index query) {
  const AttentionOptions& options = problem.options;
  const KeyRange keys = visible_keys(problem, batch, query);
  return {
      .query = problem.inputs.query.at(batch, head, query),
      .mask = problem.inputs.mask.at(batch, head, query),
      .bias = problem.inputs.bias.at(batch, head, query),
      .output = problem.outputs.output.at(batch, head, query),
      .weights = problem.outputs.weights.at(batch, head, query),
      .scores = problem.outputs.scores.at(batch, head, query),
      .log_sum_exp = problem.outputs.log_sum_exp.at(batch, head, query),
      .entropy = problem.outputs.entropy.at(batch, head, query),
      .position = static_cast<float>(position_of(problem, batch, query)),
      .alibi_slope = options.alibi_slopes == nullptr ? 0.0F : options.alibi_slopes[head],
      .sink = options.sinks == nullptr ? -std::numeric_limits<float>::infinity() : options.sinks[head],
      .key_begin = static_cast<std::int32_t>(keys.begin),
      .key_end = static_cast<std::int32_t>(keys.end),
  };
}

void run_task(void* context, Index task, int worker) {
  const Job& job = *static_cast<const Job*>(context);
  const AttentionProblem& problem = job.problem;
  const Index group = task / job.plan.tasks_per_group;
  const Index batch = group / problem.kv_heads;
  const Index kv_head = group % problem.kv_heads;
  const Index first_row = task % job.plan.tasks_per_group * job.plan.rows_per_task;
  const Index row_count = std::min(job.plan.rows_per_task, job.plan.rows_per_group - first_row);

  std::array<AttentionRow, kMaxRowsPerTask> rows;
  for (Index i = 0; i < row_count; ++i) {
    const Index row = first_row + i;
    const Index head = kv_head * problem.heads_per_group() + row / problem.query_length;
    rows[static_cast<std::size_t>(i)] = describe_row(problem, batch, head, row % problem.query_length);
  }

  const AttentionInputs& in = problem.inputs;
  job.kernels.attend({
      .rows = rows.data(),
      .row_count = static_cast<int>(row_count),
      .key = in.key.at(batch, kv_head, 0),
      .key_stride = static_cast<std::ptrdiff_t>(in.key.strides[2]),
      .value = in.value.at(batch, kv_head, 0),
      .value_stride = static_cast<std::ptrdiff_t>(in.value.strides[2]),
      .mask_stride = static_cast<std::ptrdiff_t>(in.mask.strides[3]),
      .bias_stride = static_cast<std::ptrdiff_t>(in.bias.strides[3]),
      .key_length = static_cast<int>(problem.key_length),
      .head_dim = static_cast<int>(problem.head_dim),
      .value_dim = static_cast<int>(problem.value_dim),
      .key_block = job.plan.key_block,
      .scale = problem.scale,
      .softcap = problem.softcap,
      .has_alibi = problem.options.alibi_slopes != nullptr,
      .score_stage = static_cast<kernels::ScoreStage>(problem.outputs.score_stage),
      .scratch = job.scratch + worker * job.scratch_per_worker,
  });
}

}  // namespace

Status attend_with(const kernels::AttentionKernels& kernels, const AttentionInputs& inputs,
                   const AttentionOptions& options, const AttentionOutputs& outputs, Executor& executor) {
  AttentionProblem problem{};
  if (Status status = make_attention_problem(inputs, options, outputs, problem); !status.is_ok()) return status;

  const AttentionPlan plan = plan_attention(problem, {.panel = kernels.panel, .workers = executor.worker_count()});
  if (plan.task_count == 0) return {};

  const Index panels = (plan.rows_per_task + kernels.panel - 1) / kernels.panel;
  const Index per_worker =
      kernels::attention_scratch_floats(kernels.panel, panels, problem.head_dim, problem.value_dim, plan.key_block);
  const Scratch scratch(per_worker * executor.worker_count());
  if (!scratch.is_available()) {
    return {StatusCode::memory, "attention: scratch memory must fit, could not get " +
                                    std::to_string(per_worker * executor.worker_count()) + " floats"};
  }
  Job job{problem, plan, kernels, scratch.data(), per_worker};
  executor.run({run_task, &job, plan.task_count});
  return {};
}

Status attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                 Executor& executor) {
  return attend_with(*kernels::runnable_kernels().front(), inputs, options, outputs, executor);
}

}  // namespace heed
