// Expressions of the caller's where they meet scores: a function of each score, and a mask.
#pragma once

#include <limits>

#include "kernels/interval.hpp"

namespace heed::kernels {

/// Rewrites the scores by score_mod and moves them to the units of what follows. One that is -infinity is masked, and
/// so is one below what single precision has in those units; above, the highest counts. Returns whether any is masked.
template <class Arch>
[[gnu::noinline]] bool modify_scores(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const Evaluation<Arch> evaluation(*block.score_mod, panel, block, keys, keys.scores);
  evaluation.run_edges();
  evaluation.run_tiles();
  const Register made = evaluation.result();
  const Batch<Arch> units(block.score_units);
  const Batch<Arch> highest(std::numeric_limits<float>::max());
  Batch<Arch> lowest = highest;
  for (int i = 0; i < keys.lines() * kPanelVectors; ++i) {
    const Batch<Arch> natural = Batch<Arch>::load_aligned(made.vector(i, kLanes<Arch>));
    const Batch<Arch> score = at_most<Arch>(natural * units, highest);
    lowest = at_most<Arch>(lowest, score);  // of those that are not NaN
    score.store_aligned(keys.scores + std::ptrdiff_t{i} * kLanes<Arch>);
  }
  return xsimd::any(lowest == Batch<Arch>(kMasked));
}

/// What mask_mod leaves of a run of keys.
template <class Arch>
[[gnu::noinline]] MaskedKeys look_at_mask_mod(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const Evaluation<Arch> evaluation(*block.mask_mod, panel, block, keys, block.registers);
  evaluation.run_edges();
  return judge<Arch>(*block.mask_mod, evaluation.registers(), panel, keys);
}

/// Masks the scores for which mask_mod is false.
template <class Arch>
[[gnu::noinline]] void apply_mask_mod(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const Evaluation<Arch> evaluation(*block.mask_mod, panel, block, keys, block.registers);
  evaluation.run_edges();
  evaluation.run_tiles();
  const Register sees = evaluation.result();
  const Batch<Arch> masked(kMasked);
  const Batch<Arch> zero(0.0F);
  for (int i = 0; i < keys.lines() * kPanelVectors; ++i) {
    float* const place = keys.scores + std::ptrdiff_t{i} * kLanes<Arch>;
    const auto is_masked = Batch<Arch>::load_aligned(sees.vector(i, kLanes<Arch>)) == zero;
    xsimd::select(is_masked, masked, Batch<Arch>::load_aligned(place)).store_aligned(place);
  }
}

}  // namespace heed::kernels
