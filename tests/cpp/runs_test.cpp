// Lines in runs: each that is meant comes once, by its place in a run, whatever part of the runs is meant.
#include "kernels/runs.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <utility>
#include <vector>

namespace heed::testing {
namespace {

/// A run, and a line of it.
using Place = std::pair<int, int>;

kernels::Runs some_of(int length, int first, int count) { return {{}, 1, length, first, count}; }

/// In the order in which values are added, `most` at once.
std::vector<Place> places_of(const kernels::Runs& lines, int most = 2 * kernels::kRuns) {
  std::vector<Place> places;
  for (const kernels::Stretch& stretch : kernels::stretches_of(lines)) {
    for (int at = stretch.begin; at < stretch.end; at += stretch.step(most)) {
      const kernels::LinesAtOnce some = stretch.at_once(at, most);
      REQUIRE(some.count > 0);
      REQUIRE(some.count <= most);
      for (int n = 0; n < some.count; ++n) places.emplace_back(some.run(n), some.line(n));
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

TEST_CASE("where one line of each run comes at once, none follows on another") {
  for_each_part([](const kernels::Runs& lines) {
    for (const kernels::Stretch& stretch : kernels::stretches_of(lines)) {
      for (int at = stretch.begin; at < stretch.end; at += stretch.step(kernels::kRuns)) {
        CHECK(stretch.at_once(at, kernels::kRuns).count == stretch.runs);
      }
    }
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

TEST_CASE("few lines of a run hold each once, and end with a stretch: behind them is the last once more") {
  for_each_part([](const kernels::Runs& lines) {
    std::vector<int> times(static_cast<std::size_t>(lines.count), 0);
    for (const kernels::Stretch& stretch : kernels::stretches_of(lines)) {
      for (int at = stretch.begin; at < stretch.end; at += 3) {
        for (int run = stretch.first_run; run < stretch.end_run(); ++run) {
          const kernels::FewLines few = stretch.few(run, at, 3);
          for (int i = 0; i < 3; ++i) CHECK(few.line(i) == std::min(at + i, stretch.end - 1));
          for (int i = 0; i < few.count; ++i) ++times[static_cast<std::size_t>(lines.place(run, few.line(i)))];
        }
      }
    }
    CHECK(times == std::vector<int>(times.size(), 1));
  });
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
