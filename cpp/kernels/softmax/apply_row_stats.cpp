#include "kernels/softmax/apply_row_stats.hpp"

#include "kernels/score/panel_scores.hpp"
#include "kernels/softmax/weight.hpp"

namespace heed::kernels {

void weigh_scores(Normalizer normalizer, const Exp2Constants& constants, const LaneStats& stats, int lines,
                  float* scores) {
  const Weight weight_of(normalizer, constants);
  change_scores(lines, scores, [&](Batch score, int, int vector) {
    const auto of_lanes = [vector](const float* line) { return Batch::load_aligned(line + vector * kLanes); };
    return weight_of(score, {of_lanes(stats.row_max), of_lanes(stats.shift), of_lanes(stats.factor)});
  });
}

void apply_row_stats(const Panel& panel, Normalizer normalizer, float head_weight, int lines, float* scores) {
  alignas(kScratchAlignment) float row_max[kPanel];
  alignas(kScratchAlignment) float shift[kPanel];
  alignas(kScratchAlignment) float factor[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) {
    const RowStats& stats = *panel.row(lane).stats;
    row_max[lane] = stats.row_max;
    shift[lane] = stats.shift;
    factor[lane] = stats.factor * head_weight;
  }
  weigh_scores(normalizer, kExp2OfResults, {row_max, shift, factor}, lines, scores);
}

}  // namespace heed::kernels
