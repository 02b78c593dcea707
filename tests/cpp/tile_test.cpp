#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "error_model.hpp"
#include "kernels/gemm/register_tile.hpp"
#include "support.hpp"

namespace heed::testing {

TEST_CASE("as few tiles as possible, of nearly equal heights, cover every row once, in order") {
  for (int count = 0; count <= 20; ++count) {
    int next = 0, tiles = 0, lowest = kernels::kMR, highest = 0;
    kernels::for_each_tile(count, [&]<int kRows>(int row) {
      CHECK(row == next);
      next = row + kRows;
      ++tiles;
      lowest = std::min(lowest, kRows);
      highest = std::max(highest, kRows);
    });
    CHECK(next == count);
    CHECK(tiles == (count + kernels::kMR - 1) / kernels::kMR);
    CHECK((tiles == 0 || highest - lowest <= 1));
  }
}

/// The operands of a tile, [depth][panel] and kMR rows or columns, and what their product must be.
struct TileScene {
  static constexpr int kDepth = 37;
  static constexpr int kWidth = kernels::kPanel;

  explicit TileScene(Index rows, Index columns)
      : splat(random_tensor(random, {1, 1, rows, columns})), numbers(random_tensor(random, {1, 1, kDepth, kWidth})) {
    for (int k = 0; k < kDepth; ++k) {
      for (int column = 0; column < kWidth; ++column) panel[k * kWidth + column] = numbers(0, 0, k, column);
    }
  }

  [[nodiscard]] kernels::TileOperands operands(int depth = kDepth, int first = 0) const {
    return {panel + first * kWidth, depth, {splat.view.data, static_cast<std::ptrdiff_t>(splat.view.strides[2])}};
  }

  /// Checks the tile against `before` and the sum over k of element(r, k) * panel[k].
  template <class Element>
  void check(double before, Element element) const {
    for (int r = 0; r < kernels::kMR; ++r) {
      for (int column = 0; column < kWidth; ++column) {
        double sum = before;
        double roundings = 0.0;  // of each partial sum and each product
        for (int k = 0; k < kDepth; ++k) {
          const double product = static_cast<double>(element(r, k)) * static_cast<double>(numbers(0, 0, k, column));
          sum += product;
          roundings += sum * sum + product * product;
        }
        CHECK(std::abs(static_cast<double>(tile[r * kWidth + column]) - sum) <=
              kGrowth * kUnitRoundoff * std::sqrt(roundings));
      }
    }
  }

  Random random{30};
  Owned<float> splat;
  Owned<float> numbers;
  alignas(64) float panel[kDepth * kWidth];
  alignas(64) float tile[kernels::kMR * kWidth];
};

TEST_CASE("a tile of the form NT is rows times the panel, or adds that, and raises the row max to it") {
  TileScene scene(kernels::kMR, TileScene::kDepth);
  const auto element = [&scene](int r, int k) { return scene.splat(0, 0, r, k); };
  kernels::multiply_nt<kernels::kMR>(scene.operands(), {scene.tile, TileScene::kWidth});
  scene.check(0.0, element);

  alignas(64) float row_max[TileScene::kWidth];
  for (int lane = 0; lane < TileScene::kWidth; ++lane) row_max[lane] = lane == 1 ? 1e3F : -1e3F;
  for (float& number : scene.tile) number = 3.0F;
  kernels::multiply_nt<kernels::kMR>(scene.operands(), {scene.tile, TileScene::kWidth, true, row_max});
  scene.check(3.0, element);
  for (int lane = 0; lane < TileScene::kWidth; ++lane) {
    float highest = lane == 1 ? 1e3F : -1e3F;
    for (int r = 0; r < kernels::kMR; ++r) highest = std::max(highest, scene.tile[r * TileScene::kWidth + lane]);
    CHECK(row_max[lane] == highest);
  }
}

TEST_CASE("a tile of the form NN is columns times the panel, over all operands, and rescales what it is added to") {
  using kernels::Batch;
  TileScene scene(TileScene::kDepth, kernels::kMR + 1);
  const auto element = [&scene](int r, int k) { return scene.splat(0, 0, k, r + 1); };
  kernels::TileOperands inputs[] = {scene.operands(20), scene.operands(TileScene::kDepth - 20, 20)};
  inputs[1].rows = inputs[1].rows.from(20);
  kernels::multiply_nn<kernels::kMR, kernels::MultiplyAdd>(inputs, 1, nullptr, scene.tile);
  scene.check(0.0, element);

  for (float& number : scene.tile) number = 6.0F;
  const Batch half[] = {Batch(0.5F), Batch(0.5F)};
  kernels::multiply_nn<kernels::kMR, kernels::MultiplyAdd>(inputs, 1, half, scene.tile);
  scene.check(3.0, element);
}

TEST_CASE("at_least passes NaN on from the value and not from the floor") {
  using Batch = kernels::Batch;
  CHECK(std::isnan(kernels::at_least(Batch(kNan), Batch(1.0F)).get(0)));
  CHECK(kernels::at_least(Batch(2.0F), Batch(1.0F)).get(0) == 2.0F);
  CHECK(kernels::at_least(Batch(-kInfinity), Batch(1.0F)).get(0) == 1.0F);
}

}  // namespace heed::testing
