// Rows and blocks of a problem as the kernels are told of them.
#pragma once

#include "kernels/task/attention_task.hpp"
#include "ops/kv_rows.hpp"
#include "ops/score_operands.hpp"
#include "plan/attention_plan.hpp"
#include "problem/attention_problem.hpp"

namespace heed {

/// What scores are kept in: log2(e) where powers of two are taken of them, else 1, so that whole numbers stay whole.
float log2e_scale(const AttentionProblem& problem);

/// The same up to the caller's function of a score, which takes natural units.
float raw_scale(const AttentionProblem& problem);

/// A query with everything that makes its scores, and no results yet.
kernels::RowInputs describe_query(const AttentionProblem& problem, const ScoreOperands& operands, Index batch,
                                  Index head, Index query);

/// The keys and values of one group of heads of one batch entry, with no rows and no scratch yet.
kernels::AttentionTask describe_group(const AttentionProblem& problem, const ScoreOperands& operands,
                                      const AttentionPlan& plan, Index batch, Index group);

}  // namespace heed
