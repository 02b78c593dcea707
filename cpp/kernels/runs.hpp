// The order in which few rows read lines of their keys. One line after the other waits for memory, which brings several
// as quickly: so lines come by turns from two runs, and each run in order. A run's first lines cost more than others,
// so runs are as long as there are: pages, where a part's values follow, then the next head's keys; or the halves of
// what has no other beside it. Which those are goes by the part alone, whatever is asked of it.
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
  /// Where a line's first byte is, if numbers have so many.
  [[nodiscard]] const char* line(int run, int at, std::ptrdiff_t bytes) const {
    return static_cast<const char*>(of[run].data) + at * stride * bytes;
  }
  [[nodiscard]] const float* floats(int run, int at) const { return of[run].floats() + at * stride; }
  [[nodiscard]] const std::int8_t* bytes(int run, int at) const { return of[run].bytes() + at * stride; }
};

/// Units of lines that come by turns from two places: of two runs, or, of one alone, where its first two units are.
struct Turns {
  int run[kRuns];
  int at[kRuns];
  int step;   // lines from one unit of a place to its next
  int count;  // of units
};

/// The numbers of a Turns' units, one unit after the other.
template <class Number>
class Walk {
 public:
  /// From the first two units on; `step` numbers from one unit of a place to its next.
  Walk(Number* first, Number* second, std::ptrdiff_t step) : next_(first), other_(second), step_(step) {}

  [[gnu::always_inline]] Number* take() {
    Number* const taken = next_;
    next_ = other_;
    other_ = taken + step_;
    return taken;
  }

 private:
  Number* next_;
  Number* other_;
  std::ptrdiff_t step_;
};

/// Over what there is of each line, `stride` numbers a line, given where line `at` of a run has it: place(run, at).
template <class Place>
[[nodiscard]] auto walk_of(const Turns& turns, std::ptrdiff_t stride, Place place) {
  return Walk(place(turns.run[0], turns.at[0]), place(turns.run[1], turns.at[1]), turns.step * stride);
}

/// Lines [begin, end) of each of `runs` runs.
struct Stretch {
  int first_run;
  int runs;
  int begin;
  int end;

  [[nodiscard]] int end_run() const { return first_run + runs; }

  /// Units of so many lines, as far as there are so many units as come at once.
  [[nodiscard]] Turns turns(int unit, int at_once) const {
    const int count = (end - begin) / unit * runs / at_once * at_once;
    if (runs == 1) return {{first_run, first_run}, {begin, begin + unit}, kRuns * unit, count};
    return {{first_run, first_run + 1}, {begin, begin}, unit, count};
  }
  /// What those leave.
  [[nodiscard]] Stretch behind(const Turns& turns, int unit) const {
    return {first_run, runs, begin + turns.count / runs * unit, end};
  }
};
static_assert(kRuns == 2);

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

/// Lines that come by turns from two runs of `length`, the first of which starts with line `start`: as far as `end`.
struct TurnsOfRuns {
  int start;
  int length;
  int end;
};

/// How the lines of keys lie: in pieces of `length`, the first of which starts with line `begin`, as far as `end`.
struct RunLayout {
  int begin;
  int length;
  int end;

  /// All lines one after the other, as if there were a second piece that holds none.
  static RunLayout in_order(int lines) { return {0, lines, kRuns * lines}; }
};

/// A piece is halved in whole tiles and vectors.
inline constexpr int kPieceStep = 32;

/// From line `start` on: two whole pieces, or what there is of one, which is two runs itself, as memory brings lines of
/// one place at as little as a quarter of the rate of those of two.
[[gnu::noinline]] static inline TurnsOfRuns turns_from(const RunLayout& layout, int start) {
  const auto& [begin, length, end] = layout;
  const int in_piece = (start - begin) % length;
  if (in_piece == 0 && end - start >= kRuns * length) return {start, length, start + kRuns * length};
  const int piece_end = start - in_piece + length;
  const int stop = piece_end < end ? piece_end : end;
  constexpr int step = kRuns * kPieceStep;
  return {start, (stop - start + step - 1) / step * kPieceStep, stop};
}

/// Of keys [first, end) those whose lines are among `turns`. None: a count of 0.
[[gnu::noinline]] static inline Runs runs_from(const HeadRows& rows, const TurnsOfRuns& turns, int first, int end) {
  const int start = turns.start;
  const int length = turns.length;
  const int from = start < first ? first : start;
  const int to = end < turns.end ? end : turns.end;
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
[[gnu::always_inline]] inline void for_each_runs(const HeadRows& rows, const RunLayout& layout, int first, int end,
                                                 Visit visit) {
  // None may be anywhere, beyond the layout's too.
  if (first >= end) return;
  // From the tile in which line 0 is.
  for (int start = layout.begin % kPieceStep; start < end;) {
    const TurnsOfRuns turns = turns_from(layout, start);
    const Runs runs = runs_from(rows, turns, first, end);
    if (runs.count > 0) visit(runs, start + runs.first);
    start = turns.end;
  }
}

}  // namespace heed::kernels
