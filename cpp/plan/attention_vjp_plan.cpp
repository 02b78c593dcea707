#include "plan/attention_vjp_plan.hpp"

#include <algorithm>

#include "heed/rounding.hpp"

namespace heed {
namespace {

// Keys, values and the gradients of both: 1 MB / 4 bytes = 262144 floats stay near. With half of it, for which rows are
// described and packed twice as often, 1024 keys take 6 % longer.
constexpr Index kStepFloats = 262144;

// Enough tasks for 4 workers to end together, causal or not.
constexpr Index kTasks = 16;
constexpr Index kMaxSplits = 8;
// Each split has partial gradients of all queries: 16 MB / 4 bytes, or 4 times the queries where those are larger.
constexpr Index kPartialFloats = 4 << 20;
constexpr Index kLeastOfMaxSplits = 4;
// KV blocks of a split, or rows would be packed for too few keys.
constexpr Index kLeastBlocks = 4;
// The gradients of tables have fewer partial sums where they are larger; tasks that share one follow one another.
constexpr Index kTableFloats = 4 << 20;

// Five products of the size of the forward pass' two.
constexpr double kWorkOfForward = 2.5;

/// Splits of one bias in several groups are computed after one another, so that only the splits of a group are computed
/// at the same time.
Index choose_splits(const AttentionVjpProblem& problem) {
  const AttentionProblem& forward = problem.forward;
  const Index groups = forward.whole.batch * (forward.whole.query_heads / forward.heads_per_group());
  const bool are_groups_alone = problem.sums_bias_over(0) || problem.sums_bias_over(1);
  const Index wanted = divide_up(kTasks, are_groups_alone ? 1 : std::max<Index>(groups, 1));
  const Index queries = forward.whole.batch * forward.whole.query_heads * forward.query_length * forward.head_dim;
  const Index most = std::clamp(kPartialFloats / std::max<Index>(queries, 1), kLeastOfMaxSplits, kMaxSplits);
  return std::min(wanted, most);
}

}  // namespace

AttentionVjpPlan plan_attention_vjp(const AttentionVjpProblem& problem, const Machine& machine) {
  const AttentionProblem& forward = problem.forward;
  const Index dims = forward.head_dim + forward.value_dim;
  AttentionVjpPlan plan{};
  plan.rows_per_group = forward.heads_per_group() * forward.query_length;
  const AttentionPlan of_forward =
      plan_attention(forward, {.panel = machine.panel,
                               .workers = machine.workers,
                               .work_per_worker = machine.work_per_worker / kWorkOfForward});
  plan.skip_keys = of_forward.skip_keys;
  plan.key_block = of_forward.key_block;
  plan.workers = of_forward.workers;
  const Index blocks = divide_up(std::max<Index>(forward.key_length, 1), plan.key_block);
  const Index fitting_blocks = std::max<Index>(kStepFloats / (2 * dims) / plan.key_block, 1);
  const Index splits = std::min(choose_splits(problem), std::max<Index>(blocks / kLeastBlocks, 1));
  const Index steps_per_split = std::max<Index>((divide_up(blocks, fitting_blocks) + splits / 2) / splits, 1);
  plan.keys_per_step = divide_up(blocks, splits * steps_per_split) * plan.key_block;
  plan.keys_per_split = steps_per_split * plan.keys_per_step;
  plan.splits_per_group = std::max<Index>(divide_up(forward.key_length, plan.keys_per_split), 1);
  const Index tasks = forward.batch * forward.groups * plan.splits_per_group;
  const Index fitting_tables = kTableFloats / std::max<Index>(problem.gradients.table_numbers, 1);
  plan.table_partials = problem.wants_tables() ? std::clamp<Index>(fitting_tables, 1, std::max<Index>(tasks, 1)) : 0;
  return plan;
}

}  // namespace heed
