// What happens to scores between the product and the masks: softcap and ALiBi.
#pragma once

#include "kernels/key_lines.hpp"
#include "kernels/panel.hpp"
#include "kernels/scores.hpp"
#include "kernels/tanh.hpp"

namespace heed::kernels {

/// Rewrites scores[lines][panel] by `change(score, line, vector)`.
template <class Arch, class Change>
[[gnu::always_inline]] inline void change_scores(int lines, float* scores, Change change) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    for (int j = 0; j < lines; ++j) {
      float* const place = scores + j * kPanel<Arch> + vector * kLanes<Arch>;
      change(Batch<Arch>::load_aligned(place), j, vector).store_aligned(place);
    }
  }
}

/// score = c * tanh(score / c), with c in the units of the scores.
template <class Arch>
[[gnu::noinline]] void cap_scores(float softcap, int count, float* scores) {
  const Tanh<Arch> tanh;
  const Batch<Arch> cap(softcap);
  const Batch<Arch> inverse(1.0F / softcap);
  change_scores<Arch>(count, scores, [&](Batch<Arch> score, int, int) { return cap * tanh(score * inverse); });
}

/// score -= slope * |position - key|, in `units`.
template <class Arch>
inline void add_alibi(const Panel& panel, float units, const KeyLines& keys, float* scores) {
  alignas(kScratchAlignment) float positions[kPanel<Arch>];
  alignas(kScratchAlignment) float slopes[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    // Behind the first key of its lane: exact as long as both are below 2^24.
    positions[lane] = panel.row(lane).position - static_cast<float>(keys.key(0, lane));
    slopes[lane] = -units * panel.row(lane).alibi_slope;
  }
  change_scores<Arch>(keys.lines(), scores, [&](Batch<Arch> score, int j, int vector) {
    const Batch<Arch> position = Batch<Arch>::load_aligned(positions + vector * kLanes<Arch>);
    const Batch<Arch> slope = Batch<Arch>::load_aligned(slopes + vector * kLanes<Arch>);
    const Batch<Arch> distance = xsimd::abs(position - Batch<Arch>(static_cast<float>(j * keys.per_line)));
    return multiply_add<Arch>(slope, distance, score);
  });
}

/// Raises maximum[panel] to the largest of the scores.
template <class Arch>
inline void find_maximum(int count, const float* scores, float* maximum) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    Batch<Arch> highest = Batch<Arch>::load_aligned(maximum + vector * kLanes<Arch>);
    for (int j = 0; j < count; ++j) {
      const float* const place = scores + j * kPanel<Arch> + vector * kLanes<Arch>;
      highest = at_least<Arch>(Batch<Arch>::load_aligned(place), highest);
    }
    highest.store_aligned(maximum + vector * kLanes<Arch>);
  }
}

}  // namespace heed::kernels
