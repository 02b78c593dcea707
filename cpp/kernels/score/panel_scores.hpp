// Loops over the scores of a panel.
#pragma once

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
