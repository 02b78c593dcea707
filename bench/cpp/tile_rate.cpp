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

/// Computes a register tile as kernels/prefill/qk_product.hpp does, from operands that stay in the
/// cache. It is a function of its own, because JavaScript engines replace baseline code when a
/// function is called again, not in the middle of a loop.
void run_tile(int depth, const float* keys, std::ptrdiff_t stride, const float* queries, float* scores) {
  const float* key[kernels::kMR];
  for (int r = 0; r < kernels::kMR; ++r) key[r] = keys + r * stride;
  kernels::RegisterTile<kernels::kMR> tile;
  for (auto& row : tile) row[0] = row[1] = kernels::Batch(0.0F);
  kernels::accumulate<kernels::kMR>(tile, depth, queries, [&key](int r, int k) { return key[r] + k; });
  for (int r = 0; r < kernels::kMR; ++r) {
    for (int vector = 0; vector < kernels::kPanelVectors; ++vector) {
      tile[r][vector].store_aligned(scores + r * kWidth + vector * kernels::kLanes);
    }
  }
}

}  // namespace

double run_tiles(int repeats) {
  for (float& number : rows) number = 0.5F;
  for (float& number : panel) number = 0.25F;
  const int depth = *kernels::opaque(&kDepth);
  auto* volatile tile = &run_tile;  // called through a pointer, or Binaryen inlines it all the same
  for (int i = 0; i < repeats; ++i) tile(depth, kernels::opaque(rows), depth, kernels::opaque(panel), sums);
  volatile float result = *kernels::opaque(sums);  // the optimiser must not find the work useless
  (void)result;
  return 2.0 * kernels::kMR * kWidth * kDepth * repeats;
}

}  // namespace heed::bench
