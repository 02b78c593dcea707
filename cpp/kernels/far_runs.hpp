// The order in which a row that has its keys to itself reads lines of them. One line after the other waits for memory,
// which brings several as quickly: so lines come by turns from a few runs that lie apart, and each run in order.
#pragma once

namespace heed::kernels {

inline constexpr int kRuns = 4;

/// Lines of each run of `count`, in whole steps.
constexpr int far_run(int count, int step) { return (count + kRuns * step - 1) / (kRuns * step) * step; }

/// Calls visit(line) for lines [0, count), `step` at a time.
template <class Visit>
[[gnu::always_inline]] inline void for_each_far_line(int count, int step, Visit visit) {
  const int run = far_run(count, step);
  for (int at = 0; at < run; at += step) {
    for (int line = at; line < count; line += run) visit(line);
  }
}

/// The same by fours that come in pairs: a pair of each run, then the other. Calls score(line, next, results) for two
/// lines, of which a last one may come twice, and finish(line, results) for the four from `line` on.
template <class Vector, class Score, class Finish>
[[gnu::always_inline]] inline void for_each_far_four(int count, Score score, Finish finish) {
  const int run = far_run(count, 4);
  const int last = count - 1;
  for (int at = 0; at < run; at += 4) {
    Vector results[kRuns][4];
    for (int i = 0; i < 4; i += 2) {
      for (int r = 0, line = at; r < kRuns && line < count; ++r, line += run) {
        score(line + i < last ? line + i : last, line + i < last ? line + i + 1 : last, results[r] + i);
      }
    }
    for (int r = 0, line = at; r < kRuns && line < count; ++r, line += run) finish(line, results[r]);
  }
}

/// Lines of a run of values. Even, so that pairs of lines lie in one.
inline constexpr int kRunLines = 96;

/// Calls visit(line, lines) for pairs of lines, or halves of pairs, of [first, first + count), counted from `first`.
/// The order is that of the lines' numbers alone: sums come out the same whatever else is asked for. Of 1 run: in
/// order.
template <class Visit>
[[gnu::always_inline]] inline void for_each_far_pair(int runs, int first, int count, Visit visit) {
  const int all = runs * kRunLines;
  const int end = first + count;
  for (int start = first - first % all; start < end; start += all) {
    for (int at = start; at < start + kRunLines && at < end; at += 2) {
      for (int line = at; line < at + all && line < end; line += kRunLines) {
        const int from = line < first ? first : line;
        const int to = line + 2 < end ? line + 2 : end;
        if (from < to) visit(from - first, to - from);
      }
    }
  }
}

}  // namespace heed::kernels
