#include "operations/training/gru_backward.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/layers.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"
#include "operations/pack.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"gruBackward"};

constexpr int kGates = 3;

/// A task has so many batch entries, over all steps: no entry waits for another.
constexpr Index kEntriesPerTask = 12;

struct Problem {
  Index batch, steps, hidden;
  const GruBackwardInputs& inputs;
  const GruOptions& options;
  const GruBackwardOutputs& outputs;

  /// The row of the n-th step that the forward pass computed for a batch entry.
  [[nodiscard]] Index row_of(Index entry, Index n) const {
    return entry * steps + (options.is_reversed ? steps - 1 - n : n);
  }
};

Status check(const GruBackwardInputs& inputs, const GruOptions& options, const GruBackwardOutputs& outputs) {
  const Rows<const float>& gates = inputs.forward.gates;
  const Index batch = options.batch, hidden = gates.length / kGates;
  if (batch < 1 || gates.count % batch != 0 || hidden < 1 || gates.length % kGates != 0) {
    return kRules.broken(StatusCode::shape, {"gates must be [batch * steps, 3 H], got ", gates.count, " rows of ",
                                             gates.length, " for a batch of ", batch});
  }
  if (inputs.forward.weights == nullptr || inputs.weights == nullptr) {
    return kRules.broken(StatusCode::shape, {"weights must have data, got none"});
  }
  const auto check_if = [](const char* name, const auto& rows, Index count, Index length) {
    return rows.is_present() ? kRules.check(name, rows, count, length) : Status{};
  };
  return first_failure({kRules.check_sizes("gates", gates), check_if("state", inputs.forward.state, batch, hidden),
                        kRules.check("states", inputs.states, gates.count, hidden),
                        check_if("stateGradients", inputs.state_gradients, gates.count, hidden),
                        check_if("lastGradient", inputs.last_gradient, batch, hidden),
                        kRules.check("gatesGradient", outputs.gates, gates.count, gates.length),
                        kRules.check("hiddenGradient", outputs.hidden, gates.count, gates.length),
                        kRules.check("previous", outputs.previous, gates.count, hidden),
                        kRules.check("stateGradient", outputs.state, batch, hidden)});
}

/// Memory of a task, for each of its entries.
struct TaskScratch {
  float* products;  // [gates][entries][width]
  float* carry;     // [entries][width]: the gradient of the state
  float* passed;    // [entries][width]: the part of it that went through the weights
  float* last_panel;
  Index width;
};

Index floats_of(Index hidden) {
  return kEntriesPerTask * ((kGates + 2) * round_up(hidden, kernels::kPanel) + kernels::kPanel);
}

TaskScratch divided(float* scratch, Index hidden) {
  const Index width = round_up(hidden, kernels::kPanel);
  const Index each = kEntriesPerTask * width;
  return {.products = scratch,
          .carry = scratch + kGates * each,
          .passed = scratch + (kGates + 1) * each,
          .last_panel = scratch + (kGates + 2) * each,
          .width = width};
}

/// Writes the states before every step of an entry.
void write_previous(const Problem& problem, Index entry) {
  const auto& state = problem.inputs.forward.state;
  for (Index n = 0; n < problem.steps; ++n) {
    float* const target = problem.outputs.previous.row(problem.row_of(entry, n));
    if (n > 0) {
      std::copy_n(problem.inputs.states.row(problem.row_of(entry, n - 1)), problem.hidden, target);
    } else if (state.is_present()) {
      std::copy_n(state.row(entry), problem.hidden, target);
    } else {
      std::fill_n(target, problem.hidden, 0.0F);
    }
  }
}

void add_row(const float* row, Index length, float* sums) {
  kernels::add_rows({.rows = row, .stride = 0, .row_count = 1, .length = static_cast<int>(length), .sums = sums});
}

