#include "operations/training/softmax.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/parallel_for.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"softmax"};

/// The cost of an exponential and three passes over a row, in multiplications.
constexpr double kCost = 16.0;
constexpr Index kTaskNumbers = Index{1} << 14;

}  // namespace

Status run(const SoftmaxCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [rows, gradient, output] = call;
  const Index count = rows.count, length = rows.length;
  const Status status =
      first_failure({kRules.check_sizes("rows", rows), kRules.check_if_present("gradient", gradient, count, length),
                     kRules.check("output", output, count, length)});
  if (!status.is_ok() || count == 0 || length == 0) return status;
  const Index per_task = std::max<Index>(1, kTaskNumbers / length);
  const int workers = choose_workers(executor, kCost * static_cast<double>(count) * static_cast<double>(length));
  parallel_for(executor, {divide_up(count, per_task), workers, stop}, [&](Index task, int /*worker*/) {
    const Index end = std::min(count, (task + 1) * per_task);
    for (Index row = task * per_task; row < end; ++row) {
      kernels::softmax_row({.source = rows.row(row),
                            .gradient = gradient.row(row),
                            .target = output.row(row),
                            .length = static_cast<int>(length)});
    }
  });
  return kRules.end(stop);
}

}  // namespace heed
