#include "operations/pointwise.hpp"

#include "heed/rounding.hpp"
#include "kernels/instances/layers.hpp"
#include "operations/common/parallel_for.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"pointwise"};

/// The cost of an activation, in multiplications.
constexpr double kCost = 16.0;

/// Numbers of a task: 64 KB, for which a worker takes some microseconds.
constexpr Index kTaskNumbers = Index{1} << 14;

}  // namespace

Status run(const PointwiseCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [input, rule, output] = call;
  Status status =
      first_failure({kRules.check_sizes("input", input), kRules.check("output", output, input.count, input.length),
                     check_pointwise(kRules, rule, input.count, input.length)});
  if (!status.is_ok() || input.count == 0 || input.length == 0) return status;
  const Index rows = std::max<Index>(1, kTaskNumbers / input.length);
  const int workers =
      choose_workers(executor, kCost * static_cast<double>(input.count) * static_cast<double>(input.length));
  parallel_for(executor, {divide_up(input.count, rows), workers, stop}, [&](Index task, int /*worker*/) {
    const Index first = task * rows;
    kernels::PointwiseTask kernel_task =
        pointwise_task(rule, first, std::min(rows, input.count - first), 0, input.length);
    kernel_task.source = input.row(first);
    kernel_task.source_stride = stride_of(input);
    kernel_task.target = output.row(first);
    kernel_task.target_stride = stride_of(output);
    kernels::pointwise(kernel_task);
  });
  return kRules.end(stop);
}

}  // namespace heed
