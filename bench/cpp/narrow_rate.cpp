#include "narrow_rate.hpp"

#include <cstdint>

#include "bench_arch.hpp"
#include "kernels/gemm/register_tile.hpp"
#include "kernels/instances/narrow.hpp"

namespace heed::bench {
namespace {

constexpr int kInputs = 256;
constexpr int kOutputs = 4 * kernels::kNarrowPanel;

alignas(64) std::uint8_t panels[kInputs * kOutputs * 2];
alignas(64) std::uint8_t quantized[kInputs * 4];
alignas(64) float sums[kOutputs];

}  // namespace

double run_narrow(int repeats, int bits) {
  const WeightFormat format = bits == 8 ? WeightFormat::int8 : WeightFormat::int4;
  float row[kInputs];
  for (int i = 0; i < kInputs; ++i) row[i] = static_cast<float>(i % 7) - 3.0F;
  kernels::quantize_row(format, row, kInputs, quantized);
  const kernels::NarrowGemmTask task{.format = format,
                                     .rows = nullptr,
                                     .row_stride = 0,
                                     .quantized = kernels::opaque(quantized),
                                     .row_count = 1,
                                     .panels = kernels::opaque(panels),
                                     .inputs = kInputs,
                                     .columns = kOutputs,
                                     .sums = kernels::opaque(sums),
                                     .sum_stride = kOutputs,
                                     .scratch = nullptr};
  for (int i = 0; i < repeats; ++i) kernels::narrow_gemm(task);
  volatile float result = *kernels::opaque(sums);  // the optimiser must not find the work useless
  (void)result;
  const double panel_bytes = static_cast<double>(kernels::panel_bytes(format, kInputs));
  return panel_bytes * kOutputs / kernels::kNarrowPanel * repeats;
}

}  // namespace heed::bench
