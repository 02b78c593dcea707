// The keys and values of the block that a task is at, in single precision: where they lie, or, of halves and bytes,
// in scratch memory, widened once for all the panels that the block passes.
#pragma once

#include "kernels/half.hpp"
#include "kernels/key_lines.hpp"
#include "kernels/weighted_sum.hpp"

namespace heed::kernels {

/// Of which lines of a block something is done already, a few at a time: a bit each.
class LinesDone {
 public:
  explicit LinesDone(int lines) : lines_(lines), few_(lines <= 32 * kLeast ? kLeast : (lines + 31) / 32) {}

  /// Calls act(first, count) for runs of lines of which it was not done, until it is of lines [first, end).
  template <class Act>
  void complete(int first, int end, Act act) {
    const int stop = (end + few_ - 1) / few_;
    for (int i = first / few_; i < stop; ++i) {
      const int begin = i;
      for (; i < stop && (done_ >> i & 1U) == 0; ++i) done_ |= 1U << i;
      if (begin == i) continue;
      const int last = i * few_ < lines_ ? i * few_ : lines_;
      act(begin * few_, last - begin * few_);
    }
  }

 private:
  static constexpr int kLeast = 16;
  int lines_;
  int few_;
  std::uint32_t done_ = 0;
};

/// Does what it is asked for, and once.
template <class Arch>
class BlockNumbers {
 public:
  /// Keys [start, stop), of one page where they are to be widened. `widened` has room for those of another precision.
  BlockNumbers(const AttentionBlock& block, int start, int stop, float* widened)
      : block_(block),
        start_(start),
        count_(stop - start),
        widened_(widened),
        keys_done_(count_),
        values_done_(count_),
        looked_at_(count_) {}

  /// Of some of the block's keys.
  Lines keys(const KeyLines& some) { return read(block_.key, block_.head_dim, widened_, some, keys_done_); }

  Lines values(const KeyLines& some) {
    float* const room = widened_ + widened_floats(block_.key.first.precision, block_.head_dim, block_.key_block);
    return read(block_.value, block_.value_dim, room, some, values_done_);
  }

  /// From the block's first on.
  HeadRows key_rows() { return is_single(block_.key) ? rows_from(block_.key, start_) : as_rows(keys(all())); }
  HeadRows value_rows() { return is_single(block_.value) ? rows_from(block_.value, start_) : as_rows(values(all())); }

  bool are_values_finite(const KeyLines& some) {
    looked_at_.complete(some.first - start_, some.end() - start_, [&](int first, int count) {
      are_finite_ = are_finite_ && are_all_finite<Arch>(values({start_ + first, count}), count, block_.value_dim);
    });
    return are_finite_;
  }

 private:
  static bool is_single(const HeadRows& rows) { return rows.first.precision == Precision::single; }
  static HeadRows as_rows(Lines lines) { return {.first = {lines.numbers, Precision::single}, .stride = lines.stride}; }

  [[nodiscard]] KeyLines all() const { return {start_, count_}; }

  [[gnu::noinline]] Lines read(const HeadRows& rows, int length, float* room, const KeyLines& some,
                               LinesDone& done) const {
    if (is_single(rows)) return {row_of(rows, some.first).floats(), rows.stride};
    done.complete(some.first - start_, some.end() - start_, [&](int first, int count) {
      widen_rows<Arch>(rows, start_ + first, count, length, room + std::ptrdiff_t{first} * length);
    });
    return Lines{room, length}.from(some.first - start_);
  }

  const AttentionBlock& block_;
  int start_, count_;
  float* widened_;
  LinesDone keys_done_, values_done_, looked_at_;
  bool are_finite_ = true;
};

}  // namespace heed::kernels
