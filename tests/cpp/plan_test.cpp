#include "plan/attention_plan.hpp"

#include <catch_amalgamated.hpp>
#include <vector>

#include "kernels/task/attention_task.hpp"
#include "problem/attention_problem.hpp"

namespace heed::testing {
namespace {

AttentionProblem problem_of(Index batch, Index heads, Index kv_heads, Index queries, Index dims) {
  AttentionProblem problem{};
  problem.batch = batch;
  problem.query_heads = heads;
  problem.kv_heads = problem.groups = kv_heads;
  problem.query_length = queries;
  problem.whole = {.first_batch = 0,
                   .first_head = 0,
                   .first_query = 0,
                   .batch = batch,
                   .query_heads = heads,
                   .query_length = queries};
  problem.key_length = problem.key_limit = 100;
  problem.head_dim = problem.value_dim = dims;
  return problem;
}

/// How often each row of a group is in a task.
std::vector<int> row_coverage(const AttentionPlan& plan) {
  std::vector<int> times(static_cast<std::size_t>(plan.rows_per_group), 0);
  for (Index task = 0; task < plan.tasks_per_group; ++task) {
    const Index first = task * plan.rows_per_task;
    for (Index row = first; row < first + plan.rows_per_task && row < plan.rows_per_group; ++row) {
      ++times[static_cast<std::size_t>(row)];
    }
  }
  return times;
}

}  // namespace

TEST_CASE("tasks cover every row of a group once and fit their limit") {
  for (const int panel : {8, 16, 32}) {
    for (const int workers : {1, 2, 3, 8, 1000}) {
      for (const Index queries : {1, 7, 8, 31, 32, 33, 63, 64, 65, 97, 1000}) {
        for (const Index kv_heads : {1, 2, 4}) {
          const AttentionPlan plan = plan_attention(problem_of(2, 4, kv_heads, queries, 64), {panel, workers});
          INFO("panel " << panel << ", workers " << workers << ", queries " << queries << ", kv heads " << kv_heads);
          CHECK(plan.rows_per_group == 4 / kv_heads * queries);
          CHECK(row_coverage(plan) == std::vector<int>(static_cast<std::size_t>(plan.rows_per_group), 1));
          CHECK(plan.rows_per_task <= kMaxRowsPerTask);
          CHECK(plan.rows_per_task % panel == 0);
          CHECK(plan.task_count == 2 * kv_heads * plan.tasks_per_group);
        }
      }
    }
  }
}

TEST_CASE("every worker gets a task when there are rows enough") {
  for (const int workers : {2, 3, 8}) {
    const AttentionPlan plan = plan_attention(problem_of(1, 1, 1, 1024, 64), {8, workers});
    CHECK(plan.task_count >= workers);
  }
}

TEST_CASE("as many workers are woken as the multiplications pay for") {
  const auto workers_for = [](const AttentionProblem& problem, double work_per_worker) {
    return plan_attention(problem, {.panel = 8, .workers = 4, .work_per_worker = work_per_worker}).workers;
  };
  AttentionProblem problem = problem_of(2, 4, 2, 320, 64);
  const double all = 2.0 * 4 * 320 * 100 * (64 + 64);
  CHECK(workers_for(problem, 0.0) == 4);
  CHECK(workers_for(problem, all / 100) == 4);
  CHECK(workers_for(problem, all / 3.5) == 3);
  CHECK(workers_for(problem, all / 1.9) == 1);
  CHECK(workers_for(problem, all * 10) == 1);

  // A causal mask leaves half of the keys.
  problem.key_length = problem.key_limit = 320;
  problem.options.causal = Causal::upper_left;
  const double half = 2.0 * 4 * 320 * 160.5 * (64 + 64);
  CHECK(workers_for(problem, half / 3.1) == 3);
  CHECK(workers_for(problem, half / 2.9) == 2);

  // Padding is not computed: 320 queries see 10 keys in one entry and none in the other.
  problem.options.causal = Causal::none;
  const std::int32_t lengths[] = {10, 0};
  problem.options.key_lengths = lengths;
  CHECK(workers_for(problem, 4.0 * 320 * 10 * 128 / 3.1) == 3);
  CHECK(workers_for(problem, 4.0 * 320 * 10 * 128 / 1.9) == 1);
}

TEST_CASE("what one worker does alone is not cut into more tasks than one worker's") {
  const AttentionPlan shared = plan_attention(problem_of(1, 1, 1, 64, 64), {8, 4});
  const AttentionPlan alone =
      plan_attention(problem_of(1, 1, 1, 64, 64), {.panel = 8, .workers = 4, .work_per_worker = 1e9});
  CHECK(shared.task_count == 8);
  CHECK(alone.task_count == plan_attention(problem_of(1, 1, 1, 64, 64), {8, 1}).task_count);
}

TEST_CASE("key blocks depend on the head sizes alone") {
  for (const Index dims : {1, 16, 64, 128, 1000}) {
    const int one = plan_attention(problem_of(1, 1, 1, 1, dims), {8, 1}).key_block;
    CHECK(plan_attention(problem_of(8, 16, 4, 999, dims), {32, 64}).key_block == one);
    CHECK(one % 6 == 0);
    CHECK(one >= 24);
    CHECK(one <= 96);
  }
}

TEST_CASE("the scratch of a worker is bounded whatever the lengths") {
  for (const int panel : {8, 16, 32}) {
    const std::int64_t most = kernels::prefill_scratch_floats(panel, kMaxRowsPerTask / panel, 64, 64, 96);
    for (const Index length : {1, 100, 4096, 1 << 20}) {
      AttentionProblem problem = problem_of(1, 8, 2, length, 64);
      problem.key_length = problem.key_limit = length;
      const AttentionPlan plan = plan_attention(problem, {panel, 1});
      INFO("panel " << panel << ", length " << length);
      CHECK(plan.key_block == 96);
      const Index panels = (plan.rows_per_task + panel - 1) / panel;
      CHECK(kernels::prefill_scratch_floats(panel, panels, 64, 64, plan.key_block) <= most);
    }
  }
}

TEST_CASE("no queries or no batch entries make no tasks") {
  CHECK(plan_attention(problem_of(1, 1, 1, 0, 64), {8, 2}).task_count == 0);
  CHECK(plan_attention(problem_of(0, 1, 1, 5, 64), {8, 2}).task_count == 0);
}

}  // namespace heed::testing
