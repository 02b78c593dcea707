#include "heed/gru.hpp"

#include <algorithm>

#include "kernels/instances/instances.hpp"
#include "ops/layers_with.hpp"
#include "ops/scratch.hpp"
#include "ops/worth_waking.hpp"
#include "problem/gru_problem.hpp"

namespace heed {
namespace {

constexpr int kGates = 3;

/// Batch entries of a task: whole tiles.
constexpr Index kEntriesPerTask = 24;

struct GruJob {
  const GruProblem& problem;
  const kernels::LayerKernels& kernels;
  Index step;     // the n-th that is computed
  float* state;   // [batch][hidden] before it
  Index columns;  // of a task, whole panels
  Index entry_cuts;
  float* scratch;
  Index scratch_per_worker;  // floats
};

Index padded(const kernels::LayerKernels& kernels, Index columns) {
  return (columns + kernels.panel - 1) / kernels.panel * kernels.panel;
}

/// Some columns of the state of some batch entries, one step on: three products, and the gates.
void run_task(void* context, Index task, int worker) {
  const GruJob& job = *static_cast<GruJob*>(context);
  const GruProblem& problem = job.problem;
  const Index hidden = problem.hidden;
  const Index first_entry = task % job.entry_cuts * kEntriesPerTask;
  const Index entries = std::min(kEntriesPerTask, problem.batch - first_entry);
  const Index first = task / job.entry_cuts * job.columns;
  const Index columns = std::min(job.columns, hidden - first);
  const Index width = padded(job.kernels, columns);
  float* const products = job.scratch + worker * job.scratch_per_worker;
  float* const last_panel = products + kGates * entries * width;
  for (Index gate = 0; gate < kGates; ++gate) {
    const float* const weights = problem.inputs.weights + gate * packed_floats_for(job.kernels, hidden, hidden);
    job.kernels.multiply({.rows = job.state + first_entry * hidden,
                          .row_stride = static_cast<std::ptrdiff_t>(hidden),
                          .row_count = static_cast<int>(entries),
                          .is_single = problem.batch == 1,
                          .panels = weights + first * hidden,
                          .depth = static_cast<int>(hidden),
                          .columns = static_cast<int>(columns),
                          .sums = products + gate * entries * width,
                          .sum_stride = static_cast<std::ptrdiff_t>(width),
                          .last_panel = last_panel});
  }
  for (Index entry = first_entry; entry < first_entry + entries; ++entry) {
    const Index row = problem.row_of(entry, job.step);
    kernels::GateBlock block{};
    for (Index gate = 0; gate < kGates; ++gate) {
      const Index at = gate * hidden + first;
      block.input[gate] = problem.inputs.gates.row(row) + at;
      block.hidden[gate] = products + (gate * entries + entry - first_entry) * width;
      block.bias[gate] = problem.inputs.bias == nullptr ? nullptr : problem.inputs.bias + at;
    }
    block.state = job.state + entry * hidden + first;
    block.next = problem.outputs.states.row(row) + first;
    block.length = static_cast<int>(columns);
    job.kernels.pass_gates(block);
  }
}

void copy_state(const GruProblem& problem, Index step, float* state) {
  for (Index entry = 0; entry < problem.batch; ++entry) {
    std::copy_n(problem.outputs.states.row(problem.row_of(entry, step)), problem.hidden,
                state + entry * problem.hidden);
  }
}

void set_first_state(const GruProblem& problem, float* state) {
  std::fill_n(state, problem.batch * problem.hidden, 0.0F);
  for (Index entry = 0; entry < problem.batch && problem.inputs.state.is_present(); ++entry) {
    std::copy_n(problem.inputs.state.row(entry), problem.hidden, state + entry * problem.hidden);
  }
}

}  // namespace

Status gru_with(const kernels::LayerKernels& kernels, const GruInputs& inputs, const GruOptions& options,
                const GruOutputs& outputs, Executor& executor) {
  GruProblem problem{};
  if (Status status = make_gru_problem(inputs, options, outputs, problem); !status.is_ok()) return status;

  const double multiplications =
      static_cast<double>(kGates * problem.batch) * static_cast<double>(problem.hidden * problem.hidden);
  const int workers = worth_waking(executor, multiplications);
  const Index panels = padded(kernels, problem.hidden) / kernels.panel;
  const Index cuts = std::min<Index>(panels, workers);
  const Index columns = (panels + cuts - 1) / cuts * kernels.panel;
  const Index entry_cuts = (problem.batch + kEntriesPerTask - 1) / kEntriesPerTask;
  const Index entries = std::min(problem.batch, kEntriesPerTask);
  const Index per_worker = entries * (kGates * columns + kernels.panel);
  const Index state_floats = padded(kernels, problem.batch * problem.hidden);
  const Scratch scratch(state_floats + per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "gru: scratch memory must fit, could not get it"};

  float* const state = scratch.data();
  set_first_state(problem, state);
  const Index tasks = entry_cuts * ((problem.hidden + columns - 1) / columns);
  for (Index step = 0; step < problem.steps; ++step) {
    GruJob job{problem, kernels, step, state, columns, entry_cuts, state + state_floats, per_worker};
    executor.run({run_task, &job, tasks, workers, options.stop});
    if (is_set(options.stop)) return {StatusCode::aborted, "gru: stopped by its caller"};
    copy_state(problem, step, state);
  }
  for (Index entry = 0; entry < problem.batch; ++entry) {
    std::copy_n(state + entry * problem.hidden, problem.hidden, outputs.last.row(entry));
  }
  return {};
}

Status gru(const GruInputs& inputs, const GruOptions& options, const GruOutputs& outputs, Executor& executor) {
  return gru_with(*kernels::runnable_layer_kernels().front(), inputs, options, outputs, executor);
}

}  // namespace heed
