// From the gradients of weights back to those of raw scores: through the normalizer, and through what came between the
// dot product and the masks.
#pragma once

#include "kernels/prefill/key_loop.hpp"
#include "kernels/score/transform.hpp"
#include "kernels/softmax/weight.hpp"

namespace heed::kernels {

/// A KV block, and where its raw scores are kept: the slopes of softcap and of score transforms are taken at them.
struct BackwardBlock : KeyBlock {
  float* raw_scores;
};

/// The layout of prefill for a BackwardBlock.
struct RawScoresKept : QueriesInLanes {
  static void store(const Panel& /*panel*/, const KeyBlock& keys, float* AttentionRow::* /*target*/, float factor) {
    float* const raw = static_cast<const BackwardBlock&>(keys).raw_scores;
    for (int i = 0; i < keys.lines() * kPanel; i += kLanes) {
      (Batch::load_aligned(keys.scores + i) * Batch(factor)).store_aligned(raw + i);
    }
  }
};

/// The RowStats of a panel, one number a lane of each. Where the log-sum-exp of a softmax was saved, `row_max` holds
/// lse * log2 e and `factor` is 1. Scores come times log2 e, so P = exp2(score - row_max). Otherwise, as with top-k and
/// sparsemax, they are the stats that the forward pass finds.
struct BackwardLanes {
  alignas(kScratchAlignment) float row_max[kPanel];
  alignas(kScratchAlignment) float shift[kPanel];
  alignas(kScratchAlignment) float factor[kPanel];

  explicit BackwardLanes(const Panel& panel) {
    for (int lane = 0; lane < kPanel; ++lane) {
      const RowStats& own = *panel.row(lane).stats;
      row_max[lane] = own.row_max;
      shift[lane] = own.shift;
      factor[lane] = own.factor;
    }
  }
  [[nodiscard]] RowStatsLanes stats(int first_lane) const {
    const auto of_lanes = [first_lane](const float* line) { return Batch::load_aligned(line + first_lane); };
    return {of_lanes(row_max), of_lanes(shift), of_lanes(factor)};
  }
};

/// A tile of scores S and what becomes of it, [lines][kPanel] each.
struct ScoreTile {
  const float* deltas;    // [kPanel], D of flash attention's backward
  const float* scores;    // S, times log2 e for a softmax
  const float* products;  // dP = V dO^T
  float* weights;         // P
  float* gradients;       // dS
  int lines;
};

/// dS of a pair, given its P, dP and the delta of its row.
template <Normalizer kNormalizer>
inline Batch through_normalizer(Batch weight, Batch gradient, Batch delta) {
  if constexpr (kNormalizer == Normalizer::softmax) return weight * (gradient - delta);
  if constexpr (kNormalizer == Normalizer::sparsemax) {
    return xsimd::select(weight > Batch(0.0F), gradient - delta, Batch(0.0F));
  }
  if constexpr (kNormalizer == Normalizer::sigmoid) return weight * (Batch(1.0F) - weight) * gradient;
  return gradient;
}

/// Makes P of the scores again, and of P and dP the gradients dS. For a softmax P = exp2(score - lse * log2 e) and
/// dS = P (dP - delta): see BackwardLanes for where lse is. A masked key has P and dS of zero, NaN or not.
template <Normalizer kNormalizer>
[[gnu::noinline]] void differentiate_weights(const BackwardLanes& rows, const ScoreTile& tile) {
  const Weight weight_of(kNormalizer, kExp2OfSummands);
  const Batch masked(*opaque(&kMasked));
  const Batch zero(0.0F);
  for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
    const RowStatsLanes stats = rows.stats(first_lane);
    const Batch delta = Batch::load_aligned(tile.deltas + first_lane);
    for (int j = 0; j < tile.lines; ++j) {
      const int at = j * kPanel + first_lane;
      const Batch score = Batch::load_aligned(tile.scores + at);
      const Batch weight = weight_of(score, stats);
      weight.store_aligned(tile.weights + at);
      const Batch gradient = through_normalizer<kNormalizer>(weight, Batch::load_aligned(tile.products + at), delta);
      xsimd::select(score == masked, zero, gradient).store_aligned(tile.gradients + at);
    }
  }
}

/// The same for a softmax whose log-sum-exp was saved, where no pair is masked. Without the selections its constants
/// fit into registers.
[[gnu::noinline]] inline void differentiate_plain_weights(const BackwardLanes& rows, const ScoreTile& tile) {
  const Exp2 exp2(kExp2OfSummands);
  for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
    const Batch log2_sum = Batch::load_aligned(rows.row_max + first_lane);  // lse * log2 e
    const Batch delta = Batch::load_aligned(tile.deltas + first_lane);
    for (int j = 0; j < tile.lines; ++j) {
      const int at = j * kPanel + first_lane;
      const Batch weight = exp2(Batch::load_aligned(tile.scores + at) - log2_sum);
      weight.store_aligned(tile.weights + at);
      const Batch gradient = Batch::load_aligned(tile.products + at) - delta;
      (weight * gradient).store_aligned(tile.gradients + at);
    }
  }
}

