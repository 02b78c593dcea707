// Streams of rows: each row of a range is read once, by its position in a stream, whatever the range.
#include "kernels/decode/streams.hpp"

#include <algorithm>
#include <array>
#include <catch_amalgamated.hpp>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

namespace heed::testing {
namespace {

/// A stream, and the position of a row in it.
using Place = std::pair<int, int>;

kernels::StreamPair some_of(int length, int first, int count) { return {{}, 1, length, first, count}; }

/// The rows of interleaved groups, in their order.
std::vector<Place> places_of(const kernels::Interleaving& interleaving, int group) {
  static const std::array<char, 100 * (kernels::kStreams + 1)> numbers{};
  const auto number_of = [](int stream, int at) { return std::next(numbers.begin(), 100 * stream + at); };
  auto reader = kernels::read_interleaved(interleaving, 1, number_of);
  std::vector<Place> places;
  for (int i = 0; i < interleaving.count; ++i) {
    const auto number = static_cast<int>(reader.take() - numbers.begin());
    for (int n = 0; n < group; ++n) places.emplace_back(number / 100, number % 100 + n);
  }
  return places;
}

/// The rows of two streams in the order in which values are added, at most `most` at once.
std::vector<Place> places_of(const kernels::StreamPair& rows, int most = 2 * kernels::kStreams) {
  std::vector<Place> places;
  for (const kernels::StreamSegment& segment : kernels::segments_of(rows)) {
    const kernels::Interleaving interleaving =
        segment.interleaving(1, most == kernels::kStreams ? segment.streams : most);
    for (const Place& place : places_of(interleaving, 1)) places.push_back(place);
    const kernels::StreamSegment rest = segment.behind(interleaving, 1);
    CHECK((rest.end - rest.begin) * rest.streams < most);
    for (int at = rest.begin; at < rest.end; ++at) {
      for (int stream = rest.first_stream; stream < rest.end_stream(); ++stream) places.emplace_back(stream, at);
    }
  }
  return places;
}

/// Calls check(rows) for every range of two streams of up to seven rows.
void for_each_range(auto check) {
  for (int length = 1; length <= 7; ++length) {
    const int all = kernels::kStreams * length;
    for (int first = 0; first < all; ++first) {
      for (int count = 1; first + count <= all; ++count) {
        INFO(count << " rows from " << first << " on, in streams of " << length);
        check(some_of(length, first, count));
      }
    }
  }
}

/// The rows that are read of some keys, in the order in which values are added. Row r of the pages holds r.
std::vector<int> rows_read(const kernels::KvRows& rows, const kernels::StreamLayout& layout, int first, int end) {
  std::vector<int> read;
  int next = first;
  kernels::for_each_stream_pair(rows, layout, first, end, [&](const kernels::StreamPair& streams, int key) {
    REQUIRE(key == next);
    next += streams.count;
    std::vector<int> by_place(static_cast<std::size_t>(streams.count), -1);
    for (const auto& [stream, at] : places_of(streams)) {
      const int row = static_cast<int>(*streams.f32(stream, at));
      by_place[static_cast<std::size_t>(streams.position(stream, at))] = row;
      read.push_back(row);
    }
    for (int i = 0; i < streams.count; ++i) {
      REQUIRE(by_place[static_cast<std::size_t>(i)] == key + i + static_cast<int>(rows.skipped));
    }
  });
  REQUIRE(next == end);
  return read;
}

/// Pages whose row r holds the number r.
class NumberedPages {
 public:
  explicit NumberedPages(int page_size) : numbers_(20 * static_cast<std::size_t>(page_size)) {
    std::iota(numbers_.begin(), numbers_.end(), 0.0F);
    for (std::size_t page = 0; page < 20; ++page) {
      pages_.push_back(numbers_.data() + page * static_cast<std::size_t>(page_size));
    }
    rows.pages = pages_.data();
    rows.page_size = page_size;
  }

  kernels::KvRows rows{.dtype = DType::f32, .data = nullptr, .stride = 1};

