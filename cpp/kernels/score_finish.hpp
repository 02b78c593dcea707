// The last step of scores that are more than a sum over the dimensions: what a number of the row's and one of the key's
// make of it.
#pragma once

#include "kernels/key_block.hpp"
#include "kernels/panel.hpp"
#include "kernels/score_mods.hpp"
#include "kernels/sigmoid.hpp"

namespace heed::kernels {

/// Numbers of the keys that lie in a vector of a line of scores.
template <class Arch>
inline Batch<Arch> key_numbers(const AttentionBlock& block, const KeyLines& keys, int line, int vector) {
  if (keys.per_line == 1) return Batch<Arch>::broadcast(block.key_numbers[keys.first + line]);
  return Batch<Arch>::load_unaligned(block.key_numbers + keys.key(line, vector * kLanes<Arch>));
}

/// Rewrites keys.scores. Beside the sum that made them, a question more for each vector of them costs nothing.
template <class Arch>
[[gnu::noinline]] void finish_scores(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  alignas(kScratchAlignment) float numbers[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) numbers[lane] = panel.row(lane).score_number;
  const Sigmoid<Arch> sigmoid(kExp2OfResults);
  const Batch<Arch> log2e(kLog2E);
  change_scores<Arch>(keys.lines(), keys.scores, [&](Batch<Arch> score, int line, int vector) {
    const Batch<Arch> of_row = Batch<Arch>::load_aligned(numbers + vector * kLanes<Arch>);
    if (block.finish == Finish::by_row) return score * of_row;
    if (block.finish == Finish::root_by_row) return xsimd::sqrt(score) * of_row;
    const Batch<Arch> of_key = key_numbers<Arch>(block, keys, line, vector);
    return score * (block.finish == Finish::by_key ? of_key : sigmoid((of_row + of_key) * log2e));
  });
}

}  // namespace heed::kernels
