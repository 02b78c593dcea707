// Calls that every door must refuse: the list is tests/cases/attention-rejects.json, shared with TypeScript.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "heed/attention.hpp"
#include "schedule/serial_executor.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

using Json = nlohmann::json;

/// Calls that cannot be said in views: those meant for TypeScript's own door, and those about results that
/// the engine allocates, which in C++ the caller does.
bool is_for_cpp(const Json& entry) {
  if (entry.value("scope", "") == "typescript") return false;
  return !entry.contains("options") || !entry["options"].contains("return");
}

float number_of(const Json& value) {
  if (value.is_number()) return value.get<float>();
  return value == "NaN" ? kNan : kInfinity;
}

AttentionOptions options_of(const Json& entry) {
  AttentionOptions options;
  const Json given = entry.value("options", Json::object());
  for (const auto& [name, value] : given.items()) {
    INFO("option " << name);
    REQUIRE(name == "scale");
    options.scale = number_of(value);
  }
  return options;
}

}  // namespace

TEST_CASE("every call of the rejects list is refused with its code and its words, and nothing is written") {
  const std::map<std::string, StatusCode> codes = {{"shape", StatusCode::shape},
                                                   {"option", StatusCode::option},
                                                   {"memory", StatusCode::memory},
                                                   {"unsupported", StatusCode::unsupported}};
  std::ifstream file(HEED_TEST_CASES "/attention-rejects.json");
  REQUIRE(file);
  const Json list = Json::parse(file);
  int count = 0;
  for (const Json& entry : list["cases"]) {
    if (!is_for_cpp(entry)) continue;
    ++count;
    INFO(entry.dump());
    const auto tensor = [&entry](const char* name) {
      return entry.contains(name) ? allocate(entry[name].get<Shape>(), Layout::bhnd, 0.0F) : Owned<float>();
    };
    const Owned<float> query = tensor("query"), key = tensor("key"), value = tensor("value"), bias = tensor("bias");
    Owned<std::uint8_t> mask;
    if (entry.contains("mask")) mask = allocate<std::uint8_t>(entry["mask"].get<Shape>(), Layout::bhnd, 1);

    const Shape& q = query.view.shape;
    const Owned<float> output = allocate({q[0], q[1], q[2], value.view.shape[3]}, Layout::bhnd, 1.5F);
    SerialExecutor executor;
    const Status status =
        attention({query.reading(), key.reading(), value.reading(), mask.reading(), bias.reading()}, options_of(entry),
                  {.output = output.view, .weights = {}, .log_sum_exp = {}}, executor);
    CHECK(status.code() == codes.at(entry["code"].get<std::string>()));
    CHECK_THAT(status.message(), Catch::Matchers::ContainsSubstring(entry["message"].get<std::string>()));
    CHECK(std::ranges::all_of(output.numbers, [](float number) { return number == 1.5F; }));
  }
  CHECK(count > 10);
}

}  // namespace heed::testing
