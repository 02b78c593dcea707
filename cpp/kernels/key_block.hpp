// A run of keys that a task has reached.
#pragma once

#include "kernels/attention_block.hpp"
#include "kernels/broadcast_tile.hpp"
#include "kernels/key_lines.hpp"

namespace heed::kernels {

/// What a boolean mask says of a whole block.
enum class MaskedKeys : std::uint8_t { none, some, all };

/// With the memory that the panels of a task share.
struct KeyBlock : KeyLines {
  Lines numbers;      // the keys themselves
  MaskedKeys masked;  // by the boolean mask, for the panel at work
  MaskedKeys left;    // by blocks that are not kept, likewise
  MaskedKeys barred;  // by mask_mod
  float* scores;      // [lines][panel]
  float* addends;
};

/// The keys of a step that a panel does not leave out, whose lines of scores follow on each other.
class KeyPieces {
 public:
  /// Where one more is made, which add() then adds, if it is not to be left out after all.
  KeyBlock& next() { return all_[count_]; }
  void add() { ++count_; }
  [[nodiscard]] const KeyBlock* begin() const { return all_; }
  [[nodiscard]] const KeyBlock* end() const { return all_ + count_; }
  /// With the lines of all.
  [[nodiscard]] KeyBlock joined() const {
    KeyBlock all = all_[0];
    for (int i = 1; i < count_; ++i) all.count += all_[i].count;
    return all;
  }

 private:
  KeyBlock all_[kMaxPieces + 1];
  int count_ = 0;
};

}  // namespace heed::kernels
