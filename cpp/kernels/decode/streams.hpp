// The order in which decode reads rows of K and V. Decode is memory-bound, and one sequential stream does not saturate
// bandwidth, so rows are read from two streams alternately: two pages, or the two halves of one. The first rows of a
// stream cost more than others, so a stream goes on over pages: after the keys of a split come its values, then the
// keys of the next head. Which rows a stream has depends on the split alone, whatever is asked of it.
#pragma once

#include "kernels/task/attention_task.hpp"

namespace heed::kernels {

/// Some processors read four streams at a quarter of the rate of two.
inline constexpr int kStreams = 2;

/// Rows [first, first + count) of two streams of `length` rows, the second of which continues the first.
struct StreamPair {
  KvRow of[kStreams];  // a stream without any of the rows is not to be read
  std::ptrdiff_t stride;
  int length;  // rows of each
  int first;
  int count;

  /// The position of row `at` of a stream among the rows of the range.
  [[nodiscard]] int position(int stream, int at) const { return stream * length + at - first; }
  /// Rows [begin_of, end_of) of a stream are in the range.
  [[nodiscard]] int begin_of(int stream) const { return first > stream * length ? first - stream * length : 0; }
  [[nodiscard]] int end_of(int stream) const {
    const int left = first + count - stream * length;
    return left < length ? left : length;
  }
  /// The first byte of a row whose numbers have so many bytes.
  [[nodiscard]] const char* row(int stream, int at, std::ptrdiff_t bytes) const {
    return static_cast<const char*>(of[stream].data) + at * stride * bytes;
  }
  [[nodiscard]] const float* f32(int stream, int at) const { return of[stream].f32() + at * stride; }
  [[nodiscard]] const std::int8_t* i8(int stream, int at) const { return of[stream].i8() + at * stride; }
};

/// Groups of consecutive rows that are read alternately from two addresses, each of which moves on by `step`. With two
/// streams, their groups take turns. With one stream, the addresses are its first and its second group and pass over
/// every other one, so that all its groups are read in order.
struct Interleaving {
  int stream[kStreams];
  int at[kStreams];
  int step;   // rows from one group of a stream to its next
  int count;  // of groups
};

/// Reads the groups of an Interleaving, one after the other.
template <class Number>
class InterleavedReader {
 public:
  /// `first` and `second` are the first two groups; `step` numbers lead from one group of a stream to its next.
  InterleavedReader(Number* first, Number* second, std::ptrdiff_t step) : next_(first), other_(second), step_(step) {}

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

/// Reads `stride` numbers a row, given the address of row `at` of a stream: address(stream, at).
template <class Place>
[[nodiscard]] auto read_interleaved(const Interleaving& interleaving, std::ptrdiff_t stride, Place address) {
  return InterleavedReader(address(interleaving.stream[0], interleaving.at[0]),
                           address(interleaving.stream[1], interleaving.at[1]), interleaving.step * stride);
}

/// Rows [begin, end) of each of one or two streams.
struct StreamSegment {
  int first_stream;
  int streams;
  int begin;
  int end;

  [[nodiscard]] int end_stream() const { return first_stream + streams; }

  /// Groups of `group` rows, as far as there are as many of them as come at once.
  [[nodiscard]] Interleaving interleaving(int group, int at_once) const {
    const int count = (end - begin) / group * streams / at_once * at_once;
    if (streams == 1) return {{first_stream, first_stream}, {begin, begin + group}, kStreams * group, count};
    return {{first_stream, first_stream + 1}, {begin, begin}, group, count};
  }
  /// The rows that the groups leave.
  [[nodiscard]] StreamSegment behind(const Interleaving& interleaving, int group) const {
    return {first_stream, streams, begin + interleaving.count / streams * group, end};
  }
};
static_assert(kStreams == 2);

class StreamSegments {
 public:
  void add(const StreamSegment& segment) { all_[count_++] = segment; }
  [[nodiscard]] const StreamSegment* begin() const { return all_; }
  [[nodiscard]] const StreamSegment* end() const { return all_ + count_; }

