// How a GEMM is cut into tasks of rows and columns.
#pragma once

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/gemm/gemm_task.hpp"

namespace heed {

/// A task has so many rows and starts at a multiple of them: whole tiles of 6 and of 4, and few enough to stay in the
/// second-level cache while the panels of the matrix pass them.
inline constexpr Index kRowsPerTask = 96;

/// The columns of a task, a multiple of so many panels: fewer where rows alone do not keep all workers busy.
inline Index choose_columns(Index columns, Index rows, int workers, Index multiple) {
  // With so many tasks a worker, workers that start late still end together.
  constexpr Index kTasksPerWorker = 4;
  const Index wanted = workers > 1 ? kTasksPerWorker * workers : 1;
  const Index panels = divide_up(columns, kernels::kPanel);
  const Index cuts = std::clamp<Index>(divide_up(wanted, divide_up(rows, kRowsPerTask)), 1, panels);
  return round_up(divide_up(panels, cuts), multiple) * kernels::kPanel;
}

}  // namespace heed
