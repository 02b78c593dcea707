#include "operations/gru.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/layers.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"
#include "operations/pack.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"gru"};

constexpr int kGates = 3;

/// A task has so many batch entries: whole register tiles.
constexpr Index kEntriesPerTask = 24;

/// A well-formed call.
struct GruProblem {
  Index batch;
  Index steps;
  Index hidden;

  GruCall call;
  GateMultiplier multiplier;

  /// The row of the n-th step that is computed for a batch entry.
  [[nodiscard]] Index row_of(Index entry, Index n) const {
    return entry * steps + (call.options.is_reversed ? steps - 1 - n : n);
  }
};

/// Fills `problem`, or says which rule the call breaks.
Status make_gru_problem(const GruCall& call, GruProblem& problem) {
  const auto& [inputs, options, states, last] = call;
  const Rows<const float>& gates = inputs.gates;
  if (options.batch < 1 || gates.count % options.batch != 0) {
    return kRules.broken(StatusCode::shape, {"gates must have as many rows for each of the batch's entries, got ",
                                             gates.count, " for ", options.batch});
  }
  if (gates.length < kGates || gates.length % kGates != 0) {
    return kRules.broken(StatusCode::shape,
                         {"gates must have three numbers for each of the state, got ", gates.length});
  }
  const Index hidden = gates.length / kGates;
  Status status =
      first_failure({kRules.check_sizes("gates", gates), kRules.check("states", states, gates.count, hidden),
                     kRules.check("last", last, options.batch, hidden)});
  if (!status.is_ok()) return status;
  if (inputs.weights == nullptr) return kRules.broken(StatusCode::shape, {"weights must have data, got none"});
  problem.batch = options.batch;
  problem.steps = gates.count / options.batch;
  problem.hidden = hidden;
  return kRules.check_if_present("state", inputs.state, options.batch, hidden);
}

/// Some columns of the state of some batch entries.
struct GruTask {
  Index step;    // the n-th that is computed
  float* state;  // [batch][hidden] before it
  Index first_entry, entries;
  Index first_column, columns;
  float* scratch;
};

/// Computes one step: three products, and the gates.
void run_task(const GruProblem& problem, const GruTask& task) {
  const Index hidden = problem.hidden;
  const Index width = round_up(task.columns, problem.multiplier.panel);
  float* const products = task.scratch;
  for (Index gate = 0; gate < kGates; ++gate) {
    problem.multiplier.multiply(problem.call,
                                {.gate = gate,
                                 .state = task.state + task.first_entry * hidden,
                                 .entries = task.entries,
                                 .first_column = task.first_column,
                                 .columns = task.columns,
                                 .sums = products + gate * task.entries * width,
                                 .sum_stride = width,
                                 .scratch = products + kGates * task.entries * width},
                                problem.multiplier.format);
  }
  for (Index i = 0; i < task.entries; ++i) {
    const Index entry = task.first_entry + i;
    const Index row = problem.row_of(entry, task.step);
    kernels::GruStepTask kernel_task{};
    for (Index gate = 0; gate < kGates; ++gate) {
      const Index at = gate * hidden + task.first_column;
      kernel_task.input[gate] = problem.call.inputs.gates.row(row) + at;
      kernel_task.hidden[gate] = products + (gate * task.entries + i) * width;
      kernel_task.bias[gate] = problem.call.inputs.bias == nullptr ? nullptr : problem.call.inputs.bias + at;
    }
    kernel_task.state = task.state + entry * hidden + task.first_column;
    kernel_task.next = problem.call.states.row(row) + task.first_column;
    kernel_task.length = static_cast<int>(task.columns);
    kernels::gru_step(kernel_task);
  }
}

void copy_state(const GruProblem& problem, Index step, float* state) {
  for (Index entry = 0; entry < problem.batch; ++entry) {
    std::copy_n(problem.call.states.row(problem.row_of(entry, step)), problem.hidden, state + entry * problem.hidden);
  }
}

void set_first_state(const GruProblem& problem, float* state) {
  std::fill_n(state, problem.batch * problem.hidden, 0.0F);
  for (Index entry = 0; entry < problem.batch && problem.call.inputs.state.is_present(); ++entry) {
    std::copy_n(problem.call.inputs.state.row(entry), problem.hidden, state + entry * problem.hidden);
  }
}

void multiply_packed(const GruCall& call, const GateProduct& product, WeightFormat /*format*/) {
  const Index hidden = call.last.length;
  kernels::packed_gemm(
      {.rows = product.state,
       .row_stride = static_cast<std::ptrdiff_t>(hidden),
       .row_count = static_cast<int>(product.entries),
       .panels = call.inputs.weights + product.gate * packed_floats(hidden, hidden) + product.first_column * hidden,
       .depth = static_cast<int>(hidden),
       .columns = static_cast<int>(product.columns),
       .sums = product.sums,
       .sum_stride = static_cast<std::ptrdiff_t>(product.sum_stride),
       .last_panel = product.scratch});
}

}  // namespace

Status run(const GruCall& call, Executor& executor, const StopFlag* stop) {
  return run_gru(call, {kernels::kPanel, kernels::kPanel, 0, multiply_packed}, executor, stop);
}

Status run_gru(const GruCall& call, const GateMultiplier& multiplier, Executor& executor, const StopFlag* stop) {
  GruProblem problem{.batch = 0, .steps = 0, .hidden = 0, .call = call, .multiplier = multiplier};
  if (Status status = make_gru_problem(call, problem); !status.is_ok()) return status;

  const double multiplications =
      static_cast<double>(kGates * problem.batch) * static_cast<double>(problem.hidden * problem.hidden);
  const int workers = choose_workers(executor, multiplications);
  const Index panels = divide_up(problem.hidden, multiplier.panel);
  const Index columns = divide_up(panels, std::min<Index>(panels, workers)) * multiplier.panel;
  const Index entry_cuts = divide_up(problem.batch, kEntriesPerTask);
  const Index entries = std::min(problem.batch, kEntriesPerTask);
  const Index per_worker = entries * (kGates * columns + multiplier.entry_scratch_floats) + multiplier.scratch_floats;
  const Index state_floats = round_up(problem.batch * problem.hidden, multiplier.panel);
  const Scratch scratch(state_floats + per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "gru: scratch memory must fit, could not get it"};

  float* const state = scratch.data();
  set_first_state(problem, state);
  const Index tasks = entry_cuts * divide_up(problem.hidden, columns);
  for (Index step = 0; step < problem.steps; ++step) {
    parallel_for(executor, {tasks, workers, stop}, [&](Index task, int worker) {
      const Index first_entry = task % entry_cuts * kEntriesPerTask;
      const Index first_column = task / entry_cuts * columns;
      run_task(problem, {.step = step,
                         .state = state,
                         .first_entry = first_entry,
                         .entries = std::min(kEntriesPerTask, problem.batch - first_entry),
                         .first_column = first_column,
                         .columns = std::min(columns, problem.hidden - first_column),
                         .scratch = state + state_floats + worker * per_worker});
    });
    if (is_set(stop)) return {StatusCode::aborted, "gru: stopped by its caller"};
    copy_state(problem, step, state);
  }
  for (Index entry = 0; entry < problem.batch; ++entry) {
    std::copy_n(state + entry * problem.hidden, problem.hidden, call.last.row(entry));
  }
  return {};
}

}  // namespace heed
