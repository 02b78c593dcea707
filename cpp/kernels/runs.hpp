// The order in which a row that has its keys to itself reads lines of them. One line after the other waits for memory,
// which brings several as quickly: so lines come by turns from two runs, and each run in order. A run's first lines
// cost more than others, so runs are as long as there are: pages, where a part's values follow, then the next head's
// keys; or pieces of what lies in one.
#pragma once

#include "kernels/attention_block.hpp"

namespace heed::kernels {

/// Some processors bring four at a quarter of the rate of two.
inline constexpr int kRuns = 2;

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

/// Lines [first, first + count) of a run.
struct FewLines {
  int run;
  int first;
  int count;

  /// Those behind them are the last once more.
  [[nodiscard]] int line(int i) const { return first + (i < count ? i : count - 1); }
};

/// Of each run as many lines, one of each by turns; or lines of one run.
struct LinesAtOnce {
  int first_run;
  int first;
  int count;
  bool is_lone;

  [[nodiscard]] int run(int n) const { return is_lone ? first_run : first_run + n % kRuns; }
  [[nodiscard]] int line(int n) const { return is_lone ? first + n : first + n / kRuns; }
};

/// Lines [begin, end) of each of `runs` runs: a few of each by turns where keys are scored, a few of all at once where
/// values are added.
struct Stretch {
  int first_run;
  int runs;
  int begin;
  int end;

  [[nodiscard]] int end_run() const { return first_run + runs; }
  [[nodiscard]] FewLines few(int run, int at, int most) const { return {run, at, end - at < most ? end - at : most}; }

  /// How many lines of each run come at once, where `most` come of all: of a run alone as many, but one at a time where
  /// lines are so long that only one of each run comes.
  [[nodiscard]] int step(int most) const { return runs == kRuns || most == kRuns ? most / kRuns : most; }
  /// Those from `at` on, as far as there are.
  [[nodiscard]] LinesAtOnce at_once(int at, int most) const {
    const int left = end - at;
    return {first_run, at, runs * (left < step(most) ? left : step(most)), runs == 1};
  }
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
[[gnu::noinline]] static inline Stretches stretches_of(const Runs& lines) {
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

/// How the lines of a part of the keys lie: in runs of `length`, the first of which starts with that of key `begin`.
struct RunLayout {
  int begin;
  int length;
};

/// Of keys [first, end) those whose lines are in the runs that start with key `start`. None: a count of 0.
[[gnu::noinline]] static inline Runs runs_from(const HeadRows& rows, int length, int start, int first, int end) {
  const int all = kRuns * length;
  const int from = start < first ? first : start;
  const int to = end - start < all ? end : start + all;
  Runs runs{{}, rows.stride, length, from - start, to > from ? to - from : 0};
  for (int r = 0; r < kRuns; ++r) {
    const int key = start + r * length;
    if (key < to && from < key + length) runs.of[r] = row_of(rows, key);
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
