// The order in which a row that has its keys to itself reads lines of them. One line after the other waits for memory,
// which brings several as quickly: so lines come by turns from a few runs, and each run in order. A run's first lines
// cost more than others, so runs are as long as there are: pages, each of which goes on where a part's values begin,
// and then the next head's keys; or pieces of what lies in one.
#pragma once

#include "kernels/attention_block.hpp"

namespace heed::kernels {

inline constexpr int kRuns = 4;

/// Lines [first, first + count) of those that the runs make up, one run after the other.
struct Runs {
  Numbers of[kRuns];  // those without any of the lines are not to be looked at
  std::ptrdiff_t stride;
  int length;  // lines of each
  int first;
  int count;

  /// Where line `at` of a run comes among those that are meant.
  [[nodiscard]] int place(int run, int at) const { return run * length + at - first; }
  /// Lines [begin_of, end_of) of a run are among them.
  [[nodiscard]] int begin_of(int run) const { return first > run * length ? first - run * length : 0; }
  [[nodiscard]] int end_of(int run) const {
    const int left = first + count - run * length;
    return left < length ? left : length;
  }
  [[nodiscard]] const float* floats(int run, int at) const { return of[run].floats() + at * stride; }
  [[nodiscard]] const std::uint16_t* halves(int run, int at) const { return of[run].halves() + at * stride; }
  [[nodiscard]] const std::int8_t* bytes(int run, int at) const { return of[run].bytes() + at * stride; }
};

/// Lines [begin, end) of each of `runs` runs.
struct Stretch {
  int first_run;
  int runs;
  int begin;
  int end;

  [[nodiscard]] int end_run() const { return first_run + runs; }
};

class Stretches {
 public:
  void add(const Stretch& stretch) { all_[count_++] = stretch; }
  [[nodiscard]] const Stretch* begin() const { return all_; }
  [[nodiscard]] const Stretch* end() const { return all_ + count_; }

 private:
  Stretch all_[3];
  int count_ = 0;
};

/// They lead through all lines by their place in a run, and by runs where that is the same. So the order is that of the
/// lines' numbers alone, and sums come out the same whatever else is asked for.
[[gnu::noinline]] inline Stretches stretches_of(const Runs& lines) {
  const int last = lines.first + lines.count - 1;
  const int first_run = lines.first / lines.length;
  const int last_run = last / lines.length;
  const int head = lines.first % lines.length;
  const int tail = last % lines.length + 1;
  const int stops[] = {0, head < tail ? head : tail, head < tail ? tail : head, lines.length};
  Stretches stretches;
  for (int i = 0; i < 3; ++i) {
    const int begin = stops[i];
    const int from = begin < head ? first_run + 1 : first_run;
    const int to = begin < tail ? last_run + 1 : last_run;
    if (begin < stops[i + 1] && from < to) stretches.add({from, to - from, begin, stops[i + 1]});
  }
  return stretches;
}

/// Calls visit(run, line).
template <class Visit>
[[gnu::always_inline]] inline void for_each_line(const Stretch& stretch, Visit visit) {
  for (int at = stretch.begin; at < stretch.end; ++at) {
    for (int run = stretch.first_run; run < stretch.end_run(); ++run) visit(run, at);
  }
}

/// Calls score(run, line, next, results) for two lines of each run by turns, of which a last one may come twice, and
/// finish(run, line, count, results) for up to four from `line` on: the more arithmetic lines take, the fewer are on
/// their way at once, so as little of a run at a time as there is.
template <class Vector, class Score, class Finish>
[[gnu::always_inline]] inline void for_each_four(const Runs& lines, Score score, Finish finish) {
  for (const Stretch& stretch : stretches_of(lines)) {
    const int last = stretch.end - 1;
    for (int at = stretch.begin; at <= last; at += 4) {
      Vector results[kRuns][4];
      for (int pair = 0; pair < 2 * stretch.runs; ++pair) {
        const int i = pair < stretch.runs ? 0 : 2;
        const int r = pair < stretch.runs ? pair : pair - stretch.runs;
        const int line = at + i < last ? at + i : last;
        score(stretch.first_run + r, line, line < last ? line + 1 : last, results[r] + i);
      }
      for (int r = 0; r < stretch.runs; ++r) {
        finish(stretch.first_run + r, at, last - at < 4 ? last - at + 1 : 4, results[r]);
      }
    }
  }
}

/// How the lines of a part of the keys lie: in runs of `length`, the first of which starts with that of key `begin`.
struct RunLayout {
  int begin;
  int length;
};

/// Of keys [first, end) those whose lines are in the runs that start with key `start`. None: a count of 0.
[[gnu::noinline]] inline Runs runs_from(const HeadRows& rows, int length, int start, int first, int end) {
  const int all = kRuns * length;
  const int from = start < first ? first : start;
  const int to = end - start < all ? end : start + all;
  Runs runs{{}, rows.stride, length, from - start, to > from ? to - from : 0};
  for (int r = 0; r < kRuns; ++r) {
    const int key = start + r * length;
    if (key < to && from < key + length) runs.of[r] = rows.row(key);
  }
  return runs;
}

/// Calls visit(runs, key) for the lines of keys [first, end), as many runs at a time as come by turns, and the first
/// key that is among them.
template <class Visit>
[[gnu::always_inline]] inline void for_each_runs(const HeadRows& rows, RunLayout layout, int first, int end,
                                                 Visit visit) {
  for (int start = layout.begin; start < end; start += kRuns * layout.length) {
    const Runs runs = runs_from(rows, layout.length, start, first, end);
    if (runs.count > 0) visit(runs, start + runs.first);
  }
}

}  // namespace heed::kernels
