// Sparsemax (Martins and Astudillo 2016) projects the scores onto the simplex: weight = max(score - t, 0), with the t
// by which weights add up to 1. Newton's steps from below, t = row_max - 1, reach it exactly: the sum is convex and
// made of straight segments (Michelot 1986), every step leaves fewer keys above t than the one before, and as soon as
// as many are left, t is final. So there are at most as many steps as keys within 1 of row_max, and usually fewer than
// five; each is a pass over the scores, which are made again: O(1) memory a row.
#pragma once

#include <limits>

#include "kernels/prefill/key_loop.hpp"

namespace heed::kernels {

inline void update_row_max(const Panel& panel, const AttentionTask& task, const KeySegments& segments,
                           WidenedKv& /*numbers*/) {
  alignas(kScratchAlignment) float row_max[kPanel];
  remake_scores(panel, task, segments, row_max);
  copy_line(row_max, panel.row_max);
}

/// Adds to panel.row_sum what lies above the shift, and to panel.entropy_sum how many scores do.
inline void update_support(const Panel& panel, const AttentionTask& task, const KeySegments& segments,
                           WidenedKv& /*numbers*/) {
  alignas(kScratchAlignment) float unused[kPanel];
  remake_scores(panel, task, segments, unused);
  const KeyBlock keys = segments.joined();
  const Batch zero(0.0F);
  const Batch one(1.0F);
  for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
    const Batch row_max = Batch::load_aligned(panel.row_max + first_lane);
    const Batch shift = Batch::load_aligned(panel.shift + first_lane);
    Batch sum(0.0F);
    Batch count(0.0F);
    for (int j = 0; j < keys.count; ++j) {
      const Batch score = Batch::load_aligned(keys.scores + j * kPanel + first_lane);
      const Batch above = (score - row_max) - shift;
      sum += at_least(above, zero);
      count += xsimd::select(above > zero, one, zero);
    }
    (Batch::load_aligned(panel.row_sum + first_lane) + sum).store_aligned(panel.row_sum + first_lane);
    (Batch::load_aligned(panel.entropy_sum + first_lane) + count).store_aligned(panel.entropy_sum + first_lane);
  }
}

/// Takes a row one step on, by what update_support() found. A row that is done does not move, however many steps others
/// take, so that its bits are its own. Returns whether it may need another step.
inline bool step(float sum, float count, float& shift, float& support) {
  if (support < 0.0F) return false;
  // A row without a key has no score above; one with a NaN becomes NaN here, and stays so.
  if (count != 0.0F || sum != sum) shift += (sum - 1.0F) / count;
  support = count < support && count > 1.0F ? count : -1.0F;
  return support > 0.0F;
}

/// Leaves every panel with its row_max and shift, and the other statistics as they were.
inline void find_shifts(const Panels& panels, const AttentionTask& task) {
  for_each_key_block<VisitFunction>(panels, task, update_row_max);
  const auto for_each_lane = [&panels](auto visit) {
    for (int index = 0; index < panels.count; ++index) {
      for (int lane = 0; lane < kPanel; ++lane) visit(panels.all[index], lane);
    }
  };
  for_each_lane([](const Panel& panel, int lane) {
    panel.shift[lane] = -1.0F;
    panel.support[lane] = std::numeric_limits<float>::infinity();
  });
  for (bool is_moving = true; is_moving;) {
    is_moving = false;
    for_each_key_block<VisitFunction>(panels, task, update_support);
    for_each_lane([&is_moving](const Panel& panel, int lane) {
      is_moving |= step(panel.row_sum[lane], panel.entropy_sum[lane], panel.shift[lane], panel.support[lane]);
      panel.row_sum[lane] = panel.entropy_sum[lane] = 0.0F;
    });
  }
}

}  // namespace heed::kernels
