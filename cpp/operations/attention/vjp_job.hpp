// What all tasks of one backward pass share, and how their rows are described to the kernels.
#pragma once

#include <algorithm>
#include <array>

#include "heed/executor.hpp"
#include "heed/rounding.hpp"
#include "kernels/backward/backward_task.hpp"
#include "operations/attention/call_expressions.hpp"
#include "operations/attention/score_operands.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"
#include "plan/attention_vjp_plan.hpp"
#include "problem/attention_vjp_problem.hpp"

namespace heed {

/// The sums that the kernels keep of each query beside its gradient: 0 or kernels::kSumLines.
Index sum_lines(const AttentionProblem& forward);

/// What is to be computed, and what follows from its sizes.
struct VjpWork {
  const AttentionVjpProblem& problem;
  const AttentionVjpPlan& plan;
  const ScoreOperands& operands;
  Executor& executor;

  [[nodiscard]] const AttentionProblem& forward() const { return problem.forward; }
  [[nodiscard]] Tasks tasks(Index count) const { return {count, plan.workers, forward().options.stop}; }
  [[nodiscard]] Index group_count() const { return forward().batch * forward().groups; }
  [[nodiscard]] Index row_index(Index group, Index row) const { return group * plan.rows_per_group + row; }
  [[nodiscard]] Index panels_per_group() const { return divide_up(plan.rows_per_group, kernels::kPanel); }
  [[nodiscard]] Index tasks_per_group() const { return divide_up(plan.rows_per_group, kMaxRowsPerTask); }
  [[nodiscard]] Index task_count() const { return group_count() * tasks_per_group(); }
  [[nodiscard]] Index panel_floats() const { return (forward().head_dim + sum_lines(forward())) * kernels::kPanel; }
  [[nodiscard]] Index group_floats() const { return panels_per_group() * panel_floats(); }
  [[nodiscard]] Index key_stride() const { return kernels::padded_dim(forward().head_dim); }
  [[nodiscard]] Index value_stride() const { return kernels::padded_dim(forward().value_dim); }
};

/// A tensor in memory of its own; absent where it is not needed.
struct ScratchTensor : Scratch {
  ScratchTensor(bool is_needed, const Shape& shape)
      : Scratch(is_needed ? shape[0] * shape[1] * shape[2] * shape[3] : 0), view(bhnd_view(data(), shape)) {}

  TensorView<float> view;
};

/// Gradients of the queries and keys that are multiplied (after projections) and of the values, with a copy for each
/// group: the caller's views, or those of memory of their own, where they are projected or summed over groups later.
/// The sums are absent where a score function has no use for them.
struct VjpGradients {
  VjpGradients(const VjpWork& work, const AttentionProblem& of);

  ScratchTensor own_query, own_key, own_value;
  TensorView<float> query, key, value;
  ScratchTensor row_sums;       // kSumLines of each query
  ScratchTensor key_sums;       // one of each key of a group
  ScratchTensor pair_partials;  // [batch, group, split, head_dim], of what weighs the terms of additive scores
};

/// For the parameters of score functions, and projections.
struct VjpParameters {
  explicit VjpParameters(const VjpWork& work);

  Index product_floats;  // of a worker
  Scratch products;
  Scratch sums;  // of each head
};

/// A function of the caller's in the backward pass: see kernels::FunctionSlopes.
struct VjpFunction {
  kernels::Expression slope = {};
  const kernels::TableSlope* reads = nullptr;
  int read_count = 0;
};

struct VjpFunctions {
  explicit VjpFunctions(const VjpWork& work);

  Scratch reads;           // [read_count] of kernels::TableSlope, those of scores first
  Scratch table_partials;  // [table_partials][table_numbers]
  VjpFunction score, weight;
  Index register_floats = 0;
};

/// The memory of each worker.
struct VjpWorkers {
  VjpWorkers(const VjpWork& work, Index registers_of_one);

  Index scratch_floats, register_floats, key_gradient_floats;
  Scratch scratch;        // of the kernels
  Scratch registers;      // of expressions
  Scratch key_gradients;  // of the keys and values of a step
  Scratch best;           // [rows of a task][top_k] of kernels::BestKey
};

/// What is known of each [group][row] before the gradients; null where the saved output and lse tell.
struct VjpRowStats {
  explicit VjpRowStats(const VjpWork& work);

