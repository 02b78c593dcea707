#include "kernels/score/mask.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "panel_scene.hpp"
#include "support.hpp"

namespace heed::testing {
TEST_CASE("keys outside a row's range become -infinity and do not raise its maximum") {
  constexpr int width = kernels::kPanel;
  constexpr int keys = 13;
  PanelScene scene(width, keys, 1);
  for (int lane = 0; lane < width; ++lane) {
    scene.rows[static_cast<std::size_t>(lane)].key_begin = lane % 5;
    scene.rows[static_cast<std::size_t>(lane)].key_end = keys - lane % 7;
  }
  scene.refresh();
  for (int j = 0; j < keys; ++j) {
    for (int lane = 0; lane < width; ++lane) scene.scores()[j * width + lane] = static_cast<float>(j);
  }
  alignas(64) float row_max[kernels::kPanel];
  std::ranges::fill(row_max, -1.0F);
  kernels::mask_scores(scene.panel, {0, keys}, kernels::Overlay::none, nullptr, scene.scores(), row_max);
  for (int lane = 0; lane < width; ++lane) {
    for (int j = 0; j < keys; ++j) {
      const bool is_visible = j >= lane % 5 && j < keys - lane % 7;
      CHECK(scene.scores()[j * width + lane] == (is_visible ? static_cast<float>(j) : -kInfinity));
    }
    CHECK(row_max[lane] == static_cast<float>(keys - lane % 7 - 1));
  }
}

TEST_CASE("a masked score is replaced even when it or its bias is NaN") {
  constexpr int width = kernels::kPanel;
  const std::uint8_t mask[] = {1, 0, 0};
  const float bias[] = {0.5F, kNan, 0.0F};
  PanelScene scene(1, 3, 1);
  scene.rows[0].mask = mask;
  scene.rows[0].bias = bias;
  scene.block.mask.mask_stride = scene.block.mask.bias_stride = 1;
  for (int n = 0; n < 3 * width; ++n) scene.scores()[n] = n < 2 * width ? 1.0F : kNan;

  kernels::collect_addends(scene.panel, scene.block, {0, 3}, scene.addends());
  alignas(64) float row_max[kernels::kPanel];
  std::ranges::fill(row_max, -1.0F);
  kernels::mask_scores(scene.panel, {0, 3}, kernels::Overlay::addends, scene.addends(), scene.scores(), row_max);
  CHECK(scene.scores()[0] == Catch::Approx(1.0 + 0.5 * std::numbers::log2e));
  CHECK(scene.scores()[width] == -kInfinity);
  CHECK(scene.scores()[2 * width] == -kInfinity);
  CHECK(row_max[0] == scene.scores()[0]);
}

TEST_CASE("a boolean mask removes the keys whose bytes are zero, for each row its own") {
  constexpr int width = kernels::kPanel;
  constexpr int most = 4 * width + 3;
  Random random(52);
  for (int keys = 1; keys <= most; ++keys) {
    PanelScene scene(width, keys, 1);
    // A row's bytes end with its last key: nothing may be read behind them.
    std::vector<std::vector<std::uint8_t>> masks;
    for (int lane = 0; lane < width; ++lane) {
      std::vector<std::uint8_t>& mask = masks.emplace_back(static_cast<std::size_t>(keys));
      for (std::uint8_t& byte : mask) byte = random.pick(std::vector<std::uint8_t>{0, 1, 2, 128, 255});
      scene.rows[static_cast<std::size_t>(lane)].mask = mask.data();
    }
    scene.block.mask.mask_stride = 1;
    scene.refresh();
    for (int n = 0; n < keys * width; ++n) scene.scores()[n] = static_cast<float>(n);

    kernels::collect_mask_bytes(scene.panel, {0, keys}, scene.addends());
    alignas(64) float row_max[width];
    std::ranges::fill(row_max, -1.0F);
    kernels::mask_scores(scene.panel, {0, keys}, kernels::Overlay::mask_bytes, scene.addends(), scene.scores(),
                         row_max);
    for (int lane = 0; lane < width; ++lane) {
      float highest = -1.0F;
      for (int j = 0; j < keys; ++j) {
        const bool is_kept = masks[static_cast<std::size_t>(lane)][static_cast<std::size_t>(j)] != 0;
        const float score = is_kept ? static_cast<float>(j * width + lane) : -kInfinity;
        CHECK(scene.scores()[j * width + lane] == score);
        highest = std::max(highest, score);
      }
      CHECK(row_max[lane] == highest);
    }
  }
}

TEST_CASE("the lowest float as a bias stays finite and -infinity stays infinite") {
  const float lowest = std::numeric_limits<float>::lowest();
  const float biases[] = {lowest, -kInfinity, -1.0F};
  kernels::AttentionTask block{};
  block.score.log2e_scale = kernels::kLog2E;
  block.mask.bias_stride = 1;
  const kernels::Addends addends(block);
  const auto loaded = [&](int at) { return addends.bias(biases + at, 1).get(0); };
  CHECK(loaded(0) == lowest);
  CHECK(loaded(1) == -kInfinity);
  CHECK(loaded(2) == Catch::Approx(-std::numbers::log2e));
}

TEST_CASE("bytes beside each other mask as those with a stride do, whatever is not zero") {
  constexpr int lanes = kernels::kLanes;
  Random random(51);
  for (int n = 0; n < 200; ++n) {
    std::uint8_t bytes[lanes];
    for (std::uint8_t& byte : bytes) byte = random.pick(std::vector<std::uint8_t>{0, 1, 2, 128, 255});
    const auto are_zero = kernels::are_zero(bytes);
    for (int lane = 0; lane < lanes; ++lane) CHECK(are_zero.get(static_cast<std::size_t>(lane)) == (bytes[lane] == 0));
  }
}

TEST_CASE("a block of a mask is classified as full, empty or partial, at any length and from any byte on") {
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
    kernels::AttentionTask block{};
    block.mask.mask_stride = 1;
    block.mask.addend_length = first + count;
    const auto zeros = std::count(bytes.begin() + first, bytes.begin() + first + count, 0);
    const auto expected = zeros == 0       ? kernels::BlockMask::full
                          : zeros == count ? kernels::BlockMask::empty
                                           : kernels::BlockMask::partial;
    CHECK(kernels::find_mask(panel, block, {first, count}) == expected);
  }
}

TEST_CASE("numbers with a stride load as those beside each other do") {
  constexpr int lanes = kernels::kLanes;
  Random random(50);
  const Owned<float> numbers = random_tensor(random, {1, 1, lanes, 3});
  for (int count = 0; count <= lanes; ++count) {
    const auto batch = kernels::load_strided(numbers.view.data, 3, count);
    for (int lane = 0; lane < lanes; ++lane) {
      CHECK(batch.get(static_cast<std::size_t>(lane)) == (lane < count ? numbers(0, 0, lane, 0) : 0.0F));
    }
  }
}

}  // namespace heed::testing
