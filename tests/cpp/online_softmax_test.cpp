#include "kernels/softmax/online_softmax.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "error_model.hpp"
#include "kernels/memory/finite.hpp"
#include "kernels/prefill/pv_product.hpp"
#include "panel_scene.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

void start(PanelScene& scene, float row_max, float sum) {
  for (int lane = 0; lane < scene.kWidth; ++lane) {
    scene.panel.row_max[lane] = row_max;
    scene.panel.row_sum[lane] = sum;
  }
  std::fill_n(scene.panel.output, scene.block.value_dim * scene.kWidth, 2.0F);
}

/// The same number for every lane.
struct Line {
  alignas(64) float numbers[kernels::kPanel];
  explicit Line(float number) { std::ranges::fill(numbers, number); }
};

}  // namespace

TEST_CASE("weights are powers of what a score lacks to its maximum, however large both are") {
  for (const float origin : {0.0F, -3.5F, 70000.25F, -16777216.0F, 1e30F, -1e30F}) {
    PanelScene scene(1, 2, 1);
    start(scene, origin, 0.0F);
    const float lower = std::nextafter(origin, -kInfinity);
    std::fill_n(scene.scores(), scene.kWidth, origin);
    std::fill_n(scene.scores() + scene.kWidth, scene.kWidth, lower);
    kernels::exponentiate<false>(scene.panel, Line(origin).numbers, 2, scene.scores());
    const double exact = std::exp2(std::max(-80.0, static_cast<double>(lower) - static_cast<double>(origin)));
    INFO("origin " << origin);
    CHECK(scene.scores()[0] == 1.0F);
    CHECK(std::abs(static_cast<double>(scene.scores()[scene.kWidth]) - exact) <= kExp2Error * exact);
  }
}

TEST_CASE("an unchanged maximum leaves older sums bit for bit as they are") {
  PanelScene scene(1, 1, 1);
  start(scene, 5.0F, 1.5F);
  std::fill_n(scene.scores(), scene.kWidth, -kInfinity);
  const Line row_max(5.0F);
  const auto rescale = kernels::exponentiate<true>(scene.panel, row_max.numbers, 1, scene.scores());
  CHECK(scene.panel.row_sum[0] == 1.5F);
  CHECK(rescale.factor[0].get(0) == 1.0F);
}

TEST_CASE("a maximum raised by n divides older sums by two to the n") {
  PanelScene scene(1, 1, 1);
  start(scene, 5.0F, 1.5F);
  std::fill_n(scene.scores(), scene.kWidth, 8.0F);
  const Line row_max(8.0F);
  const auto rescale = kernels::exponentiate<false>(scene.panel, row_max.numbers, 1, scene.scores());
  CHECK(rescale.factor[1].get(0) == 0.125F);
  CHECK(scene.scores()[0] == 1.0F);
  CHECK(scene.panel.row_sum[0] == 1.5F / 8.0F + 1.0F);
  CHECK(scene.panel.row_max[0] == 8.0F);
}

TEST_CASE("a row that sees no key of its first block keeps a sum of zero") {
  PanelScene scene(1, 2, 1);
  start(scene, kernels::kNoRowMax, 0.0F);
  std::fill_n(scene.scores(), 2 * scene.kWidth, -kInfinity);
  const Line row_max(kernels::kNoRowMax);
  kernels::exponentiate<true>(scene.panel, row_max.numbers, 2, scene.scores());
  CHECK(scene.panel.row_sum[0] == 0.0F);
  CHECK(scene.scores()[0] == 0.0F);
}

TEST_CASE("one value that is not finite is noticed wherever it is") {
  constexpr int dim = 2 * kernels::kLanes + 1;
  Random random(60);
  Owned<float> values = random_tensor(random, {1, 1, 3, dim});
  const kernels::FloatRows lines{values.view.data, dim};
  CHECK(kernels::are_all_finite(lines, 3, dim));
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (Index e = 0; e < dim; ++e) {
      const float good = std::exchange(values(0, 0, 1, e), bad);
      CHECK(!kernels::are_all_finite(lines, 3, dim));
      CHECK(kernels::are_all_finite(lines.from(2), 1, dim));
      values(0, 0, 1, e) = good;
    }
  }
}

TEST_CASE("the two ways to add values give the same bits") {
  using Batch = kernels::Batch;
  constexpr int keys = 11;
  for (const int dim : {1, 5, 6, 7, 13}) {
    Random random(61);
    const Owned<float> values = random_tensor(random, {1, 1, keys, dim});
    const kernels::FloatRows lines{values.view.data, dim};
    PanelScene plain(1, keys, dim);
    PanelScene careful(1, keys, dim);
    for (PanelScene* scene : {&plain, &careful}) {
      Random weights(62);
      start(*scene, 0.0F, 0.0F);
      for (int n = 0; n < keys * scene->kWidth; ++n) {
        scene->scores()[n] = weights.chance(0.3) ? 0.0F : static_cast<float>(weights.uniform());
      }
    }
    const kernels::Rescale rescale{{Batch(0.75F), Batch(0.3F)}};
    const auto in_two = [&](const float* weights) {
      kernels::WeightedValues all;
      all.add({weights, 4, lines});
      all.add({weights + 4 * PanelScene::kWidth, keys - 4, lines.from(4)});
      return all;
    };
    kernels::add_values(plain.panel, dim, in_two(plain.scores()), rescale);
    kernels::add_attended_values(careful.panel, dim, in_two(careful.scores()), rescale);
    CHECK(std::equal(plain.panel.output, plain.panel.output + dim * plain.kWidth, careful.panel.output));
  }
}

}  // namespace heed::testing
