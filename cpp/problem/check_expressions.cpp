#include "problem/check_expressions.hpp"

#include <algorithm>

#include "problem/failures.hpp"

namespace heed {
namespace {

constexpr int kRows = 0;
constexpr int kKeys = 1;
constexpr int kTiles = 2;
constexpr int kMostOperands = 4;

// Indices are floats, which are exact up to here.
constexpr Index kMostWhole = Index{1} << 24;

bool is_within(Index number, Index least, Index most) { return least <= number && number <= most; }

const std::int32_t* table_words(const Expressions& expressions, Index table) {
  return expressions.words + kPrograms + 1 + table * kTableWords;
}

/// How many numbers a table has; 0: none, or more than there are.
Index elements_of(const Expressions& expressions, Index table) {
  const std::int32_t* const words = table_words(expressions, table);
  // No product of up to four overflows as long as each is within what is there.
  const Index most = std::min<Index>(expressions.number_count, kMostWhole);
  Index elements = 1;
  for (int axis = 0; axis < 4; ++axis) {
    if (!is_within(words[2 + axis], 1, most)) return 0;
    elements *= words[2 + axis];
    if (elements > most) return 0;
  }
  return elements;
}

bool is_table(const Expressions& expressions, Index table) {
  const std::int32_t* const words = table_words(expressions, table);
  const Index elements = elements_of(expressions, table);
  return elements > 0 && is_within(words[1], 1, 4) && is_within(words[0], 0, expressions.number_count - elements);
}

int operands_of(Opcode opcode) {
  if (opcode <= Opcode::key) return 0;
  if (opcode == Opcode::broadcast) return 1;
  if (opcode <= Opcode::multiply_add) return 3;
  return opcode <= Opcode::tanh ? 1 : 2;
}

/// Whether the program with this header has the register, of this kind.
bool has(const std::int32_t* header, std::int32_t name, int kind) {
  return is_within(name - kind * kRegistersOfKind, 0, std::min(header[3 + kind], kRegistersOfKind) - 1);
}

bool is_instruction(const Expressions& expressions, const std::int32_t* header, const std::int32_t* words, int kind) {
  if (!is_within(words[0], 0, kOpcodes - 1) || !has(header, words[1], kind)) return false;
  const auto opcode = static_cast<Opcode>(words[0]);
  if (opcode < Opcode::key && kind != kRows) return false;
  if (opcode == Opcode::key && kind != kKeys) return false;
  if (opcode == Opcode::broadcast) {
    return kind == kTiles && has(header, words[2], kKeys) && words[3] == 0 && words[4] == 0;
  }
  int operands = operands_of(opcode);
  if (opcode == Opcode::at) {
    if (!is_within(words[6], 0, expressions.words[kPrograms] - 1)) return false;
    operands = table_words(expressions, words[6])[1];
  }
  for (int n = 0; n < kMostOperands; ++n) {
    const std::int32_t name = words[2 + n];
    const bool is_good = n < operands ? has(header, name, kind) || has(header, name, kRows) : name == 0;
    if (!is_good) return false;
  }
  return true;
}

bool is_program(const Expressions& expressions, Index start) {
  if (!is_within(start, 0, expressions.word_count - kProgramHeader)) return false;
  const std::int32_t* const header = expressions.words + start;
  Index instructions = 0;
  for (int kind = 0; kind < 3; ++kind) {
    if (!is_within(header[kind], 0, kMostInstructions)) return false;
    if (!is_within(header[3 + kind], 0, kind == kTiles ? kMostTiles : kRegistersOfKind)) return false;
    instructions += header[kind];
  }
  if (start + kProgramHeader + instructions * kInstructionWords > expressions.word_count) return false;
  const std::int32_t* words = header + kProgramHeader;
  for (int kind = 0; kind < 3; ++kind) {
    for (int n = 0; n < header[kind]; ++n, words += kInstructionWords) {
      if (!is_instruction(expressions, header, words, kind)) return false;
    }
  }
  return has(header, header[6], kTiles) || has(header, header[6], kRows);
}

bool are_good(const Expressions& expressions) {
  if (expressions.word_count < kPrograms + 1) return false;
  const Index tables = expressions.words[kPrograms];
  if (!is_within(tables, 0, (expressions.word_count - kPrograms - 1) / kTableWords)) return false;
  for (Index table = 0; table < tables; ++table) {
    if (!is_table(expressions, table)) return false;
  }
  for (int n = 0; n < kPrograms; ++n) {
    if (expressions.words[n] != 0 && !is_program(expressions, expressions.words[n])) return false;
  }
  return true;
}

bool is_read(const Expressions& expressions, const TableRead& read, Index table_numbers) {
  const auto of = static_cast<ProgramOf>(read.reader);
  if ((of != ProgramOf::score && of != ProgramOf::weight) || !expressions.have(of)) return false;
  if (!is_within(read.table, 0, expressions.words[kPrograms] - 1)) return false;
  if (!is_within(read.target, 0, table_numbers - elements_of(expressions, read.table))) return false;
  const std::int32_t* const end = read.indices + table_words(expressions, read.table)[1];
  return is_program(expressions, read.slope) &&
         std::all_of(read.indices, end, [&](std::int32_t start) { return is_program(expressions, start); });
}

bool are_good(const Expressions& expressions, const ExpressionSlopes& slopes, Index table_numbers) {
  if (!expressions.are_given()) return slopes.score == 0 && slopes.weight == 0 && slopes.read_count == 0;
  for (const std::int32_t start : {slopes.score, slopes.weight}) {
    if (start != 0 && !is_program(expressions, start)) return false;
  }
  return std::all_of(slopes.reads, slopes.reads + slopes.read_count,
                     [&](const TableRead& read) { return is_read(expressions, read, table_numbers); });
}

Status not_of_this_version(const char* operation) {
  return broken(operation, StatusCode::option, {"expressions must be programs of this version"});
}

}  // namespace

Status check_expressions(const Expressions& expressions) {
  return !expressions.are_given() || are_good(expressions) ? Status() : not_of_this_version("attention");
}

Status check_slopes(const Expressions& expressions, const ExpressionSlopes& slopes, Index table_numbers) {
  return are_good(expressions, slopes, table_numbers) ? Status() : not_of_this_version("attentionVjp");
}

}  // namespace heed
