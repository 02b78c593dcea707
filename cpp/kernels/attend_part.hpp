// Attention for a few rows and a part of their keys, as when a single query meets a long cache: lanes would
// stay empty with rows in them, and one task would be left alone with all the keys. What a part gives is
// merged with the others in merge_parts.hpp.
#pragma once

#include "kernels/block_numbers.hpp"
#include "kernels/block_scores.hpp"
#include "kernels/byte_rows.hpp"
#include "kernels/dropout.hpp"
#include "kernels/half_rows.hpp"
#include "kernels/normalize.hpp"
#include "kernels/pair_scores.hpp"
#include "kernels/single_rows.hpp"

namespace heed::kernels {

/// How scores lie where all lanes are one row: a line is as many keys as it has lanes.
template <class A>
struct KeysInLanes {
  using Arch = A;

  /// The sums are there: all rows were scored together.
  static void score(const Panel& /*panel*/, const AttentionBlock& /*block*/, const KeyBlock& keys, float* maximum) {
    find_maximum<Arch>(keys.lines(), keys.scores, maximum);
  }

  static Overlay gather(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
    const Addends<Arch> addends_of(block);
    for_each_vector(keys_with_addends(block, keys), [&](int j, int count) {
      addends_of(panel.rows[0], keys.first + j, count).store_aligned(keys.addends + j);
    });
    return Overlay::addends;
  }

  static void park(const Panel& panel, const KeyBlock& keys, float* AttentionRow::* target, float factor) {
    float* const row = panel.rows[0].*target + keys.first;
    for_each_vector(keys, [&](int j, int count) {
      store_some<Arch>(Batch<Arch>::load_aligned(keys.scores + j) * Batch<Arch>(factor), row + j, count);
    });
  }

