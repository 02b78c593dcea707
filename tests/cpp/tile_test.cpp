#include <catch_amalgamated.hpp>
#include <cmath>
#include <vector>

#include "error_model.hpp"
#include "kernels/broadcast_tile.hpp"
#include "support.hpp"
#include "tested_archs.hpp"

namespace heed::testing {

TEST_CASE("tiles cover every row once, in order, whatever their number") {
  for (int count = 0; count <= 20; ++count) {
    int next = 0;
    kernels::for_each_tile(count, [&]<int kRows>(int row) {
      CHECK(row == next);
      CHECK((kRows == kernels::kTileRows || row + kRows == count));
      next = row + kRows;
    });
    CHECK(next == count);
  }
}

TEMPLATE_LIST_TEST_CASE("a tile adds the products of its rows with the panel to what it holds", "", TestedArchs) {
  constexpr int panel_width = kernels::kPanel<TestType>;
  constexpr int depth = 37;
  Random random(30);
  const Owned<float> rows = random_tensor(random, {1, 1, kernels::kTileRows, depth});
  const Owned<float> columns = random_tensor(random, {1, 1, depth, panel_width});
  std::vector<float> unaligned(columns.numbers);
  alignas(64) float panel[depth * panel_width];
  for (int n = 0; n < depth * panel_width; ++n) panel[n] = unaligned[static_cast<std::size_t>(n)];

  kernels::Tile<TestType, kernels::kTileRows> tile;
  for (auto& sums : tile) sums[0] = sums[1] = kernels::Batch<TestType>(3.0F);
  kernels::accumulate<TestType, kernels::kTileRows>(tile, depth, panel,
                                                    [&rows](int r, int k) { return &rows(0, 0, r, k); });
  for (int r = 0; r < kernels::kTileRows; ++r) {
    for (int column = 0; column < panel_width; ++column) {
      double sum = 3.0;
      double roundings = 0.0;  // of each partial sum and each product
      for (int k = 0; k < depth; ++k) {
        const double product = static_cast<double>(rows(0, 0, r, k)) * static_cast<double>(columns(0, 0, k, column));
        sum += product;
        roundings += sum * sum + product * product;
      }
      const auto lane = static_cast<std::size_t>(column % kernels::kLanes<TestType>);
      const double got = static_cast<double>(tile[r][column / kernels::kLanes<TestType>].get(lane));
      CHECK(std::abs(got - sum) <= kGrowth * kUnitRoundoff * std::sqrt(roundings));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("at_least passes NaN on from the value and not from the floor", "", TestedArchs) {
  using Batch = kernels::Batch<TestType>;
  CHECK(std::isnan(kernels::at_least<TestType>(Batch(kNan), Batch(1.0F)).get(0)));
  CHECK(kernels::at_least<TestType>(Batch(2.0F), Batch(1.0F)).get(0) == 2.0F);
  CHECK(kernels::at_least<TestType>(Batch(-kInfinity), Batch(1.0F)).get(0) == 1.0F);
}

}  // namespace heed::testing
