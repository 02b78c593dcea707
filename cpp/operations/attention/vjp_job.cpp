#include "operations/attention/vjp_job.hpp"

#include <algorithm>

#include "kernels/task/score_constants.hpp"
#include "operations/attention/describe.hpp"
#include "operations/attention/vjp_score.hpp"

namespace heed {

using kernels::AttentionRow;

QueryAt query_at(const AttentionProblem& forward, Index group, Index row) {
  const Index heads = forward.heads_per_group();
  return {.batch = group / forward.groups,
          .head = group % forward.groups * heads + row / forward.query_length,
          .query = row % forward.query_length};
}

void describe_rows(const VjpJob& job, const VjpBlock& block, VjpRows& all) {
  const AttentionVjpProblem& problem = job.problem;
  const AttentionProblem& forward = job.forward();
  const bool is_softmax = problem.is_softmax();
  const bool wants_bias = !problem.are_weights_fixed();
  const auto begin = static_cast<std::int32_t>(block.first_key);
  const auto end = static_cast<std::int32_t>(block.end_key);
  all.count = std::min(kMaxRowsPerTask, job.plan.rows_per_group - block.first_row);
  all.see_keys = false;
  for (Index i = 0; i < all.count; ++i) {
    const auto [b, h, query] = query_at(forward, block.group, block.first_row + i);
    const auto index = static_cast<std::size_t>(i);
    AttentionRow& row = all.rows[index] = {describe_query(forward, job.operands, b, h, query), {}};
    row.key_begin = std::clamp(row.key_begin, begin, end);
    row.key_end = std::clamp(row.key_end, row.key_begin, end);
    all.see_keys = all.see_keys || row.key_begin < row.key_end;
    if (job.row_stats != nullptr) {
      row.stats = job.row_stats + job.row_index(block.group, block.first_row + i);
    } else {
      // The saved log-sum-exp makes P at once: row_max is lse * log2 e here, and P = exp2(score - row_max), as scores
      // come times log2 e.
      const float row_max = is_softmax ? *problem.log_sum_exp.at(b, h, query) * kernels::kLog2E : 0.0F;
      all.stats[index] = {.row_max = row_max, .factor = 1.0F, .shift = 0.0F, .threshold = 0.0F, .last_kept = 0};
      row.stats = &all.stats[index];
    }
    const float* const delta =
        job.deltas == nullptr ? nullptr : job.deltas + job.row_index(block.group, block.first_row + i);
    all.backward[index] = {.output_gradient = problem.output_gradient.at(b, h, query),
                           .weights_gradient = problem.weights_gradient.at(b, h, query),
                           .output = problem.has_plain_deltas() ? problem.output.at(b, h, query) : nullptr,
                           .delta = delta == nullptr ? 0.0F : *delta,
                           .key_factor = gradient_factor(job, {b, h, query}),
                           .bias_gradient = wants_bias ? problem.gradients.bias.at(b, h, query) : nullptr};
  }
}

kernels::AttentionTask task_for(const VjpJob& job, Index group, const VjpRows& rows, int worker) {
  const AttentionProblem& forward = job.forward();
  AttentionPlan loop{};
  loop.key_block = job.plan.key_block;
  loop.skip_keys = job.plan.skip_keys;
  kernels::AttentionTask task =
      describe_group(forward, job.operands, loop, group / forward.groups, group % forward.groups);
  task.rows = rows.rows.data();
  task.row_count = static_cast<int>(rows.count);
  task.score.mod = job.expressions.score.program == nullptr ? nullptr : &job.expressions.score;
  task.mask.mod = job.expressions.mask.program == nullptr ? nullptr : &job.expressions.mask;
  task.scratch.floats = job.scratch + worker * job.scratch_per_worker;
  task.scratch.registers = job.registers + worker * job.registers_per_worker;
  task.scratch.best = job.best + worker * kMaxRowsPerTask * forward.top_k;
  return task;
}

Index forward_scratch_floats(const VjpJob& job) {
  const AttentionProblem& forward = job.forward();
  const int key_block = job.plan.key_block;
  return kernels::prefill_scratch_floats(kernels::kPanel, kMaxRowsPerTask / kernels::kPanel, forward.head_dim,
                                         forward.value_dim, key_block) +
         kernels::widened_floats(job.operands.key.dtype, forward.head_dim, key_block) +
         kernels::widened_floats(forward.inputs.value.dtype, forward.value_dim, key_block);
}

}  // namespace heed
