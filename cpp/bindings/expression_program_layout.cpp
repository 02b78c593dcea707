// Prints the opcodes of expressions, and how programs lie in memory, as a TypeScript module: run by the build, so that
// the two sides cannot drift apart.
#include <algorithm>
#include <iterator>

#include "bindings/print_layout.hpp"
#include "heed/expressions.hpp"

using heed::Opcode;
using heed::bindings::Named;
using heed::bindings::print_constant;

namespace {

/// In the order of their numbers.
constexpr Named kOpcodeNames[] = {
    {"const", Opcode::constant},
    {"b", Opcode::batch},
    {"h", Opcode::head},
    {"q", Opcode::query},
    {"k", Opcode::key},
    {"broadcast", Opcode::broadcast},
    {"at", Opcode::at},
    {"select", Opcode::select},
    {"multiplyAdd", Opcode::multiply_add},
    {"abs", Opcode::abs},
    {"floor", Opcode::floor},
    {"sqrt", Opcode::sqrt},
    {"exp", Opcode::exp},
    {"log", Opcode::log},
    {"tanh", Opcode::tanh},
    {"add", Opcode::add},
    {"sub", Opcode::sub},
    {"mul", Opcode::mul},
    {"div", Opcode::div},
    {"min", Opcode::min},
    {"max", Opcode::max},
    {"less", Opcode::less},
    {"lessEqual", Opcode::less_equal},
    {"equal", Opcode::equal},
};
static_assert(std::size(kOpcodeNames) == heed::kOpcodes);
static_assert(std::ranges::adjacent_find(kOpcodeNames, std::ranges::greater_equal{}, &Named::number) ==
              std::end(kOpcodeNames));

constexpr Named kSizes[] = {
    {"PROGRAMS", heed::kPrograms},
    {"TABLE_WORDS", heed::kTableWords},
    {"HEADER_WORDS", heed::kProgramHeader},
    {"INSTRUCTION_WORDS", heed::kInstructionWords},
    {"REGISTERS_OF_KIND", heed::kRegistersOfKind},
    {"MOST_TILES", heed::kMostTiles},
};

}  // namespace

int main() {
  std::puts("// Made by the build from cpp/include/heed/expressions.hpp.\nexport const OPCODES = [");
  for (const Named& opcode : kOpcodeNames) std::printf("  \"%s\",\n", opcode.name);
  std::puts("] as const;");
  for (const Named& size : kSizes) print_constant(size.name, size.number);
  return 0;
}
