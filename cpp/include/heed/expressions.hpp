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
  std::int32_t word_count = 0;
  const float* numbers = nullptr;  // of all tables
  std::int32_t number_count = 0;

  [[nodiscard]] bool are_given() const { return word_count > 0; }
  [[nodiscard]] bool have(ProgramOf which) const { return are_given() && words[static_cast<int>(which)] != 0; }
};

/// A number that the function of scores or that of weights reads from a table: the programs of the derivative of the
/// function with respect to it, and of its index on each axis of the table.
struct TableRead {
  std::int32_t reader;      // ProgramOf::score or ProgramOf::weight
  std::int32_t table;       // its number
  std::int32_t target;      // where the gradient of the table starts in AttentionGradients::tables
  std::int32_t slope;       // where a program starts, as below
  std::int32_t indices[4];  // likewise, for as many axes as the table has
};

/// For the backward pass: derivatives of the functions of scores and weights, as programs behind theirs. They take the
/// same score or weight and read the same tables.
struct ExpressionSlopes {
  std::int32_t score = 0;   // where in Expressions::words the program starts; 0: there is none
  std::int32_t weight = 0;  // likewise
  const TableRead* reads = nullptr;
  Index read_count = 0;
};

}  // namespace heed
