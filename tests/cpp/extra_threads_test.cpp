// Operations beside attention, on real threads: the same bits as on one, and nothing for ThreadSanitizer to find.
#include <catch_amalgamated.hpp>

#include "linear_case.hpp"
#include "schedule/thread_pool.hpp"

namespace heed::testing {

TEST_CASE("linear attention on thread pools gives the bits of one thread", "[threads]") {
  Random random(441);
  for (const LinearRule rule : {LinearRule::linear, LinearRule::gated_delta}) {
    const LinearTensors tensors =
        make_tensors(random, {.rule = rule, .heads = 3, .queries = 40, .value_dim = 71, .has_state = true});
    const LinearGot expected = run(tensors.inputs(), tensors.options);
    for (const int workers : {2, 8}) {
      ThreadPool pool(workers, 0.0);
      const LinearGot got = run(tensors.inputs(), tensors.options, pool);
      CHECK(got.output.numbers == expected.output.numbers);
      CHECK(got.state.numbers == expected.state.numbers);
    }
  }
}

}  // namespace heed::testing
