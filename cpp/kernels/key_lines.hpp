// How scores lie in memory: in lines of a panel's width.
#pragma once

#include "kernels/simd.hpp"

namespace heed::kernels {

/// A run of keys and the lines of scores that hold them. With rows in lanes a line is one key, each lane
/// another row; with keys in lanes all lanes are one row, and a line is as many keys as it has lanes.
struct KeyLines {
  int first;
  int count;
  int per_line = 1;

  [[nodiscard]] int lines() const { return (count + per_line - 1) / per_line; }
  [[nodiscard]] int end() const { return first + count; }
  /// False when the last line has lanes without a key.
  [[nodiscard]] bool are_full() const { return count % per_line == 0; }
  [[nodiscard]] int key(int line, int lane) const { return first + line * per_line + (per_line > 1 ? lane : 0); }
};

}  // namespace heed::kernels
