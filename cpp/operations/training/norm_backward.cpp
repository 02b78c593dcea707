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

}  // namespace

Status run(const NormBackwardCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [input, gradient, norm, input_gradient, weight_gradient, bias_gradient] = call;
  const Index count = input.count, length = input.length;
  const Status status =
      first_failure({kRules.check_sizes("input", input), kRules.check("gradient", gradient, count, length),
                     kRules.check("inputGradient", input_gradient, count, length),
                     kRules.check("weightGradient", weight_gradient, 1, length),
                     kRules.check("biasGradient", bias_gradient, 1, length)});
  if (!status.is_ok() || length == 0) return status;
  const Index tasks = divide_up(count, kRowsPerTask);
  const Scratch scratch(tasks * 2 * length);
  if (!scratch.is_available()) return {StatusCode::memory, "normBackward: scratch memory must fit, could not get it"};
  const int workers = choose_workers(executor, kCost * static_cast<double>(count) * static_cast<double>(length));
  const auto sums_of = [&](Index task) { return scratch.data() + task * 2 * length; };
  parallel_for(executor, {tasks, workers, stop}, [&](Index task, int /*worker*/) {
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
                            .source_gradient = input_gradient.row(first),
                            .source_gradient_stride = stride_of(input_gradient),
                            .weight_sums = sums,
                            .bias_sums = sums + length});
  });
  if (is_set(stop)) return {StatusCode::aborted, "normBackward: stopped by its caller"};
  float* const totals[] = {weight_gradient.data, bias_gradient.data};
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

}  // namespace heed
