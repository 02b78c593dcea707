// The backward kernel: some rows against a range of keys. Scores and weights are made again as the forward pass makes
// them, block by block and panel by panel; a block ends with the gradients of its keys and values, to which all panels
// add at once.
#pragma once

#include "kernels/backward/backward_task.hpp"
#include "kernels/backward/differences.hpp"
#include "kernels/backward/function_chain.hpp"
#include "kernels/backward/outer_products.hpp"
#include "kernels/backward/row_delta.hpp"
#include "kernels/backward/score_chain.hpp"
#include "kernels/backward/tanh_sums.hpp"
#include "kernels/prefill/key_loop.hpp"
#include "kernels/prefill/pv_product.hpp"
#include "kernels/prefill/top_k.hpp"
#include "kernels/softmax/dropout.hpp"

namespace heed::kernels {

/// The scratch memory of a BackwardTask, and what its blocks leave there.
class BackwardBlocks {
 public:
  BackwardBlocks(const AttentionTask& task, const BackwardTask& backward)
      : task_(task),
        backward_(backward),
        differentiate_weights_(differentiate_weights_of(task.weight.normalizer)),
        differentiate_plain_weights_(task.weight.normalizer == Normalizer::softmax ? differentiate_plain_weights
                                                                                   : differentiate_weights_),
        tile_floats_(std::ptrdiff_t{task.loop.key_block} * kPanel) {
    float* next = backward.scratch;
    const auto take = [&next](std::ptrdiff_t floats) {
      float* const taken = next;
      next += floats;
      return taken;
    };
    products_ = take(tile_floats_);
    raw_scores_ = take(tile_floats_);
    indices_ = take(tile_floats_);
    weights_ = take(kMaxRows / kPanel * tile_floats_);
    gradients_ = take(kMaxRows / kPanel * tile_floats_);
    queries_ = {take(kMaxRows * padded_dim(task.head_dim)), padded_dim(task.head_dim)};
    output_gradients_ = {take(kMaxRows * padded_dim(task.value_dim)), padded_dim(task.value_dim)};
  }

  /// Copies the rows of a panel and packs its output gradients where the forward pass would have its output. Rows that
  /// see none of the keys become zeros, as do those after the last.
  void start_panel(const Panel& panel) {
    LaneSource sources[kPanel];
    for (int lane = 0; lane < kPanel; ++lane) {
      const std::ptrdiff_t index = panel.rows - task_.rows + lane;
      const bool is_used = lane < panel.row_count && has_keys(panel.rows[lane]);
      copy_rows(index, is_used);
      sources[lane] = {FloatRow{output_gradients_.row(index), DType::f32}, 1.0F};
      deltas_[index] = is_used ? delta_of(backward_.rows[index]) : 0.0F;
    }
    pack_lanes(sources, task_.value_dim, panel.output);
    pack_queries(panel, task_.head_dim);
  }

  /// To be called when all panels have been started.
  void check_rows(int panels) {
    are_queries_finite_ = queries_.are_finite(panels * kPanel);
    are_output_gradients_finite_ = output_gradients_.are_finite(panels * kPanel);
  }

  void begin_block(int first, int stop) {
    first_ = first > backward_.first_key ? first : backward_.first_key;
    stop_ = stop;
    first_panel_ = kMaxRows / kPanel;
    end_panel_ = 0;
  }

  void visit(const Panel& panel, const KeySegments& segments, WidenedKv& numbers) {
    const std::ptrdiff_t index = (panel.rows - task_.rows) / kPanel;
    start_tiles(static_cast<int>(index));
    const bool has_masked = make_tiles(panel, segments, numbers, index);
    switch (task_.score.pairing) {
      case Pairing::tanh_sum:
        if (backward_.differentiates_weights) add_tanh_sums(panel, segments, index);
        break;
      case Pairing::squared_difference:
        add_differences(panel, segments, index);
        break;
      case Pairing::product:
        if (backward_.query_gradient) add_query_gradient(panel, segments, has_masked, index);
        break;
    }
  }