 private:
  StreamSegment all_[3];
  int count_ = 0;
};

/// Leads through all rows by their position in a stream, and by streams where that is the same. The order depends on
/// the numbers of the rows alone, so sums come out the same whatever else is asked for.
[[gnu::noinline]] inline StreamSegments segments_of(const StreamPair& rows) {
  const int last = rows.first + rows.count - 1;
  const int first_stream = rows.first / rows.length;
  const int last_stream = last / rows.length;
  const int head = rows.first % rows.length;
  const int tail = last % rows.length + 1;
  const int stops[] = {0, head < tail ? head : tail, head < tail ? tail : head, rows.length};
  StreamSegments segments;
  for (int i = 0; i < 3; ++i) {
    const int begin = stops[i];
    const int from = begin < head ? first_stream + 1 : first_stream;
    const int to = begin < tail ? last_stream + 1 : last_stream;
    if (begin < stops[i + 1] && from < to) segments.add({from, to - from, begin, stops[i + 1]});
  }
  return segments;
}

/// Two streams of `length` rows, the first of which begins with row `start` and the second of which ends before row
/// `end`.
struct StreamPairSpan {
  int start;
  int length;
  int end;
};

/// How rows lie: in pages of `length` rows, the first of which begins with row `begin`, up to row `end`.
struct StreamLayout {
  int begin;
  int length;
  int end;

  /// All rows in order, as if there were a second page that holds none.
  static StreamLayout in_order(int rows) { return {0, rows, kStreams * rows}; }
};

/// A page is halved in whole int8 tiles and whole vectors.
inline constexpr int kStreamStep = 32;

/// The two streams from row `start` on: two whole pages, or the halves of what is left of one, since memory gives rows
/// of one stream at as little as a quarter of the rate of two.
[[gnu::noinline]] inline StreamPairSpan pair_from(const StreamLayout& layout, int start) {
  const auto& [begin, length, end] = layout;
  const int in_piece = (start - begin) % length;
  if (in_piece == 0 && end - start >= kStreams * length) return {start, length, start + kStreams * length};
  const int piece_end = start - in_piece + length;
  const int stop = piece_end < end ? piece_end : end;
  constexpr int step = kStreams * kStreamStep;
  return {start, (stop - start + step - 1) / step * kStreamStep, stop};
}

/// The keys of [first, end) that are in the two streams. A count of 0: none.
[[gnu::noinline]] inline StreamPair streams_from(const KvRows& rows, const StreamPairSpan& interleaving, int first,
                                                 int end) {
  const int start = interleaving.start;
  const int length = interleaving.length;
  const int from = start < first ? first : start;
  const int to = end < interleaving.end ? end : interleaving.end;
  StreamPair streams{{}, rows.stride, length, from - start, to > from ? to - from : 0};
  for (int r = 0; r < kStreams; ++r) {
    const int key = start + r * length;
    if (key < to && from < key + length) streams.of[r] = row_of(rows, key);
  }
  return streams;
}

/// Calls visit(streams, key) for keys [first, end), two streams at a time, with the first key of each call.
template <class Visit>
[[gnu::always_inline]] inline void for_each_stream_pair(const KvRows& rows, const StreamLayout& layout, int first,
                                                        int end, Visit visit) {
  // An empty range may lie anywhere, beyond the layout too.
  if (first >= end) return;
  // It begins with the int8 tile that row 0 is in.
  for (int start = layout.begin % kStreamStep; start < end;) {
    const StreamPairSpan pair = pair_from(layout, start);
    const StreamPair streams = streams_from(rows, pair, first, end);
    if (streams.count > 0) visit(streams, start + streams.first);
    start = pair.end;
  }
}

}  // namespace heed::kernels
