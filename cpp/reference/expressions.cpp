#include "reference/expressions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace heed::reference {
namespace {

double operate(Opcode opcode, double a, double b, double c) {
  switch (opcode) {
    case Opcode::broadcast:
      return a;
    case Opcode::select:
      return a != 0.0 ? b : c;
    case Opcode::multiply_add:
      return a * b + c;
    case Opcode::abs:
      return std::abs(a);
    case Opcode::floor:
      return std::floor(a);
    case Opcode::sqrt:
      return std::sqrt(a);
    case Opcode::exp:
      return std::exp(a);
    case Opcode::log:
      return std::log(a);
    case Opcode::tanh:
      return std::tanh(a);
    case Opcode::add:
      return a + b;
    case Opcode::sub:
      return a - b;
    case Opcode::mul:
      return a * b;
    case Opcode::div:
      return a / b;
    case Opcode::min:
      return std::min(a, b);
    case Opcode::max:
      return std::max(a, b);
    case Opcode::less:
      return a < b ? 1.0 : 0.0;
    case Opcode::less_equal:
      return a <= b ? 1.0 : 0.0;
    case Opcode::equal:
      return a == b ? 1.0 : 0.0;
    default:
      return 0.0;
  }
}

double evaluate(const Expressions& expressions, ProgramOf which, const Place& place) {
  return run_program(expressions, expressions.words[static_cast<int>(which)], place);
}

}  // namespace

double run_program(const Expressions& expressions, std::int32_t start, const Place& place) {
  const std::int32_t* const header = expressions.words + start;
  std::array<double, std::size_t{3} * kRegistersOfKind> registers{};
  const auto named = [&registers](std::int32_t name) -> double& { return registers[static_cast<std::size_t>(name)]; };
  named(2 * kRegistersOfKind) = place.score;
  const std::int32_t* words = header + kProgramHeader;
  for (Index n = 0; n < Index{header[0]} + header[1] + header[2]; ++n, words += kInstructionWords) {
    const double operands[4] = {named(words[2]), named(words[3]), named(words[4]), named(words[5])};
    named(words[1]) = run_instruction(expressions, words, operands, place);
  }
  return named(header[6]);
}

Index number_in_table(const Expressions& expressions, std::int32_t table, const double (&indices)[4]) {
  const std::int32_t* const words = expressions.words + kPrograms + 1 + Index{table} * kTableWords;
  Index index = 0;
  for (int axis = 0; axis < words[1]; ++axis) {
    const std::int32_t size = words[2 + axis];
    index = index * size + static_cast<Index>(std::clamp(indices[axis], 0.0, static_cast<double>(size - 1)));
  }
  return words[0] + index;
}

double run_instruction(const Expressions& expressions, const std::int32_t* words, const double (&operands)[4],
                       const Place& place) {
  switch (const auto opcode = static_cast<Opcode>(words[0]); opcode) {
    case Opcode::constant:
      return static_cast<double>(std::bit_cast<float>(words[6]));
    case Opcode::batch:
      return static_cast<double>(place.b);
    case Opcode::head:
      return static_cast<double>(place.h);
    case Opcode::query:
      return static_cast<double>(place.i);
    case Opcode::key:
      return static_cast<double>(place.j);
    case Opcode::at:
      return static_cast<double>(expressions.numbers[number_in_table(expressions, words[6], operands)]);
    default:
      return operate(opcode, operands[0], operands[1], operands[2]);
  }
}

double score_mod(const Expressions& expressions, const Place& place) {
  return evaluate(expressions, ProgramOf::score, place);
}

bool mask_mod(const Expressions& expressions, const Place& place) {
  return !expressions.have(ProgramOf::mask) || evaluate(expressions, ProgramOf::mask, place) != 0.0;
}

double weight_mod(const Expressions& expressions, const Place& place) {
  return evaluate(expressions, ProgramOf::weight, place);
}

}  // namespace heed::reference
