#include "schedule/serial_executor.hpp"

#include <catch_amalgamated.hpp>
#include <vector>

namespace heed::testing {

TEST_CASE("the serial executor runs every task once, in order, as worker 0") {
  for (const Index count : {0, 1, 7}) {
    std::vector<Index> seen;
    SerialExecutor executor;
    executor.run({[](void* context, Index task, int worker) {
                    CHECK(worker == 0);
                    static_cast<std::vector<Index>*>(context)->push_back(task);
                  },
                  &seen, count});
    REQUIRE(static_cast<Index>(seen.size()) == count);
    for (Index task = 0; task < count; ++task) CHECK(seen[static_cast<std::size_t>(task)] == task);
  }
  CHECK(SerialExecutor().worker_count() == 1);
}

}  // namespace heed::testing
