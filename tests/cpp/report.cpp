// What a run says besides passed and failed: its seed, and how near results came to their bounds.
#include "report.hpp"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>

#include "heed/machine.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

std::map<std::string, double>& worst_ratios() {
  static std::map<std::string, double> ratios;
  return ratios;
}

class Report final : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;

  void testRunStarting(const Catch::TestRunInfo& /*info*/) override {
    std::printf("HEED_SEED=%u, kernels: %s, %d lanes\n", static_cast<unsigned>(seed()), kernel_name(), kernel_lanes());
  }

  void testRunEnded(const Catch::TestRunStats& /*stats*/) override {
    for (const auto& [quantity, ratio] : worst_ratios()) {
      std::printf("largest error / bound, %s: %.2f\n", quantity.c_str(), ratio);
    }
  }
};

CATCH_REGISTER_LISTENER(Report)

}  // namespace

std::uint32_t seed() {
  static const std::uint32_t value = [] {
    const char* const given = std::getenv("HEED_SEED");
    return given == nullptr ? 20170612U : static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10));
  }();
  return value;
}

double ratio_of(double got, double expected, double bound) {
  if (got == expected) return 0.0;
  const double error = std::abs(got - expected);
  return std::isfinite(error) && bound > 0.0 ? error / bound : std::numeric_limits<double>::infinity();
}

void report_ratio(const std::string& quantity, double ratio) {
  double& worst = worst_ratios()[quantity];
  if (ratio > worst) worst = ratio;
}

}  // namespace heed::testing
