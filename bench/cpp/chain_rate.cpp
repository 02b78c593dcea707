#include "chain_rate.hpp"

#include "bench_arch.hpp"

namespace heed::bench {
namespace {

using kernels::Batch;

/// The number of chains that hides the latency; with the two operands they fit 16 registers.
constexpr int kChains = 12;
constexpr int kSteps = 1000;

alignas(64) float sums[kChains * kernels::kLanes];
constexpr float kOperands[] = {0.5F, 0.25F};

/// This is a function of its own for the same reason as run_tile.
void run_chain(int steps, const float* operands, float* state) {
  const Batch factor(operands[0]);
  const Batch summand(operands[1]);
  Batch chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = Batch::load_aligned(state + i * kernels::kLanes);
  for (int step = 0; step < steps; ++step) {
    // The product depends on the step before, or compilers would hoist it out of the loop.
    for (auto& value : chain) value = kernels::multiply_add(value, factor, summand);
  }
  for (int i = 0; i < kChains; ++i) chain[i].store_aligned(state + i * kernels::kLanes);
}

}  // namespace

double run_chains(int repeats) {
  auto* volatile chain = &run_chain;
  for (int i = 0; i < repeats; ++i) chain(kSteps, kernels::opaque(kOperands), sums);
  volatile float result = *kernels::opaque(sums);
  (void)result;
  return 2.0 * kChains * kernels::kLanes * kSteps * repeats;
}

}  // namespace heed::bench
