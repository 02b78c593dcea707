// The weight that a score comes to once all of its row are known.
#pragma once

#include "kernels/exp2.hpp"
#include "kernels/mask.hpp"
#include "kernels/sigmoid.hpp"

namespace heed::kernels {

/// What is known of the rows in the lanes: see WeightRule.
template <class Arch>
struct RuleLanes {
  Batch<Arch> maximum, shift, factor;
};

/// Holds its constants in registers, as Exp2 does, whose floor is the least that is not zero.
template <class Arch>
class Weight {
 public:
  Weight(Normalizer normalizer, const Exp2Constants& constants)
      : normalizer_(normalizer), floor_(constants.floor), exp2_(constants), sigmoid_(constants) {}

  Batch<Arch> operator()(Batch<Arch> score, const RuleLanes<Arch>& rule) const {
    const Batch<Arch> zero(0.0F);
    // A masked key weighs nothing even where the maximum, and so what follows, is NaN.
    const auto is_masked = score == Batch<Arch>(kMasked);
    switch (normalizer_) {
      case Normalizer::softmax: {
        const Batch<Arch> exponent = score - rule.maximum;
        return xsimd::select((exponent < floor_) | is_masked, zero, exp2_(exponent) * rule.factor);
      }
      case Normalizer::sparsemax:
        return xsimd::select(is_masked, zero, at_least<Arch>((score - rule.maximum) - rule.shift, zero) * rule.factor);
      case Normalizer::sigmoid:
        return xsimd::select((score < floor_) | is_masked, zero, sigmoid_(score) * rule.factor);
      case Normalizer::identity:
        break;
    }
    return xsimd::select(is_masked, zero, score * rule.factor);
  }

 private:
  Normalizer normalizer_;
  Batch<Arch> floor_;
  Exp2<Arch> exp2_;
  Sigmoid<Arch> sigmoid_;
};

}  // namespace heed::kernels
