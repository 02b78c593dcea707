#include "operations/training/pointwise_backward.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/parallel_for.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"pointwiseBackward"};

/// The cost of an activation and its slope, in multiplications.
constexpr double kCost = 24.0;
constexpr Index kTaskNumbers = Index{1} << 14;

}  // namespace

Status run(const PointwiseBackwardCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [gradient, source, factor, activation, source_gradient, factor_gradient] = call;
  const Index count = gradient.count, length = gradient.length;
  if (!is_known(activation)) {
    return kRules.broken(StatusCode::option,
                         {"activation must be one of those known, got number ", static_cast<Index>(activation)});
  }
  const Status status =
      first_failure({kRules.check_sizes("gradient", gradient), kRules.check("source", source, count, length),
                     kRules.check_if_present("factor", factor, count, length),
                     kRules.check("sourceGradient", source_gradient, count, length),
                     kRules.check_if_present("factorGradient", factor_gradient, count, length)});
  if (!status.is_ok() || count == 0 || length == 0) return status;
  const Index rows = std::max<Index>(1, kTaskNumbers / length);
  const int workers = choose_workers(executor, kCost * static_cast<double>(count) * static_cast<double>(length));
  parallel_for(executor, {divide_up(count, rows), workers, stop}, [&](Index task, int /*worker*/) {
    const Index first = task * rows;
    kernels::pointwise_backward({.gradient = gradient.row(first),
                                 .gradient_stride = stride_of(gradient),
                                 .source = source.row(first),
                                 .source_stride = stride_of(source),
                                 .factor = factor.row(first),
                                 .factor_stride = stride_of(factor),
                                 .source_gradient = source_gradient.row(first),
                                 .source_gradient_stride = stride_of(source_gradient),
                                 .factor_gradient = factor_gradient.row(first),
                                 .factor_gradient_stride = stride_of(factor_gradient),
                                 .row_count = static_cast<int>(std::min(rows, count - first)),
                                 .length = static_cast<int>(length),
                                 .activation = activation});
  });
  return kRules.end(stop);
}

}  // namespace heed