 private:
  template <class Visit>
  static void for_each_vector(const KeyLines& keys, Visit visit) {
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

/// Turns one row's scores into weights. Returns whether some may be zeros that stand for no key.
template <class Arch>
inline bool weigh_row_keys(const Panel& panel, float* output, const AttentionBlock& block, const KeyBlock& keys) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>];
  copy_line<Arch>(panel.maximum, maximum);
  const bool has_masked = make_scores<KeysInLanes<Arch>>(panel, block, keys, maximum);
  share_maximum<Arch>(maximum);
  const Rescale<Arch> rescale = make_weights<Arch>(panel, block, keys, maximum, has_masked);
  if (block.has_dropout) drop_weights<Arch>(panel, block, keys, keys.scores);
  scale_output<Arch>(rescale.factor[0], block.value_dim, output);
  return may_hold_zeros(block, has_masked);
}

/// A panel whose lanes are all the block's row `index`, of which it sees the keys of one part. Its output is elsewhere.
template <class Arch>
inline Panel make_row_panel(const AttentionBlock& block, const KeyPart& part, int index) {
  const AttentionRow& row = block.rows[index];
  Panel panel{};
  panel.rows = &row;
  panel.row_count = 1;
  panel.query = block.scratch + index * row_scratch_floats(kPanel<Arch>, block.head_dim);
  panel.maximum = panel.query + round_up_to(block.head_dim, kPanel<Arch>);
  panel.sum = panel.maximum + kPanel<Arch>;
  panel.spread = panel.sum + kPanel<Arch>;

  const bool wants_all = row.scores && block.score_stage != ScoreStage::masked;
  panel.last_begin = row.key_begin;
  panel.first_end = row.key_end;
  panel.first_begin = wants_all || row.key_begin < part.begin ? part.begin : row.key_begin;
  panel.last_end = wants_all || row.key_end > part.end ? part.end : row.key_end;
  panel.wants_weights = row.weights != nullptr;
  panel.wants_scores = row.scores != nullptr;
  return panel;
}

template <class Arch>
inline void scale_query(const Panel& panel, const AttentionBlock& block) {
  for (int d = 0; d < block.head_dim; d += kLanes<Arch>) {
    const int left = block.head_dim - d;
    const Batch<Arch> some = load_numbers<Arch>(panel.rows[0].query, d, left < kLanes<Arch> ? left : kLanes<Arch>);
    (some * Batch<Arch>(panel.rows[0].query_factor)).store_aligned(panel.query + d);
  }
}

/// Keys of bytes meet the query as whole numbers.
inline bool is_in_words(const AttentionBlock& block) {
  return block.pairing == Pairing::product && block.key.first.precision == Precision::byte_keys;
}

/// Keys of halves meet it as they lie.
inline bool is_in_halves(const AttentionBlock& block) {
  return block.pairing == Pairing::product && may_widen_in_registers(block.key, block.head_dim);
}

/// Values of halves are added as they lie: weights are multiplied with 2^112.
inline bool are_values_in_halves(const AttentionBlock& block) {
  const bool are_weights_small = block.normalizer != Normalizer::identity && !block.has_dropout;
  return are_weights_small && may_widen_in_registers(block.value, block.value_dim);
}

/// Where a row has its query's unit, counted from the query: see row_scratch_floats().
template <class Arch>
constexpr std::ptrdiff_t unit_place(int head_dim) {
  return static_cast<std::ptrdiff_t>(row_scratch_floats(kPanel<Arch>, head_dim)) - kPanel<Arch>;
}

/// The query as the block's keys meet it.
template <class Arch>
inline void prepare_query(const Panel& panel, const AttentionBlock& block) {
  scale_query<Arch>(panel, block);
  float& unit = panel.query[unit_place<Arch>(block.head_dim)];
  if (is_in_halves(block)) unit = make_ready_for_halves(panel.query, block.head_dim);
  if (is_in_words(block)) unit = make_words(panel.query, block.head_dim);
}

template <class Arch>
inline void start_row(const Panel& panel, float* output, const AttentionBlock& block, const KeyPart& part) {
  prepare_query<Arch>(panel, block);
  for (int e = 0; e < round_up_to(block.value_dim, kLanes<Arch>); ++e) output[e] = 0.0F;
  start_statistics<Arch>(panel, block);
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

/// The keys of a block that concern a row; none if the mask takes them all.
template <class Arch>
inline KeyBlock find_row_keys(const AttentionBlock& block, const Panel& panel, const KeyPart& within) {
  const int end = within.end < panel.last_end ? within.end : panel.last_end;
  // From a whole line, so that a key has the same lane whatever else is asked of the row.
  const int before = panel.first_begin - within.begin;
  const int begin = within.begin + (before > 0 ? before / kPanel<Arch> * kPanel<Arch> : 0);
  KeyBlock keys{{begin, end > begin ? end - begin : 0, kPanel<Arch>},
                {},
                MaskedKeys::none,
                MaskedKeys::none,
                MaskedKeys::none,
                nullptr,
                nullptr};
  if (keys.count == 0) return keys;
  // Steps end where a unit does, so there is one.
  if (block.keep_keys > 0) keys.left = look_at_units(panel, block, keys).left();
  look_at_masks<Arch>(panel, block, keys);
  if (pass_over(panel, block, keys)) keys.count = 0;
  return keys;
}

/// Whether rows read all of a part in the runs that its lines lie in: they are wanted as they are, or widened in
/// registers.
inline bool reads_in_runs(const AttentionBlock& block) {
  const auto lies_so = [](const HeadRows& rows, bool in_halves) {
    return rows.first.precision != Precision::half || in_halves;
  };
  return block.run_keys > 0 && lies_so(block.key, is_in_halves(block)) &&
         lies_so(block.value, are_values_in_halves(block));
}

/// Of the lines of keys [start, stop), counted from the first: a run for each page.
inline RunLayout page_layout(const HeadRows& rows, int start, int stop) {
  return {-((rows.before + start) % rows.page_rows), rows.page_rows, stop - start};
}

/// Of the lines of keys [start, stop), which are read at once, from pages or, if they are widened, from one piece.
/// Bytes go by their pages at any rate.
inline RunLayout run_layout(const AttentionBlock& block, int start, int stop) {
  if (block.run_keys == 0) return RunLayout::in_order(stop - start);
  const bool in_pages = block.value.pages && reads_in_runs(block);
  return in_pages ? page_layout(block.value, start, stop) : RunLayout{0, block.run_keys, stop - start};
}

/// Lines [first, end) of a block of the keys [start, stop).
struct LineRange {
  RunLayout layout;
  int start;
  int stop;
  int first;
  int end;
};

/// The products of all rows with keys, whose scores go where those of the range's first begin.
template <class Arch>
[[gnu::noinline]] void score_part_rows(const AttentionBlock& block, const LineRange& range, BlockNumbers<Arch>& numbers,
                                       RowNumbers queries, RowNumbers scores) {
  const bool in_words = is_in_words(block);
  const bool in_halves = is_in_halves(block);
  const HeadRows rows = in_words || in_halves ? rows_from(block.key, range.start) : numbers.key_rows();
  const RunLayout layout = in_words ? page_layout(block.key, range.start, range.stop) : range.layout;
  for_each_runs(rows, layout, range.first, range.end, [&](const Runs& keys, int line) {
    const RowNumbers own{scores.numbers + (line - range.first), scores.stride};
    const RowDots dots{queries, block.head_dim, keys, own, unit_place<Arch>(block.head_dim)};
    if (in_words) {
      for (int index = 0; index < block.row_count; ++index) {
        const float* const query = queries.from(index).numbers;
        const WordQuery words{reinterpret_cast<const std::int16_t*>(query), query[dots.unit]};
        score_row_of_bytes<Arch>(words, keys, block.head_dim, own.from(index).numbers);
      }
    } else if (in_halves) {
      score_all_rows_of_halves<Arch>(block.row_count, dots);
    } else if (block.pairing == Pairing::product) {
      score_all_rows<Arch>(block.row_count, dots);
    } else {
      score_row_pairs<Arch>(block, dots);
    }
  });
}

/// What a block of a part's keys is to each row: its scores so far are products.
template <class Arch>
struct PartKeys {
  KeyBlock of_row[kPanel<Arch> / 2];
  BlockNumbers<Arch>& numbers;
  RunLayout layout;
  int start;
  int stop;
};

/// What is done with a block of a part's keys, given where the outputs of rows are.
template <class Arch>
using VisitPartKeys = void(const AttentionBlock& block, const KeyPart& part, const PartKeys<Arch>& keys,
                           RowNumbers outputs);

/// Calls visit for each block of the part's keys that concerns a row.
template <class Arch>
[[gnu::noinline]] void for_each_part_block(const AttentionBlock& block, const KeyPart& part, VisitPartKeys<Arch>* visit,
                                           RowNumbers outputs) {
  const RowNumbers queries{block.scratch,
                           static_cast<std::ptrdiff_t>(row_scratch_floats(kPanel<Arch>, block.head_dim))};
  const RowNumbers scores{block.scratch + block.row_count * queries.stride, block.key_block};
  float* const addends = scores.from(block.row_count).numbers;
  float* const widened = addends + block.key_block;
  int stop = part.begin;
  for (int start = part.begin; start < part.end && !is_stopped(block); start = stop) {
    stop = reads_in_runs(block) ? part.end : end_of_step(block, block.key_unit, start, part.end);
    BlockNumbers<Arch> numbers(block, start, stop, widened);
    PartKeys<Arch> keys{{}, numbers, run_layout(block, start, stop), start, stop};
    int first = stop;
    int end = start;
    for (int index = 0; index < block.row_count; ++index) {
      KeyBlock& own = keys.of_row[index];
      own = find_row_keys<Arch>(block, make_row_panel<Arch>(block, part, index), {start, stop});
      if (own.count == 0) continue;
      own.scores = scores.from(index).numbers + (own.first - start);
      own.addends = addends;
      if (own.first < first) first = own.first;
      if (own.end() > end) end = own.end();
    }
    if (first >= end) continue;
    score_part_rows<Arch>(block, {keys.layout, start, stop, first - start, end - start}, numbers, queries,
                          {scores.numbers + (first - start), scores.stride});
    visit(block, part, keys, outputs);
  }
}

/// Adds the values of a block: to all rows at once if each of them sees all of it.
template <class Arch>
void attend_part_keys(const AttentionBlock& block, const KeyPart& part, const PartKeys<Arch>& keys,
                      RowNumbers outputs) {
  bool may_hold_zeros[kPanel<Arch> / 2];
  const bool are_bytes = block.value.first.precision == Precision::byte_values;
  const bool are_halves = are_values_in_halves(block);
  bool is_shared = !are_bytes;
  const KeyBlock& first = keys.of_row[0];
  for (int index = 0; index < block.row_count; ++index) {
    const KeyBlock& own = keys.of_row[index];
    may_hold_zeros[index] = own.count > 0 && weigh_row_keys<Arch>(make_row_panel<Arch>(block, part, index),
                                                                  outputs.from(index).numbers, block, own);
    // A weight of zero adds nothing of a half, which is finite.
    is_shared &= own.first == first.first && own.count == first.count && (are_halves || !may_hold_zeros[index]);
  }
  const HeadRows rows = are_bytes || are_halves ? rows_from(block.value, keys.start) : keys.numbers.value_rows();
  const RunLayout layout = are_bytes ? page_layout(block.value, keys.start, keys.stop) : keys.layout;
  for (int index = 0; index < (is_shared ? 1 : block.row_count); ++index) {
    const KeyBlock& own = keys.of_row[index];
    const RowNumbers output = outputs.from(index);
    const int begin = own.first - keys.start;
    for_each_runs(rows, layout, begin, begin + own.count, [&](const Runs& values, int line) {
      float* const weights = own.scores + (line - begin);
      if (are_bytes) return add_bytes_to_row<Arch>(weights, values, block.value_dim, output.numbers);
      const int together = is_shared ? block.row_count : 1;
      const RowSums sums{{weights, block.key_block}, values, block.value_dim, may_hold_zeros[index], output};
      if (are_halves) return add_halves_to_all_rows<Arch>(together, sums);
      add_to_all_rows<SingleValues<Arch>>(together, sums);
    });
  }
}

/// See AttentionKernels.
template <class Arch>
void attend_part(const AttentionBlock& block, const KeyPart& part, float* results) {
  const auto result_floats = static_cast<std::ptrdiff_t>(part_result_floats(block.value_dim));
  const RowNumbers outputs{results + kPartHeader, result_floats};
  for (int index = 0; index < block.row_count; ++index) {
    start_row<Arch>(make_row_panel<Arch>(block, part, index), outputs.from(index).numbers, block, part);
  }
  for_each_part_block<Arch>(block, part, &attend_part_keys<Arch>, outputs);
  for (int index = 0; index < block.row_count; ++index) {
    if (are_values_in_halves(block)) order_halves_of_row(block.value_dim, outputs.from(index).numbers);
    finish_row<Arch>(make_row_panel<Arch>(block, part, index), results + index * result_floats);
  }
}

}  // namespace heed::kernels
