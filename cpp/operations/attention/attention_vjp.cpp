#include "heed/attention_vjp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/instances/backward.hpp"
#include "kernels/task/score_constants.hpp"
#include "operations/attention/prepare_scores.hpp"
#include "operations/attention/vjp_job.hpp"
#include "operations/attention/vjp_score.hpp"
#include "operations/common/view_rows.hpp"
#include "problem/failures.hpp"

namespace heed {
namespace {

/// Writes the gradients of the keys, or values, of a block, and calls epilogue(key, row) for each.
template <typename Epilogue>
void write_rows(const VjpJob& job, const VjpBlock& block, const float* gradients, Index stride,
                const TensorView<float>& view, Epilogue epilogue) {
  const Index groups = job.forward().groups;
  for (Index j = block.first_key; j < block.end_key && view.is_present(); ++j) {
    float* const row = view.at(block.group / groups, block.group % groups, j);
    std::copy_n(gradients + (j - block.first_key) * stride, view.shape[3], row);
    epilogue(j, row);
  }
}

/// All rows of a group against the keys of a step.
void run_step(const VjpJob& job, Index split, VjpBlock block, int worker, Index partial) {
  const AttentionProblem& forward = job.forward();
  const AttentionGradients& gradients = job.problem.gradients;
  float* const of_keys = job.workers.key_gradients.data() + worker * job.workers.key_gradient_floats;
  float* const of_values = of_keys + job.plan.keys_per_step * job.key_stride();
  std::fill_n(of_keys, job.workers.key_gradient_floats, 0.0F);

  const bool is_fixed = job.problem.are_weights_fixed();
  const bool wants_queries = job.queries.partials.data() != nullptr && !is_fixed;
  const bool wants_keys = job.gradients.key.is_present() && !is_fixed;
  float* const key_sums = job.gradients.key_sums.view.at(0, block.group, block.first_key);
  if (key_sums != nullptr) std::fill_n(key_sums, block.end_key - block.first_key, 0.0F);
  const kernels::FunctionSlopes of_weights = job.slopes_of(job.functions.weight, partial);
  VjpRows rows;
  for (; block.first_row < job.plan.rows_per_group && !is_set(forward.options.stop);
       block.first_row += kMaxRowsPerTask) {
    describe_rows(job, block, rows);
    if (!rows.see_keys) continue;
    const kernels::AttentionTask task = task_for(job, block.group, rows, worker);
    kernels::attend_backward(
        task, {.rows = rows.backward.data(),
               .first_key = static_cast<int>(block.first_key),
               .differentiates_weights = !is_fixed || of_weights.are_wanted(),
               .bias_gradient_stride = static_cast<std::ptrdiff_t>(gradients.bias.strides[3]),
               .sum_lines = static_cast<int>(sum_lines(forward)),
               .query_gradient = wants_queries ? job.query_partial(split, block.group, block.first_row) : nullptr,
               .key_gradient = wants_keys ? of_keys : nullptr,
               .value_gradient = job.gradients.value.is_present() ? of_values : nullptr,
               .key_sums = is_fixed ? nullptr : key_sums,
               .scale = forward.scale,
               .pair_gradient = is_fixed ? nullptr : job.pair_partial(split, block.group),
               .of_scores = job.slopes_of(job.functions.score, partial),
               .of_weights = of_weights,
               .weight_mod = job.expressions.weight.program == nullptr ? nullptr : &job.expressions.weight,
               .scratch = task.scratch.floats + forward_scratch_floats(job)});
  }
  write_rows(job, block, of_keys, job.key_stride(), job.gradients.key, [&](Index key, float* row) {
    const float of_gate = key_sums == nullptr ? 0.0F : key_sums[key - block.first_key];
    kernels::finish_gradient(key_epilogue(job, block.group, key), of_gate, static_cast<int>(forward.head_dim), row);
  });
  write_rows(job, block, of_values, job.value_stride(), job.gradients.value, [](Index, float*) {});
}

void run_split(const VjpJob& job, Index group, Index split, int worker, Index partial) {
  const AttentionVjpPlan& plan = job.plan;
  if (job.queries.partials.data() != nullptr) {
    std::fill_n(job.query_partial(split, group, 0), job.group_floats(), 0.0F);
  }
  if (job.gradients.pair_partials.view.is_present())
    std::fill_n(job.pair_partial(split, group), job.forward().head_dim, 0.0F);
  const Index end = std::min((split + 1) * plan.keys_per_split, job.forward().key_length);
  for (Index begin = split * plan.keys_per_split; begin < end; begin += plan.keys_per_step) {
    const Index step_end = std::min(begin + plan.keys_per_step, end);
    run_step(job, split, {.group = group, .first_row = 0, .first_key = begin, .end_key = step_end}, worker, partial);
  }
}

/// Writes the gradients of the queries of one task.
void write_queries(const VjpJob& job, Index task) {
  const AttentionProblem& forward = job.forward();
  const Index group = task / job.tasks_per_group();
  const Index first = task % job.tasks_per_group() * kMaxRowsPerTask;
  const Index end = std::min(first + kMaxRowsPerTask, job.plan.rows_per_group);
  double product = 0.0;
  for (Index row = first; row < end; row += kernels::kPanel) {
    std::array<kernels::QueryGradientRow, kernels::kPanel> rows;
    const auto count = static_cast<int>(std::min<Index>(kernels::kPanel, end - row));
    for (int lane = 0; lane < count; ++lane) {
      const QueryAt at = query_at(forward, group, row + lane);
      rows[static_cast<std::size_t>(lane)] = {.query = float_row(job.operands.query, at.batch, at.head, at.query),
                                              .gradient = job.gradients.query.at(at.batch, at.head, at.query),
                                              .factor = gradient_factor(job, at),
                                              .epilogue = query_epilogue(job, at),
                                              .sums = job.gradients.row_sums.view.at(at.batch, at.head, at.query)};
    }
    kernels::write_query_gradients({.partials = job.query_partial(0, group, row),
                                    .split_stride = static_cast<std::ptrdiff_t>(job.group_count() * job.group_floats()),
                                    .splits = static_cast<int>(job.plan.splits_per_group),
                                    .dim = static_cast<int>(forward.head_dim),
                                    .sum_lines = static_cast<int>(sum_lines(forward)),
                                    .rows = rows.data(),
                                    .row_count = count});
    for (int lane = 0; lane < count; ++lane) {
      product += static_cast<double>(rows[static_cast<std::size_t>(lane)].product);
    }
  }
  job.queries.products.as<double>()[task] = product;
}

float delta_of(const VjpJob& job, const QueryAt& at) {
  const AttentionVjpProblem& problem = job.problem;
  const AttentionProblem& forward = job.forward();
  if (job.rows.deltas.data() != nullptr) return job.rows.deltas.data()[row_index(forward, at)];
  return kernels::row_delta(problem.output_gradient.at(at.batch, at.head, at.query),
                            problem.output.at(at.batch, at.head, at.query), static_cast<int>(forward.value_dim));
}

/// The weight of a sink times how much the gradient of its weight, zero, is below the mean of its row's.
double sink_gradient(const VjpJob& job, Index head) {
  const AttentionVjpProblem& problem = job.problem;
  const AttentionProblem& forward = job.forward();
  const float sink = forward.options.sinks[forward.whole.first_head + head];
  double sum = 0.0;
  for (Index b = 0; b < forward.batch; ++b) {
    for (Index i = 0; i < forward.query_length; ++i) {
      const float log_sum_exp = *problem.log_sum_exp.at(b, head, i);
      if (log_sum_exp == -std::numeric_limits<float>::infinity()) continue;
      const float delta = delta_of(job, {b, head, i});
      sum -= static_cast<double>(std::exp2((sink - log_sum_exp) * kernels::kLog2E) * delta);
    }
  }
  return sum;
}

void clear(const TensorView<float>& view) {
  const auto [batch, heads, length, dim] = view.shape;
  for (Index row = 0; view.is_present() && row < batch * heads * length; ++row) {
    float* const numbers = view.at(row / length / heads, row / length % heads, row % length);
    for (Index d = 0; d < dim; ++d) numbers[d * view.strides[3]] = 0.0F;
  }
}

/// Runs the tasks of all groups and splits. Those that would add to the same numbers of a bias, or to the same partial
/// gradients of tables, follow one another.
void run_splits(const VjpJob& job) {
  const AttentionProblem& forward = job.forward();
  const auto alone = [&job](std::size_t axis, Index count) { return job.problem.sums_bias_over(axis) ? count : 1; };
  const Index batches_alone = alone(0, forward.batch);
  const Index groups_alone = alone(1, forward.groups);
  const Index splits_alone = alone(3, job.plan.splits_per_group);
  const Index batches = forward.batch / batches_alone;
  const Index groups = forward.groups / groups_alone;
  const Index splits = job.plan.splits_per_group / splits_alone;
  for (Index combination = 0; combination < batches_alone * groups_alone * splits_alone; ++combination) {
    const Index first_split = combination % splits_alone;
    const Index first_group = combination / splits_alone % groups_alone;
    const Index first_batch = combination / splits_alone / groups_alone;
    const Index count = batches * groups * splits;
    const Index lanes = job.plan.table_partials == 0 ? count : std::min(job.plan.table_partials, count);
    // Earlier keys first: where a mask is causal more rows see them, and a long task taken last would leave the other
    // workers waiting.
    parallel_for(job.executor, job.tasks(lanes), [&](Index lane, int worker) {
      for (Index task = lane; task < count; task += lanes) {
        const Index group = (first_batch + task / groups % batches) * forward.groups + first_group + task % groups;
        run_split(job, group, first_split + task / groups / batches, worker, lane);
      }
    });
  }
}

void run_job(const VjpJob& job) {
  const AttentionProblem& forward = job.forward();
  const AttentionGradients& gradients = job.problem.gradients;
  find_row_stats(job);
  run_splits(job);
  if (is_set(forward.options.stop)) return;
  if (job.queries.partials.data() != nullptr) {
    parallel_for(job.executor, job.tasks(job.task_count()), [&](Index task, int) { write_queries(job, task); });
  }
  if (gradients.log_scale != nullptr) {
    double sum = 0.0;
    for (Index task = 0; task < job.task_count(); ++task) sum += job.queries.products.as<double>()[task];
    *gradients.log_scale = static_cast<float>(sum);
  }
  if (gradients.sinks != nullptr) {
    parallel_for(job.executor, job.tasks(forward.query_heads),
                 [&](Index head, int) { gradients.sinks[head] = static_cast<float>(sink_gradient(job, head)); });
  }
}

/// Gradients that are added to, as they were given: a bias that broadcasts to no pair is no part of the problem's.
void clear_sums(const AttentionGradients& gradients) {
  clear(gradients.bias);
  for_each_parameter([](const char* /*name*/, const TensorView<float>& sum) { clear(sum); }, gradients.score);
}

}  // namespace

Status attention_vjp(const AttentionVjpInputs& inputs, const AttentionOptions& options,
                     const AttentionGradients& gradients, Executor& executor) {
  AttentionVjpProblem problem{};
  if (Status status = make_attention_vjp_problem(inputs, options, gradients, problem); !status.is_ok()) return status;
  const AttentionProblem& forward = problem.forward;
  const AttentionVjpPlan plan = plan_attention_vjp(
      problem,
      {.panel = kernels::kPanel, .workers = executor.worker_count(), .work_per_worker = executor.work_per_worker()});
  const auto no_room = [](Index floats) {
    return broken("attentionVjp", StatusCode::memory, {"scratch memory must fit, could not get ", floats, " floats"});
  };
  ScorePreparation preparation(forward, executor);
  if (const Index missing = preparation.missing_floats(); missing > 0) return no_room(missing);
  const ScoreOperands operands = preparation.run(forward);
  const VjpJob job({.problem = problem, .plan = plan, .operands = operands, .executor = executor});
  if (const Index missing = job.missing_floats(); missing > 0) return no_room(missing);

  clear_sums(gradients);
  run_job(job);
  if (!is_set(options.stop)) {
    write_operands(job);
    sum_parameters(job);
  }
  write_tables(job);
  if (is_set(options.stop)) return {StatusCode::aborted, "attentionVjp: stopped by its caller"};
  return {};
}

}  // namespace heed
