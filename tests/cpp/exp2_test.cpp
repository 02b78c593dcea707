#include "kernels/simd/exp2.hpp"

#include <bit>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "error_model.hpp"
#include "report.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

float exp2_of(const kernels::Exp2Constants& constants, float x) {
  const kernels::Exp2 exp2(constants);
  return exp2(kernels::Batch(x)).get(0);
}

double error_at(const kernels::Exp2Constants& constants, double x) {
  const auto argument = static_cast<float>(x);
  const double exact = std::exp2(static_cast<double>(argument));
  return std::abs(static_cast<double>(exp2_of(constants, argument)) / exact - 1.0);
}

/// The largest relative error found: over [floor, 0] in steps that fall on no grid of floats, and closely where the
/// polynomial ends and is at its worst.
double worst_error(const kernels::Exp2Constants& constants) {
  double worst = 0.0;
  for (double x = static_cast<double>(constants.floor); x <= 0.0; x += 0.0007771) {
    worst = std::max(worst, error_at(constants, x));
  }
  for (double x = -0.51; x <= -0.49; x += 0x1p-23) worst = std::max(worst, error_at(constants, x));
  return worst;
}

}  // namespace

TEST_CASE("exp2 keeps the relative error that it states down to its floor") {
  const double summands = worst_error(kernels::kExp2OfSummands);
  const double results = worst_error(kernels::kExp2OfResults);
  INFO("of summands " << summands << ", of results " << results);
  report_ratio("exp2", std::max(summands, results) / kExp2Error);
  CHECK(summands <= kExp2Error);
  CHECK(results <= kExp2Error);
}

TEST_CASE("exp2 of a whole number is exact") {
  for (int n = -126; n <= 0; ++n) {
    CHECK(exp2_of(kernels::kExp2OfResults, static_cast<float>(n)) == std::ldexp(1.0F, n));
  }
}

TEST_CASE("exp2 below its floor is two to the floor") {
  for (const float x : {-80.001F, -126.5F, -1e30F, std::numeric_limits<float>::lowest(), -kInfinity}) {
    CHECK(exp2_of(kernels::kExp2OfSummands, x) == 0x1p-80F);
  }
}

TEST_CASE("exp2 of NaN is NaN whatever bits it carries") {
  for (const std::uint32_t bits : {0x7FC00000U, 0xFFC00000U, 0x7FC00001U, 0x7FFFFFFFU, 0xFFD55555U, 0x7F800001U}) {
    INFO("bits " << std::hex << bits);
    CHECK(std::isnan(exp2_of(kernels::kExp2OfSummands, std::bit_cast<float>(bits))));
  }
}

TEST_CASE("exp2 treats every lane alike") {
  using Batch = kernels::Batch;
  Random random(20);
  const kernels::Exp2 exp2(kernels::kExp2OfSummands);
  alignas(64) float arguments[kernels::kLanes];
  for (float& x : arguments) x = static_cast<float>(-90.0 * random.uniform());
  const Batch powers = exp2(Batch::load_aligned(arguments));
  for (std::size_t lane = 0; lane < Batch::size; ++lane) {
    CHECK(powers.get(lane) == exp2_of(kernels::kExp2OfSummands, arguments[lane]));
  }
}

}  // namespace heed::testing
