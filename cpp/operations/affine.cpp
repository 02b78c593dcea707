#include "operations/affine.hpp"

#include "heed/rounding.hpp"
#include "kernels/instances/layers.hpp"
#include "operations/common/gemm_tasks.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"linear"};

/// A product, and the position of a task in it.
struct AffineTask {
  Index first_row, rows;
  Index first_column, columns;
  float* scratch;
};

void run_task(const AffineCall& call, const AffineTask& task) {
  const auto& [input, weights, rule, output] = call;
  float* const target = output.row(task.first_row) + task.first_column;
  const auto target_stride = stride_of(output);
  kernels::packed_gemm({.rows = input.row(task.first_row),
                        .row_stride = stride_of(input),
                        .row_count = static_cast<int>(task.rows),
                        .panels = weights + task.first_column * input.length,
                        .depth = static_cast<int>(input.length),
                        .columns = static_cast<int>(task.columns),
                        .sums = target,
                        .sum_stride = target_stride,
                        .last_panel = task.scratch});
  if (is_identity(rule)) return;
  kernels::PointwiseTask kernel_task = pointwise_task(rule, task.first_row, task.rows, task.first_column, task.columns);
  kernel_task.source = kernel_task.target = target;
  kernel_task.source_stride = kernel_task.target_stride = target_stride;
  kernels::pointwise(kernel_task);
}

}  // namespace

Status run(const AffineCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [input, weights, rule, output] = call;
  Status status = first_failure({kRules.check_sizes("input", input), kRules.check_sizes("output", output),
                                 kRules.check("output", output, input.count, output.length),
                                 check_pointwise(kRules, rule, input.count, output.length)});
  if (!status.is_ok() || output.count == 0 || output.length == 0) return status;
  if (input.length == 0) return kRules.broken(StatusCode::shape, {"input must have at least 1 column, got none"});
  if (weights == nullptr) return kRules.broken(StatusCode::shape, {"weights must have data, got none"});

  const double multiplications =
      static_cast<double>(input.count) * static_cast<double>(input.length) * static_cast<double>(output.length);
  const int workers = choose_workers(executor, multiplications);
  const Index row_cuts = divide_up(input.count, kRowsPerTask);
  // Those of few rows are a multiple of the panels that are read at once.
  const Index columns_per_task = choose_columns(output.length, input.count, workers,
                                                input.count <= kernels::kFewRows ? kernels::kPanelsAtOnce : 1);
  const Index per_worker = std::min(input.count, kRowsPerTask) * kernels::kPanel;
  const Scratch scratch(output.length % kernels::kPanel == 0 ? 0 : per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "linear: scratch memory must fit, could not get it"};
  const Index tasks = row_cuts * divide_up(output.length, columns_per_task);
  // Tasks that follow each other read the same columns of the matrix.
  parallel_for(executor, {tasks, workers, stop}, [&](Index task, int worker) {
    const Index first_row = task % row_cuts * kRowsPerTask;
    const Index first_column = task / row_cuts * columns_per_task;
    run_task(call, {.first_row = first_row,
                    .rows = std::min(kRowsPerTask, input.count - first_row),
                    .first_column = first_column,
                    .columns = std::min(columns_per_task, output.length - first_column),
                    .scratch = scratch.data() + worker * per_worker});
  });
  return kRules.end(stop);
}

}  // namespace heed
