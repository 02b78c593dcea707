// A list of calls that must be refused, tests/cases/*.json, and what each must be refused with.
#pragma once

#include <catch_amalgamated.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "data_files.hpp"
#include "heed/status.hpp"
#include "support.hpp"

namespace heed::testing {

using Json = nlohmann::json;

/// Some calls cannot be made with views: those that only TypeScript's checks can meet, and those about results that the
/// engine allocates, which in C++ the caller does.
inline bool is_for_cpp(const Json& entry) {
  if (entry.value("scope", "") == "typescript") return false;
  return !entry.contains("options") || !entry["options"].contains("return");
}

/// Calls refuse(entry) for every case that can be said to C++, which returns the status.
template <typename Refuse>
void check_rejects(const std::string& name, Refuse refuse) {
  const std::map<std::string, StatusCode> codes = {{"shape", StatusCode::shape},
                                                   {"option", StatusCode::option},
                                                   {"memory", StatusCode::memory},
                                                   {"unsupported", StatusCode::unsupported}};
  std::ifstream file(case_file(name));
  REQUIRE(file);
  const Json list = Json::parse(file);
  int count = 0;
  for (const Json& entry : list["cases"]) {
    if (!is_for_cpp(entry)) continue;
    ++count;
    INFO(entry.dump());
    const Status status = refuse(entry);
    CHECK(status.code() == codes.at(entry["code"].get<std::string>()));
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring(entry["message"].get<std::string>()));
  }
  CHECK(count > 10);
}

inline float number_of(const Json& value) {
  if (value.is_number()) return value.get<float>();
  return value == "NaN" ? kNan : kInfinity;
}

/// Zeros of a case's shape. One of three axes is short of one in the place that `missing` says; absent where the case
/// has none.
inline Owned<float> zeros_of(const Json& entry, const char* name, std::size_t missing) {
  if (!entry.contains(name)) return {};
  auto sizes = entry[name].get<std::vector<Index>>();
  if (sizes.size() == 3) sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(missing), 1);
  Shape shape{};
  std::ranges::copy(sizes, shape.begin());
  return allocate(shape, Layout::bhnd, 0.0F);
}

}  // namespace heed::testing
