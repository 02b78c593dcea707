// The keys and values of a KV block in f32: where they lie, or, from f16 and int8, widened in scratch memory once for
// all the panels that the block passes.
#pragma once

#include "kernels/memory/finite.hpp"
#include "kernels/memory/widen.hpp"
#include "kernels/task/attention_task.hpp"
#include "kernels/task/key_span.hpp"

namespace heed::kernels {

/// Which rows of a block are done, with one bit for some consecutive rows.
class RowsDone {
 public:
  explicit RowsDone(int rows) : rows_(rows), rows_per_bit_(rows <= 32 * kLeast ? kLeast : (rows + 31) / 32) {}

  /// Calls act(first, count) for consecutive rows of [first, end) that it was not called for before.
  template <class Act>
  void complete(int first, int end, Act act) {
    const int stop = (end + rows_per_bit_ - 1) / rows_per_bit_;
    for (int i = first / rows_per_bit_; i < stop; ++i) {
      const int begin = i;
      for (; i < stop && (done_ >> i & 1U) == 0; ++i) done_ |= 1U << i;
      if (begin == i) continue;
      const int last = i * rows_per_bit_ < rows_ ? i * rows_per_bit_ : rows_;
      act(begin * rows_per_bit_, last - begin * rows_per_bit_);
    }
  }

 private:
  static constexpr int kLeast = 16;
  int rows_;
  int rows_per_bit_;
  std::uint32_t done_ = 0;
};

/// Widens what it is asked for, and once.
class WidenedKv {
 public:
  /// Takes keys [start, stop), of one page where they are to be widened. `widened` has room for those of another type.
  WidenedKv(const AttentionTask& task, int start, int stop, float* widened)
      : task_(task),
        start_(start),
        count_(stop - start),
        widened_(widened),
        keys_done_(count_),
        values_done_(count_),
        looked_at_(count_) {}

  /// Some of the keys of the block.
  FloatRows keys(const KeySpan& some) { return read(task_.key, task_.head_dim, widened_, some, keys_done_); }

  FloatRows values(const KeySpan& some) {
    float* const room = widened_ + widened_floats(task_.key.dtype, task_.head_dim, task_.loop.key_block);
    return read(task_.value, task_.value_dim, room, some, values_done_);
  }

  /// All keys, or values, from the first of the block on.
  KvRows key_rows() { return is_f32(task_.key) ? rows_from(task_.key, start_) : as_rows(keys(all())); }
  KvRows value_rows() { return is_f32(task_.value) ? rows_from(task_.value, start_) : as_rows(values(all())); }

  bool are_values_finite(const KeySpan& some) {
    looked_at_.complete(some.first - start_, some.end() - start_, [&](int first, int count) {
      are_finite_ = are_finite_ && are_all_finite(values({start_ + first, count}), count, task_.value_dim);
    });
    return are_finite_;
  }

 private:
  static bool is_f32(const KvRows& rows) { return rows.dtype == DType::f32; }
  static KvRows as_rows(FloatRows rows) { return {.dtype = DType::f32, .data = rows.data, .stride = rows.stride}; }

  [[nodiscard]] KeySpan all() const { return {start_, count_}; }

  [[gnu::noinline]] FloatRows read(const KvRows& rows, int length, float* room, const KeySpan& some,
                                   RowsDone& done) const {
    if (is_f32(rows)) return {row_of(rows, some.first).f32(), rows.stride};
    done.complete(some.first - start_, some.end() - start_, [&](int first, int count) {
      widen_rows(rows, start_ + first, count, length, room + std::ptrdiff_t{first} * length);
    });
    return FloatRows{room, length}.from(some.first - start_);
  }

  const AttentionTask& task_;
  int start_, count_;
  float* widened_;
  RowsDone keys_done_, values_done_, looked_at_;
  bool are_finite_ = true;
};

}  // namespace heed::kernels
