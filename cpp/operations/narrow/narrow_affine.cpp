#include "operations/narrow/narrow_affine.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/layers.hpp"
#include "operations/narrow/common.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"linear"};

/// Rows are quantized so many at a time.
constexpr Index kRowsToQuantize = 16;

/// A product, and the position of a task in it.
struct NarrowTask {
  Index first_row, rows;
  Index first_column, columns;
  const std::uint8_t* quantized;
  float* scratch;
};

void run_task(const NarrowAffineCall& call, const NarrowTask& task) {
  const auto& [format, input, weights, rule, output] = call;
  float* const target = output.row(task.first_row) + task.first_column;
  const Index panel = task.first_column / kernels::kNarrowPanel;
  kernels::narrow_gemm({.format = format,
                        .rows = input.row(task.first_row),
                        .row_stride = stride_of(input),
                        .quantized = task.quantized,
                        .row_count = static_cast<int>(task.rows),
                        .panels = bytes_of_weights(weights) +
                                  panel * kernels::panel_bytes(format, static_cast<std::ptrdiff_t>(input.length)),
                        .inputs = static_cast<int>(input.length),
                        .columns = static_cast<int>(task.columns),
                        .sums = target,
                        .sum_stride = stride_of(output),
                        .scratch = task.scratch});
  if (is_identity(rule)) return;
  kernels::PointwiseTask kernel_task = pointwise_task(rule, task.first_row, task.rows, task.first_column, task.columns);
  kernel_task.source = kernel_task.target = target;
  kernel_task.source_stride = kernel_task.target_stride = stride_of(output);
  kernels::pointwise(kernel_task);
}

}  // namespace

Status run(const NarrowAffineCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [format, input, weights, rule, output] = call;
  Status status = first_failure({kRules.check_sizes("input", input), kRules.check_sizes("output", output),
                                 kRules.check("output", output, input.count, output.length),
                                 check_pointwise(kRules, rule, input.count, output.length),
                                 check_format(kRules, format, input.length)});
  if (!status.is_ok() || output.count == 0 || output.length == 0) return status;
  if (input.length == 0) return kRules.broken(StatusCode::shape, {"input must have at least 1 column, got none"});
  if (weights == nullptr) return kRules.broken(StatusCode::shape, {"weights must have data, got none"});

  const double multiplications =
      static_cast<double>(input.count) * static_cast<double>(input.length) * static_cast<double>(output.length);
  const int workers = choose_workers(executor, multiplications);
  const auto inputs = static_cast<std::ptrdiff_t>(input.length);
  const Index row_bytes = kernels::quantized_bytes(format, inputs);
  const Scratch quantized(floats_for<std::uint8_t>(row_bytes * input.count));
  const Index per_worker = kernels::narrow_scratch_floats(format);
  const Scratch scratch(per_worker * workers);
  if (missing_floats({&quantized, &scratch}) > 0) {
    return {StatusCode::memory, "linear: scratch memory must fit, could not get it"};
  }
  if (row_bytes > 0) {
    const Index blocks = divide_up(input.count, kRowsToQuantize);
    parallel_for(executor, {blocks, blocks > 1 ? workers : 1, stop}, [&](Index block, int /*worker*/) {
      const Index end = std::min(input.count, (block + 1) * kRowsToQuantize);
      for (Index row = block * kRowsToQuantize; row < end; ++row) {
        kernels::quantize_row(format, input.row(row), inputs, quantized.as<std::uint8_t>() + row * row_bytes);
      }
    });
  }
  constexpr Index kTasksPerWorker = 4;
  const Index row_cuts = divide_up(input.count, Index{kernels::kMostNarrowRows});
  const Index cuts = workers > 1 ? divide_up(kTasksPerWorker * workers, row_cuts) : 1;
  const Index columns_per_task = round_up(divide_up(output.length, cuts), Index{kernels::kNarrowPanel});
  const Index tasks = row_cuts * divide_up(output.length, columns_per_task);
  parallel_for(executor, {tasks, workers, stop}, [&](Index task, int worker) {
    const Index first_row = task % row_cuts * kernels::kMostNarrowRows;
    const Index first_column = task / row_cuts * columns_per_task;
    run_task(call, {.first_row = first_row,
                    .rows = std::min<Index>(kernels::kMostNarrowRows, input.count - first_row),
                    .first_column = first_column,
                    .columns = std::min(columns_per_task, output.length - first_column),
                    .quantized = quantized.as<std::uint8_t>() + first_row * row_bytes,
                    .scratch = scratch.data() + worker * per_worker});
  });
  return kRules.end(stop);
}

}  // namespace heed
