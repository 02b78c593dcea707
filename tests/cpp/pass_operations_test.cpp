// The small operations of a pass against their definitions in double precision.
#include <catch_amalgamated.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "layer_scene.hpp"
#include "operations/training/elementwise.hpp"
#include "operations/training/move.hpp"
#include "operations/training/product.hpp"
#include "operations/training/row_sums.hpp"
#include "operations/training/softmax.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

/// Numbers as one row.
Rows<const float> row_of(const std::vector<float>& numbers) {
  const auto length = static_cast<Index>(numbers.size());
  return {numbers.data(), 1, length, length};
}

}  // namespace

TEST_CASE("elementwise functions take operands that repeat, wherever a slice begins") {
  Random random(950);
  for (const Index length : {1, 5, 16, 33, 120}) {
    for (const Index period : {Index{1}, Index{3}, length}) {
      const std::vector<float> x = random_numbers(random, length), y = random_numbers(random, period),
                               z = random_numbers(random, length);
      for (const Index first : {Index{0}, period == length ? Index{0} : Index{16}}) {
        OwnedRows got(1, length, kUntouched);
        const auto run_with = [&](Elementwise function) {
          compute(ElementwiseCall{.x = row_of(x),
                                  .y = row_of(y),
                                  .z = row_of(z),
                                  .function = function,
                                  .first = first,
                                  .output = got.rows});
        };
        const auto check = [&](const std::function<float(float, float, float)>& function) {
          for (Index i = 0; i < length; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const auto repeated = static_cast<std::size_t>((period == length ? i : first + i) % period);
            const float wanted = function(x[at], y[repeated], z[at]);
            CHECK(std::abs(got.at(0, i) - static_cast<double>(wanted)) <= 0x1p-22 * std::abs(wanted));
          }
        };
        run_with(Elementwise::sub);
        check([](float a, float b, float) { return a - b; });
        run_with(Elementwise::div);
        check([](float a, float b, float) { return a / b; });
        run_with(Elementwise::select);
        check([](float a, float b, float c) { return a != 0.0F ? b : c; });
        run_with(Elementwise::equal);
        check([](float a, float b, float) { return a == b ? 1.0F : 0.0F; });
        run_with(Elementwise::exp);
        check([](float a, float, float) { return std::exp(a); });
      }
    }
  }
}

TEST_CASE("places count on beyond 2^31") {
  const std::vector<float> period{1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, one{1.0F};
  OwnedRows got(1, 8, kUntouched);
  compute(ElementwiseCall{
      .x = row_of(period), .y = row_of(one), .function = Elementwise::add, .first = -6, .output = got.rows});
  // 2^32 - 6 is a multiple of 5.
  for (Index i = 0; i < 8; ++i) CHECK(got.at(0, i) == static_cast<float>(i % 5 + 2));
}

TEST_CASE("numbers move along axes that turn, repeat, and end early") {
  std::vector<float> numbers(24);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) + 1.0F;
  // [2, 3, 4] to [4, 2, 2, 5]: turned, the middle axis cut to its last two, and repeated with a gap at both ends.
  const std::int32_t axes[] = {4, 1, 0, 4, 2, 12, 0, 2, 2, 4, 0, 2, 5, 0, 1, 4};
  OwnedRows whole(1, 80, kUntouched);
  compute(MoveCall{row_of(numbers), axes, 4, 4, 0, whole.rows});
  for (Index i = 0; i < 80; ++i) {
    const Index last = i % 5, middle = i / 5 % 2, second = i / 10 % 2, first = i / 20;
    const double wanted =
        last == 0 || last == 4 ? 0.0 : static_cast<double>(12 * second + 4 * (middle + 1) + first + 1);
    CHECK(whole.at(0, i) == wanted);
  }
  for (const Index begin : {1, 16, 37}) {
    OwnedRows part(1, 23, kUntouched);
    compute(MoveCall{row_of(numbers), axes, 4, 4, begin, part.rows});
    for (Index i = 0; i < 23; ++i) CHECK(part.at(0, i) == whole.at(0, begin + i));
  }
  const std::int32_t beyond[] = {25, 1, 0, 25};
  OwnedRows target(1, 25, kUntouched);
  CHECK(run(MoveCall{row_of(numbers), beyond, 1, 0, 0, target.rows}, calling_thread()).code() == StatusCode::shape);
  CHECK(target.at(0, 0) == static_cast<double>(kUntouched));
}

