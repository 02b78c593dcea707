// Top-k: masks the keys of each row that are not among its best, once these are known.
#pragma once

#include "kernels/score/mask.hpp"
#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// Masks scores below the threshold, and those at it behind the last key that is kept. NaN is neither, and stays.
[[gnu::noinline]] inline void mask_outside_top_k(const Panel& panel, const KeyBlock& keys) {
  const Batch masked(kMasked);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    const Batch threshold = Batch::load_aligned(panel.threshold + first_lane);
    const I32Batch last = I32Batch::load_aligned(panel.last_kept + first_lane);
    for (int j = 0; j < keys.count; ++j) {
      float* const address = keys.scores + j * kPanel + first_lane;
      const Batch score = Batch::load_aligned(address);
      const auto is_behind = xsimd::batch_bool_cast<float>(I32Batch(keys.first + j) > last);
      const auto is_dropped = (score < threshold) | ((score == threshold) & is_behind);
      xsimd::select(is_dropped, masked, score).store_aligned(address);
    }
  }
}

}  // namespace heed::kernels
