#include "plan/attention_plan.hpp"

#include <algorithm>

#include "problem/key_range.hpp"

namespace heed {
namespace {

// A block of keys and values passes every panel of the task: 96 KB / 4 bytes = 24576 floats
// stay in any second-level cache, from which 6 numbers for 12 multiply-adds are easily had.
constexpr Index kCachedFloats = 24576;

// Multiples of 24: whole tiles of 6 keys and whole 8-lane vectors.
constexpr Index kKeyStep = 24;

// So that workers which start late or meet short causal rows still end together.
constexpr Index kTasksPerWorker = 4;

Index round_up(Index count, Index step) { return (count + step - 1) / step * step; }
Index divide_up(Index count, Index step) { return (count + step - 1) / step; }

/// Whole blocks of a block-sparse structure, so that those which are not kept can be passed over.
Index choose_key_unit(const AttentionProblem& problem) {
  const KeptBlocks& blocks = problem.options.blocks;
  if (!blocks.keep.is_present() || blocks.keys >= problem.key_length) return 0;
  return blocks.keys * divide_up(kLeastKeyUnit, blocks.keys);
}

/// Depends on the sizes of heads and blocks alone, so that the order of the sums, and with it
/// every bit of the result, is the same for any number of tasks or workers.
Index choose_key_block(const AttentionProblem& problem, Index unit) {
  const Index fitting = kCachedFloats / (problem.head_dim + problem.value_dim);
  const Index most = std::clamp<Index>(fitting / kKeyStep * kKeyStep, kKeyStep, kMaxKeyBlock);
  if (unit == 0) return most;
  return unit <= most ? most / unit * unit : divide_up(unit, divide_up(unit, most));
}

// A part should take tens of microseconds, so that handing it out and merging it cost nothing beside it:
// 512 KB / 4 bytes = 131072 floats, at some 20 GB/s.
constexpr Index kPartFloats = 131072;
constexpr Index kPartStep = 128;
constexpr Index kMaxPart = 4096;
// A multiple of every panel's width.
constexpr Index kPartKeyStep = 32;

/// Whether keys may turn out to be masked block by block.
bool may_pass_over(const AttentionProblem& problem) {
  return problem.inputs.mask.is_present() || problem.options.blocks.keep.is_present() ||
         problem.options.expressions.have(ProgramOf::mask);
}

/// Whether all rows of a group see the same keys, and add the same values.
bool are_alike(const AttentionProblem& problem, Index rows) {
  const AttentionOptions& options = problem.options;
  return rows == 1 ||
         (problem.query_length == 1 && options.normalizer == Normalizer::softmax && !options.dropout.has_value());
}

/// Whether few rows read their keys as they lie, and all of a part at once: in pages that a part has several of.
bool reads_in_runs(const AttentionProblem& problem, Index rows) {
  const ScoreKind score = problem.options.score.kind;
  const bool is_product = score != ScoreKind::additive && score != ScoreKind::rbf && score != ScoreKind::distance;
  const bool is_plain = is_product && !may_pass_over(problem) && !problem.options.expressions.are_given();
  return are_alike(problem, rows) && is_plain && problem.inputs.value.pages.rows < kMaxPart;
}

/// All keys of a part, then its values: memory is read at its own rate only in long runs, and rests while weights are
/// made. But what a mask takes whole is not read.
Index choose_part_block(const AttentionProblem& problem, Index keys) {
  const Index floats = problem.head_dim + problem.value_dim;
  const Index fitting = (may_pass_over(problem) ? kCachedFloats : kPartFloats) / floats / kPartKeyStep * kPartKeyStep;
  return std::clamp(fitting, kPartKeyStep, may_pass_over(problem) ? kPartStep : keys);
}

// Of each head: while they pass, what the next head has in the same pages is on its way already. Long pages go alone,
// or workers would be left without a part.
constexpr Index kPagesPerPart = 2;
constexpr Index kPagedKeys = 1536;

// What is read in runs has longer parts, as far as a batch entry has enough for any workers: of pages whole ones, as
// many as are read by turns, or twice as many.
constexpr Index kTimesAsLong = 4;
constexpr Index kLeastParts = 8;
constexpr Index kPagesInRuns = 4;

Index choose_pages(Index rows, Index most, bool in_runs) {
  if (!in_runs) return std::clamp<Index>(kPagedKeys / rows, 1, kPagesPerPart);
  const Index pages = std::min(std::clamp<Index>(2 * kPagedKeys / rows, 1, kPagesInRuns), most / rows);
  return pages < kRunsByTurns ? 1 : pages / kRunsByTurns * kRunsByTurns;
}

/// In keys.
Index choose_part(const AttentionProblem& problem, bool in_runs) {
  const Index floats = problem.head_dim + problem.value_dim;
  const DType dtype = problem.inputs.value.dtype;
  // Bytes come four times as fast.
  const Index floats_read = is_of_bytes(dtype) ? divide_up(floats, 4) : floats;
  const Pages& pages = problem.inputs.value.pages;
  const Index least = kPartFloats / floats_read / kPartStep * kPartStep;
  // A slice's parts are those of its whole, and an entry's those that it has in any batch.
  const Index groups = problem.whole.query_heads / problem.heads_per_group();
  const Index shared = groups * problem.key_length / kLeastParts / kPartStep * kPartStep;
  const Index most = in_runs ? std::clamp(shared, least, kTimesAsLong * least) : least;
  if (pages.table == nullptr) {
    // Halves are widened, a part at a time.
    const bool are_single = problem.inputs.key.dtype == DType::f32 && dtype == DType::f32;
    return std::clamp(are_single ? most : least, kPartStep, kMaxPart);
  }
  const Index rows = std::max<Index>(1, pages.rows);
  const Index keys = round_up(choose_pages(rows, most, in_runs) * rows, kPartKeyStep);
  return std::clamp(std::min(keys, most), kPartStep, kMaxPart);
}

/// Like key blocks, parts depend on sizes alone.
void plan_parts(const AttentionProblem& problem, AttentionPlan& plan) {
  const bool in_runs = reads_in_runs(problem, plan.rows_per_group);
  const Index keys = choose_part(problem, in_runs);
  plan.keys_per_part = static_cast<int>(keys);
  plan.parts_per_group = static_cast<int>(std::max<Index>(1, divide_up(problem.key_length, keys)));
  plan.key_block = static_cast<int>(in_runs ? keys : choose_part_block(problem, keys));
  if (!in_runs) return;
  const Pages& pages = problem.inputs.value.pages;
  plan.run_keys = static_cast<int>(pages.table == nullptr ? keys : pages.rows);
}

// What a hyperbolic tangent costs, and how often scores are made where they are looked at before they become weights.
constexpr Index kWorkOfTanh = 16;
constexpr Index kLooks = 6;

/// Whether a part of the keys can be turned into weights without a look at the others.
bool needs_one_look(const AttentionProblem& problem) {
  return problem.top_k == 0 && problem.options.normalizer != Normalizer::sparsemax;
}

/// Of a query and a key.
Index work_of_pair(const AttentionProblem& problem) {
  const bool is_bent = problem.options.score.kind == ScoreKind::additive;
  const Index of_score = is_bent ? kWorkOfTanh * problem.head_dim : problem.head_dim;
  return (needs_one_look(problem) ? of_score : kLooks * of_score) + problem.value_dim;
}

/// In multiplications, by the keys that some of the queries see.
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

int choose_workers(const AttentionProblem& problem, const Machine& machine) {
  if (machine.workers <= 1 || machine.work_per_worker <= 0.0 || problem.query_length == 0) return machine.workers;
  const double paid = count_multiplications(problem) / machine.work_per_worker;
  return static_cast<int>(std::clamp(paid, 1.0, static_cast<double>(machine.workers)));
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

/// As many of `rows` as there may be, in whole panels.
Index at_most(Index most, int panel, Index rows) {
  return std::clamp<Index>(most / panel * panel, panel, std::max<Index>(rows, panel));
}

void plan_mean(const AttentionProblem& problem, const Machine& machine, AttentionPlan& plan) {
  if (plan.parts_per_group > 0) {
    plan.queries_per_mean_task = problem.query_length;
    plan.mean_tasks_per_batch = plan.parts_per_group;
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
  plan.workers = choose_workers(problem, machine);
  plan.rows_per_task = choose_rows_per_task(rows, groups, machine.panel, plan.workers);
  const Index unit = choose_key_unit(problem);
  plan.key_unit = static_cast<int>(unit);
  plan.key_block = static_cast<int>(choose_key_block(problem, unit));
  if (problem.top_k > 0) plan.rows_per_task = at_most(kBestKeys / problem.top_k, machine.panel, plan.rows_per_task);
  plan.tasks_per_group = divide_up(rows, plan.rows_per_task);
  const bool is_short = problem.heads_per_group() * problem.whole.query_length <= machine.short_rows;
  if (rows > 0 && is_short && needs_one_look(problem)) {
    plan_parts(problem, plan);
    plan.tasks_per_group = plan.parts_per_group;
  }
  plan.task_count = groups * plan.tasks_per_group;
  if (problem.outputs.mean_weights.is_present()) plan_mean(problem, machine, plan);
  return plan;
}

}  // namespace heed