  Scratch stats;  // kernels::RowStats
  Scratch deltas;
};

/// Sums of queries; null: not wanted.
struct VjpQuerySums {
  explicit VjpQuerySums(const VjpWork& work);

  Scratch partials;  // [split][group][panel][head_dim][kPanel], of gradients
  Scratch products;  // [group][rows of a task] in double precision, of queries and their gradients
};

/// The work, and memory by who reads it.
struct VjpJob : VjpWork {
  explicit VjpJob(const VjpWork& work) : VjpWork(work) {}

  CallExpressions expressions = describe_expressions(problem.forward.options.expressions);
  VjpGradients gradients{*this, forward()};
  VjpParameters parameters{*this};
  VjpFunctions functions{*this};
  VjpWorkers workers{
      *this, std::max(functions.register_floats, register_floats(expressions, kernels::kPanel, plan.key_block))};
  VjpRowStats rows{*this};
  VjpQuerySums queries{*this};

  /// The floats that it needs if they could not be allocated, else 0.
  [[nodiscard]] Index missing_floats() const;

  [[nodiscard]] float* query_partial(Index split, Index group, Index row) const {
    const Index panel = (split * group_count() + group) * panels_per_group() + row / kernels::kPanel;
    return queries.partials.data() + panel * panel_floats();
  }
  [[nodiscard]] float* pair_partial(Index split, Index group) const {
    return gradients.pair_partials.view.at(0, group, split);  // groups of all batch entries follow one another
  }
  [[nodiscard]] float* products_of(int worker) const {
    return parameters.products.data() + worker * parameters.product_floats;
  }
  /// How a function is differentiated, adding to one of the partial gradients of tables.
  [[nodiscard]] kernels::FunctionSlopes slopes_of(const VjpFunction& function, Index partial) const {
    return {.slope = function.slope.program == nullptr ? nullptr : &function.slope,
            .reads = function.reads,
            .read_count = function.read_count,
            .table_gradients = functions.table_partials.data() + partial * problem.gradients.table_numbers};
  }
};

/// A query of a group: the rows of a group are the queries of its heads, head after head.
struct QueryAt {
  Index batch, head, query;
};

/// A parameter's numbers, or their gradients, for a query head of the call.
template <typename T>
T* at_head(const AttentionProblem& forward, const TensorView<T>& view, Index head) {
  return view.at(0, view.shape[1] == 1 ? 0 : forward.whole.first_head + head, 0);
}

/// Its place among those of all heads, [batch][head][query], which is that of its row among those of all groups.
inline Index row_index(const AttentionProblem& forward, const QueryAt& at) {
  return (at.batch * forward.query_heads + at.head) * forward.query_length + at.query;
}

QueryAt query_at(const AttentionProblem& forward, Index group, Index row);

/// Some rows of a group and some keys.
struct VjpBlock {
  Index group;
  Index first_row;
  Index first_key;
  Index end_key;
};

/// Up to kMaxRowsPerTask rows, and what the kernels need of each.
struct VjpRows {
  std::array<kernels::AttentionRow, kMaxRowsPerTask> rows;
  std::array<kernels::BackwardRow, kMaxRowsPerTask> backward;
  std::array<kernels::RowStats, kMaxRowsPerTask> stats;
  Index count = 0;
  bool see_keys = false;
};

/// Describes the rows of a block, which see its keys and no others.
void describe_rows(const VjpJob& job, const VjpBlock& block, VjpRows& all);

/// The keys and values of a group, a worker's memory and the rows.
kernels::AttentionTask task_for(const VjpJob& job, Index group, const VjpRows& rows, int worker);

/// The floats of a worker's scratch that are the forward kernels'; those of the backward kernel are behind them.
Index forward_scratch_floats(const VjpWork& work);

/// Finds the stats and deltas of rows by the scores of all keys, made once more.
void find_row_stats(const VjpJob& job);

/// Writes the gradients of tables.
void write_tables(const VjpJob& job);

}  // namespace heed
