#include <catch_amalgamated.hpp>
#include <cmath>
#include <vector>

#include "error_model.hpp"
#include "kernels/gemm/register_tile.hpp"
#include "support.hpp"

namespace heed::testing {

TEST_CASE("tiles cover every row once, in order, whatever their number") {
  for (int count = 0; count <= 20; ++count) {
    int next = 0;
    kernels::for_each_tile(count, [&]<int kRows>(int row) {
      CHECK(row == next);
      CHECK((kRows == kernels::kMR || row + kRows == count));
      next = row + kRows;
    });
    CHECK(next == count);
  }
}

TEST_CASE("a tile adds the products of its rows with the panel to what it holds") {
  constexpr int panel_width = kernels::kPanel;
  constexpr int depth = 37;
  Random random(30);
  const Owned<float> rows = random_tensor(random, {1, 1, kernels::kMR, depth});
  const Owned<float> columns = random_tensor(random, {1, 1, depth, panel_width});
  std::vector<float> unaligned(columns.numbers);
  alignas(64) float panel[depth * panel_width];
  for (int n = 0; n < depth * panel_width; ++n) panel[n] = unaligned[static_cast<std::size_t>(n)];

  kernels::RegisterTile<kernels::kMR> tile;
  for (auto& sums : tile) sums[0] = sums[1] = kernels::Batch(3.0F);
  kernels::accumulate<kernels::kMR>(tile, depth, panel, [&rows](int r, int k) { return &rows(0, 0, r, k); });
  for (int r = 0; r < kernels::kMR; ++r) {
    for (int column = 0; column < panel_width; ++column) {
      double sum = 3.0;
      double roundings = 0.0;  // of each partial sum and each product
      for (int k = 0; k < depth; ++k) {
        const double product = static_cast<double>(rows(0, 0, r, k)) * static_cast<double>(columns(0, 0, k, column));
        sum += product;
        roundings += sum * sum + product * product;
      }
      const auto lane = static_cast<std::size_t>(column % kernels::kLanes);
      const double got = static_cast<double>(tile[r][column / kernels::kLanes].get(lane));
      CHECK(std::abs(got - sum) <= kGrowth * kUnitRoundoff * std::sqrt(roundings));
    }
  }
}

TEST_CASE("at_least passes NaN on from the value and not from the floor") {
  using Batch = kernels::Batch;
  CHECK(std::isnan(kernels::at_least(Batch(kNan), Batch(1.0F)).get(0)));
  CHECK(kernels::at_least(Batch(2.0F), Batch(1.0F)).get(0) == 2.0F);
  CHECK(kernels::at_least(Batch(-kInfinity), Batch(1.0F)).get(0) == 1.0F);
}

}  // namespace heed::testing
