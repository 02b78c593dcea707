// Cuts the backward pass of attention into tasks. Pure, as attention_plan.hpp.
#pragma once

#include "plan/attention_plan.hpp"
#include "problem/attention_vjp_problem.hpp"

namespace heed {

/// A task is one KV head of one batch entry and a split of its keys, with all rows that read it. Splits depend on sizes
/// alone, so that the order of all sums is the same for any number of workers.
struct AttentionVjpPlan {
  Index rows_per_group;
  Index keys_per_step;   // keys whose gradients stay in the cache while all rows pass; whole KV blocks
  Index keys_per_split;  // whole steps
  Index splits_per_group;
  Index table_partials;  // sums of the gradients of tables, between which tasks are shared
  int key_block;
  int skip_keys;
  int workers;
};

AttentionVjpPlan plan_attention_vjp(const AttentionVjpProblem& problem, const Machine& machine);

}  // namespace heed
