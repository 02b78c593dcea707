// A panel of rows outside of any attention call, to test what kernels do to one.
#pragma once

#include <vector>

#include "kernels/task/panel.hpp"
#include "kernels/task/score_constants.hpp"

namespace heed::testing {

/// `count` rows that see keys [0, keys), a block of values, and memory for both.
struct PanelScene {
  static constexpr int kWidth = kernels::kPanel;
  static constexpr int kLines = kernels::kStatistics + kernels::kPassStatistics;

  std::vector<kernels::AttentionRow> rows;
  kernels::AttentionTask block{};
  kernels::Panel panel{};
  std::vector<kernels::Batch> memory;  // aligned, as scratch is

  PanelScene(int count, int keys, int value_dim)
      : rows(static_cast<std::size_t>(count)), memory(static_cast<std::size_t>(2 * (value_dim + kLines + 2 * keys))) {
    for (kernels::AttentionRow& row : rows) row.key_end = keys;
    block.rows = rows.data();
    block.row_count = count;
    block.key_length = keys;
    block.value_dim = value_dim;
    block.score.log2e_scale = kernels::kLog2E;
    block.scratch.floats = reinterpret_cast<float*>(memory.data());
    refresh();
  }
  PanelScene(const PanelScene&) = delete;
  PanelScene& operator=(const PanelScene&) = delete;
  ~PanelScene() = default;

  /// After a change of rows.
  void refresh() { panel = kernels::make_panel(block, 0); }

  /// Behind the panel's own memory.
  float* scores() { return block.scratch.floats + kWidth * (block.value_dim + kLines); }
  float* addends() { return scores() + kWidth * block.key_length; }
};

}  // namespace heed::testing
