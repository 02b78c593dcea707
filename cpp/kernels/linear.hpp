// Linear attention of one key/value head, a chunk of tokens at a time: all of a chunk's tokens meet the state from
// before it in tiles, and each other one by one, which is the recurrence written out (for the delta rules, the WY form
// of Yang et al. 2024, arXiv 2406.06484, equations 8 to 10). Decays between two tokens are multiplied up on the way
// from one to the other, never divided out, so that no decay is too strong; that of the state over a chunk comes from
// the sum of its logarithms, so that none is too weak.
#pragma once

#include "kernels/linear_rows.hpp"
#include "kernels/linear_state.hpp"

namespace heed::kernels {

/// Room in scratch for one block.
template <class Arch>
struct LinearScratch {
  explicit LinearScratch(const LinearBlock& block)
      : row(static_cast<int>(linear_row_floats(kPanel<Arch>, block.head_dim))), next_(block.scratch) {
    const int columns = block.end_column - block.first_column;
    panel_floats = static_cast<std::ptrdiff_t>(block.head_dim) * kPanel<Arch>;
    panels = (columns + kPanel<Arch> - 1) / kPanel<Arch>;
    state = take(panels * panel_floats);
    keys = take(kChunk * row);
    decays = take(kChunk * row);
    seekers = take(kChunk * row);
    queries = take(static_cast<std::ptrdiff_t>(block.heads) * kChunk * row);
    values = take(kChunk * kPanel<Arch>);
    found = take(kChunk * kPanel<Arch>);
    normaliser = take(row);
    state_decay = {take(row), take(row)};
    seeker_meetings = take(kChunk * kMeetings);
    query_meetings = take(static_cast<std::ptrdiff_t>(block.heads) * kChunk * kMeetings);
    betas = take(kChunk);
    factors = take(static_cast<std::ptrdiff_t>(block.heads) * kChunk);
  }

  int row;
  int panels;
  std::ptrdiff_t panel_floats;
  float* state;            // [panels][head_dim][panel]
  float* keys;             // [chunk][row]
  float* decays;           // [chunk][row]
  float* seekers;          // [chunk][row], keys as they look for what the state holds of them
  float* queries;          // [heads][chunk][row]
  float* values;           // [chunk][panel]
  float* found;            // [chunk][panel]
  float* normaliser;       // [row]
  StateDecay state_decay;  // [row]s, of the chunk
  float* seeker_meetings;  // [chunk][kMeetings]
  float* query_meetings;   // [heads][chunk][kMeetings]
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

/// Keys and queries [start, stop) of a chunk; of either there may be none.
struct ChunkRange {
  int first_key, keys;
  int first_query, queries;
};

template <class Arch>
class LinearAttention {
 public:
  explicit LinearAttention(const LinearBlock& block) : block_(block), scratch_(block) {}

  void run() {
    load_state<Arch>(block_, scratch_.state);
    if (block_.is_kernel) load_normaliser<Arch>(block_, scratch_.normaliser, scratch_.row);
    for (int first = 0; first < block_.keys; first += kChunk) {
      const int count = block_.keys - first < kChunk ? block_.keys - first : kChunk;
      pass({.first_key = first, .keys = count, .first_query = first, .queries = block_.is_causal ? count : 0});
    }
    for (int first = 0; first < block_.queries && !block_.is_causal; first += kChunk) {
      const int count = block_.queries - first < kChunk ? block_.queries - first : kChunk;
      pass({.first_key = 0, .keys = 0, .first_query = first, .queries = count});
    }
    store_state<Arch>(block_, scratch_.state);
    if (block_.is_kernel) store_normaliser(block_, scratch_.normaliser);
  }

 private:
  void pass(const ChunkRange& chunk) {
    const int queries = block_.output ? chunk.queries : 0;
    meet(chunk, queries);
    for (int panel = 0; panel < scratch_.panels; ++panel) {
      float* const state = scratch_.state + panel * scratch_.panel_floats;
      const int column = block_.first_column + panel * kPanel<Arch>;
      const int left = block_.end_column - column;
      const int width = left < kPanel<Arch> ? left : kPanel<Arch>;
      load_values<Arch>(block_, chunk.first_key, chunk.keys, column, width, scratch_.values);
      if (block_.is_delta) keep_missing_values(chunk, state);
      if (queries > 0) read(chunk, queries, state, column, width);
      if (chunk.keys > 0) write(chunk, state);
    }
  }

