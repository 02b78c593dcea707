#include "operations/training/scatter_add.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/parallel_for.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"scatterAdd"};

constexpr Index kColumnsPerTask = 128;

Status check(const ScatterAddCall& call) {
  const auto& [rows, indices, addend, output] = call;
  const Status status =
      first_failure({kRules.check_sizes("rows", rows), kRules.check("output", output, output.count, rows.length),
                     kRules.check_if_present("addend", addend, output.count, rows.length)});
  if (!status.is_ok()) return status;
  for (Index i = 0; i < rows.count; ++i) {
    if (indices[i] >= 0 && indices[i] < output.count) continue;
    return kRules.broken(StatusCode::option, {"indices must be rows of the table, which has ", output.count,
                                              ", number ", i, " is ", Index{indices[i]}});
  }
  return {};
}

}  // namespace

Status run(const ScatterAddCall& call, Executor& executor, const StopFlag* stop) {
  const Status status = check(call);
  const auto& [rows, indices, addend, output] = call;
  if (!status.is_ok() || rows.length == 0) return status;
  const double numbers = static_cast<double>(output.count + rows.count) * static_cast<double>(rows.length);
  const int workers = choose_workers(executor, numbers);
  parallel_for(executor, {divide_up(rows.length, kColumnsPerTask), workers, stop}, [&](Index task, int /*worker*/) {
    const Index column = task * kColumnsPerTask;
    const Index columns = std::min(kColumnsPerTask, rows.length - column);
    for (Index row = 0; row < output.count; ++row) {
      if (addend.is_present()) {
        std::copy_n(addend.row(row) + column, columns, output.row(row) + column);
      } else {
        std::fill_n(output.row(row) + column, columns, 0.0F);
      }
    }
    for (Index i = 0; i < rows.count; ++i) {
      kernels::add_rows({.rows = rows.row(i) + column,
                         .stride = 0,
                         .row_count = 1,
                         .length = static_cast<int>(columns),
                         .sums = output.row(indices[i]) + column});
    }
  });
  return kRules.end(stop);
}

}  // namespace heed
