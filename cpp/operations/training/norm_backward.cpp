#include "operations/training/norm_backward.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"normBackward"};

/// Passes over a row, in multiplications a number.
constexpr double kCost = 16.0;

/// Rows of a task, whose sums for weight and bias are added up.
constexpr Index kRowsPerTask = 32;

template <typename T>
std::ptrdiff_t stride_of(const Rows<T>& rows) {
  return static_cast<std::ptrdiff_t>(rows.stride);
}

}  // namespace

Status norm_backward(const NormBackwardInputs& inputs, const RowNorm& norm, const NormBackwardOutputs& outputs,
                     Executor& executor) {
  const auto& [input, gradient] = inputs;
  const Index count = input.count, length = input.length;
  const Status status =
      first_failure({kRules.check_sizes("input", input), kRules.check("gradient", gradient, count, length),
                     kRules.check("inputGradient", outputs.input, count, length),
                     kRules.check("weightGradient", outputs.weight, 1, length),
                     kRules.check("biasGradient", outputs.bias, 1, length)});
  if (!status.is_ok() || length == 0) return status;
  const Index tasks = divide_up(count, kRowsPerTask);
  const Scratch scratch(tasks * 2 * length);
  if (!scratch.is_available()) return {StatusCode::memory, "normBackward: scratch memory must fit, could not get it"};
  const int workers = choose_workers(executor, kCost * static_cast<double>(count) * static_cast<double>(length));
  const auto sums_of = [&](Index task) { return scratch.data() + task * 2 * length; };
  parallel_for(executor, {tasks, workers, norm.stop}, [&](Index task, int /*worker*/) {
    const Index first = task * kRowsPerTask;
    float* const sums = sums_of(task);
    std::fill_n(sums, 2 * length, 0.0F);
    kernels::norm_backward({.forward = {.source = input.row(first),
                                        .source_stride = stride_of(input),
                                        .target = nullptr,
                                        .target_stride = 0,
                                        .row_count = static_cast<int>(std::min(kRowsPerTask, count - first)),
                                        .length = static_cast<int>(length),
                                        .is_centred = norm.is_centred,
                                        .epsilon = norm.epsilon,
                                        .weight = norm.weight,
                                        .bias = nullptr},
                            .gradient = gradient.row(first),
                            .gradient_stride = stride_of(gradient),
                            .source_gradient = outputs.input.row(first),
                            .source_gradient_stride = stride_of(outputs.input),
                            .weight_sums = sums,
                            .bias_sums = sums + length});
  });
  if (is_set(norm.stop)) return {StatusCode::aborted, "normBackward: stopped by its caller"};
  float* const totals[] = {outputs.weight.data, outputs.bias.data};
  for (Index part = 0; part < 2; ++part) {
    std::fill_n(totals[part], length, 0.0F);
    kernels::add_rows({.rows = scratch.data() + part * length,
                       .stride = static_cast<std::ptrdiff_t>(2 * length),
                       .row_count = static_cast<int>(tasks),
                       .length = static_cast<int>(length),
                       .sums = totals[part]});
  }
  return {};
}

Status run(const NormBackwardCall& call, Executor& executor) {
  return norm_backward({unpack_rows<const float>(call.input), unpack_rows<const float>(call.gradient)},
                       {.is_centred = call.is_centred != 0,
                        .epsilon = call.epsilon,
                        .weight = pointer<const float>(call.weight.address),
                        .stop = stop_of(call.header)},
                       {.input = unpack_rows<float>(call.input_gradient),
                        .weight = unpack_rows<float>(call.weight_gradient),
                        .bias = unpack_rows<float>(call.bias_gradient)},
                       executor);
}

}  // namespace heed
