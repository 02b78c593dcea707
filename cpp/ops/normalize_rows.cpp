#include "heed/normalize_rows.hpp"

#include <cmath>

#include "kernels/instances/instances.hpp"
#include "ops/layers_with.hpp"
#include "ops/worth_waking.hpp"
#include "problem/check_rows.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"norm"};

/// Passes over a row, in multiplications a number.
constexpr double kCost = 8.0;
constexpr Index kTaskNumbers = Index{1} << 14;

struct NormJob {
  const kernels::LayerKernels& kernels;
  const Rows<const float>& input;
  const RowNorm& norm;
  const Rows<float>& output;
  const RowStatistics& statistics;
  Index rows_per_task;
};

void run_task(void* context, Index task, int /*worker*/) {
  const NormJob& job = *static_cast<NormJob*>(context);
  const Index first = task * job.rows_per_task;
  const auto [mean, inverse_deviation] = job.statistics;
  job.kernels.normalize_rows({.source = job.input.row(first),
                              .source_stride = static_cast<std::ptrdiff_t>(job.input.stride),
                              .target = job.output.row(first),
                              .target_stride = static_cast<std::ptrdiff_t>(job.output.stride),
                              .row_count = static_cast<int>(std::min(job.rows_per_task, job.input.count - first)),
                              .length = static_cast<int>(job.input.length),
                              .is_centred = job.norm.is_centred,
                              .epsilon = job.norm.epsilon,
                              .weight = job.norm.weight,
                              .bias = job.norm.bias,
                              .mean = mean == nullptr ? nullptr : mean + first,
                              .inverse_deviation = inverse_deviation == nullptr ? nullptr : inverse_deviation + first});
}

}  // namespace

Status normalize_rows_with(const kernels::LayerKernels& kernels, const Rows<const float>& input, const RowNorm& norm,
                           const Rows<float>& output, const RowStatistics& statistics, Executor& executor) {
  Status status =
      first_failure({kRules.check_sizes("input", input), kRules.check("output", output, input.count, input.length)});
  if (!status.is_ok()) return status;
  if (!(norm.epsilon >= 0.0F) || !std::isfinite(norm.epsilon)) {
    return kRules.broken(StatusCode::option, {"epsilon must be a finite number of at least 0"});
  }
  if (input.count == 0 || input.length == 0) return {};
  const Index rows = std::max<Index>(1, kTaskNumbers / input.length);
  NormJob job{kernels, input, norm, output, statistics, rows};
  const int workers =
      worth_waking(executor, kCost * static_cast<double>(input.count) * static_cast<double>(input.length));
  executor.run({run_task, &job, (input.count + rows - 1) / rows, workers, norm.stop});
  if (is_set(norm.stop)) return {StatusCode::aborted, "norm: stopped by its caller"};
  return {};
}

Status normalize_rows(const Rows<const float>& input, const RowNorm& norm, const Rows<float>& output,
                      const RowStatistics& statistics, Executor& executor) {
  return normalize_rows_with(*kernels::runnable_layer_kernels().front(), input, norm, output, statistics, executor);
}

}  // namespace heed
