#include "heed/affine.hpp"

#include "kernels/instances/instances.hpp"
#include "ops/finish_rows.hpp"
#include "ops/layers_with.hpp"
#include "ops/scratch.hpp"
#include "ops/worth_waking.hpp"
#include "problem/check_pointwise.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"linear"};

/// Rows of a task, always cut at its multiples: whole tiles of 6 and of 4, and few enough to stay in the second-level
/// cache while the panels of the matrix pass them.
constexpr Index kRowsPerTask = 96;

// So that workers which start late still end together.
constexpr Index kTasksPerWorker = 4;

struct AffineJob {
  const kernels::LayerKernels& kernels;
  const AffineInputs& inputs;
  const Pointwise& rule;
  const Rows<float>& output;
  Index cuts;  // of the columns
  Index columns_per_cut;
  float* scratch;
  Index scratch_per_worker;  // floats
};

void run_task(void* context, Index task, int worker) {
  const AffineJob& job = *static_cast<AffineJob*>(context);
  const Rows<const float>& input = job.inputs.input;
  // Tasks that follow each other read the same columns of the matrix.
  const Index row_cuts = (input.count + kRowsPerTask - 1) / kRowsPerTask;
  const Index first_row = task % row_cuts * kRowsPerTask;
  const Index first_column = task / row_cuts * job.columns_per_cut;
  const Index rows = std::min(kRowsPerTask, input.count - first_row);
  const Index columns = std::min(job.columns_per_cut, job.output.length - first_column);
  float* const target = job.output.row(first_row) + first_column;
  const auto target_stride = static_cast<std::ptrdiff_t>(job.output.stride);
  job.kernels.multiply({.rows = input.row(first_row),
                        .row_stride = static_cast<std::ptrdiff_t>(input.stride),
                        .row_count = static_cast<int>(rows),
                        .is_single = input.count == 1,
                        .panels = job.inputs.weights + first_column * input.length,
                        .depth = static_cast<int>(input.length),
                        .columns = static_cast<int>(columns),
                        .sums = target,
                        .sum_stride = target_stride,
                        .last_panel = job.scratch + worker * job.scratch_per_worker});
  const bool is_plain = job.rule.activation == Activation::none && job.rule.bias == nullptr &&
                        !job.rule.factor.is_present() && !job.rule.addend.is_present();
  if (is_plain) return;
  kernels::FinishBlock block = finish_block(job.rule, first_row, rows, first_column, columns);
  block.source = block.target = target;
  block.source_stride = block.target_stride = target_stride;
  job.kernels.finish(block);
}

/// Of whole panels; more cuts where rows alone do not keep all workers busy.
Index choose_columns(Index outputs, Index row_cuts, int workers, Index panel) {
  const Index wanted = workers > 1 ? kTasksPerWorker * workers : 1;
  const Index panels = (outputs + panel - 1) / panel;
  const Index cuts = std::clamp<Index>((wanted + row_cuts - 1) / row_cuts, 1, panels);
  return (panels + cuts - 1) / cuts * panel;
}

}  // namespace

Status affine_with(const kernels::LayerKernels& kernels, const AffineInputs& inputs, const Pointwise& rule,
                   const Rows<float>& output, Executor& executor, const StopFlag* stop) {
  const Rows<const float>& input = inputs.input;
  Status status = first_failure({kRules.check_sizes("input", input), kRules.check_sizes("output", output),
                                 kRules.check("output", output, input.count, output.length),
                                 check_pointwise(kRules, rule, input.count, output.length)});
  if (!status.is_ok() || output.count == 0 || output.length == 0) return status;
  if (input.length == 0) return kRules.broken(StatusCode::shape, {"input must have at least 1 column, got none"});
  if (inputs.weights == nullptr) return kRules.broken(StatusCode::shape, {"weights must have data, got none"});

  const double multiplications =
      static_cast<double>(input.count) * static_cast<double>(input.length) * static_cast<double>(output.length);
  const int workers = worth_waking(executor, multiplications);
  const Index row_cuts = (input.count + kRowsPerTask - 1) / kRowsPerTask;
  const Index columns = choose_columns(output.length, row_cuts, workers, kernels.panel);
  const Index cuts = (output.length + columns - 1) / columns;
  const Index per_worker = std::min(input.count, kRowsPerTask) * kernels.panel;
  const Scratch scratch(output.length % kernels.panel == 0 ? 0 : per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "linear: scratch memory must fit, could not get it"};
  AffineJob job{kernels, inputs, rule, output, cuts, columns, scratch.data(), per_worker};
  executor.run({run_task, &job, row_cuts * cuts, workers, stop});
  if (is_set(stop)) return {StatusCode::aborted, "linear: stopped by its caller"};
  return {};
}

Status affine(const AffineInputs& inputs, const Pointwise& rule, const Rows<float>& output, Executor& executor,
              const StopFlag* stop) {
  return affine_with(*kernels::runnable_layer_kernels().front(), inputs, rule, output, executor, stop);
}

}  // namespace heed
