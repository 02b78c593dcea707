// What all tasks of one backward pass share, and how their rows are described to the kernels.
#pragma once

#include <array>

#include "kernels/backward/backward_task.hpp"
#include "operations/attention/call_expressions.hpp"
#include "operations/attention/score_operands.hpp"
#include "operations/common/scratch.hpp"
#include "plan/attention_vjp_plan.hpp"
#include "problem/attention_vjp_problem.hpp"

namespace heed {

/// The sums that the kernels keep of each query beside its gradient: 0 or kernels::kSumLines.
Index sum_lines(const AttentionProblem& forward);

/// The memory of each worker.
struct VjpWorkers {
  float* scratch = nullptr;  // of the kernels
  Index scratch_floats = 0;
  float* registers = nullptr;  // of expressions
  Index register_floats = 0;
  kernels::BestKey* best = nullptr;  // [rows of a task][top_k]
  float* key_gradients = nullptr;    // of the keys and values of a step
  Index key_gradient_floats = 0;
};

/// What is known of each [group][row] before the gradients; null where the saved output and lse tell.
struct VjpRowStats {
  kernels::RowStats* stats = nullptr;
  float* deltas = nullptr;
};

/// Sums of the queries' gradients, over the keys of a split, and of their products.
struct VjpQuerySums {
  float* partials = nullptr;   // [split][group][panel][head_dim][kPanel]; null: not wanted
  double* products = nullptr;  // [group][rows of a task], of queries and their gradients
};

/// A function of the caller's in the backward pass: see kernels::FunctionSlopes.
struct VjpFunction {
  kernels::Expression slope = {};
  const kernels::TableSlope* reads = nullptr;
  int read_count = 0;
};

struct VjpFunctions {
  VjpFunction score, weight;
  Index register_floats = 0;
  float* table_partials = nullptr;  // [table_partials][table_numbers]
};

/// Gradients of the queries and keys that are multiplied (after projections) and of the values, with a copy for each
/// group: the caller's views, or those of ScoreBackward where it projects them or sums over groups. The sums are null
/// where a score function has no use for them.
struct VjpOperands {
  TensorView<float> query, key, value;
  float* row_sums = nullptr;       // [group][row][kSumLines]
  float* key_sums = nullptr;       // [group][key]
  float* pair_partials = nullptr;  // [group][split][head_dim], of what weighs the terms of additive scores
};

/// What is to be computed, and memory by who reads it.
struct VjpJob {
  const AttentionVjpProblem& problem;
  const AttentionVjpPlan& plan;
  const ScoreOperands& operands;
  CallExpressions expressions;
  VjpOperands gradients;
  VjpFunctions functions;
  VjpWorkers workers = {};
  VjpRowStats rows = {};
  VjpQuerySums queries = {};

  [[nodiscard]] const AttentionProblem& forward() const { return problem.forward; }
  [[nodiscard]] Index group_count() const { return forward().batch * forward().groups; }
  [[nodiscard]] Index row_count() const { return group_count() * plan.rows_per_group; }
  [[nodiscard]] Index row_index(Index group, Index row) const { return group * plan.rows_per_group + row; }
  [[nodiscard]] Index panels_per_group() const { return divide_up(plan.rows_per_group, kernels::kPanel); }
  [[nodiscard]] Index tasks_per_group() const { return divide_up(plan.rows_per_group, kMaxRowsPerTask); }
  [[nodiscard]] Index panel_floats() const { return (forward().head_dim + sum_lines(forward())) * kernels::kPanel; }
  [[nodiscard]] Index group_floats() const { return panels_per_group() * panel_floats(); }
  [[nodiscard]] float* query_partial(Index split, Index group, Index row) const {
    const Index panel = (split * group_count() + group) * panels_per_group() + row / kernels::kPanel;
    return queries.partials + panel * panel_floats();
  }
  [[nodiscard]] float* pair_partial(Index split, Index group) const {
    if (gradients.pair_partials == nullptr) return nullptr;
    return gradients.pair_partials + (group * plan.splits_per_group + split) * forward().head_dim;
  }
  /// How a function is differentiated, adding to one of the partial gradients of tables.
  [[nodiscard]] kernels::FunctionSlopes slopes_of(const VjpFunction& function, Index partial) const {
    return {.slope = function.slope.program == nullptr ? nullptr : &function.slope,
            .reads = function.reads,
            .read_count = function.read_count,
            .table_gradients = functions.table_partials + partial * problem.gradients.table_numbers};
  }
  [[nodiscard]] Index key_stride() const { return kernels::padded_dim(forward().head_dim); }
  [[nodiscard]] Index value_stride() const { return kernels::padded_dim(forward().value_dim); }
};

/// Holds the memory of a job's workers, rows and queries.
class VjpMemory {
 public:
  explicit VjpMemory(const VjpJob& job);

  /// The floats that it needs if they could not be allocated, else 0.
  [[nodiscard]] Index missing_floats() const;

  /// Tells the job of it.
  void prepare(VjpJob& job) const;

 private:
  Index scratch_floats_, register_floats_, key_gradient_floats_;  // of a worker
  Scratch scratch_, registers_, best_, key_gradients_, row_stats_, deltas_, partials_, products_;
};

/// A query of a group: the rows of a group are the queries of its heads, head after head.
struct QueryAt {
  Index batch, head, query;
};

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
Index forward_scratch_floats(const VjpJob& job);

/// Whether scores must tell the stats, or the deltas, of VjpRowStats.
bool needs_row_stats(const AttentionProblem& forward);
bool needs_deltas(const AttentionVjpProblem& problem);

/// Finds both by the scores of all keys, made once more.
void find_row_stats(const VjpJob& job, Executor& executor);

}  // namespace heed
