// A panel of rows and its part of the scratch memory.
#pragma once

#include "kernels/simd/batch.hpp"
#include "kernels/task/attention_task.hpp"

namespace heed::kernels {

/// As many rows as a panel has lanes. Where the rows of a task run out, the last one fills the lanes that are left; its
/// copies are computed and not written.
struct Panel {
  const AttentionRow* rows;
  int row_count;

  float* query;        // [head_dim][panel], scaled so that scores come out in powers of two
  float* output;       // [value_dim][panel], not yet divided by sum
  float* row_max;      // [panel], of the scores so far
  float* row_sum;      // [panel], of weights 2^(score - maximum)
  float* entropy_sum;  // [panel], of weight * (score - maximum), when entropy is wanted
  // These are for normalizers that look at all scores before they make weights of any.
  float* shift;             // [panel]
  float* support;           // [panel], of how many keys the shift was made; negative: it is final
  float* threshold;         // [panel], the score of the last of the best keys
  std::int32_t* last_kept;  // [panel], the last key that has it and is kept

  // Keys outside [first_begin, last_end) concern no row, keys in [last_begin, first_end) all rows.
  int first_begin, last_begin;
  int first_end, last_end;

  bool wants_weights;  // of any of its rows
  bool wants_scores;
  bool has_top_k;  // threshold and last_kept are known

  [[nodiscard]] const AttentionRow& row(int lane) const { return rows[lane < row_count ? lane : row_count - 1]; }
};

inline Panel make_panel(const AttentionTask& task, int index) {
  constexpr std::ptrdiff_t width = kPanel;
  Panel panel{};
  panel.rows = task.rows + index * width;
  const std::ptrdiff_t left = task.row_count - index * width;
  panel.row_count = static_cast<int>(left < width ? left : width);

  float* next = task.scratch.floats + index * width * (task.head_dim + task.value_dim + kStatistics);
  const auto take = [&next](int lines) {
    float* const taken = next;
    next += lines * width;
    return taken;
  };
  panel.query = take(task.head_dim);
  panel.output = take(task.value_dim);
  panel.row_max = take(1);
  panel.row_sum = take(1);
  panel.entropy_sum = take(1);
  const std::ptrdiff_t panels = (task.row_count + width - 1) / width;
  next = task.scratch.floats +
         width * (panels * (task.head_dim + task.value_dim + kStatistics) + std::ptrdiff_t{index} * kPassStatistics);
  panel.shift = take(1);
  panel.support = take(1);
  panel.threshold = take(1);
  panel.last_kept = reinterpret_cast<std::int32_t*>(take(1));

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
  if (panel.wants_scores && task.score.stage != ScoreStage::masked) {
    panel.first_begin = 0;
    panel.last_end = task.key_length;
  }
  return panel;
}

}  // namespace heed::kernels
