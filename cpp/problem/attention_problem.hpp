// Validates the inputs and options of attention and states what is left to compute.
// Chooses nothing and computes nothing: see plan/ and kernels/.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// Which weights are kept after the softmax, and what they are multiplied with.
struct DropoutRule {
  bool is_on;
  std::uint32_t seed;
  std::uint32_t limit;  // those whose random number of 32 bits is above
  float factor;
};

/// A well-formed attention call: every size positive or zero, every view
/// consistent, every default filled in. mask and bias are broadcast to
/// [B, H, L, S] by strides of 0, and so is options.blocks.keep to the blocks of the whole.
struct AttentionProblem {
  Index batch;
  Index query_heads;
  Index kv_heads;
  Index groups;  // sets of query heads that read the same keys: kv_heads of them, or query_heads if each has its own
  Index query_length;
  Index key_length;
  Index head_dim;   // of queries and keys after the projections of the score function
  DType key_dtype;  // of keys, likewise: f32 where they are projected
  Index value_dim;

  SliceOf whole;  // what this is a slice of: where it is none, itself

  float scale;
  Index top_k;      // 0: all; for a hard maximum 1
  Index key_limit;  // keys from this one on are masked for every query
  QueryRange weight_rows;
  DropoutRule dropout;

  AttentionInputs inputs;
  AttentionOptions options;
  AttentionOutputs outputs;

  [[nodiscard]] Index heads_per_group() const { return query_heads / groups; }
  /// The head of K or V, of `heads`, that a group reads.
  [[nodiscard]] Index head_of(Index group, Index heads) const { return group / (groups / heads); }
};

/// Fills `problem`, or says which rule the call breaks.
Status make_attention_problem(const AttentionInputs& inputs, const AttentionOptions& options,
                              const AttentionOutputs& outputs, AttentionProblem& problem);

}  // namespace heed
