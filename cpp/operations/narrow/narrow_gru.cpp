#include "operations/narrow/narrow_gru.hpp"

#include "heed/rounding.hpp"
#include "operations/narrow/common.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"gru"};

/// Whole vectors, so that what follows is aligned.
Index row_floats(WeightFormat format, Index hidden) {
  const Index bytes = kernels::quantized_bytes(format, static_cast<std::ptrdiff_t>(hidden));
  return round_up(floats_for<std::uint8_t>(bytes), kernels::kNarrowPanel);
}

void multiply_narrow(const GruCall& call, const GateProduct& product, WeightFormat format) {
  const Index hidden = call.last.length;
  const auto inputs = static_cast<std::ptrdiff_t>(hidden);
  const std::ptrdiff_t panel = kernels::panel_bytes(format, inputs);
  const Index row_bytes = kernels::quantized_bytes(format, inputs);
  auto* const quantized = reinterpret_cast<std::uint8_t*>(product.scratch);
  for (Index row = 0; row_bytes > 0 && row < product.entries; ++row) {
    kernels::quantize_row(format, product.state + row * hidden, inputs, quantized + row * row_bytes);
  }
  const Index first =
      product.gate * divide_up(hidden, kernels::kNarrowPanel) + product.first_column / kernels::kNarrowPanel;
  kernels::narrow_gemm({.format = format,
                        .rows = product.state,
                        .row_stride = inputs,
                        .quantized = quantized,
                        .row_count = static_cast<int>(product.entries),
                        .panels = bytes_of_weights(call.inputs.weights) + first * panel,
                        .inputs = static_cast<int>(hidden),
                        .columns = static_cast<int>(product.columns),
                        .sums = product.sums,
                        .sum_stride = static_cast<std::ptrdiff_t>(product.sum_stride),
                        .scratch = product.scratch + product.entries * row_floats(format, hidden)});
}

}  // namespace

Status run(const NarrowGruCall& call, Executor& executor, const StopFlag* stop) {
  const Index hidden = call.last.length;
  if (Status status = check_format(kRules, call.format, hidden); !status.is_ok()) return status;
  return run_gru({call.inputs, call.options, call.states, call.last},
                 {kernels::kNarrowPanel, row_floats(call.format, hidden), kernels::narrow_scratch_floats(call.format),
                  multiply_narrow, call.format},
                 executor, stop);
}

}  // namespace heed
