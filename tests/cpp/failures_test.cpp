// Messages of broken rules: their parts are joined, as far as there is room.
#include "problem/failures.hpp"

#include <catch_amalgamated.hpp>
#include <limits>
#include <string>

namespace heed::testing {

TEST_CASE("a message is its operation and its parts: texts, numbers and sizes") {
  const Shape sizes{1, 0, 512, 64};
  const Status status =
      broken("norm", StatusCode::shape, {"rows must be ", sizes, ", got ", Index{-7}, " of ", Index{10}});
  CHECK(status.code() == StatusCode::shape);
  CHECK_FALSE(status.is_ok());
  CHECK(status.message() == "norm: rows must be [1, 0, 512, 64], got -7 of 10");
}

TEST_CASE("numbers are written as any library writes them") {
  constexpr Index largest = std::numeric_limits<Index>::max();
  constexpr Index smallest = std::numeric_limits<Index>::min();
  for (const Index number : {Index{0}, Index{9}, Index{10}, Index{-1}, Index{-10}, Index{1000000007}, largest,
                             largest - 1, smallest, smallest + 1}) {
    CHECK(broken(StatusCode::option, {number}).message() == "attention: " + std::to_string(number));
  }
}

TEST_CASE("a message that is longer than there is room is cut off") {
  const std::string longest(Status::kRoom - 1, 'x');
  CHECK(Status(StatusCode::option, longest.c_str()).message() == longest);
  CHECK(Status(StatusCode::option, (longest + "y").c_str()).message() == longest);
  const std::string name(Status::kRoom - 4, 'n');
  CHECK(broken(name.c_str(), StatusCode::option, {Index{12345}}).message() == name + ": 1");
}

TEST_CASE("a status that is ok says nothing, and the first failure of some is theirs") {
  CHECK(Status{}.is_ok());
  CHECK(Status{}.message().empty());
  const Status first(StatusCode::memory, "one");
  CHECK(first_failure({{}, first, {StatusCode::shape, "two"}}).message() == "one");
  CHECK(first_failure({{}, {}}).is_ok());
}

}  // namespace heed::testing
