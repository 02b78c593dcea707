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
    if (auto* const stats = job.rows.stats.as<kernels::RowStats>(); stats != nullptr) {
      row.stats = stats + job.row_index(block.group, block.first_row + i);
    } else {
      // The saved log-sum-exp makes P at once: row_max is lse * log2 e here, and P = exp2(score - row_max), as scores
      // come times log2 e.
      const float row_max = is_softmax ? *problem.log_sum_exp.at(b, h, query) * kernels::kLog2E : 0.0F;
      all.stats[index] = {.row_max = row_max, .factor = 1.0F, .shift = 0.0F, .threshold = 0.0F, .last_kept = 0};
      row.stats = &all.stats[index];
    }
    const float* const delta = job.rows.deltas.data() == nullptr
                                   ? nullptr
                                   : job.rows.deltas.data() + job.row_index(block.group, block.first_row + i);
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
  const VjpWorkers& memory = job.workers;
  task.scratch.floats = memory.scratch.data() + worker * memory.scratch_floats;
  task.scratch.registers = memory.registers.data() + worker * memory.register_floats;
  task.scratch.best = memory.best.as<kernels::BestKey>() + worker * kMaxRowsPerTask * forward.top_k;
  return task;
}

Index forward_scratch_floats(const VjpWork& work) {
  const AttentionProblem& forward = work.forward();
  const int key_block = work.plan.key_block;
  return kernels::prefill_scratch_floats(kernels::kPanel, kMaxRowsPerTask / kernels::kPanel, forward.head_dim,
                                         forward.value_dim, key_block) +
         kernels::widened_floats(work.operands.key.dtype, forward.head_dim, key_block) +
         kernels::widened_floats(forward.inputs.value.dtype, forward.value_dim, key_block);
}

VjpWorkers::VjpWorkers(const VjpWork& work, Index registers_of_one)
    : scratch_floats(forward_scratch_floats(work) + kernels::backward_scratch_floats(work.forward().head_dim,
                                                                                     work.forward().value_dim,
                                                                                     work.plan.key_block)),
      register_floats(registers_of_one),
      key_gradient_floats(work.plan.keys_per_step * (work.key_stride() + work.value_stride())),
      scratch(scratch_floats * work.plan.workers),
      registers(register_floats * work.plan.workers),
      key_gradients(key_gradient_floats * work.plan.workers),
      best(floats_for<kernels::BestKey>(work.forward().top_k * kMaxRowsPerTask * work.plan.workers)) {}

VjpQuerySums::VjpQuerySums(const VjpWork& work)
    : partials(work.problem.wants_queries() ? work.plan.splits_per_group * work.group_count() * work.group_floats()
                                            : 0),
      products(work.problem.wants_queries() ? floats_for<double>(work.task_count()) : 0) {}

Index VjpJob::missing_floats() const {
  return heed::missing_floats({&gradients.own_query, &gradients.own_key, &gradients.own_value, &gradients.row_sums,
                               &gradients.key_sums, &gradients.pair_partials, &parameters.products, &parameters.sums,
                               &functions.reads, &functions.table_partials, &workers.scratch, &workers.registers,
                               &workers.key_gradients, &workers.best, &rows.stats, &rows.deltas, &queries.partials,
                               &queries.products});
}

}  // namespace heed
