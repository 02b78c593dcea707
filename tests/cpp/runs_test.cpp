// Lines in runs: each that is meant comes once, by its place in a run, whatever part of the runs is meant.
#include "kernels/runs.hpp"

#include <algorithm>
#include <array>
#include <catch_amalgamated.hpp>
#include <iterator>
#include <utility>
#include <vector>

namespace heed::testing {
namespace {

/// A run, and a line of it.
using Place = std::pair<int, int>;

kernels::Runs some_of(int length, int first, int count) { return {{}, 1, length, first, count}; }

/// The lines of units that come by turns, one after the other.
std::vector<Place> places_of(const kernels::Turns& turns, int unit) {
  // By its place in these a line has a run and a place there.
  static const std::array<char, 100 * (kernels::kRuns + 1)> numbers{};
  const auto number_of = [](int run, int at) { return std::next(numbers.begin(), 100 * run + at); };
  auto walk = kernels::walk_of(turns, 1, number_of);
  std::vector<Place> places;
  for (int i = 0; i < turns.count; ++i) {
    const auto number = static_cast<int>(walk.take() - numbers.begin());
    for (int n = 0; n < unit; ++n) places.emplace_back(number / 100, number % 100 + n);
  }
  return places;
}

/// In the order in which values are added, `most` at once where two runs come.
std::vector<Place> places_of(const kernels::Runs& lines, int most = 2 * kernels::kRuns) {
  std::vector<Place> places;
  for (const kernels::Stretch& stretch : kernels::stretches_of(lines)) {
    const kernels::Turns turns = stretch.turns(1, most == kernels::kRuns ? stretch.runs : most);
    for (const Place& place : places_of(turns, 1)) places.push_back(place);
    const kernels::Stretch rest = stretch.behind(turns, 1);
    CHECK((rest.end - rest.begin) * rest.runs < most);
    for (int at = rest.begin; at < rest.end; ++at) {
      for (int run = rest.first_run; run < rest.end_run(); ++run) places.emplace_back(run, at);
    }
  }
  return places;
}

/// Calls check(lines) for every part of all runs, of up to seven lines.
void for_each_part(auto check) {
  for (int length = 1; length <= 7; ++length) {
    const int all = kernels::kRuns * length;
    for (int first = 0; first < all; ++first) {
      for (int count = 1; first + count <= all; ++count) {
        INFO(count << " lines from " << first << " on, in runs of " << length);
        check(some_of(length, first, count));
      }
    }
  }
}

}  // namespace

TEST_CASE("all lines that are meant come once, by their place in a run") {
  for_each_part([](const kernels::Runs& lines) {
    std::vector<Place> expected;
    for (int at = 0; at < lines.length; ++at) {
      for (int run = 0; run < kernels::kRuns; ++run) {
        const int number = run * lines.length + at;
        if (lines.first <= number && number < lines.first + lines.count) expected.emplace_back(run, at);
      }
    }
    CHECK(places_of(lines) == expected);
    CHECK(places_of(lines, kernels::kRuns) == expected);
  });
}

TEST_CASE("a line's place among those that are meant is its number's") {
  for_each_part([](const kernels::Runs& lines) {
    std::vector<int> places;
    for (const auto& [run, at] : places_of(lines)) places.push_back(lines.place(run, at));
    std::ranges::sort(places);
    for (int i = 0; i < lines.count; ++i) CHECK(places[static_cast<std::size_t>(i)] == i);
  });
}

TEST_CASE(
    "units of lines come by turns from two runs, or from two places of one, and what they leave is less than comes at "
    "once") {
  constexpr int kUnit = 2;
  for (const int at_once : {1, 2}) {
    for_each_part([at_once](const kernels::Runs& lines) {
      std::vector<int> times(static_cast<std::size_t>(lines.count), 0);
      const auto count = [&](int run, int at) { ++times[static_cast<std::size_t>(lines.place(run, at))]; };
      for (const kernels::Stretch& stretch : kernels::stretches_of(lines)) {
        const kernels::Turns turns = stretch.turns(kUnit, at_once);
        CHECK(turns.count % at_once == 0);
        const std::vector<Place> places = places_of(turns, kUnit);
        for (const auto& [run, at] : places) count(run, at);
        for (std::size_t i = kUnit; stretch.runs == kernels::kRuns && i < places.size(); i += kUnit) {
          CHECK(places[i].first != places[i - kUnit].first);
        }
        const kernels::Stretch rest = stretch.behind(turns, kUnit);
        CHECK((rest.end - rest.begin) / kUnit * rest.runs < at_once);
        for (int run = rest.first_run; run < rest.end_run(); ++run) {
          for (int at = rest.begin; at < rest.end; ++at) count(run, at);
        }
      }
      CHECK(times == std::vector<int>(times.size(), 1));
    });
  }
}

TEST_CASE("runs of keys come as many at a time as come by turns, and are read where they hold some") {
  std::vector<float> numbers(60);
  for (int key = 0; key < 60; ++key) numbers[static_cast<std::size_t>(key)] = static_cast<float>(key);
  std::vector<const void*> pages(16, nullptr);
  for (const int before : {0, 3}) {
    for (int page = 0; page * 4 < 60 - 4; ++page) pages[static_cast<std::size_t>(page)] = numbers.data() + page * 4;
    kernels::HeadRows rows{.first = {numbers.data(), kernels::Precision::single}, .stride = 1};
    rows.pages = pages.data();
    rows.page_rows = 4;
    rows.before = before;
    for (int first = 0; first < 40; ++first) {
      for (int end = first + 1; end < 50; ++end) {
        std::vector<float> keys;
        kernels::for_each_runs(rows, {-before, 4}, first, end, [&](const kernels::Runs& runs, int key) {
          REQUIRE(static_cast<int>(keys.size()) == key - first);
          std::vector<float> own(static_cast<std::size_t>(runs.count), -1.0F);
          for (const auto& [run, at] : places_of(runs)) {
            own[static_cast<std::size_t>(runs.place(run, at))] = *runs.floats(run, at);
          }
          keys.insert(keys.end(), own.begin(), own.end());
        });
        REQUIRE(static_cast<int>(keys.size()) == end - first);
        for (int i = first; i < end; ++i) {
          REQUIRE(keys[static_cast<std::size_t>(i - first)] == static_cast<float>(i + before));
        }
      }
    }
  }
}

}  // namespace heed::testing
