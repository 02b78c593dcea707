// How programs lie in memory, as cpp/include/heed/expressions.hpp has it.

/** Opcodes by number. */
export const OPCODES = [
  "const",
  "b",
  "h",
  "q",
  "k",
  "spread",
  "at",
  "select",
  "multiplyAdd",
  "abs",
  "floor",
  "sqrt",
  "exp",
  "log",
  "tanh",
  "add",
  "sub",
  "mul",
  "div",
  "min",
  "max",
  "less",
  "lessEqual",
  "equal",
] as const;

export type Opcode = (typeof OPCODES)[number];

/** Where they start stands first: of scores, of the mask, of weights. Then comes how many tables there are. */
export const PROGRAMS = 3;
/** Where its numbers start, how many axes, four sizes. */
export const TABLE_WORDS = 6;
/** Instructions by kind, registers by kind, the result. */
export const HEADER_WORDS = 7;
/** Opcode, result, four operands, immediate. */
export const INSTRUCTION_WORDS = 7;
/** A register is named by its kind times this and its number: lines, keys, tiles. */
export const REGISTERS_OF_KIND = 256;
/** The first tile, which is what is rewritten. */
export const IN_OUT = 2 * REGISTERS_OF_KIND;
