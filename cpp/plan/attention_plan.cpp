#include "plan/attention_plan.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "plan/choose_workers.hpp"
#include "problem/key_range.hpp"

namespace heed {
namespace {

// A block of keys and values passes every panel of the task: 96 KB / 4 bytes = 24576 floats
// stay in any second-level cache, from which 6 numbers for 12 multiply-adds are easily had.
constexpr Index kCachedFloats = 24576;

// Multiples of 24: whole tiles of 6 keys and whole 8-lane vectors.
constexpr Index kKeyStep = 24;

// With so many tasks a worker, workers that start late or get short causal rows still end together.
constexpr Index kTasksPerWorker = 4;

/// The keys that are skipped together: whole blocks of a block-sparse structure, so that empty ones can be skipped.
Index choose_skip_keys(const AttentionProblem& problem) {
  const SparseBlocks& blocks = problem.options.blocks;
  if (!blocks.keep.is_present() || blocks.keys >= problem.key_length) return 0;
  return blocks.keys * divide_up(kLeastSkipKeys, blocks.keys);
}

/// Depends on the sizes of heads and blocks alone, so that the order of the sums, and with it
/// every bit of the result, is the same for any number of tasks or workers.
Index choose_key_block(const AttentionProblem& problem, Index skip_keys) {
  const Index fitting = kCachedFloats / (problem.head_dim + problem.value_dim);
  const Index most = std::clamp<Index>(fitting / kKeyStep * kKeyStep, kKeyStep, kMaxKeyBlock);
  if (skip_keys == 0) return most;
  return skip_keys <= most ? most / skip_keys * skip_keys : divide_up(skip_keys, divide_up(skip_keys, most));
}

// A split should take tens of microseconds, so that handing it out and combining it cost nothing beside it: 512 KB / 4
// bytes = 131072 floats, at some 20 GB/s.
constexpr Index kSplitFloats = 131072;
constexpr Index kSplitStep = 128;
constexpr Index kMaxSplit = 4096;
// A multiple of every panel's width.
constexpr Index kSplitKeyStep = 32;

/// Whether a mask may empty KV blocks.
bool may_skip_blocks(const AttentionProblem& problem) {
  return problem.inputs.mask.is_present() || problem.options.blocks.keep.is_present() ||
         problem.options.expressions.have(ProgramOf::mask);
}

/// Whether all rows of a group see the same keys, and add the same values.
bool are_alike(const AttentionProblem& problem, Index rows) {
  const AttentionOptions& options = problem.options;
  return rows == 1 ||
         (problem.query_length == 1 && options.normalizer == Normalizer::softmax && options.dropout.p == 0.0F);
}

/// Whether decode reads K and V by streams, a whole split at once: in pages that a split has several of.
bool reads_streams(const AttentionProblem& problem, Index rows) {
  const ScoreKind score = problem.options.score.kind;
  const bool is_product = score != ScoreKind::additive && score != ScoreKind::rbf && score != ScoreKind::distance;
  const bool is_plain = is_product && !may_skip_blocks(problem) && !problem.options.expressions.are_given();
  return are_alike(problem, rows) && is_plain && problem.inputs.value.pages.rows < kMaxSplit;
}

/// A block is all keys of a split, then its values: only long streams saturate bandwidth, and memory idles while
/// weights are computed. But KV blocks that a mask empties are not read.
Index choose_split_block(const AttentionProblem& problem, Index keys) {
  const Index floats = problem.head_dim + problem.value_dim;
  const Index fitting =
      (may_skip_blocks(problem) ? kCachedFloats : kSplitFloats) / floats / kSplitKeyStep * kSplitKeyStep;
  return std::clamp(fitting, kSplitKeyStep, may_skip_blocks(problem) ? kSplitStep : keys);
}

// Pages of each head in a split: while they are read, the hardware prefetches the next head in the same pages. Long
// pages are split one by one, or workers would be left without a split.
constexpr Index kPagesPerSplit = 2;
constexpr Index kPagedKeys = 1536;

// Splits that are read by streams are longer, as long as a batch entry has enough splits for any workers: as many whole
// pages as are interleaved, or twice as many.
constexpr Index kTimesAsLong = 4;
constexpr Index kLeastSplits = 8;
constexpr Index kPagesInStreams = 4;

Index choose_pages(Index rows, Index most, bool in_streams) {
  if (!in_streams) return std::clamp<Index>(kPagedKeys / rows, 1, kPagesPerSplit);
  const Index pages = std::min(std::clamp<Index>(2 * kPagedKeys / rows, 1, kPagesInStreams), most / rows);
  return pages < kStreams ? 1 : pages / kStreams * kStreams;
}

/// The length of a split, in keys.
Index choose_split(const AttentionProblem& problem, bool in_streams) {
  const Index floats = problem.head_dim + problem.value_dim;
  const DType dtype = problem.inputs.value.dtype;
  // int8 needs a quarter of the bandwidth.
  const Index floats_read = is_int8(dtype) ? divide_up(floats, 4) : floats;
  const Pages& pages = problem.inputs.value.pages;
  const Index least = kSplitFloats / floats_read / kSplitStep * kSplitStep;
  // The splits of a slice are those of its whole, and those of a batch entry the same in any batch.
  const Index groups = problem.whole.query_heads / problem.heads_per_group();
  const Index shared = groups * problem.key_length / kLeastSplits / kSplitStep * kSplitStep;
  const Index most = in_streams ? std::clamp(shared, least, kTimesAsLong * least) : least;
  if (pages.table == nullptr) {
    // f16 is widened a split at a time.
    const bool are_f32 = problem.key_dtype == DType::f32 && dtype == DType::f32;
    return std::clamp(are_f32 ? most : least, kSplitStep, kMaxSplit);
  }
  const Index rows = std::max<Index>(1, pages.rows);
  const Index keys = round_up(choose_pages(rows, most, in_streams) * rows, kSplitKeyStep);
  return std::clamp(std::min(keys, most), kSplitStep, kMaxSplit);
}

/// Like KV blocks, splits depend on sizes alone.
void plan_splits(const AttentionProblem& problem, AttentionPlan& plan) {
  const bool in_streams = reads_streams(problem, plan.rows_per_group);
  const Index keys = choose_split(problem, in_streams);
  plan.keys_per_split = static_cast<int>(keys);
  plan.splits_per_group = static_cast<int>(std::max<Index>(1, divide_up(problem.key_length, keys)));
  plan.key_block = static_cast<int>(in_streams ? keys : choose_split_block(problem, keys));
  if (!in_streams) return;
  const Pages& pages = problem.inputs.value.pages;
  plan.stream_keys = static_cast<int>(pages.table == nullptr ? keys : pages.rows);
}

// The cost of a tanh, and how often scores are made where a pass over them comes before they become weights.
constexpr Index kWorkOfTanh = 16;
constexpr Index kLooks = 6;

/// Whether a split of the keys can be turned into weights without a pass over the others.
bool needs_one_look(const AttentionProblem& problem) {
  return problem.top_k == 0 && problem.options.normalizer != Normalizer::sparsemax;
}

/// The multiplications of a query and a key.
Index work_of_pair(const AttentionProblem& problem) {
  const bool is_tanh_sum = problem.options.score.kind == ScoreKind::additive;
  const Index of_score = is_tanh_sum ? kWorkOfTanh * problem.head_dim : problem.head_dim;
  return (needs_one_look(problem) ? of_score : kLooks * of_score) + problem.value_dim;
}

/// Counts multiplications, by the keys that some of the queries see.
double count_multiplications(const AttentionProblem& problem) {
  constexpr Index kSamples = 16;
  Index keys = 0;
  for (Index batch = 0; batch < problem.batch; ++batch) {
    for (Index sample = 0; sample < kSamples; ++sample) {
      const Index query = (2 * sample + 1) * problem.query_length / (2 * kSamples);
      const KeyRange visible = visible_keys(problem, batch, query);
      keys += visible.end - visible.begin;
    }
  }
  return static_cast<double>(keys) / kSamples * static_cast<double>(problem.query_heads * problem.query_length) *
         static_cast<double>(work_of_pair(problem));
}

Index choose_rows_per_task(Index rows, Index groups, int panel, int workers) {
  const Index wanted_tasks = workers > 1 ? kTasksPerWorker * workers : 1;
  const Index tasks_per_group =
      std::max(divide_up(wanted_tasks, std::max<Index>(groups, 1)), divide_up(rows, kMaxRowsPerTask));
  const Index balanced = round_up(divide_up(rows, std::max<Index>(tasks_per_group, 1)), panel);
  return std::clamp<Index>(balanced, panel, kMaxRowsPerTask);
}

// The best keys of a task's rows: 1 MB / 8 bytes = 131072 of them stay in the second-level cache.
constexpr Index kBestKeys = 131072;

/// Limits `rows` to that, in whole panels.
Index at_most(Index most, int panel, Index rows) {
  return std::clamp<Index>(most / panel * panel, panel, std::max<Index>(rows, panel));
}

void plan_mean(const AttentionProblem& problem, const Machine& machine, AttentionPlan& plan) {
  if (plan.splits_per_group > 0) {
    plan.queries_per_mean_task = problem.query_length;
    plan.mean_tasks_per_batch = plan.splits_per_group;
  } else {
    const Index queries = choose_rows_per_task(problem.query_length, problem.batch, machine.panel, plan.workers);
    plan.queries_per_mean_task = std::min(queries, plan.rows_per_task);
    plan.mean_tasks_per_batch = divide_up(problem.query_length, plan.queries_per_mean_task);
  }
  plan.mean_task_count = problem.batch * plan.mean_tasks_per_batch;
}

}  // namespace

AttentionPlan plan_attention(const AttentionProblem& problem, const Machine& machine) {
  const Index groups = problem.batch * problem.groups;
  const Index rows = problem.heads_per_group() * problem.query_length;

  AttentionPlan plan{};
  plan.rows_per_group = rows;
  plan.workers = problem.query_length == 0
                     ? machine.workers
                     : choose_workers(machine.workers, machine.work_per_worker, count_multiplications(problem));
  plan.rows_per_task = choose_rows_per_task(rows, groups, machine.panel, plan.workers);
  const Index skip_keys = choose_skip_keys(problem);
  plan.skip_keys = static_cast<int>(skip_keys);
  plan.key_block = static_cast<int>(choose_key_block(problem, skip_keys));
  if (problem.top_k > 0) plan.rows_per_task = at_most(kBestKeys / problem.top_k, machine.panel, plan.rows_per_task);
  plan.tasks_per_group = divide_up(rows, plan.rows_per_task);
  const bool is_short = problem.heads_per_group() * problem.whole.query_length <= machine.short_rows;
  if (rows > 0 && is_short && needs_one_look(problem)) {
    plan_splits(problem, plan);
    plan.tasks_per_group = plan.splits_per_group;
  }
  plan.task_count = groups * plan.tasks_per_group;
  if (problem.outputs.mean_weights.is_present()) plan_mean(problem, machine, plan);
  return plan;
}

}  // namespace heed
