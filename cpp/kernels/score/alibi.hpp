// ALiBi, which comes between softcap and the masks.
#pragma once

#include "kernels/score/panel_scores.hpp"
#include "kernels/task/key_span.hpp"

namespace heed::kernels {

/// score -= slope * |position - key|, times `scale`.
inline void add_alibi(const Panel& panel, float scale, const KeySpan& keys, float* scores) {
  alignas(kScratchAlignment) float positions[kPanel];
  alignas(kScratchAlignment) float slopes[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) {
    // Counted from the first key of the lane, positions are exact as long as both are below 2^24.
    positions[lane] = panel.row(lane).position - static_cast<float>(keys.key(0, lane));
    slopes[lane] = -scale * panel.row(lane).alibi_slope;
  }
  change_scores(keys.lines(), scores, [&](Batch score, int j, int vector) {
    const Batch position = Batch::load_aligned(positions + vector * kLanes);
    const Batch slope = Batch::load_aligned(slopes + vector * kLanes);
    const Batch distance = xsimd::abs(position - Batch(static_cast<float>(j * keys.keys_per_line)));
    return multiply_add(slope, distance, score);
  });
}

}  // namespace heed::kernels
