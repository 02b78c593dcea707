// ONNX's own Attention cases, on every kernel instance. What heed cannot say yet is in not-covered.json, which
// can only shrink: a case that is in it and works, or works not and is not in it, fails.
#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attention_check.hpp"
#include "conformance_cases.hpp"
#include "kernels/instances/instances.hpp"

namespace heed::testing {
namespace {

/// The cases, or a skipped test that says so; HEED_CONFORMANCE_REQUIRED=1 makes it a failure.
const ConformanceSet* cases_or_notice() {
  static const std::optional<ConformanceSet> set = read_conformance_cases();
  if (set) return &*set;
  const char* const required = std::getenv("HEED_CONFORMANCE_REQUIRED");
  if (required != nullptr && std::string(required) == "1")
    FAIL("ONNX's cases are required and their folder is missing");
  std::printf("conformance: none of ONNX's 49 Attention cases could be seen, their folder is missing\n");
  return nullptr;
}

Index count_outside(const ConformanceSet& set, const Owned<float>& got, const Owned<float>& expected) {
  REQUIRE(got.view.shape == expected.view.shape);
  Index outside = 0;
  for_each_element(got.view.shape, [&](Index b, Index h, Index i, Index d) {
    const auto want = static_cast<double>(expected(b, h, i, d));
    const auto is = static_cast<double>(got(b, h, i, d));
    const double error = is == want ? 0.0 : std::abs(is - want);  // -infinity is as good as itself
    outside += !(error <= set.absolute_tolerance + set.relative_tolerance * std::abs(want));
  });
  return outside;
}

void check_case(const ConformanceSet& set, const ConformanceCase& one) {
  Wanted wanted;
  if (one.scores) wanted.scores = one.score_stage;
  for (const kernels::AttentionKernels* kernels : kernels::runnable_kernels()) {
    INFO(one.name << " on " << kernels->name);
    const Results results = run(*kernels, one.tensors.inputs(), one.tensors.options, wanted);
    CHECK(count_outside(set, results.output, one.output) == 0);
    if (one.weights) CHECK(count_outside(set, results.weights, *one.weights) == 0);
    if (one.scores) CHECK(count_outside(set, results.scores, *one.scores) == 0);
  }
}

}  // namespace

TEST_CASE("ONNX's attention cases come out within ONNX's tolerance") {
  const ConformanceSet* const set = cases_or_notice();
  if (set == nullptr) return;
  int covered = 0;
  for (const ConformanceCase& one : set->cases) {
    if (!one.obstacle.empty()) continue;
    check_case(*set, one);
    ++covered;
  }
  std::printf("conformance: %d of %zu Attention cases covered\n", covered, set->cases.size());
  CHECK(covered > 0);
}

TEST_CASE("past and new keys and values side by side are what ONNX calls present") {
  const ConformanceSet* const set = cases_or_notice();
  if (set == nullptr) return;
  int count = 0;
  for (const ConformanceCase& one : set->cases) {
    if (!one.present_key || !one.obstacle.empty()) continue;
    INFO(one.name);
    CHECK(count_outside(*set, one.tensors.key, *one.present_key) == 0);
    CHECK(count_outside(*set, one.tensors.value, *one.present_value) == 0);
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("the list of ONNX's cases not covered is exactly right") {
  const ConformanceSet* const set = cases_or_notice();
  if (set == nullptr) return;
  std::ifstream file(HEED_TEST_NOT_COVERED);
  REQUIRE(file);
  const nlohmann::json listed = nlohmann::json::parse(file);
  std::size_t found = 0;
  for (const ConformanceCase& one : set->cases) {
    INFO(one.name << ": " << (one.obstacle.empty() ? "covered" : one.obstacle));
    CHECK(listed.contains(one.name) == !one.obstacle.empty());
    if (listed.contains(one.name)) CHECK(listed[one.name] == one.obstacle);
    found += listed.contains(one.name) ? 1U : 0U;
  }
  CHECK(found == listed.size());
}

}  // namespace heed::testing
