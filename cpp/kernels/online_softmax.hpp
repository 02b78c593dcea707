// The running softmax over blocks of keys (Milakov and Gimelshein 2018, algorithm 3):
// keeps a maximum and a sum per row and rescales what was summed under an older maximum.
#pragma once

#include "kernels/exp2.hpp"
#include "kernels/mask.hpp"
#include "kernels/panel.hpp"

namespace heed::kernels {

/// What a block did to the maximum: older sums are to be multiplied by `factor`.
template <class Arch>
struct Rescale {
  Batch<Arch> factor[kPanelVectors];
};

/// Keeps panel.spread, the sum of weight * (score - maximum), as exponentiate() keeps
/// panel.sum; to be called before it. The entropy follows from both.
template <class Arch>
inline void add_spread(const Panel& panel, const float* maximum, int count, const float* scores) {
  const Exp2<Arch> exp2(kExp2OfSummands);
  const Batch<Arch> floor(kExp2OfSummands.floor);
  const Batch<Arch> zero(0.0F);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    const Batch<Arch> older = Batch<Arch>::load_aligned(panel.maximum + first_lane);
    const Batch<Arch> newer = Batch<Arch>::load_aligned(maximum + first_lane);
    const Batch<Arch> sum = Batch<Arch>::load_aligned(panel.sum + first_lane);
    const Batch<Arch> kept = Batch<Arch>::load_aligned(panel.spread + first_lane);
    // Under a maximum this much higher, what was summed before no longer counts: it could be
    // the lowest float times a weight that exp2 does not let go to zero.
    const Batch<Arch> fallen = older - newer;
    const Batch<Arch> carried = exp2(fallen) * multiply_add<Arch>(fallen, sum, kept);
    Batch<Arch> spread = xsimd::select(fallen < floor, zero, carried);
    for (int j = 0; j < count; ++j) {
      const Batch<Arch> below = Batch<Arch>::load_aligned(scores + j * kPanel<Arch> + first_lane) - newer;
      // Too small to count, masked scores among them: -inf times a weight would be NaN.
      spread += xsimd::select(below < floor, zero, exp2(below) * below);
    }
    spread.store_aligned(panel.spread + first_lane);
  }
}

/// Turns scores[count][panel] into 2^(score - maximum), in place, where maximum[panel] is
/// that of the block and of all before. With kSelect, masked scores become exact zeros.
template <class Arch, bool kSelect>
[[gnu::noinline]] Rescale<Arch> exponentiate(const Panel& panel, const float* maximum, int count, float* scores) {
  const Exp2<Arch> exp2(kExp2OfSummands);
  const Batch<Arch> masked(kMasked);
  const Batch<Arch> zero(0.0F);
  Rescale<Arch> rescale{};
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    const Batch<Arch> older = Batch<Arch>::load_aligned(panel.maximum + first_lane);
    const Batch<Arch> newer = Batch<Arch>::load_aligned(maximum + first_lane);
    rescale.factor[vector] = exp2(older - newer);
    // From zero: a block's own sum rounds at its own size, not at that of all keys before.
    Batch<Arch> sum(0.0F);
    for (int j = 0; j < count; ++j) {
      float* const place = scores + j * kPanel<Arch> + first_lane;
      const Batch<Arch> score = Batch<Arch>::load_aligned(place);
      const Batch<Arch> power = exp2(score - newer);
      const Batch<Arch> weight = kSelect ? xsimd::select(score == masked, zero, power) : power;
      weight.store_aligned(place);
      sum += weight;
    }
    const Batch<Arch> before = Batch<Arch>::load_aligned(panel.sum + first_lane);
    multiply_add<Arch>(before, rescale.factor[vector], sum).store_aligned(panel.sum + first_lane);
    newer.store_aligned(panel.maximum + first_lane);
  }
  return rescale;
}

}  // namespace heed::kernels
