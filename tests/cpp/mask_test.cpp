#include "kernels/mask.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <numbers>
#include <vector>

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
  kernels::mask_scores<TestType>(scene.panel, {0, keys}, kernels::Overlay::nothing, nullptr, scene.scores(), maximum);
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
  kernels::mask_scores<TestType>(scene.panel, {0, 3}, kernels::Overlay::addends, scene.addends(), scene.scores(),
                                 maximum);
  CHECK(scene.scores()[0] == Catch::Approx(1.0 + 0.5 * std::numbers::log2e));
  CHECK(scene.scores()[width] == -kInfinity);
  CHECK(scene.scores()[2 * width] == -kInfinity);
  CHECK(maximum[0] == scene.scores()[0]);
}

TEMPLATE_LIST_TEST_CASE("a mask of bytes takes away the keys whose bytes are zero, of each row its own", "",
                        TestedArchs) {
  constexpr int width = kernels::kPanel<TestType>;
  constexpr int most = 4 * width + 3;
  Random random(52);
  for (int keys = 1; keys <= most; ++keys) {
    PanelScene<TestType> scene(width, keys, 1);
    // A row's bytes end with its last key: nothing may be read behind them.
    std::vector<std::vector<std::uint8_t>> masks;
    for (int lane = 0; lane < width; ++lane) {
      std::vector<std::uint8_t>& mask = masks.emplace_back(static_cast<std::size_t>(keys));
      for (std::uint8_t& byte : mask) byte = random.pick(std::vector<std::uint8_t>{0, 1, 2, 128, 255});
      scene.rows[static_cast<std::size_t>(lane)].mask = mask.data();
    }
    scene.block.mask_stride = 1;
    scene.refresh();
    for (int n = 0; n < keys * width; ++n) scene.scores()[n] = static_cast<float>(n);

    kernels::gather_bytes<TestType>(scene.panel, {0, keys}, scene.addends());
    alignas(64) float maximum[width];
    std::ranges::fill(maximum, -1.0F);
    kernels::mask_scores<TestType>(scene.panel, {0, keys}, kernels::Overlay::bytes, scene.addends(), scene.scores(),
                                   maximum);
    for (int lane = 0; lane < width; ++lane) {
      float highest = -1.0F;
      for (int j = 0; j < keys; ++j) {
        const bool is_kept = masks[static_cast<std::size_t>(lane)][static_cast<std::size_t>(j)] != 0;
        const float score = is_kept ? static_cast<float>(j * width + lane) : -kInfinity;
        CHECK(scene.scores()[j * width + lane] == score);
        highest = std::max(highest, score);
      }
      CHECK(maximum[lane] == highest);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("the lowest float as a bias stays finite and -infinity stays infinite", "", TestedArchs) {
  const float lowest = std::numeric_limits<float>::lowest();
  const float biases[] = {lowest, -kInfinity, -1.0F};
  kernels::AttentionBlock block{};
  block.score_units = kernels::kLog2E;
  block.bias_stride = 1;
  const kernels::Addends<TestType> addends(block);
  const auto loaded = [&](int at) { return addends.bias(biases + at, 1).get(0); };
  CHECK(loaded(0) == lowest);
  CHECK(loaded(1) == -kInfinity);
  CHECK(loaded(2) == Catch::Approx(-std::numbers::log2e));
}

TEMPLATE_LIST_TEST_CASE("bytes beside each other mask as those with a stride do, whatever is not zero", "",
                        TestedArchs) {
  constexpr int lanes = kernels::kLanes<TestType>;
  Random random(51);
  for (int n = 0; n < 200; ++n) {
    std::uint8_t bytes[lanes];
    for (std::uint8_t& byte : bytes) byte = random.pick(std::vector<std::uint8_t>{0, 1, 2, 128, 255});
    const auto are_zero = kernels::are_zero<TestType>(bytes);
    for (int lane = 0; lane < lanes; ++lane) CHECK(are_zero.get(static_cast<std::size_t>(lane)) == (bytes[lane] == 0));
  }
}

TEMPLATE_LIST_TEST_CASE("a block of a mask is told to be full, empty or neither, at any length and from any byte on",
                        "", TestedArchs) {
  Random random(52);
  for (int n = 0; n < 3000; ++n) {
    const int count = 1 + static_cast<int>(random.below(200));
    const std::uint8_t other = random.pick(std::vector<std::uint8_t>{1, 128, 255});
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) + 3);
    const double share = random.pick(std::vector<double>{0.0, 0.01, 0.99, 1.0});
    for (std::uint8_t& byte : bytes) byte = random.chance(share) ? other : 0;
    const int first = static_cast<int>(random.below(3));
    kernels::AttentionRow row{};
    row.mask = bytes.data();
    kernels::Panel panel{};
    panel.rows = &row;
    panel.row_count = 1;
    kernels::AttentionBlock block{};
    block.mask_stride = 1;
    block.addend_length = first + count;
    const auto zeros = std::count(bytes.begin() + first, bytes.begin() + first + count, 0);
    const auto expected = zeros == 0       ? kernels::MaskedKeys::none
                          : zeros == count ? kernels::MaskedKeys::all
                                           : kernels::MaskedKeys::some;
    CHECK(kernels::look_at_mask<TestType>(panel, block, {first, count}) == expected);
  }
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
