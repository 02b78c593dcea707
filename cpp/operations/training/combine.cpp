#include "operations/training/combine.hpp"

#include <algorithm>

#include "kernels/instances/training.hpp"
#include "operations/training/vectors.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"combine"};
constexpr RowRules kSquareRules{"squareSum"};

}  // namespace

Status run(const CombineCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [x, y, a, b, output] = call;
  const Status status = first_failure({kRules.check("x", x, 1, x.length), kRules.check("output", output, 1, x.length),
                                       kRules.check_if_present("y", y, 1, x.length)});
  if (!status.is_ok()) return status;
  return for_each_part(executor, {.length = x.length, .operation = kRules.operation, .stop = stop},
                       [&](Index first, int length) {
                         kernels::combine({.x = x.data + first,
                                           .y = part_of(y, first),
                                           .target = output.data + first,
                                           .length = length,
                                           .a = a,
                                           .b = b});
                       });
}

Status run(const SquareSumCall& call, Executor& /*executor*/, const StopFlag* /*stop*/) {
  const auto& [rows, output] = call;
  const Status status =
      first_failure({kSquareRules.check_sizes("rows", rows), kSquareRules.check("output", output, 1, 1)});
  if (!status.is_ok()) return status;
  double sum = 0.0;
  for (Index row = 0; row < rows.count; ++row) {
    const float* const numbers = rows.row(row);
    for (Index i = 0; i < rows.length; ++i) sum += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
  }
  output.data[0] = static_cast<float>(sum);
  return {};
}

}  // namespace heed