using DifferentiateWeights = void (*)(const BackwardLanes& rows, const ScoreTile& tile);

/// The loop for a normalizer, by its address: Binaryen inlines what is called in one place, and V8 spills the registers
/// of a loop that is not alone.
inline DifferentiateWeights differentiate_weights_of(Normalizer normalizer) {
  switch (normalizer) {
    case Normalizer::sparsemax:
      return differentiate_weights<Normalizer::sparsemax>;
    case Normalizer::sigmoid:
      return differentiate_weights<Normalizer::sigmoid>;
    case Normalizer::none:
      return differentiate_weights<Normalizer::none>;
    default:
      return differentiate_weights<Normalizer::softmax>;
  }
}

/// A tile in the backward pass through a score transform, and the sums that it adds to.
struct TransformTile {
  float* raw;        // raw scores; become the gradients of the gate's argument, or zeros
  float* gradients;  // of transformed scores; becomes those of the dot products, or the factors of differences
  float* sums;       // [kSumLines][kPanel]; null: there are none
};

/// The backward pass of transform_scores(). Where the pairing is a product, tile.gradients become the gradients of
/// q . k. Where it is a squared difference, the gradient with respect to q is f (k - q), with respect to k it is
/// f (q - k), and tile.gradients become the factors f.
[[gnu::noinline]] inline void differentiate_transform(const Panel& panel, const AttentionTask& task,
                                                      const KeyBlock& keys, const TransformTile& tile) {
  alignas(kScratchAlignment) float operands[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) operands[lane] = panel.row(lane).row_operand;
  const Sigmoid sigmoid(kExp2OfResults);
  const Batch log2e(kLog2E);
  const Batch zero(0.0F);
  const Batch inverse_scale(1.0F / task.score.raw_scale);
  for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
    const Batch of_row = Batch::load_aligned(operands + first_lane);
    Batch sum = zero;
    Batch products = zero;
    for (int j = 0; j < keys.count; ++j) {
      const int at = j * kPanel + first_lane;
      const Batch raw = Batch::load_aligned(tile.raw + at);
      const Batch gradient = Batch::load_aligned(tile.gradients + at);
      Batch of_pair = gradient;
      Batch summed = zero;
      switch (task.score.transform) {
        case ScoreTransform::times_key:
          of_pair = gradient * key_operands(task, keys, j, 0);
          break;
        case ScoreTransform::gate: {
          const Batch gate = sigmoid((of_row + key_operands(task, keys, j, 0)) * log2e);
          of_pair = gradient * gate;
          summed = gradient * raw * (Batch(1.0F) - gate);
          break;
        }
        case ScoreTransform::times_row:
          // -s / (2 b^2), so twice that is the slope in the square of a difference.
          of_pair = gradient * of_row * inverse_scale * Batch(-2.0F);
          break;
        case ScoreTransform::root_times_row: {
          // -s times the distance: s over the distance is s^2 over -raw. Where there is no distance the slope is zero.
          const Batch scale = of_row * inverse_scale;
          of_pair = xsimd::select(raw == zero, zero, gradient * scale * scale / -raw);
          break;
        }
        case ScoreTransform::none:
          break;
      }
      // A masked pair has no gradient, whatever its score.
      const auto is_none = gradient == zero;
      of_pair = xsimd::select(is_none, zero, of_pair);
      summed = xsimd::select(is_none, zero, summed);
      products += xsimd::select(is_none, zero, gradient * raw);
      sum += summed;
      of_pair.store_aligned(tile.gradients + at);
      summed.store_aligned(tile.raw + at);
    }
    if (!tile.sums) continue;
    (Batch::load_aligned(tile.sums + first_lane) + sum).store_aligned(tile.sums + first_lane);
    float* const second = tile.sums + kPanel + first_lane;
    (Batch::load_aligned(second) + products).store_aligned(second);
  }
}

/// sums[key] += a line of the tile.
inline void add_key_sums(int count, const float* tile, float* sums) {
  for (int j = 0; j < count; ++j) {
    Batch sum = Batch::load_aligned(tile + j * kPanel);
    for (int lane = kLanes; lane < kPanel; lane += kLanes) sum += Batch::load_aligned(tile + j * kPanel + lane);
    sums[j] += xsimd::reduce_add(sum);
  }
}

}  // namespace heed::kernels
