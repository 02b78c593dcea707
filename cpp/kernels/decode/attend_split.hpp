// Decode kernel (split-KV). With few queries per KV head the query-in-lane kernel would leave lanes idle, so keys go in
// lanes, and the keys are split across threads. combine_splits.hpp combines the partial results.
#pragma once

#include "kernels/block/make_scores.hpp"
#include "kernels/block/widened_kv.hpp"
#include "kernels/decode/f16_kv.hpp"
#include "kernels/decode/f32_kv.hpp"
#include "kernels/decode/int8_kv.hpp"
#include "kernels/decode/pair_scores.hpp"
#include "kernels/softmax/dropout.hpp"
#include "kernels/softmax/normalize.hpp"

namespace heed::kernels {

/// The layout of scores with keys in lanes: all lanes are one query, and a line holds as many keys as it has lanes.
struct KeysInLanes {
  /// The dot products are made already, of all queries together.
  static void score(const Panel& /*panel*/, const AttentionTask& /*task*/, const KeyBlock& keys, float* row_max) {
    find_row_max(keys.lines(), keys.scores, row_max);
  }

  static Overlay collect_overlay(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
    const Addends addends_of(task);
    for_each_vector(keys_with_addends(task, keys), [&](int j, int count) {
      addends_of(panel.rows[0], keys.first + j, count).store_aligned(keys.addends + j);
    });
    return Overlay::addends;
  }

  static void store(const Panel& panel, const KeyBlock& keys, float* AttentionRow::* target, float factor) {
    float* const row = panel.rows[0].*target + keys.first;
    for_each_vector(keys, [&](int j, int count) {
      store_some(Batch::load_aligned(keys.scores + j) * Batch(factor), row + j, count);
    });
  }

