// The state of linear attention in panels of columns, [head_dim][panel], and the tiles that read and write it.
#pragma once

#include "kernels/broadcast_tile.hpp"
#include "kernels/half.hpp"
#include "kernels/linear_block.hpp"
#include "kernels/linear_rows.hpp"

namespace heed::kernels {

/// Rows that meet a panel of the state, and the values of the tokens before them in their chunk.
struct MeetingRows {
  const float* state;  // [head_dim][panel]
  int head_dim;
  const float* rows;      // [chunk][row]
  const float* meetings;  // [chunk][kMeetings], how much of each value a row takes
  int row;
  float* values;  // [chunk][panel]
  float* found;   // [chunk][panel]
  bool has_values;

  [[nodiscard]] const float* meetings_of(int t) const { return meetings + t * kMeetings; }
};

/// What kRows rows find in the state. Alone in a function, for the reason that for_each_tile() has.
template <class Arch, int kRows>
[[gnu::noinline]] void find_tile(const TileInput& input, float* found) {
  const float* row[kRows];
  for (int r = 0; r < kRows; ++r) row[r] = input.numbers + r * input.stride;
  Tile<Arch, kRows> tile;
  for (auto& sums : tile) sums[0] = sums[1] = Batch<Arch>(0.0F);
  accumulate<Arch, kRows>(tile, input.depth, input.panel, [&row](int r, int k) { return row[r] + k; });
  store_tile<Arch, kRows>(tile, found);
}

/// Adds what rows [first, first + kRows) take of the values before `first`.
template <class Arch, int kRows>
[[gnu::always_inline]] inline void add_earlier(const MeetingRows& met, int first, Tile<Arch, kRows>& tile) {
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] = Batch<Arch>::load_aligned(met.found + (first + r) * kPanel<Arch> + vector * kLanes<Arch>);
    }
  }
  if (!met.has_values) return;
  const float* const meetings = met.meetings_of(first);
  accumulate<Arch, kRows>(tile, first, met.values, [meetings](int r, int k) { return meetings + r * kMeetings + k; });
}

/// Adds the value of token `first + s` to what a row of the tile found.
template <class Arch>
[[gnu::always_inline]] inline void add_value(const MeetingRows& met, int first, int r, int s, const Batch<Arch>* value,
                                             Batch<Arch>* sums) {
  const Batch<Arch> weight(met.meetings_of(first + r)[first + s]);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    sums[vector] = multiply_add<Arch>(weight, value[vector], sums[vector]);
  }
}

template <class Arch>
struct OutputRows {
  float* first;  // of token 0 of the chunk, the panel's first column
  std::ptrdiff_t stride;
  const float* factors;
  int width;  // columns that exist
};

/// Outputs of kRows tokens, none of which meets a token after it.
template <class Arch, int kRows>
[[gnu::noinline]] void output_tile(const MeetingRows& met, int first, const OutputRows<Arch>& output) {
  Tile<Arch, kRows> tile;
  add_earlier<Arch, kRows>(met, first, tile);
  for (int s = 0; s < kRows && met.has_values; ++s) {
    const float* const line = met.values + (first + s) * kPanel<Arch>;
    const Batch<Arch> value[] = {Batch<Arch>::load_aligned(line), Batch<Arch>::load_aligned(line + kLanes<Arch>)};
    for (int r = s; r < kRows; ++r) add_value<Arch>(met, first, r, s, value, tile[r]);
  }
  for (int r = 0; r < kRows; ++r) {
    const Batch<Arch> factor(output.factors[first + r]);
    for (int vector = 0; vector * kLanes<Arch> < output.width; ++vector) {
      const int left = output.width - vector * kLanes<Arch>;
      store_some<Arch>(tile[r][vector] * factor, output.first + (first + r) * output.stride + vector * kLanes<Arch>,
                       left < kLanes<Arch> ? left : kLanes<Arch>);
    }
  }
}

/// Makes of the values of kRows tokens what is missing of them in the state when their keys arrive, times beta.
template <class Arch, int kRows>
[[gnu::noinline]] void missing_tile(const MeetingRows& met, int first, const float* betas) {
  Tile<Arch, kRows> tile;
  add_earlier<Arch, kRows>(met, first, tile);
  for (int s = 0; s < kRows; ++s) {
    float* const line = met.values + (first + s) * kPanel<Arch>;
    Batch<Arch> value[kPanelVectors];
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const Batch<Arch> given = Batch<Arch>::load_aligned(line + vector * kLanes<Arch>);
      value[vector] = (given - tile[s][vector]) * Batch<Arch>(betas[first + s]);
      value[vector].store_aligned(line + vector * kLanes<Arch>);
    }
    for (int r = s + 1; r < kRows; ++r) add_value<Arch>(met, first, r, s, value, tile[r]);
  }
}

template <class Arch>
inline void find_all(const MeetingRows& met, int count) {
  for_each_tile(count, [&]<int kRows>(int first) {
    const TileInput input{met.state, met.head_dim, met.rows + first * met.row, met.row};
    find_tile<Arch, kRows>(input, met.found + first * kPanel<Arch>);
  });
}

