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
    if (job.rows.stats != nullptr) {
      row.stats = job.rows.stats + job.row_index(block.group, block.first_row + i);
    } else {
      // The saved log-sum-exp makes P at once: row_max is lse * log2 e here, and P = exp2(score - row_max), as scores
      // come times log2 e.
      const float row_max = is_softmax ? *problem.log_sum_exp.at(b, h, query) * kernels::kLog2E : 0.0F;
      all.stats[index] = {.row_max = row_max, .factor = 1.0F, .shift = 0.0F, .threshold = 0.0F, .last_kept = 0};
      row.stats = &all.stats[index];
    }
    const float* const delta =
        job.rows.deltas == nullptr ? nullptr : job.rows.deltas + job.row_index(block.group, block.first_row + i);
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
  task.scratch.floats = memory.scratch + worker * memory.scratch_floats;
  task.scratch.registers = memory.registers + worker * memory.register_floats;
  task.scratch.best = memory.best + worker * kMaxRowsPerTask * forward.top_k;
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

/// Floats for `count` things.
template <typename T>
Index floats_for(Index count) {
  return count * Index{sizeof(T)} / Index{sizeof(float)};
}

VjpMemory::VjpMemory(const VjpJob& job)
    : scratch_floats_(forward_scratch_floats(job) + kernels::backward_scratch_floats(job.forward().head_dim,
                                                                                     job.forward().value_dim,
                                                                                     job.plan.key_block)),
      register_floats_(std::max(job.functions.register_floats,
                                register_floats(job.expressions, kernels::kPanel, job.plan.key_block))),
      key_gradient_floats_(job.plan.keys_per_step * (job.key_stride() + job.value_stride())),
      scratch_(scratch_floats_ * job.plan.workers),
      registers_(register_floats_ * job.plan.workers),
      best_(floats_for<kernels::BestKey>(job.forward().top_k * kMaxRowsPerTask * job.plan.workers)),
      key_gradients_(key_gradient_floats_ * job.plan.workers),
      row_stats_(needs_row_stats(job.forward()) ? floats_for<kernels::RowStats>(job.row_count()) : 0),
      deltas_(needs_deltas(job.problem) ? job.row_count() : 0),
      partials_(job.problem.wants_queries() ? job.plan.splits_per_group * job.group_count() * job.group_floats() : 0),
      products_(job.problem.wants_queries() ? floats_for<double>(job.group_count() * job.tasks_per_group()) : 0) {}

Index VjpMemory::missing_floats() const {
  return heed::missing_floats(
      {&scratch_, &registers_, &best_, &key_gradients_, &row_stats_, &deltas_, &partials_, &products_});
}

void VjpMemory::prepare(VjpJob& job) const {
  job.workers = {.scratch = scratch_.data(),
                 .scratch_floats = scratch_floats_,
                 .registers = registers_.data(),
                 .register_floats = register_floats_,
                 .best = reinterpret_cast<kernels::BestKey*>(best_.data()),
                 .key_gradients = key_gradients_.data(),
                 .key_gradient_floats = key_gradient_floats_};
  job.rows = {.stats = reinterpret_cast<kernels::RowStats*>(row_stats_.data()), .deltas = deltas_.data()};
  job.queries = {.partials = partials_.data(), .products = reinterpret_cast<double*>(products_.data())};
}

}  // namespace heed
