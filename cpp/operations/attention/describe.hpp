// Describes the rows and blocks of a problem in the form that kernels take.
#pragma once

#include "kernels/task/attention_task.hpp"
#include "operations/attention/score_operands.hpp"
#include "operations/common/view_rows.hpp"
#include "plan/attention_plan.hpp"
#include "problem/attention_problem.hpp"

namespace heed {

/// The factor that scores are kept with: log2(e) for softmax in base 2, else 1, so that whole numbers stay whole.
float log2e_scale(const AttentionProblem& problem);

/// The same before the caller's score_mod, which takes unscaled scores.
float raw_scale(const AttentionProblem& problem);

/// Describes a query with all that its scores need, without results.
kernels::RowInputs describe_query(const AttentionProblem& problem, const ScoreOperands& operands, Index batch,
                                  Index head, Index query);

/// Describes the keys and values of one group of a batch entry, without rows and scratch.
kernels::AttentionTask describe_group(const AttentionProblem& problem, const ScoreOperands& operands,
                                      const AttentionPlan& plan, Index batch, Index group);

}  // namespace heed
