// One panel of rows and its place in a worker's scratch memory.
#pragma once

#include "kernels/attention_block.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// As many rows as a panel has lanes. Where the rows of a task run out, the last
/// one fills the lanes that are left and its copies are computed and not written.
struct Panel {
  const AttentionRow* rows;
  int row_count;

  float* query;    // [head_dim][panel], scaled so that scores come out in powers of two
  float* output;   // [value_dim][panel], not yet divided by sum
  float* maximum;  // [panel], of the scores so far
  float* sum;      // [panel], of weights 2^(score - maximum)
  float* spread;   // [panel], of weight * (score - maximum), when entropy is wanted
  // Of normalizers that look at all scores before they make weights of any.
  float* shift;             // [panel]
  float* support;           // [panel], of how many keys the shift was made; negative: it is final
  float* threshold;         // [panel], the score of the last of the best keys
  std::int32_t* last_best;  // [panel], the last key that has it and is kept

  // Over the rows: keys outside [first_begin, last_end) concern no row, keys in
  // [last_begin, first_end) all of them.
  int first_begin, last_begin;
  int first_end, last_end;

  bool wants_weights;  // of any of its rows
  bool wants_scores;
  bool keeps_best;  // alone: threshold and last_best are known

  [[nodiscard]] const AttentionRow& row(int lane) const { return rows[lane < row_count ? lane : row_count - 1]; }
};

template <class Arch>
inline Panel make_panel(const AttentionBlock& block, int index) {
  constexpr std::ptrdiff_t width = kPanel<Arch>;
  Panel panel{};
  panel.rows = block.rows + index * width;
  const std::ptrdiff_t left = block.row_count - index * width;
  panel.row_count = static_cast<int>(left < width ? left : width);

  float* next = block.scratch + index * width * (block.head_dim + block.value_dim + kStatistics);
  const auto take = [&next](int lines) {
    float* const taken = next;
    next += lines * width;
    return taken;
  };
  panel.query = take(block.head_dim);
  panel.output = take(block.value_dim);
  panel.maximum = take(1);
  panel.sum = take(1);
  panel.spread = take(1);
  const std::ptrdiff_t panels = (block.row_count + width - 1) / width;
  next = block.scratch +
         width * (panels * (block.head_dim + block.value_dim + kStatistics) + std::ptrdiff_t{index} * kLookStatistics);
  panel.shift = take(1);
  panel.support = take(1);
  panel.threshold = take(1);
  panel.last_best = reinterpret_cast<std::int32_t*>(take(1));

  panel.wants_scores = panel.rows[0].scores != nullptr;
  for (int lane = 0; lane < panel.row_count; ++lane) panel.wants_weights |= panel.rows[lane].weights != nullptr;

  panel.first_begin = panel.last_begin = panel.rows[0].key_begin;
  panel.first_end = panel.last_end = panel.rows[0].key_end;
  for (int lane = 1; lane < panel.row_count; ++lane) {
    const AttentionRow& row = panel.rows[lane];
    if (row.key_begin < panel.first_begin) panel.first_begin = row.key_begin;
    if (row.key_begin > panel.last_begin) panel.last_begin = row.key_begin;
    if (row.key_end < panel.first_end) panel.first_end = row.key_end;
    if (row.key_end > panel.last_end) panel.last_end = row.key_end;
  }
  // Scores from before the masks are wanted of every key.
  if (panel.wants_scores && block.score_stage != ScoreStage::masked) {
    panel.first_begin = 0;
    panel.last_end = block.key_length;
  }
  return panel;
}

}  // namespace heed::kernels