 private:
  std::vector<float> numbers_;
  std::vector<const void*> pages_;
};

}  // namespace

TEST_CASE("all rows of a range are read once, by their position in a stream") {
  for_each_range([](const kernels::StreamPair& rows) {
    std::vector<Place> expected;
    for (int at = 0; at < rows.length; ++at) {
      for (int stream = 0; stream < kernels::kStreams; ++stream) {
        const int number = stream * rows.length + at;
        if (rows.first <= number && number < rows.first + rows.count) expected.emplace_back(stream, at);
      }
    }
    CHECK(places_of(rows) == expected);
    CHECK(places_of(rows, kernels::kStreams) == expected);
  });
}

TEST_CASE("the position of a row in a range is that of its number") {
  for_each_range([](const kernels::StreamPair& rows) {
    std::vector<int> places;
    for (const auto& [stream, at] : places_of(rows)) places.push_back(rows.position(stream, at));
    std::ranges::sort(places);
    for (int i = 0; i < rows.count; ++i) CHECK(places[static_cast<std::size_t>(i)] == i);
  });
}

TEST_CASE(
    "groups of rows alternate between two streams, or two places of one, and fewer rows are left than come at once") {
  constexpr int kGroup = 2;
  for (const int at_once : {1, 2}) {
    for_each_range([at_once](const kernels::StreamPair& rows) {
      std::vector<int> times(static_cast<std::size_t>(rows.count), 0);
      const auto count = [&](int stream, int at) { ++times[static_cast<std::size_t>(rows.position(stream, at))]; };
      for (const kernels::StreamSegment& segment : kernels::segments_of(rows)) {
        const kernels::Interleaving interleaving = segment.interleaving(kGroup, at_once);
        CHECK(interleaving.count % at_once == 0);
        const std::vector<Place> places = places_of(interleaving, kGroup);
        for (const auto& [stream, at] : places) count(stream, at);
        for (std::size_t i = kGroup; segment.streams == kernels::kStreams && i < places.size(); i += kGroup) {
          CHECK(places[i].first != places[i - kGroup].first);
        }
        const kernels::StreamSegment rest = segment.behind(interleaving, kGroup);
        CHECK((rest.end - rest.begin) / kGroup * rest.streams < at_once);
        for (int stream = rest.first_stream; stream < rest.end_stream(); ++stream) {
          for (int at = rest.begin; at < rest.end; ++at) count(stream, at);
        }
      }
      CHECK(times == std::vector<int>(times.size(), 1));
    });
  }
}

TEST_CASE("two streams of keys are read at a time, where they hold keys of the range") {
  NumberedPages pages(4);
  for (const int before : {0, 3}) {
    pages.rows.skipped = before;
    for (int first = 0; first < 40; ++first) {
      for (int end = first + 1; end < 50; ++end) {
        CHECK(rows_read(pages.rows, {-before, 4, 50}, first, end).size() == static_cast<std::size_t>(end - first));
      }
    }
  }
}

TEST_CASE("a lone page is read as two streams") {
  NumberedPages pages(100);
  const std::vector<int> read = rows_read(pages.rows, {0, 100, 300}, 0, 300);
  // The first two pages are interleaved, then the third: 64 rows, and the rest.
  const std::vector<int> expected_starts{0, 100, 1, 101};
  CHECK(std::vector<int>(read.begin(), read.begin() + 4) == expected_starts);
  const std::vector<int> expected_alone{200, 264, 201, 265};
  CHECK(std::vector<int>(read.begin() + 200, read.begin() + 204) == expected_alone);
  // Two pages of which the split has few rows are read so, too.
  const std::vector<int> odd = rows_read(pages.rows, {0, 100, 190}, 0, 190);
  CHECK(std::vector<int>(odd.begin(), odd.begin() + 4) == std::vector<int>{0, 64, 1, 65});
  CHECK(std::vector<int>(odd.begin() + 100, odd.begin() + 104) == std::vector<int>{100, 164, 101, 165});
  // A page whose first rows are not in the split is read from a whole tile on.
  pages.rows.skipped = 37;
  const std::vector<int> late = rows_read(pages.rows, {-37, 100, 263}, 0, 263);
  CHECK(std::vector<int>(late.begin(), late.begin() + 7) == std::vector<int>{96, 97, 98, 99, 37, 38, 39});
  CHECK(std::vector<int>(late.begin() + 63, late.begin() + 67) == std::vector<int>{100, 200, 101, 201});
  pages.rows.skipped = 0;
  // The split has few rows of this page.
  const std::vector<int> few = rows_read(pages.rows, {0, 100, 64}, 0, 64);
  CHECK(std::vector<int>(few.begin(), few.begin() + 4) == std::vector<int>{0, 32, 1, 33});
  // Rows that are to be read in order are.
  CHECK(std::ranges::is_sorted(rows_read(pages.rows, kernels::StreamLayout::in_order(64), 0, 64)));
}

TEST_CASE("an empty range holds no rows, wherever it lies") {
  const NumberedPages pages(100);
  for (const int first : {0, 59, 60, 61, 500}) CHECK(rows_read(pages.rows, {0, 100, 60}, first, first).empty());
}

TEST_CASE("the order of rows is the same whichever rows of a split are asked for") {
  NumberedPages pages(100);
  for (const int before : {0, 30}) {
    pages.rows.skipped = before;
    for (const int stop : {60, 100, 250, 300, 370}) {
      const kernels::StreamLayout layout{-before, 100, stop};
      const std::vector<int> all = rows_read(pages.rows, layout, 0, stop);
      for (int first = 0; first < stop; first += 17) {
        for (int end = first + 1; end <= stop; end += 13) {
          INFO("keys " << first << " to " << end << " of " << stop << ", the first of them after " << before);
          std::vector<int> some;
          std::ranges::copy_if(all, std::back_inserter(some),
                               [&](int row) { return first + before <= row && row < end + before; });
          CHECK(rows_read(pages.rows, layout, first, end) == some);
        }
      }
    }
  }
}

}  // namespace heed::testing
