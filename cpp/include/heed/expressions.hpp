// Functions of the caller's over scores and their indices, as programs.
#pragma once

#include <cstdint>

#include "heed/tensor_view.hpp"
#include "heed/vocabulary.hpp"

namespace heed {

/// What programs are for, in the order of their starts.
enum class ProgramOf : std::uint8_t { score = 0, mask = 1, weight = 2 };
inline constexpr int kPrograms = 3;

/// Words: where the programs of scores, of the mask and of weights start (0: none); the number of tables, and the
/// tables; the programs. Each has its instructions for lines, then those for keys, then those for tiles; an instruction
/// has operands of its own kind, or lines (for keys: only such whose rows agree), and 0 for those that it has not.
/// Results are lines or tiles.
struct Expressions {
  const std::int32_t* words = nullptr;
  Index word_count = 0;
  const float* numbers = nullptr;  // of all tables
  Index number_count = 0;

  [[nodiscard]] bool are_given() const { return word_count > 0; }
  [[nodiscard]] bool have(ProgramOf which) const { return are_given() && words[static_cast<int>(which)] != 0; }
};

}  // namespace heed
