// Attention for a few rows and a part of their keys, as when a single query meets a long cache: lanes would
// stay empty with rows in them, and one task would be left alone with all the keys. What a part gives is
// merged with the others in merge_parts.hpp.
#pragma once

#include "kernels/block_numbers.hpp"
#include "kernels/block_scores.hpp"
#include "kernels/dropout.hpp"
#include "kernels/online_softmax.hpp"
#include "kernels/row_products.hpp"

namespace heed::kernels {

/// How scores lie where all lanes are one row: a line is as many keys as it has lanes.
template <class A>
struct KeysInLanes {
  using Arch = A;

  static void score(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys, float* maximum) {
    for (int j = 0; j < keys.lines() * kPanel<Arch>; j += kLanes<Arch>) {
      const int given = j < keys.count ? j : keys.count - 1;  // the last line may have vectors without a key
      score_vector<Arch>(
          {panel.query, block.head_dim, keys.numbers.line(given), keys.numbers.stride, keys.count - given},
          keys.scores + j);
    }
    find_maximum<Arch>(keys.lines(), keys.scores, maximum);
  }

  static void gather(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
    const Addends<Arch> addends_of(block);
    for_each_vector(keys, [&](int j, int count) {
      addends_of(panel.rows[0], keys.first + j, count).store_aligned(keys.addends + j);
    });
  }

  static void park(const Panel& panel, const KeyBlock& keys, float* AttentionRow::* target, float factor) {
    float* const row = panel.rows[0].*target + keys.first;
    for_each_vector(keys, [&](int j, int count) {
      store_some<Arch>(Batch<Arch>::load_aligned(keys.scores + j) * Batch<Arch>(factor), row + j, count);
    });
  }

 private:
  template <class Visit>
  static void for_each_vector(const KeyBlock& keys, Visit visit) {
    for (int j = 0; j < keys.count; j += kLanes<Arch>) {
      visit(j, keys.count - j < kLanes<Arch> ? keys.count - j : kLanes<Arch>);
    }
  }
};

/// The largest in all lanes, which hold keys of one row.
template <class Arch>
inline void share_maximum(float* maximum) {
  float highest = maximum[0];
  for (int lane = 1; lane < kPanel<Arch>; ++lane) {
    if (maximum[lane] > highest) highest = maximum[lane];
  }
  for (int lane = 0; lane < kPanel<Arch>; ++lane) maximum[lane] = highest;
}

template <class Arch>
inline void attend_row_keys(const Panel& panel, float* output, const AttentionBlock& block, const KeyBlock& keys,
                            const Lines& given) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>];
  copy_line<Arch>(panel.maximum, maximum);
  const bool has_masked = make_scores<KeysInLanes<Arch>>(panel, block, keys, maximum);
  share_maximum<Arch>(maximum);
  if (panel.rows[0].entropy) add_spread<Arch>(panel, maximum, keys.lines(), keys.scores);

  const Rescale<Arch> rescale = has_masked ? exponentiate<Arch, true>(panel, maximum, keys.lines(), keys.scores)
                                           : exponentiate<Arch, false>(panel, maximum, keys.lines(), keys.scores);
  if (block.has_dropout) drop_weights<Arch>(panel, block, keys, keys.scores);
  scale_output<Arch>(rescale.factor[0], block.value_dim, output);
  const RowValues values{keys.scores, keys.count, given.numbers, given.stride};
  if (has_masked || block.has_dropout) {
    add_row_values<Arch, true>(values, block.value_dim, output);
  } else {
    add_row_values<Arch, false>(values, block.value_dim, output);
  }
}

/// A panel whose lanes are all the block's row `index`, of which it sees the keys of one part. Its output is elsewhere.
template <class Arch>
inline Panel make_row_panel(const AttentionBlock& block, const KeyPart& part, int index) {
  const AttentionRow& row = block.rows[index];
  const std::int64_t query = round_up_to(block.head_dim, kPanel<Arch>);
  Panel panel{};
  panel.rows = &row;
  panel.row_count = 1;
  panel.query = block.scratch + index * (query + std::ptrdiff_t{kStatistics} * kPanel<Arch>);
  panel.maximum = panel.query + query;
  panel.sum = panel.maximum + kPanel<Arch>;
  panel.spread = panel.sum + kPanel<Arch>;

  const bool wants_all = row.scores && block.score_stage != ScoreStage::masked;
  panel.last_begin = row.key_begin;
  panel.first_end = row.key_end;
  panel.first_begin = wants_all || row.key_begin < part.begin ? part.begin : row.key_begin;
  panel.last_end = wants_all || row.key_end > part.end ? part.end : row.key_end;
  panel.wants_weights = row.weights != nullptr;
  return panel;
}