 private:
  template <class Visit>
  static void for_each_vector(const KeySpan& keys, Visit visit) {
    for (int j = 0; j < keys.count; j += kLanes) {
      visit(j, keys.count - j < kLanes ? keys.count - j : kLanes);
    }
  }
};

/// Gives all lanes, which hold keys of one query, the largest of them.
inline void broadcast_row_max(float* row_max) {
  float highest = row_max[0];
  for (int lane = 1; lane < kPanel; ++lane) {
    if (row_max[lane] > highest) highest = row_max[lane];
  }
  for (int lane = 0; lane < kPanel; ++lane) row_max[lane] = highest;
}

/// Turns the scores of one query into weights. Returns whether some may be zeros that stand for no key.
inline bool weigh_row_keys(const Panel& panel, float* output, const AttentionTask& task, const KeyBlock& keys) {
  alignas(kScratchAlignment) float row_max[kPanel];
  copy_line(panel.row_max, row_max);
  const Masked masked = make_scores<KeysInLanes>(panel, task, keys, row_max);
  broadcast_row_max(row_max);
  const Rescale rescale = make_weights(panel, task, keys, row_max, masked != Masked::none);
  if (task.weight.has_dropout) drop_weights(panel, task, keys, keys.scores);
  scale_output(rescale.factor[0], task.value_dim, output);
  return may_hold_zeros(task, masked == Masked::keys);
}

/// A panel whose lanes are all row `index` of the task, which sees the keys of one split. Its output lies elsewhere.
inline Panel make_row_panel(const AttentionTask& task, const KeySplit& split, int index) {
  const AttentionRow& row = task.rows[index];
  Panel panel{};
  panel.rows = &row;
  panel.row_count = 1;
  panel.query = task.scratch.floats + index * query_scratch_floats(kPanel, task.head_dim);
  panel.row_max = panel.query + round_up(task.head_dim, kPanel);
  panel.row_sum = panel.row_max + kPanel;
  panel.entropy_sum = panel.row_sum + kPanel;

  const bool wants_all = row.scores && task.score.stage != ScoreStage::masked;
  panel.last_begin = row.key_begin;
  panel.first_end = row.key_end;
  panel.first_begin = wants_all || row.key_begin < split.begin ? split.begin : row.key_begin;
  panel.last_end = wants_all || row.key_end > split.end ? split.end : row.key_end;
  panel.wants_weights = row.weights != nullptr;
  panel.wants_scores = row.scores != nullptr;
  return panel;
}

inline void scale_query(const Panel& panel, const AttentionTask& task) {
  for (int d = 0; d < task.head_dim; d += kLanes) {
    const int left = task.head_dim - d;
    const Batch some = load_widened(panel.rows[0].query, d, left < kLanes ? left : kLanes);
    (some * Batch(panel.rows[0].query_factor)).store_aligned(panel.query + d);
  }
}

/// Where keys are int8 the query is quantized to int16, and dot products are of integers.
inline bool has_i16_query(const AttentionTask& task) {
  return task.score.pairing == Pairing::product && task.key.dtype == DType::i8_keys;
}

/// f16 keys are widened in registers.
inline bool reads_f16_keys(const AttentionTask& task) {
  return task.score.pairing == Pairing::product && widens_in_registers(task.key, task.head_dim);
}

/// f16 values are widened in registers: weights are multiplied with 2^112.
inline bool reads_f16_values(const AttentionTask& task) {
  const bool are_weights_small = task.weight.normalizer != Normalizer::none && !task.weight.has_dropout;
  return are_weights_small && widens_in_registers(task.value, task.value_dim);
}

/// Where a row keeps the scale of its query, counted from the query: see query_scratch_floats().
constexpr std::ptrdiff_t query_scale_offset(int head_dim) {
  return static_cast<std::ptrdiff_t>(query_scratch_floats(kPanel, head_dim)) - kPanel;
}

/// Brings the query into the form in which it is multiplied with the keys: f32, reordered for f16, or int16.
inline void prepare_query(const Panel& panel, const AttentionTask& task) {
  scale_query(panel, task);
  float& query_scale = panel.query[query_scale_offset(task.head_dim)];
  if (reads_f16_keys(task)) query_scale = reorder_query_for_f16(panel.query, task.head_dim);
  if (has_i16_query(task)) query_scale = quantize_query(panel.query, task.head_dim);
}

inline void start_row(const Panel& panel, float* output, const AttentionTask& task, const KeySplit& split) {
  prepare_query(panel, task);
  for (int e = 0; e < round_up(task.value_dim, kLanes); ++e) output[e] = 0.0F;
  start_statistics(panel, task);
  if (!panel.rows[0].scores) return;
  for (int j = split.begin; j < split.end; ++j) panel.rows[0].scores[j] = kMasked;
}

/// Writes row_max, row_sum and entropy_sum of a row before its partial output.
inline void store_partial(const Panel& panel, float* result) {
  float sum = 0.0F;
  float entropy_sum = 0.0F;
  for (int lane = 0; lane < kPanel; ++lane) {
    sum += panel.row_sum[lane];
    entropy_sum += panel.entropy_sum[lane];
  }
  result[0] = panel.row_max[0];
  result[1] = sum;
  result[2] = entropy_sum;
}

/// The keys of a block that a row sees; none if the mask takes them all.
inline KeyBlock find_row_keys(const AttentionTask& task, const Panel& panel, const KeySplit& within) {
  const int end = within.end < panel.last_end ? within.end : panel.last_end;
  // It begins with a whole line, so that a key has the same lane whatever else is asked of the row.
  const int before = panel.first_begin - within.begin;
  const int begin = within.begin + (before > 0 ? before / kPanel * kPanel : 0);
  KeyBlock keys{{begin, end > begin ? end - begin : 0, kPanel},
                {},
                BlockMask::full,
                BlockMask::full,
                BlockMask::full,
                nullptr,
                nullptr};
  if (keys.count == 0) return keys;
  // Blocks end where a group of skip_keys does, so there is one group.
  if (task.mask.keep_block_keys > 0) keys.by_keep = find_keep_masks(panel, task, keys).first_mask();
  find_block_masks(panel, task, keys);
  if (skip_block(panel, task, keys)) keys.count = 0;
  return keys;
}

/// Whether rows read a whole split by streams, as K and V lie: in f32, in int8, or in f16 that is widened in registers.
inline bool reads_streams(const AttentionTask& task) {
  const auto lies_so = [](const KvRows& rows, bool reads_f16) { return rows.dtype != DType::f16 || reads_f16; };
  return task.loop.stream_keys > 0 && lies_so(task.key, reads_f16_keys(task)) &&
         lies_so(task.value, reads_f16_values(task));
}

/// The layout of keys [start, stop) in pages: a stream for each page.
inline StreamLayout page_layout(const KvRows& rows, int start, int stop) {
  return {-((rows.skipped + start) % rows.page_size), rows.page_size, stop - start};
}

/// The layout of keys [start, stop) as they are read: in pages, or in one piece if they are widened. int8 is always
/// read page by page.
inline StreamLayout stream_layout(const AttentionTask& task, int start, int stop) {
  if (task.loop.stream_keys == 0) return StreamLayout::in_order(stop - start);
  const bool in_pages = task.value.pages && reads_streams(task);
  return in_pages ? page_layout(task.value, start, stop) : StreamLayout{0, task.loop.stream_keys, stop - start};
}

/// Rows [first, end) of the block of keys [start, stop).
struct RowRange {
  StreamLayout layout;
  int start;
  int stop;
  int first;
  int end;
};

/// The dot products of all queries with the keys of the range. The score of its first key goes to the start of
/// `scores`.
[[gnu::noinline]] inline void score_split_block(const AttentionTask& task, const RowRange& range, WidenedKv& numbers,
                                                StridedRows queries, StridedRows scores) {
  const bool has_i16 = has_i16_query(task);
  const bool reads_f16 = reads_f16_keys(task);
  const KvRows rows = has_i16 || reads_f16 ? rows_from(task.key, range.start) : numbers.key_rows();
  const StreamLayout layout = has_i16 ? page_layout(task.key, range.start, range.stop) : range.layout;
  for_each_stream_pair(rows, layout, range.first, range.end, [&](const StreamPair& keys, int key) {
    const StridedRows own{scores.numbers + (key - range.first), scores.stride};
    const QueryKeyDots dots{queries, task.head_dim, keys, own, query_scale_offset(task.head_dim)};
    if (has_i16) {
      for (int index = 0; index < task.row_count; ++index) {
        const float* const query = queries.from(index).numbers;
        const I16Query words{reinterpret_cast<const std::int16_t*>(query), query[dots.scale_offset]};
        score_i8_keys(words, keys, task.head_dim, own.from(index).numbers);
      }
    } else if (reads_f16) {
      score_all_queries_f16(task.row_count, dots);
    } else if (task.score.pairing == Pairing::product) {
      score_all_queries(task.row_count, dots);
    } else {
      score_pairs_of_query(task, dots);
    }
  });
}

/// A block of keys of a split, as each row sees it. Its scores so far are dot products.
struct SplitBlock {
  KeyBlock of_row[kPanel / 2];
  WidenedKv& numbers;
  StreamLayout layout;
  int start;
  int stop;
};

/// What is done with a block of a split, given where the partial outputs of the rows are.
using VisitSplitBlock = void(const AttentionTask& task, const KeySplit& split, const SplitBlock& keys,
                             StridedRows outputs);

/// Calls visit for each block of the split that a row sees.
[[gnu::noinline]] inline void for_each_split_block(const AttentionTask& task, const KeySplit& split,
                                                   VisitSplitBlock* visit, StridedRows outputs) {
  const StridedRows queries{task.scratch.floats,
                            static_cast<std::ptrdiff_t>(query_scratch_floats(kPanel, task.head_dim))};
  const StridedRows scores{task.scratch.floats + task.row_count * queries.stride, task.loop.key_block};
  float* const addends = scores.from(task.row_count).numbers;
  float* const widened = addends + task.loop.key_block;
  int stop = 0;
  for (int start = split.begin; start < split.end && !is_stopped(task); start = stop) {
    // Padding has blocks of its own.
    const int end = start < task.own_length && task.own_length < split.end ? task.own_length : split.end;
    stop = reads_streams(task) ? end : end_of_step(task, task.loop.skip_keys, start, end);
    WidenedKv numbers(task, start, stop, widened);
    SplitBlock keys{{}, numbers, stream_layout(task, start, stop), start, stop};
    int first = stop;
    int last = start;
    for (int index = 0; index < task.row_count; ++index) {
      KeyBlock& own = keys.of_row[index];
      own = find_row_keys(task, make_row_panel(task, split, index), {start, stop});
      if (own.count == 0) continue;
      own.scores = scores.from(index).numbers + (own.first - start);
      own.addends = addends;
      if (own.first < first) first = own.first;
      if (own.end() > last) last = own.end();
    }
    if (first >= last) continue;
    score_split_block(task, {keys.layout, start, stop, first - start, last - start}, numbers, queries,
                      {scores.numbers + (first - start), scores.stride});
    visit(task, split, keys, outputs);
  }
}

/// Adds the values of a block: to all rows at once if each of them sees the whole block.
inline void attend_split_block(const AttentionTask& task, const KeySplit& split, const SplitBlock& keys,
                               StridedRows outputs) {
  bool may_hold_zeros[kPanel / 2];
  const bool are_i8 = task.value.dtype == DType::i8_values;
  const bool are_f16 = reads_f16_values(task);
  bool is_shared = !are_i8;
  const KeyBlock& first = keys.of_row[0];
  for (int index = 0; index < task.row_count; ++index) {
    const KeyBlock& own = keys.of_row[index];
    may_hold_zeros[index] =
        own.count > 0 && weigh_row_keys(make_row_panel(task, split, index), outputs.from(index).numbers, task, own);
    // A weight of zero adds nothing of an f16 value that is finite.
    is_shared &= own.first == first.first && own.count == first.count && (are_f16 || !may_hold_zeros[index]);
  }
  const KvRows rows = are_i8 || are_f16 ? rows_from(task.value, keys.start) : keys.numbers.value_rows();
  const StreamLayout layout = are_i8 ? page_layout(task.value, keys.start, keys.stop) : keys.layout;
  for (int index = 0; index < (is_shared ? 1 : task.row_count); ++index) {
    const KeyBlock& own = keys.of_row[index];
    const StridedRows output = outputs.from(index);
    const int begin = own.first - keys.start;
    for_each_stream_pair(rows, layout, begin, begin + own.count, [&](const StreamPair& values, int key) {
      float* const weights = own.scores + (key - begin);
      const int together = is_shared ? task.row_count : 1;
      const ValueSums sums{{weights, task.loop.key_block}, values, task.value_dim, may_hold_zeros[index], output};
      if (are_i8) {
        add_i8_values(weights, values, task.value_dim, output.numbers);
      } else if (are_f16) {
        add_f16_values(together, sums);
      } else {
        add_values_to_all<F32Values>(together, sums);
      }
    });
  }
}

void attend_split(const AttentionTask& task, const KeySplit& split, float* results) {
  const auto result_floats = static_cast<std::ptrdiff_t>(partial_floats(task.value_dim));
  const StridedRows outputs{results + kPartialHeader, result_floats};
  for (int index = 0; index < task.row_count; ++index) {
    start_row(make_row_panel(task, split, index), outputs.from(index).numbers, task, split);
  }
  for_each_split_block(task, split, &attend_split_block, outputs);
  for (int index = 0; index < task.row_count; ++index) {
    if (reads_f16_values(task)) restore_f16_order(task.value_dim, outputs.from(index).numbers);
    store_partial(make_row_panel(task, split, index), results + index * result_floats);
  }
}

}  // namespace heed::kernels
