// What the kernel of linear attention is given: one KV head, the query heads that read it and some columns of the
// state. Plain data.
#pragma once

#include "heed/rounding.hpp"
#include "kernels/memory/kv_rows.hpp"

namespace heed::kernels {

/// Tokens of a chunk: whole tiles of 4 or 6 rows. Within a chunk every token is multiplied with every earlier one,
/// which is more work the longer it is; from chunk to chunk the state is read and written, less often the longer it is.
inline constexpr int kChunk = 12;

/// The stride of the scores of a row with the keys of its chunk.
inline constexpr int kChunkScores = kChunk;

struct LinearTask {
  FloatRow query;  // [heads][queries], head_dim numbers each
  std::ptrdiff_t query_stride, query_head_stride;
  FloatRow key;
  std::ptrdiff_t key_stride;
  FloatRow value;
  std::ptrdiff_t value_stride;
  const float* decay;  // null: none
  std::ptrdiff_t decay_stride;
  const float* beta;  // null: ones
  std::ptrdiff_t beta_stride;
  const float* state;  // of before; null: zeros
  std::ptrdiff_t state_stride;

  float* output;  // null: not wanted
  std::ptrdiff_t output_stride, output_head_stride;
  float* new_state;  // null: not wanted
  std::ptrdiff_t new_state_stride;

  int heads;
  int queries;
  int keys;
  int head_dim;
  int value_dim;
  int first_column;  // of the state that are computed, of value_dim: a multiple of the panel
  int end_column;
  bool is_causal;       // as many queries as keys
  bool has_wide_decay;  // one a dimension, else one for all
  bool is_delta;        // writes delta residuals: values less what the state retrieves for the key, times beta
  bool is_kernel;       // elu + 1 of queries and keys, and a normaliser, the state's column value_dim
  float scale;

  float* scratch;  // linear_scratch_floats(...), aligned to kScratchAlignment
};

/// The length of a row in scratch memory.
constexpr std::int64_t linear_row_floats(int panel, std::int64_t head_dim) { return round_up(head_dim, panel); }

/// The scratch memory of one worker: the columns of the state in panels [head_dim][panel]; rows of the keys of the
/// chunk, their decays, decayed keys, and queries; their scores with every key; the values of a panel and what is
/// retrieved from the state; the normaliser and the decay of the whole chunk.
constexpr std::int64_t linear_scratch_floats(int panel, std::int64_t columns, std::int64_t head_dim,
                                             std::int64_t heads) {
  const std::int64_t row = linear_row_floats(panel, head_dim);
  const std::int64_t state = round_up(columns, panel) * head_dim;
  const std::int64_t rows = (3 + heads) * kChunk * row;
  const std::int64_t chunk_scores = (1 + heads) * kChunk * (kChunk + 4);
  const std::int64_t of_panel = std::int64_t{2} * kChunk * panel;
  return round_up(state + rows + chunk_scores + of_panel + 3 * row, 16);
}

}  // namespace heed::kernels
