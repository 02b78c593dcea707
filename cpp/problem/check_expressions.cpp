#include "problem/check_expressions.hpp"

#include <algorithm>

#include "problem/failures.hpp"

namespace heed {
namespace {

constexpr Index kPrograms = 2;

// Indices are floats.
constexpr Index kMostWhole = Index{1} << 24;

Status malformed(const char* what, Index where) {
  return broken(StatusCode::option, {"expressions must be programs of this version, got ", what, " ", where});
}

Status check_tables(const Expressions& expressions) {
  const Index count = expressions.words[kPrograms];
  if (count < 0 || count > (expressions.word_count - kPrograms - 1) / kTableWords) return malformed("tables", count);
  for (Index table = 0; table < count; ++table) {
    const std::int32_t* const words = expressions.words + kPrograms + 1 + table * kTableWords;
    Index elements = 1;
    for (Index axis = 0; axis < 4; ++axis) {
      // No product of up to four overflows as long as each is within what is there.
      if (words[2 + axis] < 1 || words[2 + axis] > std::min(expressions.number_count, kMostWhole))
        return malformed("table", table);
      elements *= words[2 + axis];
      if (elements > expressions.number_count) return malformed("table", table);
    }
    const bool has_axes = words[1] >= 1 && words[1] <= 4;
    if (!has_axes || words[0] < 0 || words[0] > expressions.number_count - elements) return malformed("table", table);
  }
  return {};
}

struct Program {
  const std::int32_t* words;
  Index count;  // from its start on
  Index tables;

  [[nodiscard]] Index instructions() const { return Index{words[0]} + words[1] + words[2]; }
  [[nodiscard]] bool has(std::int32_t name, int kind) const {
    const std::int32_t number = name % kRegistersOfKind;
    return name >= 0 && name / kRegistersOfKind == kind && number < words[3 + kind];
  }
  /// What an instruction of this kind may read.
  [[nodiscard]] bool can_read(std::int32_t name, int kind) const { return has(name, kind) || has(name, 0); }
};

int operands_of(Opcode opcode, const std::int32_t* table) {
  if (opcode <= Opcode::key) return 0;
  if (opcode == Opcode::at) return table[1];
  if (opcode <= Opcode::spread) return 1;
  if (opcode <= Opcode::multiply_add) return 3;
  return opcode <= Opcode::negate ? 1 : 2;
}

bool is_instruction(const Program& program, const Expressions& expressions, const std::int32_t* words, int kind) {
  if (words[0] < 0 || words[0] >= kOpcodes || !program.has(words[1], kind)) return false;
  const auto opcode = static_cast<Opcode>(words[0]);
  if (opcode == Opcode::at && (words[6] < 0 || words[6] >= program.tables)) return false;
  if (opcode == Opcode::spread) return kind == 2 && program.has(words[2], 1);
  if (opcode == Opcode::key && kind != 1) return false;
  if (opcode < Opcode::key && kind != 0) return false;
  const std::int32_t* const table = expressions.words + kPrograms + 1 + Index{words[6]} * kTableWords;
  const int operands = operands_of(opcode, opcode == Opcode::at ? table : nullptr);
  for (int n = 0; n < operands; ++n) {
    if (!program.can_read(words[2 + n], kind)) return false;
  }
  return true;
}

Status check_program(const Expressions& expressions, Index start) {
  if (start == 0) return {};
  if (start < 0 || start > expressions.word_count - kProgramHeader) return malformed("one at word", start);
  const Program program{expressions.words + start, expressions.word_count - start, expressions.words[kPrograms]};
  for (int n = 0; n < 3; ++n) {
    const bool is_count = program.words[n] >= 0 && program.words[n] <= kMostInstructions;
    const int most = n == 2 ? kMostTiles : kRegistersOfKind;
    if (!is_count || program.words[3 + n] < 0 || program.words[3 + n] > most) return malformed("counts at word", start);
  }
  if (kProgramHeader + program.instructions() * kInstructionWords > program.count) return malformed("an end of", start);
  if (!program.can_read(program.words[6], 2)) return malformed("result", program.words[6]);
  const std::int32_t* words = program.words + kProgramHeader;
  for (int kind = 0; kind < 3; ++kind) {
    for (Index n = 0; n < program.words[kind]; ++n, words += kInstructionWords) {
      if (!is_instruction(program, expressions, words, kind)) return malformed("instruction", n);
    }
  }
  return {};
}

}  // namespace

Status check_expressions(const Expressions& expressions) {
  if (!expressions.are_given()) return {};
  if (expressions.word_count < kPrograms + 1) return malformed("words", expressions.word_count);
  Status status = check_tables(expressions);
  for (Index n = 0; n < kPrograms && status.is_ok(); ++n) status = check_program(expressions, expressions.words[n]);
  return status;
}

}  // namespace heed
