// Attention on real threads: the same bits as on one, and nothing for ThreadSanitizer to find.
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"
#include "heed/machine.hpp"
#include "schedule/thread_pool.hpp"

namespace heed::testing {

TEST_CASE("thread pools of any size give the bits of one thread", "[threads]") {
  Random random(130);
  const AttentionCase cases[] = {
      {.heads = 2, .queries = 257, .keys = 111, .head_dim = 33, .value_dim = 17},
      {.batch = 2, .heads = 6, .kv_heads = 2, .queries = 50, .keys = 97, .causal = Causal::lower_right},
      {.heads = 3,
       .kv_heads = 1,
       .queries = 65,
       .keys = 200,
       .mask = Shape{1, 3, 65, 200},
       .bias = Shape{1, 1, 1, 200}},
      // Decode: the keys are split.
      {.heads = 4, .kv_heads = 2, .queries = 1, .keys = 3000},
      {.queries = 3, .keys = 2000, .head_dim = 64, .causal = Causal::lower_right},
  };
  for (const AttentionCase& one : cases) {
    const AttentionTensors tensors = make_tensors(random, one);
    const auto expected = run(tensors.inputs(), tensors.options).bits();
    for (const int workers : {1, 2, 3, 8}) {
      ThreadPool pool(workers, 0.0);
      INFO(describe(one) << ", " << workers << " workers");
      for (int time = 0; time < 3; ++time) {
        CHECK(run(tensors.inputs(), tensors.options, pool).bits() == expected);
      }
    }
  }
}

TEST_CASE("a pool serves calls of different sizes one after the other", "[threads]") {
  Random random(131);
  ThreadPool pool(4, 0.0);
  for (const Index queries : {1, 500, 0, 33, 129}) {
    const AttentionTensors tensors = make_tensors(random, {.heads = 3, .queries = queries, .keys = 40});
    CHECK(run(tensors.inputs(), {}, pool).bits() == run(tensors.inputs(), {}).bits());
  }
}

TEST_CASE("a pool leaves its helpers alone over a call that is not worth waking them", "[threads]") {
  Random random(132);
  const AttentionTensors tensors = make_tensors(random, {.heads = 8, .queries = 100, .keys = 100});
  ThreadPool reluctant(3, 1e12);
  ThreadPool eager(3, 1.0);
  for (int call = 0; call < 20; ++call) {
    run(tensors.inputs(), {}, reluctant);
    run(tensors.inputs(), {}, eager);
  }
  CHECK(reluctant.queue().tasks_done(1) + reluctant.queue().tasks_done(2) == 0);
  CHECK(eager.queue().tasks_done(0) + eager.queue().tasks_done(1) + eager.queue().tasks_done(2) >= 20U * 8U);
}

TEST_CASE("later rows are started first, since a causal mask leaves them more keys", "[threads]") {
  // Runs one task only, and shows which rows that computed.
  class FirstTaskOnly final : public Executor {
   public:
    [[nodiscard]] int worker_count() const override { return 2; }
    void run(const TaskSet& tasks) override { tasks.run(tasks.context, 0, 0); }
  } executor;
  Random random(133);
  const AttentionTensors tensors = make_tensors(random, {.queries = 256, .keys = 256, .causal = Causal::lower_right});
  const Results results(tensors.inputs());
  REQUIRE(attention(tensors.inputs(), tensors.options, results.outputs(), executor).is_ok());
  CHECK(*results.outputs().output.at(0, 0, 0) == kUntouched);
  CHECK(*results.outputs().output.at(0, 0, 255) != kUntouched);
}

TEST_CASE("a call whose stop flag is set says that it was stopped, and computes nothing more", "[threads]") {
  Random random(134);
  const AttentionTensors tensors = make_tensors(random, {.heads = 3, .queries = 100, .keys = 100});
  const StopFlag stop{1};
  AttentionOptions options;
  options.stop = &stop;
  ThreadPool pool(2, 0.0);
  for (Executor* executor : {static_cast<Executor*>(&pool), &calling_thread()}) {
    const Results results(tensors.inputs());
    const Status status = attention(tensors.inputs(), options, results.outputs(), *executor);
    CHECK(status.code() == StatusCode::aborted);
    CHECK(*results.outputs().output.at(0, 0, 0) == kUntouched);
    CHECK(*results.outputs().output.at(0, 2, 99) == kUntouched);
  }
}

TEST_CASE("a task that has begun ends early once the stop flag is set", "[threads]") {
  /// Sets the flag when its tasks have as good as begun.
  class LateStop final : public Executor {
   public:
    StopFlag flag{0};
    [[nodiscard]] int worker_count() const override { return 1; }
    void run(const TaskSet& tasks) override {
      flag = 1;
      for (Index task = 0; task < tasks.count; ++task) tasks.run(tasks.context, task, 0);
    }
  };
  Random random(135);
  for (const int queries : {1, 100}) {
    const AttentionTensors tensors = make_tensors(random, {.queries = queries, .keys = 1000});
    const Results whole = run(tensors.inputs(), {});
    LateStop executor;
    AttentionOptions options;
    options.stop = &executor.flag;
    const Results results(tensors.inputs());
    CHECK(attention(tensors.inputs(), options, results.outputs(), executor).code() == StatusCode::aborted);
    CHECK(*results.outputs().log_sum_exp.at(0, 0, 0) != *whole.outputs().log_sum_exp.at(0, 0, 0));
  }
}

}  // namespace heed::testing
