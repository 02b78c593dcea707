// Cuts an attention problem into tasks and tiles for a machine. Pure: it
// allocates nothing, and the same arguments always give the same plan.
#pragma once

#include "problem/attention_problem.hpp"

namespace heed {

/// Enough rows to use each block of keys well; few enough for the scratch to stay in
/// the second-level cache and for the rows' descriptions to live on the stack.
inline constexpr Index kMaxRowsPerTask = 64;

/// Longer blocks of keys than the first-level cache would hold save entries into the inner loop.
inline constexpr int kMaxKeyBlock = 96;

/// Fewer keys at a time are not worth a look at whether they are kept.
inline constexpr int kLeastKeyUnit = 16;

/// Runs of lines that few rows read by turns.
inline constexpr int kRunsByTurns = 2;

/// What a plan needs to know of the machine.
struct Machine {
  int panel;  // rows that the kernel computes side by side, at most kMaxRowsPerTask
  int workers;
  double work_per_worker = 0.0;  // multiplications that pay for waking one more worker
  int short_rows = 0;            // groups of up to so many rows are computed in parts of their keys
};

/// A task is one key/value head of one batch entry and a run of its rows. The
/// rows of a group are the queries of all the heads that read it, head after
/// head, so that heads which share keys also share their tiles.
struct AttentionPlan {
  Index rows_per_group;
  Index rows_per_task;
  Index tasks_per_group;
  Index task_count;
  int key_block;  // keys between two updates of the running softmax
  int key_unit;   // so many are kept or left out together, from each multiple of it on; 0: all are
  int workers;    // that are worth waking, the caller included

  // Few rows: a task is one group and a part of the keys, and the parts are merged.
  int parts_per_group;  // 0: tasks are cut by rows, as they are where the whole has more
  int keys_per_part;
  int run_keys;  // of each piece of a part: a page, or all of it; 0: parts are read a block at a time

  // The second pass, for the mean of the weights over the heads, by the kernel of the first, to the last bit:
  // where scores are large, the roundings of another one are large numbers. A task is one batch entry and, of
  // all heads, a run of its queries, no more at a time than the first pass has; or a part of the keys.
  Index queries_per_mean_task;
  Index mean_tasks_per_batch;
  Index mean_task_count;  // 0: not wanted
};

AttentionPlan plan_attention(const AttentionProblem& problem, const Machine& machine);

}  // namespace heed
