#include "operations/narrow/narrow_product.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/training.hpp"
#include "operations/common/gemm_tasks.hpp"
#include "operations/narrow/common.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"product"};

/// So much of W is in f32 at a time: 64 KB.
constexpr Index kOutputsAtOnce = 128, kInputsAtOnce = 128;

}  // namespace

Status run(const NarrowProductCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [format, left, weights, addend, output] = call;
  Status status =
      first_failure({kRules.check_sizes("left", left), kRules.check("output", output, left.count, output.length),
                     kRules.check_if_present("addend", addend, left.count, output.length),
                     check_format(kRules, format, output.length)});
  if (!status.is_ok() || output.count == 0 || output.length == 0) return status;
  if (weights == nullptr) return kRules.broken(StatusCode::shape, {"weights must have data, got none"});

  const double multiplications =
      static_cast<double>(left.count) * static_cast<double>(left.length) * static_cast<double>(output.length);
  const int workers = choose_workers(executor, multiplications);
  const Index panel_floats = Index{kernels::kDepthBlock} * kernels::kPanel;
  const Index gemm_floats = panel_floats + kRowsPerTask * kernels::kPanel;
  const Index per_worker = gemm_floats + kOutputsAtOnce * kInputsAtOnce;
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "product: scratch memory must fit, could not get it"};
  parallel_for(executor, {divide_up(output.length, kInputsAtOnce), workers, stop}, [&](Index task, int worker) {
    const Index column = task * kInputsAtOnce;
    const Index columns = std::min(kInputsAtOnce, output.length - column);
    float* const own = scratch.data() + worker * per_worker;
    float* const widened = own + gemm_floats;
    for (Index first = 0; first == 0 || first < left.length; first += kOutputsAtOnce) {
      const Index depth = std::min(kOutputsAtOnce, left.length - first);
      for (Index k = 0; k < depth; ++k) {
        kernels::widen_weights({.format = format,
                                .panels = bytes_of_weights(weights),
                                .inputs = static_cast<std::ptrdiff_t>(output.length),
                                .output = static_cast<std::ptrdiff_t>(first + k),
                                .first = static_cast<std::ptrdiff_t>(column),
                                .count = static_cast<int>(columns)},
                               widened + k * kInputsAtOnce);
      }
      const Rows<const float> before =
          first == 0 ? addend : Rows<const float>{output.data, output.count, output.length, output.stride};
      for (Index row = 0; row < output.count; row += kRowsPerTask) {
        kernels::strided_gemm({.left = left.row(row) + first,
                               .left_stride = stride_of(left),
                               .is_transposed = false,
                               .row_count = static_cast<int>(std::min(kRowsPerTask, output.count - row)),
                               .depth = static_cast<int>(depth),
                               .right = widened,
                               .right_stride = static_cast<std::ptrdiff_t>(kInputsAtOnce),
                               .columns = static_cast<int>(columns),
                               .addend = before.is_present() ? before.row(row) + column : nullptr,
                               .addend_stride = stride_of(before),
                               .sums = output.row(row) + column,
                               .sum_stride = stride_of(output),
                               .panel = own,
                               .last_panel = own + panel_floats,
                               .left_block = nullptr});
      }
    }
  });
  return kRules.end(stop);
}

}  // namespace heed