  /// Everything of a chunk that concerns all columns alike.
  void meet(const ChunkRange& chunk, int queries) {
    const int row = scratch_.row;
    const bool decays = block_.decay != nullptr;
    load_rows<Arch>({block_.key.from(chunk.first_key * block_.key_stride), block_.key_stride, block_.head_dim},
                    chunk.keys, block_.is_kernel, scratch_.keys, row);
    if (decays) load_decays<Arch>(block_, chunk.first_key, chunk.keys, scratch_.decays, scratch_.state_decay.kept, row);
    const MetKeys met{scratch_.keys, decays ? scratch_.decays : nullptr, row};
    if (block_.is_delta) {
      for (int t = 0; t < chunk.keys; ++t) {
        float* const seeker = scratch_.seekers + t * row;
        copy_row<Arch>(scratch_.keys + t * row, seeker, row);
        if (decays) fade_row<Arch>(seeker, scratch_.decays + t * row, row);
        scratch_.betas[t] = block_.beta ? block_.beta[(chunk.first_key + t) * block_.beta_stride] : 1.0F;
      }
      walk(scratch_.seekers, met, chunk.keys, 0, scratch_.seeker_meetings);
    }
    for (int head = 0; head < block_.heads && queries > 0; ++head) {
      float* const rows = scratch_.queries + static_cast<std::ptrdiff_t>(head) * kChunk * row;
      float* const meetings = scratch_.query_meetings + static_cast<std::ptrdiff_t>(head) * kChunk * kMeetings;
      const std::ptrdiff_t first = head * block_.query_head_stride + chunk.first_query * block_.query_stride;
      load_rows<Arch>({block_.query.from(first), block_.query_stride, block_.head_dim}, queries, block_.is_kernel, rows,
                      row);
      if (chunk.keys > 0) walk(rows, met, queries, 1, meetings);
      for (int t = 0; t < queries; ++t) {
        const int seen = chunk.keys > 0 ? t + 1 : 0;
        scratch_.factors[head * kChunk + t] = factor_of(rows + t * row, meetings + t * kMeetings, seen);
      }
    }
    if (decays) {
      fade_keys<Arch>(scratch_.keys, scratch_.decays, chunk.keys, row);
      find_state_decay<Arch>(scratch_.state_decay, row);
    }
    for (int s = 0; s < chunk.keys && block_.is_kernel; ++s) {
      add_row<Arch>(scratch_.keys + s * row, scratch_.normaliser, row);
    }
  }

  static void walk(float* rows, const MetKeys& met, int count, int first_count, float* meetings) {
    if (met.decays) {
      walk_back<Arch, true>(rows, met, count, first_count, meetings);
    } else {
      walk_back<Arch, false>(rows, met, count, first_count, meetings);
    }
  }

  /// Of a query's output: the scale, or one by the sum of its weights. No weight at all gives no output.
  float factor_of(const float* query, const float* meetings, int seen) const {
    if (!block_.is_kernel) return block_.scale;
    float sum = dot<Arch>(query, scratch_.normaliser, scratch_.row);
    for (int s = 0; s < seen; ++s) sum += meetings[s];
    return sum == 0.0F ? 0.0F : 1.0F / sum;
  }

  void keep_missing_values(const ChunkRange& chunk, const float* state) {
    const MeetingRows met{state,        block_.head_dim, scratch_.seekers, scratch_.seeker_meetings,
                          scratch_.row, scratch_.values, scratch_.found,   true};
    keep_missing<Arch>(met, chunk.keys, scratch_.betas);
  }

  void read(const ChunkRange& chunk, int queries, const float* state, int column, int width) {
    for (int head = 0; head < block_.heads; ++head) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(head) * kChunk;
      const MeetingRows met{state,
                            block_.head_dim,
                            scratch_.queries + first * scratch_.row,
                            scratch_.query_meetings + first * kMeetings,
                            scratch_.row,
                            scratch_.values,
                            scratch_.found,
                            chunk.keys > 0};
      float* const output =
          block_.output + head * block_.output_head_stride + chunk.first_query * block_.output_stride + column;
      write_outputs<Arch>(met, queries, {output, block_.output_stride, scratch_.factors + first, width});
    }
  }

  void write(const ChunkRange& chunk, float* state) {
    write_state<Arch>({scratch_.values, chunk.keys, scratch_.keys, scratch_.row}, block_.head_dim,
                      block_.decay ? &scratch_.state_decay : nullptr, state);
  }

  const LinearBlock& block_;
  LinearScratch<Arch> scratch_;
};

template <class Arch>
void attend_linearly(const LinearBlock& block) {
  LinearAttention<Arch>(block).run();
}

}  // namespace heed::kernels
