#include "tile_rate.hpp"

#include "bench_arch.hpp"
#include "kernels/gemm/register_tile.hpp"

namespace heed::bench {
namespace {

constexpr int kDepth = 64;
constexpr int kWidth = kernels::kPanel;

alignas(64) float panel[kDepth * kWidth];
alignas(64) float rows[kernels::kMR * kDepth];
alignas(64) float sums[kernels::kMR * kWidth];

}  // namespace

double run_tiles(int repeats) {
  for (float& number : rows) number = 0.5F;
  for (float& number : panel) number = 0.25F;
  const int depth = *kernels::opaque(&kDepth);
  auto* volatile tile = &kernels::multiply_nt<kernels::kMR>;  // called through a pointer, or Binaryen inlines it
  for (int i = 0; i < repeats; ++i)
    tile({kernels::opaque(panel), depth, {kernels::opaque(rows), depth}}, {sums, kWidth});
  volatile float result = *kernels::opaque(sums);  // the optimiser must not find the work useless
  (void)result;
  return 2.0 * kernels::kMR * kWidth * kDepth * repeats;
}

}  // namespace heed::bench
