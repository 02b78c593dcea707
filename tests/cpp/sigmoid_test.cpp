#include "kernels/simd/sigmoid.hpp"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "report.hpp"
#include "score_error.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

float sigmoid_of(float x) {
  const kernels::Sigmoid sigmoid(kernels::kExp2OfResults);
  return sigmoid(kernels::Batch(x)).get(0);
}

}  // namespace

TEST_CASE("the sigmoid keeps the relative error that it states") {
  double worst = 0.0;
  double where = 0.0;
  for (double x = -125.9; x <= 40.0; x += 0.000717) {
    const auto argument = static_cast<float>(x);
    const double exact = 1.0 / (1.0 + std::exp2(-static_cast<double>(argument)));
    const double error = std::abs(static_cast<double>(sigmoid_of(argument)) / exact - 1.0);
    if (error > worst) where = x;
    worst = std::max(worst, error);
  }
  INFO("worst at " << where);
  report_ratio("sigmoid", worst / kSigmoidError);
  CHECK(worst <= kSigmoidError);
}

TEST_CASE("the sigmoid of anything large is one, of nothing a half, of NaN NaN") {
  for (const float x : {130.0F, 1e30F, kInfinity}) {
    CHECK(sigmoid_of(x) == 1.0F);
    CHECK(sigmoid_of(-x) == 0x1p-126F);
  }
  CHECK(sigmoid_of(0.0F) == 0.5F);
  CHECK(std::isnan(sigmoid_of(kNan)));
}

}  // namespace heed::testing
