#include "operations/norm.hpp"

#include <cmath>

#include "heed/rounding.hpp"
#include "kernels/instances/layers.hpp"
#include "operations/common/parallel_for.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"norm"};

/// Passes over a row, in multiplications a number.
constexpr double kCost = 8.0;
constexpr Index kTaskNumbers = Index{1} << 14;

}  // namespace

Status run(const NormCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [input, norm, output] = call;
  Status status =
      first_failure({kRules.check_sizes("input", input), kRules.check("output", output, input.count, input.length)});
  if (!status.is_ok()) return status;
  if (!(norm.epsilon >= 0.0F) || !std::isfinite(norm.epsilon)) {
    return kRules.broken(StatusCode::option, {"epsilon must be a finite number of at least 0"});
  }
  if (input.count == 0 || input.length == 0) return {};
  const Index rows = std::max<Index>(1, kTaskNumbers / input.length);
  const int workers =
      choose_workers(executor, kCost * static_cast<double>(input.count) * static_cast<double>(input.length));
  parallel_for(executor, {divide_up(input.count, rows), workers, stop}, [&](Index task, int /*worker*/) {
    const Index first = task * rows;
    kernels::normalize_rows({.source = input.row(first),
                             .source_stride = stride_of(input),
                             .target = output.row(first),
                             .target_stride = stride_of(output),
                             .row_count = static_cast<int>(std::min(rows, input.count - first)),
                             .length = static_cast<int>(input.length),
                             .is_centred = norm.is_centred,
                             .epsilon = norm.epsilon,
                             .weight = norm.weight,
                             .bias = norm.bias});
  });
  return kRules.end(stop);
}

}  // namespace heed
