// How scores lie in memory: in lines of the width of a panel.
#pragma once

#include "kernels/simd/batch.hpp"

namespace heed::kernels {

/// Consecutive keys and the lines of scores that hold them. With queries in lanes a line is one key, each lane another
/// query; with keys in lanes all lanes are one query, and a line is as many keys as it has lanes.
struct KeySpan {
  int first;
  int count;
  int keys_per_line = 1;

  [[nodiscard]] int lines() const { return (count + keys_per_line - 1) / keys_per_line; }
  [[nodiscard]] int end() const { return first + count; }
  /// False when the last line has lanes without a key.
  [[nodiscard]] bool are_full() const { return count % keys_per_line == 0; }
  [[nodiscard]] int key(int line, int lane) const {
    return first + line * keys_per_line + (keys_per_line > 1 ? lane : 0);
  }
};

}  // namespace heed::kernels
