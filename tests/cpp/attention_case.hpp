// An attention call to try: what it is made of in a few words, and the tensors made from them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expression_program.hpp"
#include "heed/attention.hpp"
#include "support.hpp"

namespace heed::testing {

/// A score function of which some parameters are drawn, for all heads or for each.
struct ScoreCase {
  ScoreKind kind = ScoreKind::scaled_dot;
  bool is_per_head = false;
  Index hidden = 0;                               // additive: of the matrices; 0: none of them is given
  bool has_offset = false;                        // additive and gated: b
  bool has_weights = false;                       // additive: v
  std::optional<Index> query_dim = std::nullopt;  // general, and additive with matrices: another than the keys'
};

/// Blocks of which some are kept.
struct BlockCase {
  Index queries = 16;  // of a block
  Index keys = 16;
  bool is_per_head = true;  // or the same for all heads and batch entries
  double kept = 0.5;
};

/// A Window; a side that is absent is open.
struct WindowCase {
  std::optional<Index> left;
  std::optional<Index> right;
};

struct AttentionCase {
  Index batch = 1;
  Index heads = 1;
  Index kv_heads = 1;
  Index queries = 1;
  Index keys = 1;
  Index head_dim = 8;
  Index value_dim = 8;
  Layout layout = Layout::bhnd;
  Causal causal = Causal::none;
  std::optional<float> scale = std::nullopt;
  std::optional<Shape> mask = std::nullopt;
  std::optional<Shape> bias = std::nullopt;
  float deviation = 1.0F;  // of queries and keys
  std::optional<float> softcap = std::nullopt;
  WindowCase window = {};
  bool has_query_lengths = false;  // of random numbers, the ends of their ranges among them
  bool has_key_lengths = false;
  bool has_query_offsets = false;
  bool has_alibi = false;
  bool has_sinks = false;
  DType query_type = DType::f32;
  DType key_type = DType::f32;
  DType value_type = DType::f32;
  std::optional<Dropout> dropout = std::nullopt;
  Index sequences = 0;  // packed one after the other, if any; some of them empty
  ScoreCase score = {};
  Normalizer normalizer = Normalizer::softmax;
  std::optional<Index> top_k = std::nullopt;
  std::optional<BlockCase> blocks = std::nullopt;
  int score_mod = 0;  // operators of expressions that are drawn; 0: none
  int mask_mod = 0;
  int weight_mod = 0;

  [[nodiscard]] Shape query_shape() const { return {batch, heads, queries, score.query_dim.value_or(head_dim)}; }
  [[nodiscard]] Shape key_shape() const { return {batch, kv_heads, keys, head_dim}; }
  [[nodiscard]] Shape value_shape() const { return {batch, kv_heads, keys, value_dim}; }
  [[nodiscard]] Shape output_shape() const { return {batch, heads, queries, value_dim}; }
  [[nodiscard]] Shape score_shape() const { return {batch, heads, queries, keys}; }
};

std::string describe(const AttentionCase& one);

/// Few and many queries and keys, of heads that share keys or do not.
AttentionCase random_sizes(Random& random);

/// Sizes around lanes, tiles and blocks, none of them among the keys, in memory of any layout.
AttentionCase sizes_around_blocks(Random& random);

/// Options in random company, mask and bias among them.
void add_random_options(Random& random, AttentionCase& one);

/// Any normalizer, often with a number of best keys, and none of the options that only a softmax has.
void choose_normalizer(Random& random, AttentionCase& one);

/// Blocks of any size, around those that are computed together.
BlockCase random_blocks(Random& random);

/// A score function of any kind and shape.
ScoreCase random_score(Random& random);

/// Those of the score function among them.
struct AttentionTensors : ScoreParameters<Owned<float>> {
  Owned<float> query, key, value, bias;
  Owned<Float16> half_query, half_key, half_value;  // instead, where there are any; those above hold the same numbers
  Owned<std::uint8_t> mask, keep;
  std::vector<std::int32_t> query_lengths, key_lengths, query_offsets, query_starts, key_starts;
  std::vector<float> alibi_slopes, sinks;
  OwnedExpressions expressions;
  AttentionOptions options;  // of them, those that are not empty

  [[nodiscard]] AttentionInputs inputs() const {
    return {either(half_query, query), either(half_key, key), either(half_value, value), mask.reading(),
            bias.reading()};
  }

 private:
  static FloatView either(const Owned<Float16>& half, const Owned<float>& single) {
    return half.numbers.empty() ? FloatView(single.reading()) : FloatView(half.reading());
  }
};

/// Normal numbers; of the mask a quarter zeros, of the bias a tenth -infinity.
/// Lengths from 0 to all; offsets that leave some rows nothing; slopes of both signs; sinks above, among and below
/// the scores, and some that are -infinity.
AttentionTensors make_tensors(Random& random, const AttentionCase& one);

}  // namespace heed::testing
