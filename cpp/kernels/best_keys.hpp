// The best keys of each row: which they are is known, and the others are masked.
#pragma once

#include "kernels/key_block.hpp"
#include "kernels/mask.hpp"
#include "kernels/panel.hpp"

namespace heed::kernels {

/// Masks what is below the threshold, or at it and behind the last key that is kept. NaN is neither, and stays.
template <class Arch>
[[gnu::noinline]] void keep_best(const Panel& panel, const KeyBlock& keys) {
  using Keys = xsimd::batch<std::int32_t, Arch>;
  const Batch<Arch> masked(kMasked);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    const Batch<Arch> threshold = Batch<Arch>::load_aligned(panel.threshold + first_lane);
    const Keys last = Keys::load_aligned(panel.last_best + first_lane);
    for (int j = 0; j < keys.count; ++j) {
      float* const place = keys.scores + j * kPanel<Arch> + first_lane;
      const Batch<Arch> score = Batch<Arch>::load_aligned(place);
      const auto is_behind = xsimd::batch_bool_cast<float>(Keys(keys.first + j) > last);
      const auto is_dropped = (score < threshold) | ((score == threshold) & is_behind);
      xsimd::select(is_dropped, masked, score).store_aligned(place);
    }
  }
}

}  // namespace heed::kernels
