#include "kernels/transpose.hpp"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <vector>

#include "support.hpp"
#include "tested_archs.hpp"

namespace heed::testing {
namespace {

/// A panel of one vector a line, between lines that must stay as they are.
template <class Arch>
struct Lines {
  static constexpr int kWidth = kernels::kLanes<Arch>;
  xsimd::batch<float, Arch> storage[3 * kWidth + 3];
  float* numbers = reinterpret_cast<float*>(storage);

  Lines() {
    for (auto& line : storage) line = kernels::Batch<Arch>(-7.0F);
  }
  float& at(int line, int lane) { return numbers[line * kWidth + lane]; }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("rows come out in lanes, and lines past their length stay as they were", "", TestedArchs) {
  constexpr int lanes = kernels::kLanes<TestType>;
  for (int length = 0; length <= 3 * lanes; ++length) {
    Lines<TestType> lines;
    Random random(40);
    const Owned<float> rows = random_tensor(random, {1, 1, lanes, length});
    kernels::rows_to_lanes<TestType>(length, lines.numbers, lanes, [&](int lane, int i, int count) {
      return kernels::load_some<TestType>(rows.view.at(0, 0, lane) + i, count);
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

TEMPLATE_LIST_TEST_CASE("lanes come out in rows of exactly the length asked for", "", TestedArchs) {
  constexpr int lanes = kernels::kLanes<TestType>;
  for (int length = 0; length <= 3 * lanes; ++length) {
    Lines<TestType> lines;
    for (int line = 0; line < length; ++line) {
      for (int lane = 0; lane < lanes; ++lane) lines.at(line, lane) = static_cast<float>(1000 * lane + line);
    }
    Owned<float> rows = allocate<float>({1, 1, lanes, length + 1}, Layout::bhnd, -9.0F);
    // The second row is left out, and each lane has a factor of its own, which is a power of two.
    alignas(64) float factors[lanes];
    kernels::RowTargets<TestType> targets;
    for (int lane = 0; lane < lanes; ++lane) {
      factors[lane] = lane % 2 == 0 ? 1.0F : 0.5F;
      targets.of[lane] = lane == 1 ? nullptr : rows.view.at(0, 0, lane);
    }
    kernels::lanes_to_rows<TestType>(length, lines.numbers, lanes, kernels::Batch<TestType>::load_aligned(factors),
                                     targets);
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

TEMPLATE_LIST_TEST_CASE("some numbers of a vector load with zeros behind them", "", TestedArchs) {
  constexpr int lanes = kernels::kLanes<TestType>;
  for (int count = 1; count <= lanes; ++count) {
    const std::vector<float> numbers(static_cast<std::size_t>(count), 5.0F);  // ASan watches the end
    const auto batch = kernels::load_some<TestType>(numbers.data(), count);
    for (int lane = 0; lane < lanes; ++lane) {
      CHECK(batch.get(static_cast<std::size_t>(lane)) == (lane < count ? 5.0F : 0.0F));
    }
  }
}

}  // namespace heed::testing
