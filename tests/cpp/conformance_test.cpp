// ONNX's own Attention cases. What heed cannot say yet is in not-covered.json, which
// can only shrink: a case that is in it and works, or works not and is not in it, fails.
#include <cstdio>
#include <fstream>

#include "attention_check.hpp"
#include "conformance_cases.hpp"
#include "data_files.hpp"

namespace heed::testing {
namespace {

struct ConformanceSet {
  const Json& index;
  std::vector<ConformanceCase> cases;
};

/// The cases; null where their folder is missing.
const ConformanceSet* cases_or_notice() {
  const ConformanceFile* const file = conformance_file("49 Attention cases");
  if (file == nullptr) return nullptr;
  static const ConformanceSet set{file->index, read_conformance_cases(*file)};
  return &set;
}

void check_case(const ConformanceSet& set, const ConformanceCase& one) {
  Wanted wanted;
  if (one.scores) wanted.scores = one.score_stage;
  INFO(one.name);
  const Results results = run(one.tensors.inputs(), one.tensors.options, wanted);
  CHECK(count_outside(set.index, results.output, one.output) == 0);
  if (one.weights) CHECK(count_outside(set.index, results.weights, *one.weights) == 0);
  if (one.scores) CHECK(count_outside(set.index, results.scores, *one.scores) == 0);
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
    CHECK(count_outside(set->index, one.tensors.key, *one.present_key) == 0);
    CHECK(count_outside(set->index, one.tensors.value, *one.present_value) == 0);
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("the list of ONNX's cases not covered is exactly right") {
  const ConformanceSet* const set = cases_or_notice();
  if (set == nullptr) return;
  std::ifstream file(not_covered_file());
  REQUIRE(file);
  const Json listed = Json::parse(file);
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
