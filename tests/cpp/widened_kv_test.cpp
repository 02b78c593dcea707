// Each row of a block that is asked for is widened once, and no other.
#include "kernels/block/widened_kv.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cstddef>
#include <vector>

#include "support.hpp"

namespace heed::testing {

TEST_CASE("rows of a block are widened once, however they are asked for") {
  Random random(280);
  for (const int lines : {1, 5, 16, 17, 96, 97, 512, 513, 5000}) {
    INFO(lines << " lines");
    kernels::RowsDone done(lines);
    std::vector<int> times(static_cast<std::size_t>(lines));
    int wrong = 0;
    for (int ask = 0; ask < 40; ++ask) {
      const int first = static_cast<int>(random.below(lines));
      const int end = first + 1 + static_cast<int>(random.below(lines - first));
      done.complete(first, end, [&](int begin, int count) {
        wrong += begin >= 0 && count > 0 && begin + count <= lines ? 0 : 1;
        for (int line = begin; line < std::min(begin + count, lines); ++line) ++times[static_cast<std::size_t>(line)];
      });
      for (int line = first; line < end; ++line) wrong += times[static_cast<std::size_t>(line)] == 1 ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(std::ranges::all_of(times, [](int count) { return count <= 1; }));
  }
}

TEST_CASE("in a long block only rows near the requested ones are widened") {
  kernels::RowsDone done(96);
  int count = 0;
  done.complete(33, 47, [&](int first, int lines) {
    CHECK(first == 32);
    count += lines;
  });
  CHECK(count == 16);
}

}  // namespace heed::testing
