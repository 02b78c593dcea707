// A run of keys that a task has reached.
#pragma once

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

}  // namespace heed::kernels
