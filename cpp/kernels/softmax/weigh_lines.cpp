#include "kernels/softmax/weigh_lines.hpp"

#include "kernels/score/softcap_alibi.hpp"
#include "kernels/softmax/apply_row_stats.hpp"
#include "kernels/softmax/weight.hpp"

namespace heed::kernels {

void weigh_lines(Normalizer normalizer, const Exp2Constants& constants, const RowStatsLines& rules, int lines,
                 float* scores) {
  const Weight weight_of(normalizer, constants);
  change_scores(lines, scores, [&](Batch score, int, int vector) {
    const auto of_lanes = [vector](const float* line) { return Batch::load_aligned(line + vector * kLanes); };
    return weight_of(score, {of_lanes(rules.row_max), of_lanes(rules.shift), of_lanes(rules.factor)});
  });
}

void apply_row_stats(const Panel& panel, Normalizer normalizer, float share, int lines, float* scores) {
  alignas(kScratchAlignment) float row_max[kPanel];
  alignas(kScratchAlignment) float shift[kPanel];
  alignas(kScratchAlignment) float factor[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) {
    const RowStats& rule = *panel.row(lane).stats;
    row_max[lane] = rule.row_max;
    shift[lane] = rule.shift;
    factor[lane] = rule.factor * share;
  }
  weigh_lines(normalizer, kExp2OfResults, {row_max, shift, factor}, lines, scores);
}

}  // namespace heed::kernels
