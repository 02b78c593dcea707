#include "operations/training/product.hpp"

#include "heed/rounding.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/gemm_tasks.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"product"};

/// Panels of a task at least, so that packing its rows is cheap beside its products.
constexpr Index kPanelsPerTask = 6;

Status check(const ProductCall& call) {
  const auto& [left, right, addend, is_transposed, output] = call;
  const Index rows = is_transposed ? left.length : left.count;
  const Index depth = is_transposed ? left.count : left.length;
  return first_failure({kRules.check_sizes("left", left), kRules.check("right", right, depth, right.length),
                        kRules.check("output", output, rows, right.length),
                        kRules.check_if_present("addend", addend, rows, right.length)});
}

}  // namespace

Status run(const ProductCall& call, Executor& executor, const StopFlag* stop) {
  if (Status status = check(call); !status.is_ok()) return status;
  const auto& [left, right, addend, is_transposed, output] = call;
  if (output.count == 0 || output.length == 0) return {};
  const Index depth = right.count;
  const double multiplications =
      static_cast<double>(output.count) * static_cast<double>(depth) * static_cast<double>(output.length);
  const int workers = choose_workers(executor, multiplications);
  const Index panel_floats = Index{kernels::kDepthBlock} * kernels::kPanel;
  const Index panels_floats = panel_floats + kRowsPerTask * kernels::kPanel;
  const Index per_worker = panels_floats + (is_transposed ? kernels::kLeftStride * kRowsPerTask : 0);
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "product: scratch memory must fit, could not get it"};

  const Index row_cuts = divide_up(output.count, kRowsPerTask);
  const Index columns_per_task = choose_columns(output.length, output.count, workers, kPanelsPerTask);
  const Index tasks = row_cuts * divide_up(output.length, columns_per_task);
  parallel_for(executor, {tasks, workers, stop}, [&](Index task, int worker) {
    const Index row = task % row_cuts * kRowsPerTask;
    const Index column = task / row_cuts * columns_per_task;
    float* const own = scratch.data() + worker * per_worker;
    kernels::strided_gemm({.left = left.data + (is_transposed ? row : row * left.stride),
                           .left_stride = stride_of(left),
                           .is_transposed = is_transposed,
                           .row_count = static_cast<int>(std::min(kRowsPerTask, output.count - row)),
                           .depth = static_cast<int>(depth),
                           .right = right.data + column,
                           .right_stride = stride_of(right),
                           .columns = static_cast<int>(std::min(columns_per_task, output.length - column)),
                           .addend = addend.is_present() ? addend.row(row) + column : nullptr,
                           .addend_stride = stride_of(addend),
                           .sums = output.row(row) + column,
                           .sum_stride = stride_of(output),
                           .panel = own,
                           .last_panel = own + panel_floats,
                           .left_block = is_transposed ? own + panels_floats : nullptr});
  });
  return kRules.end(stop);
}

}  // namespace heed
