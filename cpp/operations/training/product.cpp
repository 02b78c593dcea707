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
  const Index left_count = left.first.count, left_length = left.first.length, columns = right.first.length;
  const Index rows = is_transposed ? left_length : left_count, depth = is_transposed ? left_count : left_length;
  const Index matrices = output.count;
  const Status status = first_failure({kRules.check("left", left, matrices, left_count, left_length),
                                       kRules.check("right", right, matrices, depth, columns),
                                       kRules.check("output", output, matrices, rows, columns)});
  if (!status.is_ok() || !addend.first.is_present()) return status;
  return kRules.check("addend", addend, matrices, rows, columns);
}

}  // namespace

Status run(const ProductCall& call, Executor& executor, const StopFlag* stop) {
  if (Status status = check(call); !status.is_ok()) return status;
  const auto& [lefts, rights, addends, is_transposed, outputs] = call;
  const Index rows = outputs.first.count, columns = outputs.first.length, depth = rights.first.count;
  if (outputs.count == 0 || rows == 0 || columns == 0) return {};
  const double multiplications = static_cast<double>(outputs.count) * static_cast<double>(rows) *
                                 static_cast<double>(depth) * static_cast<double>(columns);
  const int workers = choose_workers(executor, multiplications);
  const Index panel_floats = Index{kernels::kDepthBlock} * kernels::kPanel;
  const Index panels_floats = panel_floats + kRowsPerTask * kernels::kPanel;
  const Index per_worker = panels_floats + (is_transposed ? kernels::kLeftStride * kRowsPerTask : 0);
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "product: scratch memory must fit, could not get it"};

  const Index row_cuts = divide_up(rows, kRowsPerTask);
  const Index columns_per_task = choose_columns(columns, rows, workers, kPanelsPerTask);
  const Index per_matrix = row_cuts * divide_up(columns, columns_per_task);
  parallel_for(executor, {per_matrix * outputs.count, workers, stop}, [&](Index task, int worker) {
    const Index matrix = task / per_matrix, part = task % per_matrix;
    const Rows<const float> left = lefts.at(matrix), right = rights.at(matrix), addend = addends.at(matrix);
    const Rows<float> output = outputs.at(matrix);
    const Index row = part % row_cuts * kRowsPerTask;
    const Index column = part / row_cuts * columns_per_task;
    float* const own = scratch.data() + worker * per_worker;
    kernels::strided_gemm({.left = left.data + (is_transposed ? row : row * left.stride),
                           .left_stride = stride_of(left),
                           .is_transposed = is_transposed,
                           .row_count = static_cast<int>(std::min(kRowsPerTask, rows - row)),
                           .depth = static_cast<int>(depth),
                           .right = right.data + column,
                           .right_stride = stride_of(right),
                           .columns = static_cast<int>(std::min(columns_per_task, columns - column)),
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
