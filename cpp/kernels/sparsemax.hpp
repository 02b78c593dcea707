// Sparsemax (Martins and Astudillo 2016): the point of the simplex next to the scores, weight = max(score - t, 0) with
// the t by which weights add up to 1. Newton's steps from below, t = maximum - 1, reach it exactly: what is summed is
// convex and made of straight pieces (Michelot 1986), every step leaves fewer keys above t than the one before, and as
// soon as as many are left, t is final. So there are at most as many steps as keys within 1 of the maximum, and usually
// fewer than five; each is a pass over the scores, made again: O(1) memory a row.
#pragma once

#include <limits>

#include "kernels/rows_in_lanes.hpp"

namespace heed::kernels {

template <class Arch>
void note_maximum(const Panel& panel, const AttentionBlock& block, const KeyPieces& pieces,
                  BlockNumbers<Arch>& /*numbers*/) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>];
  look_at_scores<Arch>(panel, block, pieces, maximum);
  copy_line<Arch>(maximum, panel.maximum);
}

/// Adds to panel.sum what lies above the shift, and to panel.spread how many scores do.
template <class Arch>
void note_support(const Panel& panel, const AttentionBlock& block, const KeyPieces& pieces,
                  BlockNumbers<Arch>& /*numbers*/) {
  alignas(kScratchAlignment) float unused[kPanel<Arch>];
  look_at_scores<Arch>(panel, block, pieces, unused);
  const KeyBlock keys = pieces.joined();
  const Batch<Arch> zero(0.0F);
  const Batch<Arch> one(1.0F);
  for (int first_lane = 0; first_lane < kPanel<Arch>; first_lane += kLanes<Arch>) {
    const Batch<Arch> maximum = Batch<Arch>::load_aligned(panel.maximum + first_lane);
    const Batch<Arch> shift = Batch<Arch>::load_aligned(panel.shift + first_lane);
    Batch<Arch> sum(0.0F);
    Batch<Arch> count(0.0F);
    for (int j = 0; j < keys.count; ++j) {
      const Batch<Arch> score = Batch<Arch>::load_aligned(keys.scores + j * kPanel<Arch> + first_lane);
      const Batch<Arch> above = (score - maximum) - shift;
      sum += at_least<Arch>(above, zero);
      count += xsimd::select(above > zero, one, zero);
    }
    (Batch<Arch>::load_aligned(panel.sum + first_lane) + sum).store_aligned(panel.sum + first_lane);
    (Batch<Arch>::load_aligned(panel.spread + first_lane) + count).store_aligned(panel.spread + first_lane);
  }
}

/// A row's step by what note_support() found. A row that is done does not move, however many steps others take, so that
/// its bits are its own. Returns whether it may need another.
inline bool step(float sum, float count, float& shift, float& support) {
  if (support < 0.0F) return false;
  // A row without a key has nothing above; one with a NaN becomes NaN here, and stays it.
  if (count != 0.0F || sum != sum) shift += (sum - 1.0F) / count;
  support = count < support && count > 1.0F ? count : -1.0F;
  return support > 0.0F;
}

/// Leaves every panel with its maximum and shift, and the other statistics as they were.
template <class Arch>
inline void find_shifts(const Panels<Arch>& panels, const AttentionBlock& block) {
  for_each_step<Arch, Look<Arch>>(panels, block, note_maximum<Arch>);
  const auto for_each_lane = [&panels](auto visit) {
    for (int index = 0; index < panels.count; ++index) {
      for (int lane = 0; lane < kPanel<Arch>; ++lane) visit(panels.all[index], lane);
    }
  };
  for_each_lane([](const Panel& panel, int lane) {
    panel.shift[lane] = -1.0F;
    panel.support[lane] = std::numeric_limits<float>::infinity();
  });
  for (bool is_moving = true; is_moving;) {
    is_moving = false;
    for_each_step<Arch, Look<Arch>>(panels, block, note_support<Arch>);
    for_each_lane([&is_moving](const Panel& panel, int lane) {
      is_moving |= step(panel.sum[lane], panel.spread[lane], panel.shift[lane], panel.support[lane]);
      panel.sum[lane] = panel.spread[lane] = 0.0F;
    });
  }
}

}  // namespace heed::kernels
