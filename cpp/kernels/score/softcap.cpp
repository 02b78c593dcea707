#include "kernels/score/softcap.hpp"

namespace heed::kernels {

void cap_scores(float softcap, int lines, float* scores) {
  const Tanh tanh;
  const Batch cap(softcap);
  const Batch inverse(1.0F / softcap);
  change_scores(lines, scores, [&](Batch score, int, int) { return cap * tanh(score * inverse); });
}

}  // namespace heed::kernels
