#include "kernels/exp2.hpp"

#include <bit>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "error_model.hpp"
#include "report.hpp"
#include "support.hpp"
#include "tested_archs.hpp"

namespace heed::testing {
namespace {

template <class Arch>
float exp2_of(const kernels::Exp2Constants& constants, float x) {
  const kernels::Exp2<Arch> exp2(constants);
  return exp2(kernels::Batch<Arch>(x)).get(0);
}

template <class Arch>
double error_at(const kernels::Exp2Constants& constants, double x) {
  const auto argument = static_cast<float>(x);
  const double exact = std::exp2(static_cast<double>(argument));
  return std::abs(static_cast<double>(exp2_of<Arch>(constants, argument)) / exact - 1.0);
}

/// The largest relative error found: over [floor, 0] in steps that fall on no grid of floats, and closely where the
/// polynomial ends and is at its worst.
template <class Arch>
double worst_error(const kernels::Exp2Constants& constants) {
  double worst = 0.0;
  for (double x = static_cast<double>(constants.floor); x <= 0.0; x += 0.0007771) {
    worst = std::max(worst, error_at<Arch>(constants, x));
  }
  for (double x = -0.51; x <= -0.49; x += 0x1p-23) worst = std::max(worst, error_at<Arch>(constants, x));
  return worst;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("exp2 keeps the relative error that it states down to its floor", "", TestedArchs) {
  const double summands = worst_error<TestType>(kernels::kExp2OfSummands);
  const double results = worst_error<TestType>(kernels::kExp2OfResults);
  INFO("of summands " << summands << ", of results " << results);
  report_ratio("exp2", std::to_string(32 * kernels::kLanes<TestType>) + "-bit",
               std::max(summands, results) / kExp2Error);
  CHECK(summands <= kExp2Error);
  CHECK(results <= kExp2Error);
}

TEMPLATE_LIST_TEST_CASE("exp2 of a whole number is exact", "", TestedArchs) {
  for (int n = -126; n <= 0; ++n) {
    CHECK(exp2_of<TestType>(kernels::kExp2OfResults, static_cast<float>(n)) == std::ldexp(1.0F, n));
  }
}

TEMPLATE_LIST_TEST_CASE("exp2 below its floor is two to the floor", "", TestedArchs) {
  for (const float x : {-80.001F, -126.5F, -1e30F, std::numeric_limits<float>::lowest(), -kInfinity}) {
    CHECK(exp2_of<TestType>(kernels::kExp2OfSummands, x) == 0x1p-80F);
  }
}

TEMPLATE_LIST_TEST_CASE("exp2 of NaN is NaN whatever bits it carries", "", TestedArchs) {
  for (const std::uint32_t bits : {0x7FC00000U, 0xFFC00000U, 0x7FC00001U, 0x7FFFFFFFU, 0xFFD55555U, 0x7F800001U}) {
    INFO("bits " << std::hex << bits);
    CHECK(std::isnan(exp2_of<TestType>(kernels::kExp2OfSummands, std::bit_cast<float>(bits))));
  }
}

TEMPLATE_LIST_TEST_CASE("exp2 treats every lane alike", "", TestedArchs) {
  using Batch = kernels::Batch<TestType>;
  Random random(20);
  const kernels::Exp2<TestType> exp2(kernels::kExp2OfSummands);
  alignas(64) float arguments[kernels::kLanes<TestType>];
  for (float& x : arguments) x = static_cast<float>(-90.0 * random.uniform());
  const Batch powers = exp2(Batch::load_aligned(arguments));
  for (std::size_t lane = 0; lane < Batch::size; ++lane) {
    CHECK(powers.get(lane) == exp2_of<TestType>(kernels::kExp2OfSummands, arguments[lane]));
  }
}

}  // namespace heed::testing