  /// The gradients of weights before they were rewritten and dropped: dP = V dO. Overwrites a tile that a visit of its
  /// own has no use for.
  const float* differentiate_values(const Panel& panel, const KeyBlock& keys, WidenedKv& numbers) const {
    return differentiate_values(panel, keys, numbers, weights_);
  }

  void end_block() {
    if (first_panel_ >= end_panel_) return;
    const std::ptrdiff_t first_row = std::ptrdiff_t{first_panel_} * kPanel;
    const std::ptrdiff_t key = first_ - backward_.first_key;
    const auto add = [&](const float* tiles, const RowCopies& rows, bool are_finite, float* gradient) {
      if (!gradient) return;
      add_outer_products(
          {{tiles + first_panel_ * tile_floats_, tile_floats_, end_panel_ - first_panel_, rows.from(first_row)},
           stop_ - first_,
           static_cast<int>(rows.stride),
           are_finite},
          gradient + key * rows.stride);
    };
    add(weights_, output_gradients_, are_output_gradients_finite_, backward_.value_gradient);
    if (task_.score.pairing == Pairing::product) {
      add(gradients_, queries_, are_queries_finite_, backward_.key_gradient);
    }
  }

 private:
  static bool has_keys(const AttentionRow& row) { return row.key_begin < row.key_end && row.stats->row_max != kMasked; }

  [[nodiscard]] float delta_of(const BackwardRow& row) const {
    return row.output ? row_delta(row.output_gradient, row.output, task_.value_dim) : row.delta;
  }

  void copy_rows(std::ptrdiff_t index, bool is_used) const {
    const KvRow query = is_used ? KvRow(task_.rows[index].query) : KvRow();
    const KvRow of_output = is_used ? KvRow(backward_.rows[index].output_gradient, DType::f32) : KvRow();
    queries_.copy(index, query, task_.head_dim, is_used ? backward_.rows[index].key_factor : 0.0F);
    output_gradients_.copy(index, of_output, task_.value_dim, task_.weight.dropout_factor);
  }

  /// Fills the tiles of panels that the block skipped with zeros: those between others that it did not.
  void start_tiles(int panel) {
    if (first_panel_ > panel) first_panel_ = end_panel_ = panel;
    for (; end_panel_ < panel; ++end_panel_) clear_tiles(end_panel_, first_, stop_);
    end_panel_ = panel + 1;
  }

  [[nodiscard]] std::ptrdiff_t place_of(std::ptrdiff_t panel, int key) const {
    return panel * tile_floats_ + (key - first_) * std::ptrdiff_t{kPanel};
  }

  void clear_tiles(std::ptrdiff_t panel, int key, int end) const {
    for (std::ptrdiff_t i = place_of(panel, key); i < place_of(panel, end); i += kLanes) {
      Batch(0.0F).store_aligned(weights_ + i);
      Batch(0.0F).store_aligned(gradients_ + i);
    }
  }

