// What an attention kernel is given: rows that read the same keys and values. Plain data, which knows nothing of heads,
// layouts and where masks come from.
#pragma once

#include <atomic>

#include "kernels/memory/kv_rows.hpp"
#include "kernels/simd/width.hpp"
#include "kernels/task/row.hpp"
#include "kernels/task/score_rule.hpp"
#include "kernels/task/scratch.hpp"

namespace heed::kernels {

/// The most rows of one task: enough to use each KV block well, few enough for the scratch to stay in the second-level
/// cache and the panels on the stack.
inline constexpr int kMaxRows = 64;

/// The most segments that the blocks of a BlockMask cut a KV block into.
inline constexpr int kMaxSegments = 4;

/// How a task goes over its keys.
struct KeyLoop {
  int key_block;    // keys of a block; fixes the order of the sums: see plan/
  int stream_keys;  // decode: keys of a stream that is read as it lies; 0: keys are read block by block
  int skip_keys;    // so many keys are skipped or read together, from each multiple of it on; 0: all are read
  const std::atomic<std::uint32_t>* stop;  // once set, the blocks to come are left out; null: never
};

struct AttentionTask {
  const AttentionRow* rows;
  int row_count;  // at most kMaxRows

  KvRows key;
  KvRows value;  // in the same pages as the keys, if both are in any
  int key_length;
  int own_length;  // without the padding of the batch entry, so that it is computed as it is alone
  int head_dim;
  int value_dim;

  ScoreRule score;
  MaskRule mask;
  WeightRule weight;
  KeyLoop loop;
  TaskScratch scratch;
};

inline bool is_stopped(const AttentionTask& task) {
  return task.loop.stop != nullptr && task.loop.stop->load(std::memory_order_relaxed) != 0;
}

/// Keys [begin, end), whose partial results are combined with those of the other splits later.
struct KeySplit {
  int begin;
  int end;
};

}  // namespace heed::kernels
