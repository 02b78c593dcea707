// The keys and values of the block that a task is at, in single precision: where they lie, or, of halves and bytes,
// in scratch memory, widened once for all the panels that the block passes.
#pragma once

#include "kernels/half.hpp"
#include "kernels/weighted_sum.hpp"

namespace heed::kernels {

/// Does what it is asked for, and once.
template <class Arch>
class BlockNumbers {
 public:
  /// Keys [start, stop), of one page where they are to be widened. `widened` has room for those of another precision.
  BlockNumbers(const AttentionBlock& block, int start, int stop, float* widened)
      : block_(block), start_(start), count_(stop - start), widened_(widened) {}

  /// From the key numbered `first` on.
  Lines keys(int first) {
    if (!keys_.numbers) keys_ = read(block_.key, block_.head_dim, widened_);
    return keys_.from(first - start_);
  }

  Lines values(int first) { return all_values().from(first - start_); }

  /// From the block's first on.
  HeadRows key_rows() { return is_single(block_.key) ? rows_from(block_.key, start_) : as_rows(keys(start_)); }
  HeadRows value_rows() { return is_single(block_.value) ? rows_from(block_.value, start_) : as_rows(values(start_)); }

  bool are_values_finite() {
    if (!is_known_) {
      are_finite_ = are_all_finite<Arch>(all_values(), count_, block_.value_dim);
      is_known_ = true;
    }
    return are_finite_;
  }

 private:
  static bool is_single(const HeadRows& rows) { return rows.first.precision == Precision::single; }
  static HeadRows as_rows(Lines lines) { return {.first = {lines.numbers, Precision::single}, .stride = lines.stride}; }

  Lines all_values() {
    float* const room = widened_ + widened_floats(block_.key.first.precision, block_.head_dim, block_.key_block);
    if (!values_.numbers) values_ = read(block_.value, block_.value_dim, room);
    return values_;
  }

  [[gnu::noinline]] Lines read(const HeadRows& rows, int length, float* room) const {
    if (is_single(rows)) return {row_of(rows, start_).floats(), rows.stride};
    widen_rows<Arch>(rows, start_, count_, length, room);
    return {room, length};
  }

  const AttentionBlock& block_;
  int start_, count_;
  float* widened_;
  Lines keys_{};
  Lines values_{};
  bool is_known_ = false;
  bool are_finite_ = false;
};

}  // namespace heed::kernels
