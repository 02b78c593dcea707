// Cuts an attention problem into tasks and tiles for a machine. Pure: it
// allocates nothing, and the same arguments always give the same plan.
#pragma once

#include "problem/attention_problem.hpp"

namespace heed {

/// Enough rows to use each block of keys well; few enough for the scratch to stay in
/// the second-level cache and for the rows' descriptions to live on the stack.
inline constexpr Index kMaxRowsPerTask = 64;

/// Longer KV blocks than the first-level cache would hold save entries into the inner loop.
inline constexpr int kMaxKeyBlock = 96;

/// Skipping fewer keys does not pay for the test.
inline constexpr int kLeastSkipKeys = 16;

/// Streams that decode interleaves.
inline constexpr int kStreams = 2;

/// What a plan needs to know of the machine.
struct Machine {
  int panel;  // rows that the kernel computes side by side, at most kMaxRowsPerTask
  int workers;
  double work_per_worker = 0.0;  // multiplications that pay for waking one more worker
  int short_rows = 0;            // groups of at most so many rows go to the decode kernel, with their keys in splits
};

/// A task is one KV head of one batch entry and some of its rows. The rows of a group are the queries of all the heads
/// that read it, head after head, so that heads which share keys also share their tiles.
struct AttentionPlan {
  Index rows_per_group;
  Index rows_per_task;
  Index tasks_per_group;
  Index task_count;
  int key_block;  // keys of a KV block, between two updates of the online softmax
  int skip_keys;  // so many keys are skipped or read together, from each multiple of it on; 0: all are read
  int workers;    // that are worth waking, the caller included

  // Decode: a task is one group and a split of the keys, and the splits are combined.
  int splits_per_group;  // 0: tasks are cut by rows, as they are where the whole has more
  int keys_per_split;
  int stream_keys;  // keys of a stream: a page, or the whole split; 0: splits are read block by block

  // A second pass computes the mean of the weights over the heads. It makes scores again and subtracts the row_max that
  // the first pass found, so it runs the same kernel, prefill or decode, to get the same bits: where scores are large,
  // another order of rounding changes them by much. A task adds all heads of one batch entry. In prefill it has some of
  // the queries, at most as many as a task of the first pass has rows; in decode, all queries and a split of the keys.
  Index queries_per_mean_task;
  Index mean_tasks_per_batch;
  Index mean_task_count;  // 0: not wanted
};

AttentionPlan plan_attention(const AttentionProblem& problem, const Machine& machine);

}  // namespace heed
