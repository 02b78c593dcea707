// Softcap, c * tanh(score / c), which comes between the dot product and ALiBi.
#pragma once

#include "kernels/score/panel_scores.hpp"
#include "kernels/simd/tanh.hpp"

namespace heed::kernels {

/// score = c * tanh(score / c), with c on the scale of the scores.
void cap_scores(float softcap, int lines, float* scores);

/// gradient *= 1 - tanh(raw / c)^2, the slope of c tanh(raw / c). That of a masked pair stays zero, whatever its score.
inline void differentiate_softcap(float softcap, int lines, const float* raw, float* gradients) {
  const Tanh tanh;
  const Batch inverse(1.0F / softcap);
  change_scores(lines, gradients, [&](Batch gradient, int line, int vector) {
    const Batch tanh_of_raw = tanh(Batch::load_aligned(raw + line * kPanel + vector * kLanes) * inverse);
    return xsimd::select(gradient == Batch(0.0F), gradient, gradient - gradient * tanh_of_raw * tanh_of_raw);
  });
}

}  // namespace heed::kernels
