#include "operations/attention/attention_job.hpp"

#include "operations/attention/describe.hpp"

namespace heed {
namespace {

using kernels::AttentionRow;

AttentionRow describe_row(const AttentionJob& job, Index batch, Index head, Index query) {
  const AttentionOutputs& out = job.problem.outputs;
  const QueryRange& weight_rows = job.problem.weight_rows;
  AttentionRow row{describe_query(job.problem, job.operands, batch, head, query), {}};
  row.stats = row_stats_of(job, batch, head, query);
  if (job.pass != Pass::row_stats) {
    row.output = out.output.at(batch, head, query);
    if (weight_rows.begin <= query && query < weight_rows.end) {
      row.weights = out.weights.at(batch, head, query - weight_rows.begin);
    }
  }
  if (job.pass != Pass::weights) {
    row.scores = out.scores.at(batch, head, query);
    row.log_sum_exp = out.log_sum_exp.at(batch, head, query);
    row.entropy = out.entropy.at(batch, head, query);
  }
  return row;
}

}  // namespace

kernels::RowStats* row_stats_of(const AttentionJob& job, Index batch, Index head, Index query) {
  const AttentionProblem& problem = job.problem;
  if (job.row_stats == nullptr) return nullptr;
  return job.row_stats + (batch * problem.query_heads + head) * problem.query_length + query;
}

kernels::AttentionTask task_for(const AttentionJob& job, Index batch, Index group, int worker) {
  kernels::AttentionTask kernel_task = describe_group(job.problem, job.operands, job.plan, batch, group);
  kernel_task.score.mod = job.expressions.score.program == nullptr ? nullptr : &job.expressions.score;
  kernel_task.mask.mod = job.expressions.mask.program == nullptr ? nullptr : &job.expressions.mask;
  if (job.pass == Pass::row_stats) {
    kernel_task.value_dim = 0;
    kernel_task.weight.has_dropout = false;
    kernel_task.weight.dropout_factor = 1.0F;
  } else if (job.pass == Pass::weights) {
    kernel_task.weight.mod = &job.expressions.weight;
    kernel_task.weight.normalizer = Normalizer::none;
  }
  kernel_task.scratch.floats = job.scratch + worker * job.scratch_per_worker;
  kernel_task.scratch.registers = job.registers + worker * job.registers_per_worker;
  return kernel_task;
}

kernels::AttentionTask describe_rows(const AttentionJob& job, const GroupRows& run, TaskRows& rows, int worker) {
  const AttentionProblem& problem = job.problem;
  const Index batch = run.group / problem.groups;
  const Index group = run.group % problem.groups;
  for (Index i = 0; i < run.count; ++i) {
    const Index row = run.first + i;
    const Index head = group * problem.heads_per_group() + row / problem.query_length;
    rows[static_cast<std::size_t>(i)] = describe_row(job, batch, head, row % problem.query_length);
  }
  kernels::AttentionTask kernel_task = task_for(job, batch, group, worker);
  kernel_task.rows = rows.data();
  kernel_task.row_count = static_cast<int>(run.count);
  kernel_task.scratch.best = job.best + worker * job.plan.rows_per_task * problem.top_k;
  return kernel_task;
}

}  // namespace heed
