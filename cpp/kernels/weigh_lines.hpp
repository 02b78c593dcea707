// A block of scores as weights, by what is known of its rows.
#pragma once

#include "kernels/score_mods.hpp"
#include "kernels/weight.hpp"

namespace heed::kernels {

/// A number a lane of each.
struct RuleLines {
  const float* maximum;
  const float* shift;
  const float* factor;
};

/// Makes scores[lines][panel] the weights that they come to. `constants` say which are as good as none.
template <class Arch>
[[gnu::noinline]] void weigh_lines(Normalizer normalizer, const Exp2Constants& constants, const RuleLines& rules,
                                   int lines, float* scores) {
  const Weight<Arch> weight_of(normalizer, constants);
  change_scores<Arch>(lines, scores, [&](Batch<Arch> score, int, int vector) {
    const auto of_lanes = [vector](const float* line) {
      return Batch<Arch>::load_aligned(line + vector * kLanes<Arch>);
    };
    return weight_of(score, {of_lanes(rules.maximum), of_lanes(rules.shift), of_lanes(rules.factor)});
  });
}

}  // namespace heed::kernels
