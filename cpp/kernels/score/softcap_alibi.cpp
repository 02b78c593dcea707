#include "kernels/score/softcap_alibi.hpp"

#include "kernels/simd/tanh.hpp"

namespace heed::kernels {

void cap_scores(float softcap, int count, float* scores) {
  const Tanh tanh;
  const Batch cap(softcap);
  const Batch inverse(1.0F / softcap);
  change_scores(count, scores, [&](Batch score, int, int) { return cap * tanh(score * inverse); });
}

}  // namespace heed::kernels
