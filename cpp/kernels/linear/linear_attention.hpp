// Linear attention of one key/value head, a chunk of tokens at a time: all of a
// chunk's tokens read the state from before it in tiles, and each other one by
// one, which is the recurrence written out (for the delta rules, the WY form of
// Yang et al. 2024, arXiv 2406.06484, equations 8 to 10). Decays between two
// tokens are multiplied up on the way from one to the other, never divided out,
// so that no decay is too strong; that of the state over a chunk comes from the
// sum of its logarithms, so that none is too weak.
#pragma once

#include "kernels/linear/chunk.hpp"
#include "kernels/linear/state.hpp"

namespace heed::kernels {

/// The scratch memory of one task.
struct LinearScratch {
  explicit LinearScratch(const LinearTask& task)
      : row(static_cast<int>(linear_row_floats(kPanel, task.head_dim))), next_(task.scratch) {
    const int columns = task.end_column - task.first_column;
    panel_floats = static_cast<std::ptrdiff_t>(task.head_dim) * kPanel;
    panels = (columns + kPanel - 1) / kPanel;
    state = take(panels * panel_floats);
    keys = take(kChunk * row);
    decays = take(kChunk * row);
    decayed_keys = take(kChunk * row);
    queries = take(static_cast<std::ptrdiff_t>(task.heads) * kChunk * row);
    values = take(kChunk * kPanel);
    retrieved = take(kChunk * kPanel);
    normaliser = take(row);
    state_decay = {take(row), take(row)};
    key_scores = take(kChunk * kChunkScores);
    query_scores = take(static_cast<std::ptrdiff_t>(task.heads) * kChunk * kChunkScores);
    betas = take(kChunk);
    factors = take(static_cast<std::ptrdiff_t>(task.heads) * kChunk);
  }

  int row;
  int panels;
  std::ptrdiff_t panel_floats;
  float* state;            // [panels][head_dim][panel]
  float* keys;             // [chunk][row]
  float* decays;           // [chunk][row]
  float* decayed_keys;     // [chunk][row], keys as they retrieve values from the
                           // state before the chunk
  float* queries;          // [heads][chunk][row]
  float* values;           // [chunk][panel]
  float* retrieved;        // [chunk][panel]
  float* normaliser;       // [row]
  StateDecay state_decay;  // [row]s, of the chunk
  float* key_scores;       // [chunk][kChunkScores]
  float* query_scores;     // [heads][chunk][kChunkScores]
  float* betas;            // [chunk]
  float* factors;          // [heads][chunk], of the outputs

 private:
  float* take(std::ptrdiff_t floats) {
    float* const taken = next_;
    next_ += floats;
    return taken;
  }

  float* next_;
};

class LinearAttention {
 public:
  explicit LinearAttention(const LinearTask& task) : task_(task), scratch_(task) {}

  void run() {
    load_state(task_, scratch_.state);
    if (task_.is_kernel) load_normaliser(task_, scratch_.normaliser, scratch_.row);
    for (int first = 0; first < task_.keys; first += kChunk) {
      const int count = task_.keys - first < kChunk ? task_.keys - first : kChunk;
      pass({.first_key = first, .keys = count, .first_query = first, .queries = task_.is_causal ? count : 0});
    }
    for (int first = 0; first < task_.queries && !task_.is_causal; first += kChunk) {
      const int count = task_.queries - first < kChunk ? task_.queries - first : kChunk;
      pass({.first_key = 0, .keys = 0, .first_query = first, .queries = count});
    }
    store_state(task_, scratch_.state);
    if (task_.is_kernel) store_normaliser(task_, scratch_.normaliser);
  }

 private:
  void pass(const ChunkRange& chunk) {
    const int queries = task_.output ? chunk.queries : 0;
    score(chunk, queries);
    for (int panel = 0; panel < scratch_.panels; ++panel) {
      float* const state = scratch_.state + panel * scratch_.panel_floats;
      const int column = task_.first_column + panel * kPanel;
      const int left = task_.end_column - column;
      const int width = left < kPanel ? left : kPanel;
      load_values(task_, chunk.first_key, chunk.keys, column, width, scratch_.values);
      if (task_.is_delta) write_delta_residuals(chunk, state);
      if (queries > 0) read(chunk, queries, state, column, width);
      if (chunk.keys > 0) write(chunk, state);
    }
  }

