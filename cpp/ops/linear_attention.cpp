#include "heed/linear_attention.hpp"

#include "kernels/instances/instances.hpp"
#include "ops/extra_with.hpp"
#include "ops/numbers.hpp"
#include "ops/scratch.hpp"
#include "ops/worth_waking.hpp"
#include "problem/failures.hpp"
#include "problem/linear_problem.hpp"

namespace heed {
namespace {

// So that workers which start late still end together.
constexpr Index kTasksPerWorker = 2;

struct LinearJob {
  const LinearProblem& problem;
  const kernels::ExtraKernels& kernels;
  Index cuts;             // of the columns of a head's state, which do not know of each other
  Index columns_per_cut;  // whole panels
  float* scratch;
  Index scratch_per_worker;  // floats
};

void run_task(void* context, Index task, int worker) {
  const LinearJob& job = *static_cast<LinearJob*>(context);
  const LinearProblem& problem = job.problem;
  const LinearInputs& in = problem.inputs;
  const Index group = task / job.cuts;
  const Index first = task % job.cuts * job.columns_per_cut;
  const Index b = group / problem.kv_heads;
  const Index g = group % problem.kv_heads;
  const Index h = g * problem.heads_per_group();
  const Index beta_head = in.beta.shape[1] == 1 ? 0 : g;
  job.kernels.attend_linearly({.query = numbers_at(in.query, b, h, 0),
                               .query_stride = row_stride(in.query),
                               .query_head_stride = head_stride(in.query),
                               .key = numbers_at(in.key, b, g, 0),
                               .key_stride = row_stride(in.key),
                               .value = numbers_at(in.value, b, g, 0),
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
                               .end_column = static_cast<int>(std::min(first + job.columns_per_cut, problem.value_dim)),
                               .is_causal = problem.options.causal,
                               .has_wide_decay = in.decay.shape[3] == problem.head_dim,
                               .is_delta = problem.is_delta,
                               .is_kernel = problem.is_kernel,
                               .scale = problem.scale,
                               .scratch = job.scratch + worker * job.scratch_per_worker});
}

double count_multiplications(const LinearProblem& problem) {
  const Index of_keys = problem.key_length * problem.kv_heads * (problem.is_delta ? 2 : 1);
  const Index of_queries = problem.query_length * problem.query_heads;
  return static_cast<double>(problem.batch * (of_keys + of_queries)) *
         static_cast<double>(problem.head_dim * problem.value_dim);
}

/// What tokens have to do with each other is done again for every cut, so no more of them than it takes.
Index choose_cuts(Index panels, Index groups, int workers) {
  const Index wanted = workers > 1 ? kTasksPerWorker * workers : 1;
  return std::clamp<Index>((wanted + groups - 1) / groups, 1, panels);
}

}  // namespace

Status linear_attention_with(const kernels::ExtraKernels& kernels, const LinearInputs& inputs,
                             const LinearOptions& options, const LinearOutputs& outputs, Executor& executor) {
  LinearProblem problem{};
  if (Status status = make_linear_problem(inputs, options, outputs, problem); !status.is_ok()) return status;
  const Index groups = problem.batch * problem.kv_heads;
  if (groups == 0) return {};

  const int workers = worth_waking(executor, count_multiplications(problem));
  const Index panels = (problem.value_dim + kernels.panel - 1) / kernels.panel;
  const Index panels_per_cut = [&] {
    const Index cuts = choose_cuts(panels, groups, workers);
    return (panels + cuts - 1) / cuts;
  }();
  const Index cuts = (panels + panels_per_cut - 1) / panels_per_cut;
  const Index columns = panels_per_cut * kernels.panel;
  const Index per_worker =
      kernels::linear_scratch_floats(kernels.panel, columns, problem.head_dim, problem.heads_per_group());
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) {
    return broken("linearAttention", StatusCode::memory,
                  {"scratch memory must fit, could not get ", scratch.floats(), " floats"});
  }
  LinearJob job{problem, kernels, cuts, columns, scratch.data(), per_worker};
  executor.run({run_task, &job, groups * cuts, workers, options.stop});
  if (is_set(options.stop)) return {StatusCode::aborted, "linearAttention: stopped by its caller"};
  return {};
}

Status linear_attention(const LinearInputs& inputs, const LinearOptions& options, const LinearOutputs& outputs,
                        Executor& executor) {
  return linear_attention_with(*kernels::runnable_extra_kernels().front(), inputs, options, outputs, executor);
}

}  // namespace heed
