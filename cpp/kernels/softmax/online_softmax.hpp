// Online softmax over KV blocks (Milakov and Gimelshein 2018, algorithm 3): keeps row_max and row_sum, and rescales
// older sums when row_max rises.
#pragma once

#include "kernels/score/mask.hpp"
#include "kernels/simd/exp2.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// What a KV block did to row_max: older sums are to be multiplied by `factor`.
struct Rescale {
  Batch factor[kPanelVectors];
};

/// Keeps panel.entropy_sum, the sum of weight * (score - row_max), as exponentiate() keeps panel.row_sum; it is called
/// before that. The entropy follows from both.
inline void add_entropy_sum(const Panel& panel, const float* row_max, int count, const float* scores) {
  const Exp2 exp2(kExp2OfSummands);
  const Batch floor(kExp2OfSummands.floor);
  const Batch zero(0.0F);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    const Batch older = Batch::load_aligned(panel.row_max + first_lane);
    const Batch newer = Batch::load_aligned(row_max + first_lane);
    const Batch sum = Batch::load_aligned(panel.row_sum + first_lane);
    const Batch kept = Batch::load_aligned(panel.entropy_sum + first_lane);
    // Under a row_max this much higher, what was summed before no longer counts: it could be the lowest float times a
    // weight that exp2 does not let go to zero.
    const Batch max_difference = older - newer;
    const Batch carried = exp2(max_difference) * multiply_add(max_difference, sum, kept);
    Batch entropy_sum = xsimd::select(max_difference < floor, zero, carried);
    for (int j = 0; j < count; ++j) {
      const Batch below = Batch::load_aligned(scores + j * kPanel + first_lane) - newer;
      // These weights are too small to count, masked scores among them: -inf times a weight would be NaN.
      entropy_sum += xsimd::select(below < floor, zero, exp2(below) * below);
    }
    entropy_sum.store_aligned(panel.entropy_sum + first_lane);
  }
}

/// Turns scores[count][panel] into 2^(score - row_max), in place, where row_max[panel] is that of the block and of all
/// before. With kSelect, masked scores become exact zeros.
template <bool kSelect>
[[gnu::noinline]] Rescale exponentiate(const Panel& panel, const float* row_max, int count, float* scores) {
  const Exp2 exp2(kExp2OfSummands);
  const Batch masked(kMasked);
  const Batch zero(0.0F);
  Rescale rescale{};
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    const Batch older = Batch::load_aligned(panel.row_max + first_lane);
    const Batch newer = Batch::load_aligned(row_max + first_lane);
    rescale.factor[vector] = exp2(older - newer);
    // The sum of a block begins at zero, so that it rounds at its own size, not at that of all keys before.
    Batch sum(0.0F);
    for (int j = 0; j < count; ++j) {
      float* const address = scores + j * kPanel + first_lane;
      const Batch score = Batch::load_aligned(address);
      const Batch power = exp2(score - newer);
      const Batch weight = kSelect ? xsimd::select(score == masked, zero, power) : power;
      weight.store_aligned(address);
      sum += weight;
    }
    const Batch before = Batch::load_aligned(panel.row_sum + first_lane);
    multiply_add(before, rescale.factor[vector], sum).store_aligned(panel.row_sum + first_lane);
    newer.store_aligned(panel.row_max + first_lane);
  }
  return rescale;
}

}  // namespace heed::kernels
