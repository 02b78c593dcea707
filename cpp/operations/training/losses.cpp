#include "operations/training/losses.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"crossEntropy"};
constexpr RowRules kElementRules{"loss"};

/// The cost of a number's exponential, in multiplications.
constexpr double kCost = 16.0;
constexpr Index kRowsPerTask = 16;

Status check(const CrossEntropyCall& call) {
  const auto& [logits, targets, ignored, smoothing, loss, gradient] = call;
  Status status = first_failure({kRules.check_sizes("logits", logits), kRules.check("loss", loss, 1, 1),
                                 kRules.check("gradient", gradient, logits.count, logits.length)});
  if (!status.is_ok()) return status;
  const bool is_probability = smoothing >= 0.0F && smoothing < 1.0F;
  if (!is_probability) {
    return kRules.broken(StatusCode::option, {"labelSmoothing must be at least 0 and below 1"});
  }
  for (Index row = 0; row < logits.count; ++row) {
    const Index target = targets[row];
    if (target == ignored || (target >= 0 && target < logits.length)) continue;
    return kRules.broken(StatusCode::option, {"targets must be columns of the logits, which have ", logits.length,
                                              ", or ", Index{ignored}, ", number ", row, " is ", target});
  }
  return {};
}

}  // namespace

Status run(const CrossEntropyCall& call, Executor& executor, const StopFlag* stop) {
  if (Status status = check(call); !status.is_ok()) return status;
  const auto& [logits, targets, ignored, smoothing, loss, gradient] = call;
  const Index counted = std::count_if(targets, targets + logits.count, [&](auto target) { return target != ignored; });
  const float scale = counted == 0 ? 0.0F : 1.0F / static_cast<float>(counted);
  const Scratch losses(logits.count);
  if (!losses.is_available()) return {StatusCode::memory, "crossEntropy: scratch memory must fit, could not get it"};
  const int workers =
      choose_workers(executor, kCost * static_cast<double>(logits.count) * static_cast<double>(logits.length));
  parallel_for(executor, {divide_up(logits.count, kRowsPerTask), workers, stop}, [&](Index task, int /*worker*/) {
    const Index end = std::min(logits.count, (task + 1) * kRowsPerTask);
    for (Index row = task * kRowsPerTask; row < end; ++row) {
      if (targets[row] == ignored) {
        losses.data()[row] = 0.0F;
        std::fill_n(gradient.row(row), logits.length, 0.0F);
        continue;
      }
      losses.data()[row] = kernels::cross_entropy({.logits = logits.row(row),
                                                   .length = static_cast<int>(logits.length),
                                                   .target = targets[row],
                                                   .smoothing = smoothing,
                                                   .scale = scale,
                                                   .gradient = gradient.row(row)});
    }
  });
  if (is_set(stop)) return {StatusCode::aborted, "crossEntropy: stopped by its caller"};
  double sum = 0.0;
  for (Index row = 0; row < logits.count; ++row) sum += static_cast<double>(losses.data()[row]);
  loss.data[0] = static_cast<float>(sum * static_cast<double>(scale));
  return {};
}

Status run(const ElementLossCall& call, Executor& /*executor*/, const StopFlag* /*stop*/) {
  const auto& [predictions, targets, kind, loss, gradient] = call;
  const Index length = predictions.length;
  const Status status = first_failure(
      {kElementRules.check("predictions", predictions, 1, length), kElementRules.check("targets", targets, 1, length),
       kElementRules.check("loss", loss, 1, 1), kElementRules.check("gradient", gradient, 1, length)});
  if (!status.is_ok()) return status;
  const float scale = length == 0 ? 0.0F : 1.0F / static_cast<float>(length);
  const kernels::LossTask task{.predictions = predictions.data,
                               .targets = targets.data,
                               .length = static_cast<int>(length),
                               .scale = scale,
                               .gradient = gradient.data};
  const double sum =
      kind == ElementLoss::squared_error ? kernels::squared_error(task) : kernels::binary_cross_entropy(task);
  loss.data[0] = static_cast<float>(sum * static_cast<double>(scale));
  return {};
}

}  // namespace heed
