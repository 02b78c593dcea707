// Softcap and ALiBi, which come between the dot product and the masks.
#pragma once

#include "kernels/task/key_span.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// Rewrites scores[lines][panel] by `change(score, line, vector)`.
template <class Change>
[[gnu::always_inline]] inline void change_scores(int lines, float* scores, Change change) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    for (int j = 0; j < lines; ++j) {
      float* const address = scores + j * kPanel + vector * kLanes;
      change(Batch::load_aligned(address), j, vector).store_aligned(address);
    }
  }
}

/// score = c * tanh(score / c), with c on the scale of the scores.
void cap_scores(float softcap, int count, float* scores);

/// score -= slope * |position - key|, times `units`.
inline void add_alibi(const Panel& panel, float units, const KeySpan& keys, float* scores) {
  alignas(kScratchAlignment) float positions[kPanel];
  alignas(kScratchAlignment) float slopes[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) {
    // Counted from the first key of the lane, positions are exact as long as both are below 2^24.
    positions[lane] = panel.row(lane).position - static_cast<float>(keys.key(0, lane));
    slopes[lane] = -units * panel.row(lane).alibi_slope;
  }
  change_scores(keys.lines(), scores, [&](Batch score, int j, int vector) {
    const Batch position = Batch::load_aligned(positions + vector * kLanes);
    const Batch slope = Batch::load_aligned(slopes + vector * kLanes);
    const Batch distance = xsimd::abs(position - Batch(static_cast<float>(j * keys.keys_per_line)));
    return multiply_add(slope, distance, score);
  });
}

/// Raises row_max[panel] to the largest of the scores.
inline void find_row_max(int count, const float* scores, float* row_max) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    Batch highest = Batch::load_aligned(row_max + vector * kLanes);
    for (int j = 0; j < count; ++j) {
      const float* const address = scores + j * kPanel + vector * kLanes;
      highest = at_least(Batch::load_aligned(address), highest);
    }
    highest.store_aligned(row_max + vector * kLanes);
  }
}

}  // namespace heed::kernels
