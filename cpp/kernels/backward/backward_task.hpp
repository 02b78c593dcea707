// What the backward kernel is given beside the rows, keys and values of an AttentionTask: where gradients come from and
// where they go. Plain data.
#pragma once

#include <cstddef>

#include "heed/rounding.hpp"
#include "kernels/task/attention_task.hpp"

namespace heed::kernels {

/// What the backward pass reads and writes of a query. A null pointer leaves a field out.
struct BackwardRow {
  const float* output_gradient;   // value_dim numbers
  const float* weights_gradient;  // one number a key, from key 0 on
  const float* output;            // as output_gradient; null: `delta` is given
  float delta;                    // D of flash attention's backward: dS = P (dP - delta) for a softmax
  float key_factor;               // multiplies the query where it adds to the gradients of keys
  float* bias_gradient;           // of key 0; added to
};

/// Score functions that are no products of a query and a key need two sums over the keys of a query beside dQ. Line 0
/// sums the gradients of a gate's argument, line 1 raw scores times their gradients. Both lines lie behind the head_dim
/// lines of the query's gradient. Of a gate a key has the first of them too, summed over its queries:
/// BackwardTask::key_sums.
inline constexpr int kSumLines = 2;

/// A function of the caller's, of scores or of weights, in the backward pass.
struct FunctionSlopes {
  const Expression* slope;  // the derivative; null: not wanted
  const TableSlope* reads;
  int read_count;          // 0: no gradients of tables are wanted
  float* table_gradients;  // of all tables

  [[nodiscard]] bool are_wanted() const { return slope || read_count > 0; }
};

/// Numbers of a row of key or value gradients, in whole panels.
constexpr int padded_dim(std::int64_t dim) { return static_cast<int>(round_up(dim, kPanel)); }

/// What rows of an AttentionTask add to all gradients. Their RowStats say how scores become weights: see BackwardLanes.
/// They see no keys before `first_key`.
struct BackwardTask {
  const BackwardRow* rows;
  int first_key;
  bool differentiates_weights;  // false: nobody asks for their gradients, as where they are constants
  std::ptrdiff_t bias_gradient_stride;
  int sum_lines;          // 0 or kSumLines
  float* query_gradient;  // [panels][head_dim + sum_lines][kPanel], not yet times the scale; null: not wanted
  float* key_gradient;    // [key][padded_dim(head_dim)], from first_key on; null: not wanted
  float* value_gradient;  // [key][padded_dim(value_dim)], likewise
  float* key_sums;        // [key], likewise; null: there is no gate
  float scale;            // of the scores
  float* pair_gradient;   // [head_dim], of what weighs the terms of additive scores; null: not wanted
  FunctionSlopes of_scores;
  FunctionSlopes of_weights;
  const Expression* weight_mod;  // null: none
  float* scratch;                // backward_scratch_floats(...), aligned as all of these are
};

/// For the panel at work its products with V, raw scores and indices of tables, [key_block][panel] each; for all panels
/// the weights and the gradients of the scores, likewise; and the rows of the queries and output gradients.
constexpr std::int64_t backward_scratch_floats(std::int64_t head_dim, std::int64_t value_dim, int key_block) {
  constexpr std::int64_t panels = kMaxRows / kPanel;
  return (3 + 2 * panels) * kPanel * std::int64_t{key_block} +
         std::int64_t{kMaxRows} * (padded_dim(head_dim) + padded_dim(value_dim));
}

/// What a gradient of a query or a key has beside those of its products.
struct GradientEpilogue {
  KvRow along;           // the row of a cosine, which does not change along it; absent: none
  float inverse_length;  // of that row
  const float* gate;     // the weights of a gate; null: none
};

struct QueryGradientRow {
  KvRow query;
  float* gradient;  // null: not wanted
  float factor;     // multiplies the sums
  GradientEpilogue epilogue;
  float* sums;    // [kSumLines], written where there are any
  float product;  // written: of query and gradient, or what is in place of it among the sums
};

/// The gradients of the queries of one panel.
struct QueryGradientTask {
  float* partials;  // [dim + sum_lines][kPanel] of each split of the keys, the first of which becomes the sum
  std::ptrdiff_t split_stride;
  int splits;
  int dim;
  int sum_lines;
  QueryGradientRow* rows;
  int row_count;
};

}  // namespace heed::kernels
