// The options of attention in groups: what callers set, calls carry, problems check and kernels read. In WebAssembly a
// pointer is a word.
#pragma once

#include <cstdint>

#include "heed/fields.hpp"
#include "heed/vocabulary.hpp"

namespace heed {

/// What a score becomes before the masks.
struct ScoreOptions {
  float softcap = 0.0F;                 // c: scores become c * tanh(score / c); 0: none
  const float* alibi_slopes = nullptr;  // one a query head: adds -slope * |query's position - key|; null: none

  HEED_FIELDS(softcap, alibi_slopes)

  [[nodiscard]] bool are_none() const { return softcap == 0.0F && alibi_slopes == nullptr; }
};

inline constexpr std::int32_t kOpen = -1;  // a side of a window, or a range of rows, without an end

/// The keys that a query sees around its own position, both ends included.
struct Window {
  std::int32_t left = kOpen;
  std::int32_t right = kOpen;
};

/// Sequences of different lengths, one after the other along the length axes of a batch of
/// one. Sequence n has the queries from query_starts[n] on, up to query_starts[n + 1], and
/// attends to its own keys alone, likewise. Positions count from its own first query and key.
struct PackedSequences {
  const std::int32_t* query_starts = nullptr;  // count + 1 numbers from 0 to L; null: not packed
  const std::int32_t* key_starts = nullptr;    // from 0 to S; null: query_starts
  std::int32_t count = 0;

  [[nodiscard]] bool are_given() const { return query_starts != nullptr; }
  [[nodiscard]] const std::int32_t* keys() const { return key_starts == nullptr ? query_starts : key_starts; }
};

/// Which range of keys a query sees.
struct MaskOptions {
  Causal causal = Causal::none;
  Window window;

  // Numbers of the caller's, one per batch entry; null: not given. Queries and keys from a
  // length on are padding. An offset is the position of query 0 among the keys, for causal
  // and window; it overrides the alignment, which otherwise goes by the lengths. With packed
  // sequences there are no lengths, and one offset per sequence.
  const std::int32_t* query_lengths = nullptr;
  const std::int32_t* key_lengths = nullptr;
  const std::int32_t* query_offsets = nullptr;
  PackedSequences sequences;

  HEED_FIELDS(causal, window.left, window.right, query_lengths, key_lengths, query_offsets, sequences.query_starts,
              sequences.key_starts, sequences.count)
};

/// After the softmax, each weight becomes an exact zero with probability p and is else divided by
/// 1 - p. Which, is a hash of seed, batch entry, head, query and key: see docs/semantics/attention.md.
struct Dropout {
  float p = 0.0F;  // 0 to 1; with 1, all weights are zero
  std::uint32_t seed = 0;
};

/// What turns scores into weights.
struct WeightOptions {
  Normalizer normalizer = Normalizer::softmax;
  std::int32_t top_k =
      0;            // the best keys of each query that are kept, the first of equals; the others are masked; 0: all
  Dropout dropout;  // of output and weights; the other results are those without
  const float* sinks = nullptr;  // one a query head: a logit that joins the denominator only; null: none

  HEED_FIELDS(normalizer, top_k, dropout.p, dropout.seed, sinks)
};

}  // namespace heed