template <class Arch>
inline void scale_query(const Panel& panel, const AttentionBlock& block) {
  for (int d = 0; d < block.head_dim; d += kLanes<Arch>) {
    const int left = block.head_dim - d;
    const Batch<Arch> some = load_numbers<Arch>(panel.rows[0].query, d, left < kLanes<Arch> ? left : kLanes<Arch>);
    (some * Batch<Arch>(block.scale * kLog2E)).store_aligned(panel.query + d);
  }
}

template <class Arch>
inline void start_row(const Panel& panel, float* output, const AttentionBlock& block, const KeyPart& part) {
  scale_query<Arch>(panel, block);
  for (int e = 0; e < round_up_to(block.value_dim, kLanes<Arch>); ++e) output[e] = 0.0F;
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    panel.maximum[lane] = kNoMaximum;
    panel.sum[lane] = 0.0F;
    panel.spread[lane] = 0.0F;
  }
  if (!panel.rows[0].scores) return;
  for (int j = part.begin; j < part.end; ++j) panel.rows[0].scores[j] = kMasked;
}

/// One row's share of `results`: maximum, sum and spread of its part of the keys, before the output.
template <class Arch>
inline void finish_row(const Panel& panel, float* result) {
  float sum = 0.0F;
  float spread = 0.0F;
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    sum += panel.sum[lane];
    spread += panel.spread[lane];
  }
  result[0] = panel.maximum[0];
  result[1] = sum;
  result[2] = spread;
}

/// Calls visit(index, panel, keys, numbers) for each run of a part's keys that concerns a row.
template <class Arch, class Visit>
inline void for_each_row_block(const AttentionBlock& block, const KeyPart& part, Visit visit) {
  float* const scores = block.scratch + part_scratch_floats(kPanel<Arch>, block.row_count, block.head_dim, 0);
  float* const addends = scores + block.key_block;
  float* const widened = addends + block.key_block;
  for (int start = part.begin; start < part.end; start += block.key_block) {
    const int stop = start + block.key_block < part.end ? start + block.key_block : part.end;
    BlockNumbers<Arch> numbers(block, start, stop, widened);
    for (int index = 0; index < block.row_count; ++index) {
      const Panel panel = make_row_panel<Arch>(block, part, index);
      const int end = stop < panel.last_end ? stop : panel.last_end;
      // From a whole line, so that a key has the same lane whatever else is asked of the row.
      const int lead = panel.first_begin > start ? (panel.first_begin - start) / kPanel<Arch> * kPanel<Arch> : 0;
      const int begin = start + lead;
      if (begin >= end) continue;
      KeyBlock keys{{begin, end - begin, kPanel<Arch>}, {}, MaskedKeys::none, scores, addends};
      if (panel.rows[0].mask) keys.masked = look_at_mask(panel, block, keys_with_addends(block, keys));
      if (may_skip(panel, keys)) continue;
      keys.numbers = numbers.keys(begin);
      visit(index, panel, keys, numbers);
    }
  }
}

/// See AttentionKernels.
template <class Arch>
void attend_part(const AttentionBlock& block, const KeyPart& part, float* results) {
  const std::int64_t result_floats = part_result_floats(block.value_dim);
  const auto output_of = [&](int index) { return results + index * result_floats + kPartHeader; };
  for (int index = 0; index < block.row_count; ++index) {
    start_row<Arch>(make_row_panel<Arch>(block, part, index), output_of(index), block, part);
  }
  for_each_row_block<Arch>(block, part,
                           [&](int index, const Panel& panel, const KeyBlock& keys, BlockNumbers<Arch>& numbers) {
                             attend_row_keys<Arch>(panel, output_of(index), block, keys, numbers.values(keys.first));
                           });
  for (int index = 0; index < block.row_count; ++index) {
    finish_row<Arch>(make_row_panel<Arch>(block, part, index), results + index * result_floats);
  }
}

}  // namespace heed::kernels
