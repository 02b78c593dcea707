#include "ops/attention_job.hpp"

#include "ops/describe.hpp"

namespace heed {
namespace {

using kernels::AttentionRow;

AttentionRow describe_row(const AttentionJob& job, Index batch, Index head, Index query) {
  const AttentionOutputs& out = job.problem.outputs;
  const QueryRange& weight_rows = job.problem.weight_rows;
  AttentionRow row = describe_query(job.problem, batch, head, query);
  row.weight_rule = weight_rule_of(job, batch, head, query);
  if (job.pass != Pass::rules) {
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

kernels::WeightRule* weight_rule_of(const AttentionJob& job, Index batch, Index head, Index query) {
  const AttentionProblem& problem = job.problem;
  if (job.weight_rules == nullptr) return nullptr;
  return job.weight_rules + (batch * problem.query_heads + head) * problem.query_length + query;
}

kernels::AttentionBlock block_for(const AttentionJob& job, Index batch, Index group, int worker) {
  kernels::AttentionBlock block = describe_block(job.problem, job.plan, batch, group);
  block.score_mod = job.expressions.score.program == nullptr ? nullptr : &job.expressions.score;
  block.mask_mod = job.expressions.mask.program == nullptr ? nullptr : &job.expressions.mask;
  if (job.pass == Pass::rules) {
    block.value_dim = 0;
    block.has_dropout = false;
    block.dropout_factor = 1.0F;
  } else if (job.pass == Pass::weights) {
    block.weight_mod = &job.expressions.weight;
    block.normalizer = kernels::Normalizer::identity;
  }
  block.scratch = job.scratch + worker * job.scratch_per_worker;
  block.registers = job.registers + worker * job.registers_per_worker;
  return block;
}

kernels::AttentionBlock describe_rows(const AttentionJob& job, const RowRun& run, TaskRows& rows, int worker) {
  const AttentionProblem& problem = job.problem;
  const Index batch = run.group / problem.groups;
  const Index group = run.group % problem.groups;
  for (Index i = 0; i < run.count; ++i) {
    const Index row = run.first + i;
    const Index head = group * problem.heads_per_group() + row / problem.query_length;
    rows[static_cast<std::size_t>(i)] = describe_row(job, batch, head, row % problem.query_length);
  }
  kernels::AttentionBlock block = block_for(job, batch, group, worker);
  block.rows = rows.data();
  block.row_count = static_cast<int>(run.count);
  block.best = job.best + worker * job.plan.rows_per_task * problem.top_k;
  return block;
}

}  // namespace heed
