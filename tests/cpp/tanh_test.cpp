#include "kernels/simd/tanh.hpp"

#include <bit>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "error_model.hpp"
#include "report.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

float tanh_of(float x) {
  const kernels::Tanh tanh;
  return tanh(kernels::Batch(x)).get(0);
}

double error_at(double x) {
  const auto argument = static_cast<float>(x);
  const double exact = std::tanh(static_cast<double>(argument));
  return std::abs(static_cast<double>(tanh_of(argument)) / exact - 1.0);
}

}  // namespace

TEST_CASE("tanh keeps the relative error that it states from -12 to 12") {
  double worst = 0.0;
  double where = 0.0;
  const auto look_at = [&](double x) {
    const double error = error_at(x);
    if (error > worst) where = x;
    worst = std::max(worst, error);
  };
  // Steps that fall on no grid of floats; and closely around where the polynomial ends and is at its worst.
  for (double x = -12.0; x <= 12.0; x += 0.00007771) look_at(x);
  for (double x = 0.5; x <= 0.6; x += 0x1p-20) look_at(x);
  INFO("worst at " << where);
  report_ratio("tanh", worst / kTanhError);
  CHECK(worst <= kTanhError);
}

TEST_CASE("tanh of a small number is that number, to a rounding") {
  for (const float x : {1e-4F, 1e-10F, 1e-30F, 0x1p-126F}) {
    CHECK(std::abs(tanh_of(x) / x - 1.0F) <= 1e-7F);
    CHECK(tanh_of(-x) == -tanh_of(x));
  }
}

TEST_CASE("tanh of either zero is zero") {
  CHECK(tanh_of(0.0F) == 0.0F);
  CHECK(tanh_of(-0.0F) == 0.0F);
}

TEST_CASE("tanh of anything large is one and never more") {
  for (const float x : {12.0F, 100.0F, 1e18F, 1e20F, std::numeric_limits<float>::max(), kInfinity}) {
    INFO("tanh of " << x);
    CHECK(tanh_of(x) == 1.0F);
    CHECK(tanh_of(-x) == -1.0F);
  }
  for (double x = 0.4; x < 13.0; x += 0.00113) CHECK(std::abs(tanh_of(static_cast<float>(x))) <= 1.0F);
}

TEST_CASE("tanh of NaN is NaN whatever bits it carries") {
  for (const std::uint32_t bits : {0x7FC00000U, 0xFFC00000U, 0x7FC00001U, 0x7FFFFFFFU, 0xFFD55555U, 0x7F800001U}) {
    INFO("bits " << std::hex << bits);
    CHECK(std::isnan(tanh_of(std::bit_cast<float>(bits))));
  }
}

}  // namespace heed::testing
