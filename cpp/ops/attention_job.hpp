// What every task of one attention call shares, and how its rows are found.
#pragma once

#include <algorithm>
#include <array>

#include "heed/executor.hpp"
#include "kernels/attention_block.hpp"
#include "ops/call_expressions.hpp"
#include "plan/attention_plan.hpp"
#include "problem/attention_problem.hpp"

namespace heed {

/// A call is one pass over its rows, unless what comes of a weight must know all of its row first: then one that makes
/// the rows' rules and what goes by scores, and one for weights and outputs.
enum class Pass : std::uint8_t { only, rules, weights };

struct AttentionJob {
  const AttentionProblem& problem;
  const AttentionPlan& plan;
  const kernels::AttentionKernels& kernels;
  CallExpressions expressions = {};
  Pass pass = Pass::only;
  float* scratch = nullptr;
  Index scratch_per_worker = 0;  // floats
  float* registers = nullptr;
  Index registers_per_worker = 0;               // floats
  kernels::BestKey* best = nullptr;             // [worker][rows_per_task][top_k]
  kernels::WeightRule* weight_rules = nullptr;  // [B, H, L], kept for the second pass; null: there is none
  float* part_results = nullptr;                // [group][part][row], where a group's keys come in parts
};

/// Tasks of the job's, for as many workers as its plan says, until its caller stops it.
inline TaskSet task_set(AttentionJob& job, void (*run)(void* context, Index task, int worker), Index count) {
  return {run, &job, count, job.plan.workers, job.problem.options.stop};
}

/// Whether tasks may have been left out.
inline bool is_stopped(const AttentionJob& job) { return is_set(job.problem.options.stop); }

using TaskRows = std::array<kernels::AttentionRow, kMaxRowsPerTask>;

/// Some rows of one group.
struct RowRun {
  Index group;
  Index first;
  Index count;
};

/// The keys of one part, where groups are cut in parts.
inline kernels::KeyPart key_part(const AttentionJob& job, Index part) {
  const Index begin = part * job.plan.keys_per_part;
  const Index end = std::min<Index>(begin + job.plan.keys_per_part, job.problem.key_length);
  return {.begin = static_cast<int>(begin), .end = static_cast<int>(end)};
}

/// The keys and values of one group of heads of one batch entry, and a worker's memory; no rows yet.
kernels::AttentionBlock block_for(const AttentionJob& job, Index batch, Index group, int worker);

/// Describes the rows, with all their results, in `rows`, and what the kernels need beside them.
kernels::AttentionBlock describe_rows(const AttentionJob& job, const RowRun& run, TaskRows& rows, int worker);

/// Where the first pass leaves a row's rule for the second; null: there is no second.
kernels::WeightRule* weight_rule_of(const AttentionJob& job, Index batch, Index head, Index query);

}  // namespace heed
