// Turns scores into weights by the stats that the first pass left.
#pragma once

#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// Turns scores[lines][panel] into weights, times `head_weight`.
void apply_row_stats(const Panel& panel, Normalizer normalizer, float share, int lines, float* scores);

}  // namespace heed::kernels
