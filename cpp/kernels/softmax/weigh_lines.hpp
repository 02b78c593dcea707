// Turns a block of scores into weights by the stats of its rows.
#pragma once

#include "kernels/simd/exp2.hpp"
#include "kernels/task/attention_task.hpp"

namespace heed::kernels {

/// One number a lane of each.
struct RowStatsLines {
  const float* row_max;
  const float* shift;
  const float* factor;
};

/// Turns scores[lines][panel] into weights. `constants` say which weights are as good as none.
void weigh_lines(Normalizer normalizer, const Exp2Constants& constants, const RowStatsLines& rules, int lines,
                 float* scores);

}  // namespace heed::kernels
