// Weights of rows of which all is known.
#pragma once

#include "kernels/panel.hpp"
#include "kernels/weigh_lines.hpp"

namespace heed::kernels {

/// Makes scores[lines][panel] the weights that they come to, times `share`.
template <class Arch>
[[gnu::noinline]] void weigh_by_rules(const Panel& panel, Normalizer normalizer, float share, int lines,
                                      float* scores) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>];
  alignas(kScratchAlignment) float shift[kPanel<Arch>];
  alignas(kScratchAlignment) float factor[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    const WeightRule& rule = *panel.row(lane).weight_rule;
    maximum[lane] = rule.maximum;
    shift[lane] = rule.shift;
    factor[lane] = rule.factor * share;
  }
  weigh_lines<Arch>(normalizer, kExp2OfResults, {maximum, shift, factor}, lines, scores);
}

}  // namespace heed::kernels
