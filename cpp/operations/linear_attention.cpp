#include "operations/linear_attention.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/extra.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"
#include "operations/linear_problem.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"linearAttention"};

// With so many tasks a worker, workers that start late still end together.
constexpr Index kTasksPerWorker = 2;

/// Columns [first, end) of the state of one head of one batch entry.
void run_task(const LinearProblem& problem, Index group, Index first, Index end, float* scratch) {
  kernels::LinearTask task = linear_task(problem, group);
  task.first_column = static_cast<int>(first);
  task.end_column = static_cast<int>(end);
  task.scratch = scratch;
  kernels::attend_linearly(task);
}

double count_multiplications(const LinearProblem& problem) {
  const Index of_keys = problem.key_length * problem.state_heads * (problem.is_delta ? 2 : 1);
  const Index of_queries = problem.query_length * problem.output_heads();
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
  if (Status status = make_linear_problem(kRules, inputs, options, outputs, problem); !status.is_ok()) return status;
  const Index groups = problem.batch * problem.state_heads;
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
    return {StatusCode::memory, "linearAttention: scratch memory must fit, could not get it"};
  }
  parallel_for(executor, {groups * cuts, workers, options.stop}, [&](Index task, int worker) {
    const Index first = task % cuts * columns;
    run_task(problem, task / cuts, first, std::min(first + columns, problem.value_dim),
             scratch.data() + worker * per_worker);
  });
  if (is_set(options.stop)) return {StatusCode::aborted, "linearAttention: stopped by its caller"};
  return {};
}

Status run(const LinearCall& call, Executor& executor) {
  return linear_attention(unpack_inputs(call), unpack_options(call),
                          {.output = unpack<float>(call.output), .state = unpack<float>(call.new_state)}, executor);
}

}  // namespace heed
