#include "operations/attention/attention_job.hpp"

#include <algorithm>

#include "kernels/instances/attention.hpp"
#include "operations/attention/describe.hpp"

namespace heed {
namespace {

using kernels::AttentionRow;
using kernels::AttentionTask;
using kernels::KeySplit;
using kernels::RowStats;

/// A task: some queries of a batch entry and some of their keys.
struct MeanTask {
  Index batch;
  Index first_query;
  Index query_count;
  KeySplit keys;
};

MeanTask mean_task_at(const AttentionJob& job, Index task) {
  const AttentionProblem& problem = job.problem;
  const AttentionPlan& plan = job.plan;
  const Index index = task % plan.mean_tasks_per_batch;
  MeanTask result{.batch = task / plan.mean_tasks_per_batch,
                  .first_query = 0,
                  .query_count = problem.query_length,
                  .keys = {.begin = 0, .end = static_cast<int>(problem.key_length)}};
  if (plan.splits_per_group > 0) {
    result.keys = key_split(job, index);
  } else {
    // Later queries first, as in the first pass.
    result.first_query = (plan.mean_tasks_per_batch - 1 - index) * plan.queries_per_mean_task;
    result.query_count = std::min(plan.queries_per_mean_task, problem.query_length - result.first_query);
  }
  return result;
}

AttentionRow describe_row(const AttentionJob& job, Index batch, Index head, Index query) {
  AttentionRow row{describe_query(job.problem, job.operands, batch, head, query), {}};
  row.stats = row_stats_of(job, batch, head, query);
  row.mean_weights = job.problem.outputs.mean_weights.at(batch, 0, query);
  return row;
}

/// Adds head after head, in this order whatever the tasks are.
void run_task(const AttentionJob& job, Index number, int worker) {
  const AttentionProblem& problem = job.problem;
  const MeanTask task = mean_task_at(job, number);
  for (Index i = 0; i < task.query_count; ++i) {
    float* const mean = problem.outputs.mean_weights.at(task.batch, 0, task.first_query + i);
    std::fill(mean + task.keys.begin, mean + task.keys.end, 0.0F);
  }

  // These are the rows that the first pass had together, so scores come out with the same bits.
  const bool has_splits = job.plan.splits_per_group > 0;
  const Index heads_at_once = has_splits ? problem.heads_per_group() : 1;
  TaskRows rows;
  for (Index head = 0; head < problem.query_heads; head += heads_at_once) {
    const Index count = heads_at_once * task.query_count;
    for (Index i = 0; i < count; ++i) {
      rows[static_cast<std::size_t>(i)] =
          describe_row(job, task.batch, head + i / task.query_count, task.first_query + i % task.query_count);
    }
    AttentionTask kernel_task = task_for(job, task.batch, head / problem.heads_per_group(), worker);
    kernel_task.rows = rows.data();
    kernel_task.row_count = static_cast<int>(count);
    kernel_task.weight.head_weight = 1.0F / static_cast<float>(problem.query_heads);
    if (has_splits) {
      kernels::add_split_mean_weights(kernel_task, task.keys);
    } else {
      kernels::add_mean_weights(kernel_task);
    }
  }
}

}  // namespace

Index row_stats_floats(const AttentionProblem& problem, const AttentionPlan& plan) {
  constexpr Index floats = sizeof(RowStats) / sizeof(float);
  const bool has_rules = plan.mean_task_count > 0 || problem.options.expressions.have(ProgramOf::weight);
  return !has_rules ? 0 : floats * problem.batch * problem.query_heads * problem.query_length;
}

void average_weights(const AttentionJob& job, Executor& executor) {
  parallel_for(executor, job, job.plan.mean_task_count, [&](Index task, int worker) { run_task(job, task, worker); });
}

}  // namespace heed
