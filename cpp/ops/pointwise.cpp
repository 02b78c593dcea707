#include "heed/pointwise.hpp"

#include "kernels/instances/instances.hpp"
#include "ops/finish_rows.hpp"
#include "ops/layers_with.hpp"
#include "ops/worth_waking.hpp"
#include "problem/check_pointwise.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"pointwise"};

/// What an activation costs, in multiplications.
constexpr double kCost = 16.0;

/// Numbers of a task: 64 KB, for which a worker takes some microseconds.
constexpr Index kTaskNumbers = Index{1} << 14;

struct PointwiseJob {
  const kernels::LayerKernels& kernels;
  const Rows<const float>& input;
  const Pointwise& rule;
  const Rows<float>& output;
  Index rows_per_task;
};

void run_task(void* context, Index task, int /*worker*/) {
  const PointwiseJob& job = *static_cast<PointwiseJob*>(context);
  const Index first = task * job.rows_per_task;
  const Index count = std::min(job.rows_per_task, job.input.count - first);
  kernels::FinishBlock block = finish_block(job.rule, first, count, 0, job.input.length);
  block.source = job.input.row(first);
  block.source_stride = static_cast<std::ptrdiff_t>(job.input.stride);
  block.target = job.output.row(first);
  block.target_stride = static_cast<std::ptrdiff_t>(job.output.stride);
  job.kernels.finish(block);
}

}  // namespace

Status pointwise_with(const kernels::LayerKernels& kernels, const Rows<const float>& input, const Pointwise& rule,
                      const Rows<float>& output, Executor& executor, const StopFlag* stop) {
  Status status =
      first_failure({kRules.check_sizes("input", input), kRules.check("output", output, input.count, input.length),
                     check_pointwise(kRules, rule, input.count, input.length)});
  if (!status.is_ok() || input.count == 0 || input.length == 0) return status;
  const Index rows = std::max<Index>(1, kTaskNumbers / input.length);
  PointwiseJob job{kernels, input, rule, output, rows};
  const int workers =
      worth_waking(executor, kCost * static_cast<double>(input.count) * static_cast<double>(input.length));
  executor.run({run_task, &job, (input.count + rows - 1) / rows, workers, stop});
  if (is_set(stop)) return {StatusCode::aborted, "pointwise: stopped by its caller"};
  return {};
}

Status pointwise(const Rows<const float>& input, const Pointwise& rule, const Rows<float>& output, Executor& executor,
                 const StopFlag* stop) {
  return pointwise_with(*kernels::runnable_layer_kernels().front(), input, rule, output, executor, stop);
}

}  // namespace heed
