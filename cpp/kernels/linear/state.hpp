// The state of linear attention in panels of columns, [head_dim][panel], and the tiles that read and write it.
#pragma once

#include "kernels/gemm/register_tile.hpp"
#include "kernels/linear/chunk.hpp"
#include "kernels/linear/linear_task.hpp"
#include "kernels/memory/widen.hpp"

namespace heed::kernels {

/// Rows that a panel of the state is multiplied with, and the values of the tokens before them in their chunk.
struct ChunkRows {
  const float* state;  // [head_dim][panel]
  int head_dim;
  const float* rows;          // [chunk][row]
  const float* chunk_scores;  // [chunk][kChunkScores], how much of each value a row takes
  int row;
  float* values;     // [chunk][panel]
  float* retrieved;  // [chunk][panel], of the rows, from the state before the chunk
  bool has_values;

  [[nodiscard]] const float* scores_of_row(int t) const { return chunk_scores + t * kChunkScores; }
};

/// Adds the values before `first`, weighted for rows [first, first + kRows).
template <int kRows>
[[gnu::always_inline]] inline void add_earlier(const ChunkRows& keys_of_chunk, int first, RegisterTile<kRows>& tile) {
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] = Batch::load_aligned(keys_of_chunk.retrieved + (first + r) * kPanel + vector * kLanes);
    }
  }
  if (!keys_of_chunk.has_values) return;
  accumulate_nt<kRows>(tile, {keys_of_chunk.values, first, {keys_of_chunk.scores_of_row(first), kChunkScores}});
}

/// Adds the value of token `first + s` to the product of a row with the state.
[[gnu::always_inline]] inline void add_value(const ChunkRows& keys_of_chunk, int first, int r, int s,
                                             const Batch* value, Batch* sums) {
  const Batch weight(keys_of_chunk.scores_of_row(first + r)[first + s]);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    sums[vector] = multiply_add(weight, value[vector], sums[vector]);
  }
}

struct OutputRows {
  float* first;  // of token 0 of the chunk, the panel's first column
  std::ptrdiff_t stride;
  const float* factors;
  int width;  // columns that exist
};

/// Writes the outputs of kRows tokens, none of which reads a token after it.
template <int kRows>
[[gnu::noinline]] void output_tile(const ChunkRows& keys_of_chunk, int first, const OutputRows& output) {
  RegisterTile<kRows> tile;
  add_earlier<kRows>(keys_of_chunk, first, tile);
  for (int s = 0; s < kRows && keys_of_chunk.has_values; ++s) {
    const float* const line = keys_of_chunk.values + (first + s) * kPanel;
    const Batch value[] = {Batch::load_aligned(line), Batch::load_aligned(line + kLanes)};
    for (int r = s; r < kRows; ++r) add_value(keys_of_chunk, first, r, s, value, tile[r]);
  }
  for (int r = 0; r < kRows; ++r) {
    const Batch factor(output.factors[first + r]);
    for (int vector = 0; vector * kLanes < output.width; ++vector) {
      const int left = output.width - vector * kLanes;
      store_some(tile[r][vector] * factor, output.first + (first + r) * output.stride + vector * kLanes,
                 left < kLanes ? left : kLanes);
    }
  }
}

/// Turns the values of kRows tokens into delta residuals: each less what the state retrieves for its key, times beta.
template <int kRows>
[[gnu::noinline]] void delta_tile(const ChunkRows& keys_of_chunk, int first, const float* betas) {
  RegisterTile<kRows> tile;
  add_earlier<kRows>(keys_of_chunk, first, tile);
  for (int s = 0; s < kRows; ++s) {
    float* const line = keys_of_chunk.values + (first + s) * kPanel;
    Batch value[kPanelVectors];
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const Batch given = Batch::load_aligned(line + vector * kLanes);
      value[vector] = (given - tile[s][vector]) * Batch(betas[first + s]);
      value[vector].store_aligned(line + vector * kLanes);
    }
    for (int r = s + 1; r < kRows; ++r) add_value(keys_of_chunk, first, r, s, value, tile[r]);
  }
}

inline void multiply_state(const ChunkRows& keys_of_chunk, int count) {
  for_each_tile(count, [&]<int kRows>(int first) {
    const FloatRows rows{keys_of_chunk.rows + first * keys_of_chunk.row, keys_of_chunk.row};
    multiply_nt<kRows>({keys_of_chunk.state, keys_of_chunk.head_dim, rows},
                       {keys_of_chunk.retrieved + first * kPanel, kPanel});
  });
}

