// The weight of a score once all scores of its row are known.
#pragma once

#include "kernels/score/mask.hpp"
#include "kernels/simd/exp2.hpp"
#include "kernels/simd/sigmoid.hpp"

namespace heed::kernels {

/// The stats of the rows in the lanes: see RowStats.
struct RowStatsLanes {
  Batch row_max, shift, factor;
};

/// Holds its constants in registers, as Exp2 does, whose floor is the least weight that is not zero.
class Weight {
 public:
  Weight(Normalizer normalizer, const Exp2Constants& constants)
      : normalizer_(normalizer), floor_(constants.floor), exp2_(constants), sigmoid_(constants) {}

  Batch operator()(Batch score, const RowStatsLanes& rule) const {
    const Batch zero(0.0F);
    // A masked key weighs nothing even where row_max, and so what follows, is NaN.
    const auto is_masked = score == Batch(kMasked);
    switch (normalizer_) {
      case Normalizer::softmax:
      case Normalizer::hard: {
        const Batch exponent = score - rule.row_max;
        return xsimd::select((exponent < floor_) | is_masked, zero, exp2_(exponent) * rule.factor);
      }
      case Normalizer::sparsemax:
        return xsimd::select(is_masked, zero, at_least((score - rule.row_max) - rule.shift, zero) * rule.factor);
      case Normalizer::sigmoid:
        return xsimd::select((score < floor_) | is_masked, zero, sigmoid_(score) * rule.factor);
      case Normalizer::none:
        break;
    }
    return xsimd::select(is_masked, zero, score * rule.factor);
  }

 private:
  Normalizer normalizer_;
  Batch floor_;
  Exp2 exp2_;
  Sigmoid sigmoid_;
};

}  // namespace heed::kernels
