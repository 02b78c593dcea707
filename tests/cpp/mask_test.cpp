#include "kernels/mask.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <numbers>

#include "panel_scene.hpp"
#include "support.hpp"
#include "tested_archs.hpp"

namespace heed::testing {
TEMPLATE_LIST_TEST_CASE("keys outside a row's range become -infinity and do not raise its maximum", "", TestedArchs) {
  constexpr int width = kernels::kPanel<TestType>;
  constexpr int keys = 13;
  PanelScene<TestType> scene(width, keys, 1);
  for (int lane = 0; lane < width; ++lane) {
    scene.rows[static_cast<std::size_t>(lane)].key_begin = lane % 5;
    scene.rows[static_cast<std::size_t>(lane)].key_end = keys - lane % 7;
  }
  scene.refresh();
  for (int j = 0; j < keys; ++j) {
    for (int lane = 0; lane < width; ++lane) scene.scores()[j * width + lane] = static_cast<float>(j);
  }
  alignas(64) float maximum[kernels::kPanel<TestType>];
  std::ranges::fill(maximum, -1.0F);
  kernels::mask_scores<TestType>(scene.panel, {0, keys}, nullptr, scene.scores(), maximum);
  for (int lane = 0; lane < width; ++lane) {
    for (int j = 0; j < keys; ++j) {
      const bool is_visible = j >= lane % 5 && j < keys - lane % 7;
      CHECK(scene.scores()[j * width + lane] == (is_visible ? static_cast<float>(j) : -kInfinity));
    }
    CHECK(maximum[lane] == static_cast<float>(keys - lane % 7 - 1));
  }
}

TEMPLATE_LIST_TEST_CASE("a masked score is replaced even when it or its bias is NaN", "", TestedArchs) {
  constexpr int width = kernels::kPanel<TestType>;
  const std::uint8_t mask[] = {1, 0, 0};
  const float bias[] = {0.5F, kNan, 0.0F};
  PanelScene<TestType> scene(1, 3, 1);
  scene.rows[0].mask = mask;
  scene.rows[0].bias = bias;
  scene.block.mask_stride = scene.block.bias_stride = 1;
  for (int n = 0; n < 3 * width; ++n) scene.scores()[n] = n < 2 * width ? 1.0F : kNan;

  kernels::gather_addends<TestType>(scene.panel, scene.block, {0, 3}, scene.addends());
  alignas(64) float maximum[kernels::kPanel<TestType>];
  std::ranges::fill(maximum, -1.0F);
  kernels::mask_scores<TestType>(scene.panel, {0, 3}, scene.addends(), scene.scores(), maximum);
  CHECK(scene.scores()[0] == Catch::Approx(1.0 + 0.5 * std::numbers::log2e));
  CHECK(scene.scores()[width] == -kInfinity);
  CHECK(scene.scores()[2 * width] == -kInfinity);
  CHECK(maximum[0] == scene.scores()[0]);
}

TEMPLATE_LIST_TEST_CASE("the lowest float as a bias stays finite and -infinity stays infinite", "", TestedArchs) {
  const float lowest = std::numeric_limits<float>::lowest();
  const float biases[] = {lowest, -kInfinity, -1.0F};
  const auto loaded = [&biases](int at) { return kernels::load_bias<TestType>(biases + at, 1, 1).get(0); };
  CHECK(loaded(0) == lowest);
  CHECK(loaded(1) == -kInfinity);
  CHECK(loaded(2) == Catch::Approx(-std::numbers::log2e));
}

TEMPLATE_LIST_TEST_CASE("numbers with a stride load as those beside each other do", "", TestedArchs) {
  constexpr int lanes = kernels::kLanes<TestType>;
  Random random(50);
  const Owned<float> numbers = random_tensor(random, {1, 1, lanes, 3});
  for (int count = 0; count <= lanes; ++count) {
    const auto batch = kernels::load_strided<TestType>(numbers.view.data, 3, count);
    for (int lane = 0; lane < lanes; ++lane) {
      CHECK(batch.get(static_cast<std::size_t>(lane)) == (lane < count ? numbers(0, 0, lane, 0) : 0.0F));
    }
  }
}

}  // namespace heed::testing