TEST_CASE("rows lie side by side") {
  Random random(951);
  const OwnedRows a = random_rows(random, 7, 3, 1), b = random_rows(random, 7, 5), c = random_rows(random, 7, 1, 2);
  OwnedRows got(7, 9, kUntouched, 1);
  compute(JoinCall{.a = a.reading(), .b = b.reading(), .d = c.reading(), .output = got.rows});
  for (Index row = 0; row < 7; ++row) {
    for (Index i = 0; i < 9; ++i)
      CHECK(got.at(row, i) == (i < 3 ? a.at(row, i) : i < 8 ? b.at(row, i - 3) : c.at(row, 0)));
    CHECK(got.rows.row(row)[9] == kUntouched);
  }
}

TEST_CASE("softmax adds up to 1, and gives its gradient") {
  Random random(952);
  for (const Index length : {1, 4, 7, 33}) {
    OwnedRows rows = random_rows(random, 3, length, 1, 4.0F);
    rows.rows.row(1)[length - 1] = -std::numeric_limits<float>::infinity();
    for (Index i = 0; i < length; ++i) rows.rows.row(2)[i] = -std::numeric_limits<float>::infinity();
    OwnedRows weights(3, length, kUntouched), slopes(3, length, kUntouched);
    const OwnedRows gradient = random_rows(random, 3, length);
    compute(SoftmaxCall{.rows = rows.reading(), .output = weights.rows});
    compute(SoftmaxCall{.rows = weights.reading(), .gradient = gradient.reading(), .output = slopes.rows});
    double worst = 0.0;
    for (Index row = 0; row < 3; ++row) {
      double sum = 0.0, mean = 0.0;
      for (Index i = 0; i < length; ++i) sum += std::exp(rows.at(row, i));
      for (Index i = 0; i < length; ++i) {
        const double wanted = sum == 0.0 ? 0.0 : std::exp(rows.at(row, i)) / sum;
        worst = std::max(worst, ratio_of(weights.at(row, i), wanted, dot_bound(length + 8, 4.0 * wanted)));
        mean += wanted * gradient.at(row, i);
      }
      for (Index i = 0; i < length; ++i) {
        const double weight = sum == 0.0 ? 0.0 : std::exp(rows.at(row, i)) / sum;
        worst = std::max(worst, ratio_of(slopes.at(row, i), weight * (gradient.at(row, i) - mean),
                                         dot_bound(length + 8, 16.0 * weight)));
      }
    }
    INFO("length " << length);
    CHECK(worst <= 1.0);
    CHECK(weights.at(2, 0) == 0.0);
  }
}

TEST_CASE("the largest numbers of columns, NaN among them") {
  Random random(953);
  OwnedRows rows = random_rows(random, 70, 9, 1);
  rows.rows.row(3)[4] = kNan;
  OwnedRows got(1, 9, kUntouched);
  compute(RowSumsCall{.rows = rows.reading(), .output = got.rows, .is_maximum = true});
  for (Index i = 0; i < 9; ++i) {
    double most = rows.at(0, i);
    for (Index row = 0; row < 70; ++row) most = std::max(most, rows.at(row, i));
    if (i == 4) {
      CHECK(std::isnan(got.at(0, i)));
    } else {
      CHECK(got.at(0, i) == most);
    }
  }
}

TEST_CASE("long sums are added up by levels, so that their errors stay small") {
  const Index count = 1'000'003;
  const OwnedRows rows(count, 1, 0.1F);
  OwnedRows got(1, 1, kUntouched);
  compute(RowSumsCall{.rows = rows.reading(), .output = got.rows});
  const double wanted = static_cast<double>(count) * static_cast<double>(0.1F);
  CHECK(std::abs(got.at(0, 0) - wanted) <= (64 + 64 + count / 4096 + 4) * kUnitRoundoff * wanted);
}

TEST_CASE("several products, of one matrix or of one each") {
  Random random(954);
  const Index count = 3, rows = 5, depth = 9, columns = 17;
  const std::vector<float> left = random_numbers(random, count * rows * depth),
                           right = random_numbers(random, depth * columns);
  std::vector<float> made(static_cast<std::size_t>(count * rows * columns), kUntouched);
  Matrices<const float> lefts(Rows<const float>{left.data(), rows, depth, depth});
  Matrices<const float> rights(Rows<const float>{right.data(), depth, columns, columns});
  Matrices<float> outputs(Rows<float>{made.data(), rows, columns, columns});
  lefts.count = rights.count = outputs.count = count;
  lefts.step = rows * depth;
  outputs.step = rows * columns;
  compute(ProductCall{.left = lefts, .right = rights, .output = outputs});
  std::vector<float> one(static_cast<std::size_t>(count * rows * columns), kUntouched);
  compute(ProductCall{.left = Rows<const float>{left.data(), count * rows, depth, depth},
                      .right = Rows<const float>{right.data(), depth, columns, columns},
                      .output = Rows<float>{one.data(), count * rows, columns, columns}});
  CHECK(made == one);
}

}  // namespace heed::testing
