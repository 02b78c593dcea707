// Attention on real threads: the same bits as on one, and nothing for ThreadSanitizer to find.
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"
#include "kernels/instances/instances.hpp"
#include "schedule/thread_pool.hpp"

namespace heed::testing {

TEST_CASE("thread pools of any size give the bits of one thread") {
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
  };
  for (const AttentionCase& one : cases) {
    const AttentionTensors tensors = make_tensors(random, one);
    for (const kernels::AttentionKernels* kernels : kernels::runnable_kernels()) {
      const auto expected = run(*kernels, tensors.inputs(), tensors.options).bits();
      for (const int workers : {1, 2, 3, 8}) {
        ThreadPool pool(workers, 0.0);
        INFO(describe(one) << ", " << kernels->name << ", " << workers << " workers");
        for (int time = 0; time < 3; ++time) {
          CHECK(run(*kernels, tensors.inputs(), tensors.options, pool).bits() == expected);
        }
      }
    }
  }
}

TEST_CASE("a pool serves calls of different sizes one after the other") {
  Random random(131);
  ThreadPool pool(4, 0.0);
  for (const Index queries : {1, 500, 0, 33, 129}) {
    const AttentionTensors tensors = make_tensors(random, {.heads = 3, .queries = queries, .keys = 40});
    const kernels::AttentionKernels& kernels = *kernels::runnable_kernels().front();
    CHECK(run(kernels, tensors.inputs(), {}, pool).bits() == run(kernels, tensors.inputs(), {}).bits());
  }
}

}  // namespace heed::testing