template <class Arch>
inline void write_outputs(const MeetingRows& met, int count, const OutputRows<Arch>& output) {
  find_all<Arch>(met, count);
  for_each_tile(count, [&]<int kRows>(int first) { output_tile<Arch, kRows>(met, first, output); });
}

template <class Arch>
inline void keep_missing(const MeetingRows& met, int count, const float* betas) {
  find_all<Arch>(met, count);
  for_each_tile(count, [&]<int kRows>(int first) { missing_tile<Arch, kRows>(met, first, betas); });
}

/// kRows lines of the state: what its decay changes, keys x values, and last the state itself, which rounds once.
template <class Arch, int kRows>
[[gnu::noinline]] void write_tile(const TileInput& input, const StateDecay* decay, float* state) {
  Tile<Arch, kRows> tile;
  const auto before = [state](int r, int vector) {
    return Batch<Arch>::load_aligned(state + r * kPanel<Arch> + vector * kLanes<Arch>);
  };
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] = decay ? Batch<Arch>(decay->change[r]) * before(r, vector) : Batch<Arch>(0.0F);
    }
  }
  const float* const keys = input.numbers;
  const std::ptrdiff_t stride = input.stride;
  accumulate<Arch, kRows>(tile, input.depth, input.panel,
                          [keys, stride](int r, int k) { return keys + k * stride + r; });
  for (int r = 0; r < kRows; ++r) {
    const Batch<Arch> kept(decay ? decay->kept[r] : 1.0F);
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] = multiply_add<Arch>(kept, before(r, vector), tile[r][vector]);
    }
  }
  store_tile<Arch, kRows>(tile, state);
}

/// Writes a chunk's keys and values, `input.panel`, to the state. Null for `decay`: it keeps all.
template <class Arch>
inline void write_state(const TileInput& input, int head_dim, const StateDecay* decay, float* state) {
  for_each_tile(head_dim, [&]<int kRows>(int row) {
    const StateDecay own = decay ? decay->from(row) : StateDecay{};
    write_tile<Arch, kRows>({input.panel, input.depth, input.numbers + row, input.stride}, decay ? &own : nullptr,
                            state + row * kPanel<Arch>);
  });
}

/// Values of `count` tokens from `first` on, in the columns of a panel of which `width` exist.
template <class Arch>
inline void load_values(const LinearBlock& block, int first, int count, int column, int width, float* values) {
  for (int t = 0; t < count; ++t) {
    const Numbers row = block.value.from((first + t) * block.value_stride);
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const int left = width - vector * kLanes<Arch>;
      const int some = left < kLanes<Arch> ? left : kLanes<Arch>;
      const Batch<Arch> numbers =
          some > 0 ? load_numbers<Arch>(row, column + vector * kLanes<Arch>, some) : Batch<Arch>(0.0F);
      numbers.store_aligned(values + t * kPanel<Arch> + vector * kLanes<Arch>);
    }
  }
}

/// Calls visit(panel's line, row, column, width) for every line of every panel.
template <class Arch, class Visit>
inline void for_each_line(const LinearBlock& block, float* state, Visit visit) {
  float* line = state;
  for (int column = block.first_column; column < block.end_column; column += kPanel<Arch>) {
    const int left = block.end_column - column;
    const int width = left < kPanel<Arch> ? left : kPanel<Arch>;
    for (int d = 0; d < block.head_dim; ++d) {
      visit(line, d, column, width);
      line += kPanel<Arch>;
    }
  }
}

template <class Arch>
inline void load_state(const LinearBlock& block, float* state) {
  for_each_line<Arch>(block, state, [&block](float* line, int d, int column, int width) {
    for (int e = 0; e < kPanel<Arch>; ++e) {
      line[e] = block.state && e < width ? block.state[d * block.state_stride + column + e] : 0.0F;
    }
  });
}

template <class Arch>
inline void store_state(const LinearBlock& block, float* state) {
  if (!block.new_state) return;
  for_each_line<Arch>(block, state, [&block](const float* line, int d, int column, int width) {
    float* const target = block.new_state + d * block.new_state_stride + column;
    for (int e = 0; e < width; ++e) target[e] = line[e];
  });
}

/// The state's column after those of the values.
template <class Arch>
inline void load_normaliser(const LinearBlock& block, float* normaliser, int row) {
  for (int d = 0; d < row; ++d) {
    const bool is_given = block.state && d < block.head_dim;
    normaliser[d] = is_given ? block.state[d * block.state_stride + block.value_dim] : 0.0F;
  }
}

/// For whoever computes the last columns.
inline void store_normaliser(const LinearBlock& block, const float* normaliser) {
  if (!block.new_state || block.end_column < block.value_dim) return;
  for (int d = 0; d < block.head_dim; ++d) {
    block.new_state[d * block.new_state_stride + block.value_dim] = normaliser[d];
  }
}

}  // namespace heed::kernels
