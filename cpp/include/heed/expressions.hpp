// The caller's functions of scores and their indices, as programs.
#pragma once

#include <cstdint>

#include "heed/tensor_view.hpp"
#include "heed/vocabulary.hpp"

namespace heed {

/// What programs are for, in the order of their starts.
enum class ProgramOf : std::uint8_t { score = 0, mask = 1, weight = 2 };
inline constexpr int kPrograms = 3;

/// The words hold where the programs of scores, of the mask and of weights start (0: none), the number of tables, the
/// tables, and the programs. A program has its instructions for rows first, then those for keys, then those for tiles.
/// An instruction has operands of its own kind or rows (for keys: only rows that agree), and 0 for operands that it
/// lacks. Its result is a row or a tile.
struct Expressions {
  const std::int32_t* words = nullptr;
  Index word_count = 0;
  const float* numbers = nullptr;  // of all tables
  Index number_count = 0;

  [[nodiscard]] bool are_given() const { return word_count > 0; }
  [[nodiscard]] bool have(ProgramOf which) const { return are_given() && words[static_cast<int>(which)] != 0; }
};

}  // namespace heed
