// What a kernel is given of an expression: plain data. heed/expressions.hpp says what its words mean.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/rounding.hpp"

namespace heed::kernels {

struct Instruction {
  std::int32_t opcode;
  std::int32_t result;
  std::int32_t operands[4];
  std::int32_t immediate;
};

struct Table {
  std::int32_t offset;
  std::int32_t axes;
  std::int32_t sizes[4];
};

struct Program {
  std::int32_t instructions[3];  // for rows, keys and tiles
  std::int32_t registers[3];
  std::int32_t result;
};

/// A program and the tables that it reads.
struct Expression {
  const Program* program;  // and its instructions behind it
  const Table* tables;
  const float* numbers;

  [[nodiscard]] const Instruction* instructions() const { return reinterpret_cast<const Instruction*>(program + 1); }
};

/// A number that a function of the caller's reads from a table, for the backward pass.
struct TableSlope {
  Expression slope;       // the derivative of the function with respect to it
  Expression indices[4];  // where it lies, an index an axis
  const Table* table;
  std::ptrdiff_t target;  // where the gradients of the table's numbers start among those of all tables
};

/// The memory of its registers.
constexpr std::int64_t register_floats(const Program& program, int panel, std::int64_t key_block) {
  const std::int64_t keys = round_up(key_block, panel);
  return program.registers[0] * std::int64_t{panel} + program.registers[1] * keys +
         program.registers[2] * key_block * panel;
}

}  // namespace heed::kernels
