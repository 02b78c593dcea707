// What a run says besides passed and failed: its seed, and how near results came to their bounds.
#include "report.hpp"

#include <catch_amalgamated.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "kernels/instances/instances.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

std::map<std::string, std::map<std::string, double>>& worst_ratios() {
  static std::map<std::string, std::map<std::string, double>> ratios;
  return ratios;
}

class Report final : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;

  void testRunStarting(const Catch::TestRunInfo& /*info*/) override {
    std::printf("HEED_SEED=%u, kernels:", static_cast<unsigned>(seed()));
    for (const kernels::AttentionKernels* kernels : kernels::runnable_kernels()) std::printf(" %s", kernels->name);
    std::printf("\n");
  }

  void testRunEnded(const Catch::TestRunStats& /*stats*/) override {
    for (const auto& [quantity, by_kernel] : worst_ratios()) {
      std::printf("largest error / bound, %s:", quantity.c_str());
      for (const auto& [kernel, ratio] : by_kernel) std::printf(" %s %.2f", kernel.c_str(), ratio);
      std::printf("\n");
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

void report_ratio(const std::string& quantity, const std::string& kernel, double ratio) {
  double& worst = worst_ratios()[quantity][kernel];
  if (ratio > worst) worst = ratio;
}

}  // namespace heed::testing
