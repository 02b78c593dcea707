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
  const GruBackwardCall& call;
  const StopFlag* stop;

  /// The row of the n-th step that the forward pass computed for a batch entry.
  [[nodiscard]] Index row_of(Index entry, Index n) const {
    return entry * steps + (call.options.is_reversed ? steps - 1 - n : n);
  }
};

Status check(const GruBackwardCall& call) {
  const Rows<const float>& gates = call.forward.gates;
  const Index batch = call.options.batch, hidden = gates.length / kGates;
  if (batch < 1 || gates.count % batch != 0 || hidden < 1 || gates.length % kGates != 0) {
    return kRules.broken(StatusCode::shape, {"gates must be [batch * steps, 3 H], got ", gates.count, " rows of ",
                                             gates.length, " for a batch of ", batch});
  }
  if (call.forward.weights == nullptr || call.transposed_weights == nullptr) {
    return kRules.broken(StatusCode::shape, {"weights must have data, got none"});
  }
  return first_failure({kRules.check_sizes("gates", gates),
                        kRules.check_if_present("state", call.forward.state, batch, hidden),
                        kRules.check("states", call.states, gates.count, hidden),
                        kRules.check_if_present("stateGradients", call.state_gradients, gates.count, hidden),
                        kRules.check_if_present("lastGradient", call.last_gradient, batch, hidden),
                        kRules.check("gatesGradient", call.gates_gradient, gates.count, gates.length),
                        kRules.check("hiddenGradient", call.hidden_gradient, gates.count, gates.length),
                        kRules.check("previous", call.previous, gates.count, hidden),
                        kRules.check("stateGradient", call.state_gradient, batch, hidden)});
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
  const auto& state = problem.call.forward.state;
  for (Index n = 0; n < problem.steps; ++n) {
    float* const target = problem.call.previous.row(problem.row_of(entry, n));
    if (n > 0) {
      std::copy_n(problem.call.states.row(problem.row_of(entry, n - 1)), problem.hidden, target);
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
  const GruInputs& forward = problem.call.forward;
  const auto entry_stride = static_cast<std::ptrdiff_t>(problem.steps);
  const Index row = problem.row_of(first, n);
  kernels::GemmTask product{.rows = problem.call.previous.row(row),
                            .row_stride = entry_stride * static_cast<std::ptrdiff_t>(problem.call.previous.stride),
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
    if (problem.call.state_gradients.is_present()) add_row(problem.call.state_gradients.row(at), hidden, carry);
    kernels::GruStepBackwardTask step{};
    for (Index gate = 0; gate < kGates; ++gate) {
      step.input[gate] = forward.gates.row(at) + gate * hidden;
      step.hidden[gate] = scratch.products + (gate * kEntriesPerTask + i) * scratch.width;
      step.bias[gate] = forward.bias == nullptr ? nullptr : forward.bias + gate * hidden;
      step.input_gradient[gate] = problem.call.gates_gradient.row(at) + gate * hidden;
      step.hidden_gradient[gate] = problem.call.hidden_gradient.row(at) + gate * hidden;
    }
    step.state = problem.call.previous.row(at);
    step.carry = carry;
    step.length = static_cast<int>(hidden);
    kernels::gru_step_backward(step);
  }
  product.rows = problem.call.hidden_gradient.row(row);
  product.row_stride = entry_stride * static_cast<std::ptrdiff_t>(problem.call.hidden_gradient.stride);
  product.panels = problem.call.transposed_weights;
  product.depth = static_cast<int>(kGates * hidden);
  product.sums = scratch.passed;
  kernels::packed_gemm(product);
  for (Index i = 0; i < entries; ++i)
    add_row(scratch.passed + i * scratch.width, hidden, scratch.carry + i * scratch.width);
}

void run_task(const Problem& problem, Index first, Index entries, const TaskScratch& scratch) {
  const auto& last = problem.call.last_gradient;
  for (Index i = 0; i < entries; ++i) {
    write_previous(problem, first + i);
    float* const carry = scratch.carry + i * scratch.width;
    std::fill_n(carry, problem.hidden, 0.0F);
    if (last.is_present()) std::copy_n(last.row(first + i), problem.hidden, carry);
  }
  for (Index n = problem.steps - 1; n >= 0 && !is_set(problem.stop); --n) {
    step_back(problem, scratch, first, entries, n);
  }
  for (Index i = 0; i < entries; ++i) {
    std::copy_n(scratch.carry + i * scratch.width, problem.hidden, problem.call.state_gradient.row(first + i));
  }
}

}  // namespace

Status run(const GruBackwardCall& call, Executor& executor, const StopFlag* stop) {
  if (Status status = check(call); !status.is_ok()) return status;
  const Rows<const float>& gates = call.forward.gates;
  const Problem problem{.batch = call.options.batch,
                        .steps = gates.count / call.options.batch,
                        .hidden = gates.length / kGates,
                        .call = call,
                        .stop = stop};
  const double multiplications =
      2.0 * static_cast<double>(gates.count) * static_cast<double>(gates.length) * static_cast<double>(problem.hidden);
  const int workers = choose_workers(executor, multiplications);
  const Index per_worker = floats_of(problem.hidden);
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "gruBackward: scratch memory must fit, could not get it"};
  const Index tasks = divide_up(problem.batch, kEntriesPerTask);
  parallel_for(executor, {tasks, workers, stop}, [&](Index task, int worker) {
    const Index first = task * kEntriesPerTask;
    run_task(problem, first, std::min(kEntriesPerTask, problem.batch - first),
             divided(scratch.data() + worker * per_worker, problem.hidden));
  });
  return kRules.end(stop);
}

}  // namespace heed
