// How the rows of a task make scores, masks and weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/attention_options.hpp"
#include "kernels/task/expression.hpp"

namespace heed::kernels {

/// What the numbers of a query and a key add up to, dimension by dimension.
enum class Pairing : std::uint8_t {
  product,             // q k
  squared_difference,  // (q - k)^2
  tanh_sum,            // c tanh(q + k), with the c of pair_weights
};

/// What the sum becomes, given an operand of the row and one of the key.
enum class ScoreTransform : std::uint8_t {
  none,
  times_key,       // times the operand of the key
  times_row,       // times the operand of the row
  root_times_row,  // its square root, times the operand of the row
  gate,            // times the sigmoid of both operands together
};

struct ScoreRule : ScoreOptions {
  Pairing pairing;
  ScoreTransform transform;
  const float* key_operands;  // one a key for the transform, and room for a whole panel from any key on
  const float* pair_weights;  // head_dim numbers, aligned, then zeros up to a whole vector
  float log2e_scale;          // scores are kept times log2(e) where powers of two are taken of them, else times 1
  float raw_scale;            // the same up to `mod`; 1 where there is one
  ScoreStage stage;           // at which scores are handed out
  const Expression* mod;      // null: none

  /// Whether scores are scaled dot products, and nothing else.
  [[nodiscard]] bool is_plain() const {
    return pairing == Pairing::product && transform == ScoreTransform::none && are_none() && !mod;
  }
};

struct MaskRule {
  std::ptrdiff_t mask_stride;
  std::ptrdiff_t bias_stride;
  std::ptrdiff_t keep_stride;
  int addend_length;      // keys that mask and bias have numbers for; no row sees those beyond
  int keep_block_keys;    // keys of a block of RowInputs::keep; 0: there are no blocks
  const Expression* mod;  // null: none
};

/// Its normalizer is never hard, which is the softmax of the best key.
struct WeightRule : WeightOptions {
  bool has_dropout;
  std::uint32_t dropout_limit;  // a weight is kept if its random number is above
  float dropout_factor;         // multiplies what is kept; 1 without dropout
  float head_weight;            // multiplies the weights that add_mean_weights() adds
  const Expression* mod;  // null: none. Else weights are made of the rows' stats, rewritten, and then taken for scores
  Normalizer stats_normalizer;  // which makes those weights
};

}  // namespace heed::kernels