  /// Makes the weights of a panel and the gradients of its raw scores. Returns whether any may be masked.
  bool make_tiles(const Panel& panel, const KeySegments& segments, WidenedKv& numbers, std::ptrdiff_t index) {
    AttentionTask task = task_;
    Panel keeping = panel;
    const bool is_transformed = task.score.transform != ScoreTransform::none || backward_.sum_lines > 0;
    const bool is_rewritten = are_scores_rewritten(task, backward_.of_scores);
    keeping.wants_scores = is_rewritten || is_transformed;
    task.score.stage = ScoreStage::raw;
    const BackwardLanes lanes(panel);
    alignas(kScratchAlignment) float row_max[kPanel];
    for (float& highest : row_max) highest = kNoRowMax;
    bool has_masked = false;
    int next = first_;
    for (const KeyBlock& segment : segments) {
      const BackwardBlock keys{segment, raw_scores_};
      clear_tiles(index, next, keys.first);
      next = keys.end();
      const std::ptrdiff_t place = place_of(index, keys.first);
      const bool is_masked = make_scores<RawScoresKept>(keeping, task, keys, row_max) != Masked::none;
      has_masked |= is_masked;
      const float* const products = differentiate_values(panel, keys, numbers, weights_ + place);
      (is_masked ? differentiate_weights_ : differentiate_plain_weights_)(
          lanes, {deltas_ + index * kPanel, keys.scores, products, weights_ + place, gradients_ + place, keys.count});
      if (backward_.weight_mod) {
        rewrite_weights(*backward_.weight_mod, {panel, task, keys, keys.scores}, weights_ + place);
      }
      if (task.weight.has_dropout) drop_weights(panel, task, keys, weights_ + place);
      add_bias_gradient(panel, keys, gradients_ + place);
      if (is_rewritten) {
        differentiate_scores(backward_.of_scores, {panel, task, keys, raw_scores_},
                             {.numbers = products_, .gradients = gradients_ + place, .indices = indices_});
      }
      if (is_transformed) transform(panel, keys, gradients_ + place, index);
    }
    clear_tiles(index, next, stop_);
    return has_masked;
  }

  void transform(const Panel& panel, const KeyBlock& keys, float* gradients, std::ptrdiff_t index) const {
    float* const query = backward_.query_gradient;
    const bool has_sums = query && backward_.sum_lines > 0;
    float* const sums = has_sums ? query + index * panel_floats() + task_.head_dim * kPanel : nullptr;
    differentiate_transform(panel, task_, keys, {raw_scores_, gradients, sums});
    if (backward_.key_sums)
      add_key_sums(keys.count, raw_scores_, backward_.key_sums + keys.first - backward_.first_key);
  }

  [[nodiscard]] std::ptrdiff_t panel_floats() const {
    return std::ptrdiff_t{task_.head_dim + backward_.sum_lines} * kPanel;
  }

  const float* differentiate_values(const Panel& panel, const KeyBlock& keys, WidenedKv& numbers,
                                    float* weights) const {
    if (!backward_.differentiates_weights) return keys.scores;  // any numbers do
    const FloatRows values = numbers.values(keys);
    for_each_tile(keys.count, [&]<int kRows>(int row) {
      multiply_nt<kRows>({panel.output, task_.value_dim, values.from(row)}, {products_ + row * kPanel, kPanel});
    });
    add_weights_gradient(panel, keys);
    if (task_.weight.has_dropout) drop_weights(panel, task_, keys, products_);
    if (backward_.of_weights.are_wanted()) {
      differentiate_weight_mod(backward_.of_weights, {panel, task_, keys, keys.scores},
                               {.numbers = weights, .gradients = products_, .indices = indices_});
    }
    return products_;
  }

  /// Adds what the loss has of the weights themselves, after dropout as the products are.
  void add_weights_gradient(const Panel& panel, const KeyBlock& keys) const {
    const BackwardRow* const rows = backward_.rows + (panel.rows - task_.rows);
    if (!rows[0].weights_gradient) return;
    for (int lane = 0; lane < panel.row_count; ++lane) {
      const float* const given = rows[lane].weights_gradient + keys.first;
      for (int j = 0; j < keys.count; ++j) products_[j * kPanel + lane] += task_.weight.dropout_factor * given[j];
    }
  }

  /// Adds one row after the other: rows may share a bias.
  void add_bias_gradient(const Panel& panel, const KeyBlock& keys, const float* gradients) const {
    const BackwardRow* const rows = backward_.rows + (panel.rows - task_.rows);
    if (!rows[0].bias_gradient) return;
    const std::ptrdiff_t stride = backward_.bias_gradient_stride;
    for (int lane = 0; lane < panel.row_count; ++lane) {
      float* const bias = rows[lane].bias_gradient + keys.first * stride;
      for (int j = 0; j < keys.count; ++j) bias[j * stride] += gradients[j * kPanel + lane];
    }
  }

