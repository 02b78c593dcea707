#include "kernels/simd/transpose.hpp"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <vector>

#include "support.hpp"

namespace heed::testing {
namespace {

/// A panel of one vector a line, between lines that must not change.
struct FloatRows {
  static constexpr int kWidth = kernels::kLanes;
  kernels::Batch storage[3 * kWidth + 3];
  float* numbers = reinterpret_cast<float*>(storage);

  FloatRows() {
    for (auto& line : storage) line = kernels::Batch(-7.0F);
  }
  float& at(int line, int lane) { return numbers[line * kWidth + lane]; }
};

}  // namespace

TEST_CASE("rows come out in lanes, and lines past their length stay as they were") {
  constexpr int lanes = kernels::kLanes;
  for (int length = 0; length <= 3 * lanes; ++length) {
    FloatRows lines;
    Random random(40);
    const Owned<float> rows = random_tensor(random, {1, 1, lanes, length});
    kernels::rows_to_lanes(length, lines.numbers, lanes, [&](int lane, int i, int count) {
      return kernels::load_some(rows.view.at(0, 0, lane) + i, count);
    });
    bool is_right = true;
    for (int line = 0; line < 3 * lanes + 3; ++line) {
      for (int lane = 0; lane < lanes; ++lane) {
        is_right &= lines.at(line, lane) == (line < length ? rows(0, 0, lane, line) : -7.0F);
      }
    }
    INFO("length " << length);
    CHECK(is_right);
  }
}

TEST_CASE("lanes come out in rows of exactly the length asked for") {
  constexpr int lanes = kernels::kLanes;
  for (int length = 0; length <= 3 * lanes; ++length) {
    FloatRows lines;
    for (int line = 0; line < length; ++line) {
      for (int lane = 0; lane < lanes; ++lane) lines.at(line, lane) = static_cast<float>(1000 * lane + line);
    }
    Owned<float> rows = allocate<float>({1, 1, lanes, length + 1}, Layout::bhnd, -9.0F);
    // The second row is left out, and each lane has a factor of its own, which is a power of two.
    alignas(64) float factors[lanes];
    kernels::RowTargets targets;
    for (int lane = 0; lane < lanes; ++lane) {
      factors[lane] = lane % 2 == 0 ? 1.0F : 0.5F;
      targets.of[lane] = lane == 1 ? nullptr : rows.view.at(0, 0, lane);
    }
    kernels::lanes_to_rows(length, lines.numbers, lanes, kernels::Batch::load_aligned(factors), targets);
    bool is_right = true;
    for (int lane = 0; lane < lanes; ++lane) {
      for (int i = 0; i < length; ++i) {
        const float expected = lane == 1 ? -9.0F : factors[lane] * static_cast<float>(1000 * lane + i);
        is_right &= rows(0, 0, lane, i) == expected;
      }
      is_right &= rows(0, 0, lane, length) == -9.0F;
    }
    INFO("length " << length);
    CHECK(is_right);
  }
}

TEST_CASE("some numbers of a vector load with zeros behind them") {
  constexpr int lanes = kernels::kLanes;
  for (int count = 1; count <= lanes; ++count) {
    const std::vector<float> numbers(static_cast<std::size_t>(count), 5.0F);  // ASan watches the end
    const auto batch = kernels::load_some(numbers.data(), count);
    for (int lane = 0; lane < lanes; ++lane) {
      CHECK(batch.get(static_cast<std::size_t>(lane)) == (lane < count ? 5.0F : 0.0F));
    }
  }
}

}  // namespace heed::testing
