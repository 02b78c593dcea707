// A KV block that a task has reached.
#pragma once

#include "kernels/gemm/register_tile.hpp"
#include "kernels/task/attention_task.hpp"
#include "kernels/task/key_span.hpp"

namespace heed::kernels {

/// What a mask says of a whole block: all rows see all keys, some are masked, or all are.
enum class BlockMask : std::uint8_t { full, partial, empty };

/// A block with the memory that the panels of a task share.
struct KeyBlock : KeySpan {
  FloatRows numbers;      // the keys themselves
  BlockMask by_mask;      // by the boolean mask, for the panel at work
  BlockMask by_keep;      // by RowInputs::keep, likewise
  BlockMask by_mask_mod;  // by the mask_mod, likewise
  float* scores;          // [lines][panel]
  float* addends;
};

/// The segments of a KV block that a panel does not skip, whose lines of scores follow on each other.
class KeySegments {
 public:
  /// Room for one more, which add() then adds, if it is not skipped after all.
  KeyBlock& next() { return all_[count_]; }
  void add() { ++count_; }
  [[nodiscard]] const KeyBlock* begin() const { return all_; }
  [[nodiscard]] const KeyBlock* end() const { return all_ + count_; }
  /// One block with the lines of all segments.
  [[nodiscard]] KeyBlock joined() const {
    KeyBlock all = all_[0];
    for (int i = 1; i < count_; ++i) all.count += all_[i].count;
    return all;
  }

 private:
  KeyBlock all_[kMaxSegments + 1];
  int count_ = 0;
};

}  // namespace heed::kernels