inline void write_outputs(const ChunkRows& keys_of_chunk, int count, const OutputRows& output) {
  multiply_state(keys_of_chunk, count);
  for_each_tile(count, [&]<int kRows>(int first) { output_tile<kRows>(keys_of_chunk, first, output); });
}

inline void delta_residuals(const ChunkRows& keys_of_chunk, int count, const float* betas) {
  multiply_state(keys_of_chunk, count);
  for_each_tile(count, [&]<int kRows>(int first) { delta_tile<kRows>(keys_of_chunk, first, betas); });
}

/// kRows lines of the state: the change by its decay, keys x values, and last the state itself, which rounds once.
template <int kRows>
[[gnu::noinline]] void update_state_tile(const TileOperands& input, const StateDecay* decay, float* state) {
  RegisterTile<kRows> tile;
  const auto before = [state](int r, int vector) { return Batch::load_aligned(state + r * kPanel + vector * kLanes); };
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] = decay ? Batch(decay->change[r]) * before(r, vector) : Batch(0.0F);
    }
  }
  accumulate_nn<kRows>(tile, input);
  for (int r = 0; r < kRows; ++r) {
    const Batch kept(decay ? decay->kept[r] : 1.0F);
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] = multiply_add(kept, before(r, vector), tile[r][vector]);
    }
  }
  store_tile<kRows>(tile, state);
}

/// Writes the keys and values of a chunk to the state, with the values as `input.panel`. Null for `decay`: it keeps
/// all.
inline void write_state(const TileOperands& input, int head_dim, const StateDecay* decay, float* state) {
  for_each_tile(head_dim, [&]<int kRows>(int row) {
    const StateDecay own = decay ? decay->from(row) : StateDecay{};
    update_state_tile<kRows>({input.panel, input.depth, {input.rows.data + row, input.rows.stride}},
                             decay ? &own : nullptr, state + row * kPanel);
  });
}

/// Loads the values of `count` tokens from `first` on, in the columns of a panel of which `width` exist.
inline void load_values(const LinearTask& task, int first, int count, int column, int width, float* values) {
  for (int t = 0; t < count; ++t) {
    const FloatRow row = task.value.from((first + t) * task.value_stride);
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const int left = width - vector * kLanes;
      const int some = left < kLanes ? left : kLanes;
      const Batch numbers = some > 0 ? load_widened(row, column + vector * kLanes, some) : Batch(0.0F);
      numbers.store_aligned(values + t * kPanel + vector * kLanes);
    }
  }
}

/// Calls visit(line of the panel, row, column, width) for every line of every panel.
template <class Visit>
inline void for_each_line(const LinearTask& task, float* state, Visit visit) {
  float* line = state;
  for (int column = task.first_column; column < task.end_column; column += kPanel) {
    const int left = task.end_column - column;
    const int width = left < kPanel ? left : kPanel;
    for (int d = 0; d < task.head_dim; ++d) {
      visit(line, d, column, width);
      line += kPanel;
    }
  }
}

inline void load_state(const LinearTask& task, float* state) {
  for_each_line(task, state, [&task](float* line, int d, int column, int width) {
    for (int e = 0; e < kPanel; ++e) {
      line[e] = task.state && e < width ? task.state[d * task.state_stride + column + e] : 0.0F;
    }
  });
}

inline void store_state(const LinearTask& task, float* state) {
  if (!task.new_state) return;
  for_each_line(task, state, [&task](const float* line, int d, int column, int width) {
    float* const target = task.new_state + d * task.new_state_stride + column;
    for (int e = 0; e < width; ++e) target[e] = line[e];
  });
}

/// Loads the column of the state behind those of the values.
inline void load_normaliser(const LinearTask& task, float* normaliser, int row) {
  for (int d = 0; d < row; ++d) {
    const bool is_given = task.state && d < task.head_dim;
    normaliser[d] = is_given ? task.state[d * task.state_stride + task.value_dim] : 0.0F;
  }
}

/// The task with the last columns stores it.
inline void store_normaliser(const LinearTask& task, const float* normaliser) {
  if (!task.new_state || task.end_column < task.value_dim) return;
  for (int d = 0; d < task.head_dim; ++d) {
    task.new_state[d * task.new_state_stride + task.value_dim] = normaliser[d];
  }
}

}  // namespace heed::kernels
