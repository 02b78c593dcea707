// Turns a block of scores into weights, by the stats of its rows.
#pragma once

#include "kernels/simd/exp2.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// The stats of the rows of a panel, one number a lane of each.
struct LaneStats {
  const float* row_max;
  const float* shift;
  const float* factor;
};

/// Turns scores[lines][panel] into weights. `constants` say which weights are as good as none.
void weigh_scores(Normalizer normalizer, const Exp2Constants& constants, const LaneStats& stats, int lines,
                  float* scores);

/// The same by the stats that the first pass left, times `head_weight`.
void apply_row_stats(const Panel& panel, Normalizer normalizer, float head_weight, int lines, float* scores);

}  // namespace heed::kernels
