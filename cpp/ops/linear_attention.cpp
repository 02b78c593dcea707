#include "heed/linear_attention.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/extra.hpp"
#include "ops/kv_rows.hpp"
#include "ops/parallel_for.hpp"
#include "ops/scratch.hpp"
#include "ops/workers.hpp"
#include "problem/failures.hpp"
#include "problem/linear_problem.hpp"

namespace heed {
namespace {

// With so many tasks a worker, workers that start late still end together.
constexpr Index kTasksPerWorker = 2;

/// Columns [first, end) of the state of one key/value head of one batch entry.
void run_task(const LinearProblem& problem, Index group, Index first, Index end, float* scratch) {
  const LinearInputs& in = problem.inputs;
  const Index b = group / problem.kv_heads;
  const Index g = group % problem.kv_heads;
  const Index h = g * problem.heads_per_group();
  const Index beta_head = in.beta.shape[1] == 1 ? 0 : g;
  kernels::attend_linearly({.query = float_row(in.query, b, h, 0),
                            .query_stride = row_stride(in.query),
                            .query_head_stride = head_stride(in.query),
                            .key = float_row(in.key, b, g, 0),
                            .key_stride = row_stride(in.key),
                            .value = float_row(in.value, b, g, 0),
                            .value_stride = row_stride(in.value),
                            .decay = in.decay.at(b, g, 0),
                            .decay_stride = row_stride(in.decay),
                            .beta = in.beta.at(b, beta_head, 0),
                            .beta_stride = row_stride(in.beta),
                            .state = in.state.at(b, g, 0),
                            .state_stride = row_stride(in.state),
                            .output = problem.outputs.output.at(b, h, 0),
                            .output_stride = row_stride(problem.outputs.output),
                            .output_head_stride = head_stride(problem.outputs.output),
                            .new_state = problem.outputs.state.at(b, g, 0),
                            .new_state_stride = row_stride(problem.outputs.state),
                            .heads = static_cast<int>(problem.heads_per_group()),
                            .queries = static_cast<int>(problem.query_length),
                            .keys = static_cast<int>(problem.key_length),
                            .head_dim = static_cast<int>(problem.head_dim),
                            .value_dim = static_cast<int>(problem.value_dim),
                            .first_column = static_cast<int>(first),
                            .end_column = static_cast<int>(end),
                            .is_causal = problem.options.causal,
                            .has_wide_decay = in.decay.shape[3] == problem.head_dim,
                            .is_delta = problem.is_delta,
                            .is_kernel = problem.is_kernel,
                            .scale = problem.scale,
                            .scratch = scratch});
}

double count_multiplications(const LinearProblem& problem) {
  const Index of_keys = problem.key_length * problem.kv_heads * (problem.is_delta ? 2 : 1);
  const Index of_queries = problem.query_length * problem.query_heads;
  return static_cast<double>(problem.batch * (of_keys + of_queries)) *
         static_cast<double>(problem.head_dim * problem.value_dim);
}

/// Every cut computes the scores within a chunk again, so there are as few cuts as possible.
Index choose_cuts(Index panels, Index groups, int workers) {
  const Index wanted = workers > 1 ? kTasksPerWorker * workers : 1;
  return std::clamp<Index>(divide_up(wanted, groups), 1, panels);
}

}  // namespace

Status linear_attention(const LinearInputs& inputs, const LinearOptions& options, const LinearOutputs& outputs,
                        Executor& executor) {
  LinearProblem problem{};
  if (Status status = make_linear_problem(inputs, options, outputs, problem); !status.is_ok()) return status;
  const Index groups = problem.batch * problem.kv_heads;
  if (groups == 0) return {};

  const int workers = choose_workers(executor, count_multiplications(problem));
  // The columns of a state are independent.
  const Index panels = divide_up(problem.value_dim, kernels::kPanel);
  const Index panels_per_cut = divide_up(panels, choose_cuts(panels, groups, workers));
  const Index cuts = divide_up(panels, panels_per_cut);
  const Index columns = panels_per_cut * kernels::kPanel;
  const Index per_worker =
      kernels::linear_scratch_floats(kernels::kPanel, columns, problem.head_dim, problem.heads_per_group());
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) {
    return broken("linearAttention", StatusCode::memory,
                  {"scratch memory must fit, could not get ", scratch.floats(), " floats"});
  }
  parallel_for(executor, {groups * cuts, workers, options.stop}, [&](Index task, int worker) {
    const Index first = task % cuts * columns;
    run_task(problem, task / cuts, first, std::min(first + columns, problem.value_dim),
             scratch.data() + worker * per_worker);
  });
  if (is_set(options.stop)) return {StatusCode::aborted, "linearAttention: stopped by its caller"};
  return {};
}

}  // namespace heed
