// Functions of the caller's over scores and their indices, as programs.
#pragma once

#include <cstdint>

#include "heed/tensor_view.hpp"

namespace heed {

/// Instructions by number. All values are floats; whole numbers are exact up to 2^24, and true is 1. Operands and
/// results are registers of three kinds: lines hold a number for each row, keys one for each key, tiles one for each of
/// both. What can be said by others is no opcode: `not` is 1 - a, a remainder a - b * floor(a / b).
enum class Opcode : std::uint8_t {
  constant,  // the immediate
  batch,     // which batch entry, head, query or key this is: of the whole, where the call is a slice
  head,
  query,
  key,           // of keys
  spread,        // a tile of keys
  at,            // of the table that is the immediate, at an index an axis; beyond an end, that at the end
  select,        // b where a is not 0, else c
  multiply_add,  // a * b + c
  abs,
  floor,
  sqrt,
  exp,
  log,
  tanh,
  add,
  sub,
  mul,
  div,
  min,  // which is `and` of true and false
  max,  // `or`
  less,
  less_equal,
  equal,
};
inline constexpr int kOpcodes = static_cast<int>(Opcode::equal) + 1;

enum class RegisterKind : std::uint8_t { line = 0, key = 1, tile = 2 };

/// A register is named by kind * kRegistersOfKind + number. Tile 0 is what a program rewrites: the scores, or the
/// weights.
inline constexpr int kRegistersOfKind = 256;
inline constexpr int kMostTiles = 24;
inline constexpr int kMostInstructions = 1024;
inline constexpr int kTableWords = 6;        // where its numbers start, how many axes, four sizes
inline constexpr int kProgramHeader = 7;     // instructions and registers by kind, the result
inline constexpr int kInstructionWords = 7;  // opcode, result, four operands, immediate

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
