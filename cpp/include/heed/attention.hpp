// Attention: normalize(scale * score(Q, K) + bias, over the keys that the masks leave) V.
#pragma once

#include <cstdint>
#include <optional>

#include "heed/attention_options.hpp"
#include "heed/executor.hpp"
#include "heed/expressions.hpp"
#include "heed/score.hpp"
#include "heed/status.hpp"
#include "heed/tensor_view.hpp"
#include "heed/vocabulary.hpp"

namespace heed {

/// B batch, H query heads, G key/value heads (H a multiple of G; query head h
/// reads head h / (H / G)), L queries, S keys, D head_dim, E value_dim.
struct AttentionInputs {
  FloatView query;                      // [B, H, L, D]; results are f32 whatever the type
  FloatView key;                        // [B, G, S, D]; another D than the query's where the score's matrices say so
  FloatView value;                      // [B, G, S, E]
  TensorView<const std::uint8_t> mask;  // optional, broadcasts to [B, H, L, S]; nonzero = attend
  TensorView<const float> bias;         // optional, broadcasts likewise, added to the scores
};

/// A block-sparse mask: query i sees key j only where keep is not 0 at [i / queries, j / keys]. Blocks that are not
/// kept are not computed.
struct SparseBlocks {
  TensorView<const std::uint8_t>
      keep;           // optional, broadcasts to [B, H, L / queries, S / keys], rounded up; of a slice the whole's
  Index queries = 1;  // of a block
  Index keys = 1;     // likewise; fewer than 16 are computed 16 and more at a time
};

/// Names the larger call that a call is a slice of: some of its batch entries, its key/value heads with all
/// the query heads that read them, and its queries. The views are the slice's own. What goes by batch
/// entry, query head or position (lengths, offsets, sequences, slopes, sinks, the numbering of
/// dropout) is the whole's, and so is the choice of kernels: slices give the bits of the whole. The
/// queries of a decode call share their reads of the keys and cannot be parted.
struct SliceOf {
  Index first_batch;
  Index first_head;  // a query head
  Index first_query;
  Index batch;  // sizes of the whole
  Index query_heads;
  Index query_length;
};

struct AttentionOptions : ScoreOptions, MaskOptions, WeightOptions {
  ScoreFunction score;
  std::optional<float> scale;  // default 1 / sqrt(D) for scaled_dot, 1 for other scores
  SparseBlocks blocks;
  Expressions expressions;
  std::optional<SliceOf> slice_of;  // absent: the call is whole

  // Once set, the call ends soon with StatusCode::aborted, its outputs incomplete.
  const StopFlag* stop = nullptr;
};

/// Queries [begin, end).
struct QueryRange {
  Index begin;
  Index end;
};

/// Any of them may be absent; each is written in whole.
struct AttentionOutputs {
  TensorView<float> output;        // [B, H, L, E]
  TensorView<float> weights;       // [B, H, L, S], or [B, H, end - begin, S]: see weight_rows
  TensorView<float> log_sum_exp;   // [B, H, L, 1], natural logarithm; of a softmax only
  TensorView<float> scores;        // [B, H, L, S]
  TensorView<float> entropy;       // [B, H, L, 1], of the weights, natural logarithm; where they add up to 1
  TensorView<float> mean_weights;  // [B, 1, L, S], over the query heads; costs the scores a second time
  ScoreStage score_stage = ScoreStage::raw;
  std::optional<QueryRange> weight_rows;  // the queries, of the call's own, whose weights are wanted; absent: all
};

/// Computes the outputs asked for. Masks are selections: a masked key or value
/// is never read into a result, NaN or not. A bias of -infinity masks. A row
/// with no key left gives zeros, and -infinity for log_sum_exp. A mask or bias
/// whose last axis is neither 1 nor S but shorter masks the keys beyond it.
/// The last axis of query, key, value, output and weights must be contiguous.
/// Scratch grows with D + E, never with L * S; for mean_weights also with B * H * L, where
/// decode splits the keys with B * H * E times the splits, with top_k, and by what a score function makes of queries
/// and keys once a call: see operations/attention/prepare_scores.hpp. f16 is widened block by block, and results are
/// those of f32. The views must stay valid for the call; nothing is kept. Fails without writing when an input breaks a
/// rule.
Status attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                 Executor& executor);

}  // namespace heed