  /// Computes everything of a chunk that concerns all columns alike.
  void score(const ChunkRange& chunk, int queries) {
    const int row = scratch_.row;
    const bool decays = task_.decay != nullptr;
    load_rows({task_.key.from(chunk.first_key * task_.key_stride), task_.key_stride, task_.head_dim}, chunk.keys,
              task_.is_kernel, scratch_.keys, row);
    if (decays) load_decays(task_, chunk.first_key, chunk.keys, scratch_.decays, scratch_.state_decay.kept, row);
    const ChunkKeys keys_of_chunk{scratch_.keys, decays ? scratch_.decays : nullptr, row};
    if (task_.is_delta) {
      for (int t = 0; t < chunk.keys; ++t) {
        float* const decayed_key = scratch_.decayed_keys + t * row;
        copy_row(scratch_.keys + t * row, decayed_key, row);
        if (decays) decay_row(decayed_key, scratch_.decays + t * row, row);
        scratch_.betas[t] = task_.beta ? task_.beta[(chunk.first_key + t) * task_.beta_stride] : 1.0F;
      }
      score_rows(scratch_.decayed_keys, keys_of_chunk, chunk.keys, 0, scratch_.key_scores);
    }
    for (int head = 0; head < task_.heads && queries > 0; ++head) {
      float* const rows = scratch_.queries + static_cast<std::ptrdiff_t>(head) * kChunk * row;
      float* const chunk_scores = scratch_.query_scores + static_cast<std::ptrdiff_t>(head) * kChunk * kChunkScores;
      const std::ptrdiff_t first = head * task_.query_head_stride + chunk.first_query * task_.query_stride;
      load_rows({task_.query.from(first), task_.query_stride, task_.head_dim}, queries, task_.is_kernel, rows, row);
      if (chunk.keys > 0) score_rows(rows, keys_of_chunk, queries, 1, chunk_scores);
      for (int t = 0; t < queries; ++t) {
        const int seen = chunk.keys > 0 ? t + 1 : 0;
        scratch_.factors[head * kChunk + t] = factor_of(rows + t * row, chunk_scores + t * kChunkScores, seen);
      }
    }
    if (decays) {
      decay_keys(scratch_.keys, scratch_.decays, chunk.keys, row);
      find_state_decay(scratch_.state_decay, row);
    }
    for (int s = 0; s < chunk.keys && task_.is_kernel; ++s) {
      add_row(scratch_.keys + s * row, scratch_.normaliser, row);
    }
  }

  static void score_rows(float* rows, const ChunkKeys& keys_of_chunk, int count, int first_count, float* chunk_scores) {
    if (keys_of_chunk.decays) {
      score_chunk_backwards<true>(rows, keys_of_chunk, count, first_count, chunk_scores);
    } else {
      score_chunk_backwards<false>(rows, keys_of_chunk, count, first_count, chunk_scores);
    }
  }

  /// The factor of the output of a query: the scale, or one by the sum of its weights. No weight at all gives no
  /// output.
  float factor_of(const float* query, const float* chunk_scores, int seen) const {
    if (!task_.is_kernel) return task_.scale;
    float sum = dot(query, scratch_.normaliser, scratch_.row);
    for (int s = 0; s < seen; ++s) sum += chunk_scores[s];
    return sum == 0.0F ? 0.0F : 1.0F / sum;
  }

  void write_delta_residuals(const ChunkRange& chunk, const float* state) {
    const ChunkRows keys_of_chunk{state,        task_.head_dim,  scratch_.decayed_keys, scratch_.key_scores,
                                  scratch_.row, scratch_.values, scratch_.retrieved,    true};
    delta_residuals(keys_of_chunk, chunk.keys, scratch_.betas);
  }

  void read(const ChunkRange& chunk, int queries, const float* state, int column, int width) {
    for (int head = 0; head < task_.heads; ++head) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(head) * kChunk;
      const ChunkRows keys_of_chunk{state,
                                    task_.head_dim,
                                    scratch_.queries + first * scratch_.row,
                                    scratch_.query_scores + first * kChunkScores,
                                    scratch_.row,
                                    scratch_.values,
                                    scratch_.retrieved,
                                    chunk.keys > 0};
      float* const output =
          task_.output + head * task_.output_head_stride + chunk.first_query * task_.output_stride + column;
      write_outputs(keys_of_chunk, queries, {output, task_.output_stride, scratch_.factors + first, width});
    }
  }

  void write(const ChunkRange& chunk, float* state) {
    write_state({scratch_.values, chunk.keys, {scratch_.keys, scratch_.row}}, task_.head_dim,
                task_.decay ? &scratch_.state_decay : nullptr, state);
  }

  const LinearTask& task_;
  LinearScratch scratch_;
};

void attend_linearly(const LinearTask& task) { LinearAttention(task).run(); }

}  // namespace heed::kernels
