#include "operations/training/row_sums.hpp"

#include <algorithm>
#include <limits>

#include "heed/rounding.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/parallel_for.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"rowSums"};

constexpr Index kColumnsPerTask = 128;

/// Rows that are summed before they are added to a sum of as many such sums, and those before they are added to the
/// total: this keeps the error of a long sum small.
constexpr Index kRowsPerSum = 64, kRowsPerBlock = 64 * kRowsPerSum;

void add_rows(Rows<const float> rows, Index column, Index columns, Index first, Index end, float* sums) {
  kernels::add_rows({.rows = rows.row(first) + column,
                     .stride = stride_of(rows),
                     .row_count = static_cast<int>(end - first),
                     .length = static_cast<int>(columns),
                     .sums = sums});
}

void add_row(const float* from, Index columns, float* to) {
  kernels::add_rows({.rows = from, .stride = 0, .row_count = 1, .length = static_cast<int>(columns), .sums = to});
}

}  // namespace

Status run(const RowSumsCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [rows, addend, output, is_maximum] = call;
  const Status status = first_failure({kRules.check_sizes("rows", rows), kRules.check("output", output, 1, rows.length),
                                       kRules.check_if_present("addend", addend, 1, rows.length)});
  if (!status.is_ok() || rows.length == 0) return status;
  const int workers = choose_workers(executor, static_cast<double>(rows.count) * static_cast<double>(rows.length));
  parallel_for(executor, {divide_up(rows.length, kColumnsPerTask), workers, stop}, [&](Index task, int /*worker*/) {
    const Index column = task * kColumnsPerTask;
    const Index columns = std::min(kColumnsPerTask, rows.length - column);
    float* const total = output.data + column;
    if (is_maximum) {
      std::fill_n(total, columns, -std::numeric_limits<float>::infinity());
      kernels::max_rows({.rows = rows.data + column,
                         .stride = stride_of(rows),
                         .row_count = static_cast<int>(rows.count),
                         .length = static_cast<int>(columns),
                         .sums = total});
      return;
    }
    if (addend.is_present()) {
      std::copy_n(addend.data + column, columns, total);
    } else {
      std::fill_n(total, columns, 0.0F);
    }
    for (Index block = 0; block < rows.count; block += kRowsPerBlock) {
      const Index block_end = std::min(block + kRowsPerBlock, rows.count);
      float block_sums[kColumnsPerTask] = {};
      for (Index row = block; row < block_end; row += kRowsPerSum) {
        float sums[kColumnsPerTask] = {};
        add_rows(rows, column, columns, row, std::min(row + kRowsPerSum, block_end), sums);
        add_row(sums, columns, block_sums);
      }
      add_row(block_sums, columns, total);
    }
  });
  return kRules.end(stop);
}

}  // namespace heed