/// Goes one step back for entries whose `carry` is the gradient of the state that the step made.
void step_back(const Problem& problem, const TaskScratch& scratch, Index first, Index entries, Index n) {
  const Index hidden = problem.hidden;
  const GruInputs& forward = problem.inputs.forward;
  const auto entry_stride = static_cast<std::ptrdiff_t>(problem.steps);
  const Index row = problem.row_of(first, n);
  kernels::GemmTask product{.rows = problem.outputs.previous.row(row),
                            .row_stride = entry_stride * static_cast<std::ptrdiff_t>(problem.outputs.previous.stride),
                            .row_count = static_cast<int>(entries),
                            .panels = nullptr,
                            .depth = static_cast<int>(hidden),
                            .columns = static_cast<int>(hidden),
                            .sums = nullptr,
                            .sum_stride = static_cast<std::ptrdiff_t>(scratch.width),
                            .last_panel = scratch.last_panel};
  for (Index gate = 0; gate < kGates; ++gate) {
    product.panels = forward.weights + gate * packed_floats(hidden, hidden);
    product.sums = scratch.products + gate * kEntriesPerTask * scratch.width;
    kernels::packed_gemm(product);
  }
  for (Index i = 0; i < entries; ++i) {
    const Index at = problem.row_of(first + i, n);
    float* const carry = scratch.carry + i * scratch.width;
    if (problem.inputs.state_gradients.is_present()) add_row(problem.inputs.state_gradients.row(at), hidden, carry);
    kernels::GruStepBackwardTask step{};
    for (Index gate = 0; gate < kGates; ++gate) {
      step.input[gate] = forward.gates.row(at) + gate * hidden;
      step.hidden[gate] = scratch.products + (gate * kEntriesPerTask + i) * scratch.width;
      step.bias[gate] = forward.bias == nullptr ? nullptr : forward.bias + gate * hidden;
      step.input_gradient[gate] = problem.outputs.gates.row(at) + gate * hidden;
      step.hidden_gradient[gate] = problem.outputs.hidden.row(at) + gate * hidden;
    }
    step.state = problem.outputs.previous.row(at);
    step.carry = carry;
    step.length = static_cast<int>(hidden);
    kernels::gru_step_backward(step);
  }
  product.rows = problem.outputs.hidden.row(row);
  product.row_stride = entry_stride * static_cast<std::ptrdiff_t>(problem.outputs.hidden.stride);
  product.panels = problem.inputs.weights;
  product.depth = static_cast<int>(kGates * hidden);
  product.sums = scratch.passed;
  kernels::packed_gemm(product);
  for (Index i = 0; i < entries; ++i)
    add_row(scratch.passed + i * scratch.width, hidden, scratch.carry + i * scratch.width);
}

void run_task(const Problem& problem, Index first, Index entries, const TaskScratch& scratch) {
  const auto& last = problem.inputs.last_gradient;
  for (Index i = 0; i < entries; ++i) {
    write_previous(problem, first + i);
    float* const carry = scratch.carry + i * scratch.width;
    std::fill_n(carry, problem.hidden, 0.0F);
    if (last.is_present()) std::copy_n(last.row(first + i), problem.hidden, carry);
  }
  for (Index n = problem.steps - 1; n >= 0 && !is_set(problem.options.stop); --n) {
    step_back(problem, scratch, first, entries, n);
  }
  for (Index i = 0; i < entries; ++i) {
    std::copy_n(scratch.carry + i * scratch.width, problem.hidden, problem.outputs.state.row(first + i));
  }
}

}  // namespace

Status gru_backward(const GruBackwardInputs& inputs, const GruOptions& options, const GruBackwardOutputs& outputs,
                    Executor& executor) {
  if (Status status = check(inputs, options, outputs); !status.is_ok()) return status;
  const Rows<const float>& gates = inputs.forward.gates;
  const Problem problem{.batch = options.batch,
                        .steps = gates.count / options.batch,
                        .hidden = gates.length / kGates,
                        .inputs = inputs,
                        .options = options,
                        .outputs = outputs};
  const double multiplications =
      2.0 * static_cast<double>(gates.count) * static_cast<double>(gates.length) * static_cast<double>(problem.hidden);
  const int workers = choose_workers(executor, multiplications);
  const Index per_worker = floats_of(problem.hidden);
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "gruBackward: scratch memory must fit, could not get it"};
  const Index tasks = divide_up(problem.batch, kEntriesPerTask);
  parallel_for(executor, {tasks, workers, options.stop}, [&](Index task, int worker) {
    const Index first = task * kEntriesPerTask;
    run_task(problem, first, std::min(kEntriesPerTask, problem.batch - first),
             divided(scratch.data() + worker * per_worker, problem.hidden));
  });
  if (is_set(options.stop)) return {StatusCode::aborted, "gruBackward: stopped by its caller"};
  return {};
}

Status run(const GruBackwardCall& call, Executor& executor) {
  const GruCall& forward = call.forward;
  return gru_backward(
      {.forward = {.gates = unpack_rows<const float>(forward.gates),
                   .weights = pointer<const float>(forward.weights.address),
                   .bias = pointer<const float>(forward.bias.address),
                   .state = unpack_rows<const float>(forward.state)},
       .states = unpack_rows<const float>(forward.states),
       .weights = pointer<const float>(call.transposed_weights.address),
       .state_gradients = unpack_rows<const float>(call.state_gradients),
       .last_gradient = unpack_rows<const float>(call.last_gradient)},
      {.batch = forward.batch, .is_reversed = forward.is_reversed != 0, .stop = stop_of(forward.header)},
      {.gates = unpack_rows<float>(call.gates_gradient),
       .hidden = unpack_rows<float>(call.hidden_gradient),
       .previous = unpack_rows<float>(call.previous),
       .state = unpack_rows<float>(call.state_gradient)},
      executor);
}

}  // namespace heed