  void add_tanh_sums(const Panel& panel, const KeySegments& segments, std::ptrdiff_t index) const {
    const std::ptrdiff_t stride = padded_dim(task_.head_dim);
    float* const query = backward_.query_gradient;
    float* const key = backward_.key_gradient;
    for (const KeyBlock& keys : segments) {
      differentiate_tanh_sums(panel, task_, keys, gradients_ + place_of(index, keys.first),
                              {query ? query + index * panel_floats() : nullptr,
                               key ? key + (keys.first - backward_.first_key) * stride : nullptr, stride,
                               backward_.pair_gradient, backward_.scale});
    }
  }

  void add_differences(const Panel& panel, const KeySegments& segments, std::ptrdiff_t index) const {
    const std::ptrdiff_t stride = queries_.stride;
    for (const KeyBlock& keys : segments) {
      const DifferenceFactors factors{gradients_ + place_of(index, keys.first), keys.count, keys.numbers};
      if (float* const gradient = backward_.query_gradient) {
        add_query_differences(panel, task_.head_dim, factors, gradient + index * panel_floats());
      }
      if (float* const gradient = backward_.key_gradient) {
        add_key_differences(panel, task_.head_dim, factors, queries_.from(index * kPanel),
                            gradient + (keys.first - backward_.first_key) * stride);
      }
    }
  }

  /// dQ += dS K.
  void add_query_gradient(const Panel& panel, const KeySegments& segments, bool has_masked, std::ptrdiff_t index) {
    Panel target = panel;
    target.output = backward_.query_gradient + index * panel_floats();
    WeightedValues values;
    bool are_finite = true;
    for (const KeyBlock& keys : segments) {
      values.add({gradients_ + place_of(index, keys.first), keys.count, keys.numbers});
      are_finite = are_finite && (!has_masked || are_all_finite(keys.numbers, keys.count, task_.head_dim));
    }
    const Rescale same{{Batch(1.0F), Batch(1.0F)}};
    if (are_finite) {
      add_values(target, task_.head_dim, values, same);
    } else {
      add_attended_values(target, task_.head_dim, values, same);
    }
  }

  const AttentionTask& task_;
  const BackwardTask& backward_;
  DifferentiateWeights differentiate_weights_;        // makes P and dS
  DifferentiateWeights differentiate_plain_weights_;  // where no pair is masked
  std::ptrdiff_t tile_floats_;
  float* products_;
  float* raw_scores_;
  float* indices_;
  float* weights_;
  float* gradients_;
  RowCopies queries_;
  RowCopies output_gradients_;
  bool are_queries_finite_ = true;
  bool are_output_gradients_finite_ = true;
  alignas(kScratchAlignment) float deltas_[kMaxRows];

  // The block at work, and the panels that did not skip it.
  int first_ = 0;
  int stop_ = 0;
  int first_panel_ = 0;
  int end_panel_ = 0;
};

struct BackwardVisit {
  BackwardBlocks& blocks;

  void begin_block(int first, int stop) const { blocks.begin_block(first, stop); }
  void operator()(const Panel& panel, const AttentionTask& /*task*/, const KeySegments& segments,
                  WidenedKv& numbers) const {
    blocks.visit(panel, segments, numbers);
  }
  void end_block() const { blocks.end_block(); }
};

void attend_backward(const AttentionTask& task, const BackwardTask& backward) {
  Panels panels(task);
  BackwardBlocks blocks(task, backward);
  for (int index = 0; index < panels.count; ++index) {
    blocks.start_panel(panels.all[index]);
    if (task.weight.top_k > 0) recall_top_k(panels.all[index]);
  }
  blocks.check_rows(panels.count);
  for_each_key_block(panels, task, BackwardVisit{blocks});
}

}  // namespace heed::kernels
