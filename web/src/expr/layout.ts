// The layout of programs in memory, as in cpp/include/heed/expressions.hpp.

/** The opcodes, in the order of their numbers. */
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

/** First come the starts of three programs (scores, mask, weights), then the number of tables. */
export const PROGRAMS = 3;
/** A table: the start of its numbers, the number of axes, four sizes. */
export const TABLE_WORDS = 6;
/** A program: the numbers of instructions and of registers by kind, and the result's register. */
export const HEADER_WORDS = 7;
/** An instruction: opcode, result, four operands, immediate. */
export const INSTRUCTION_WORDS = 7;
/** A register's name is its kind (0: row, 1: key, 2: tile) times this, plus its number. */
export const REGISTERS_OF_KIND = 256;
/** The first tile, which holds the scores or weights that the program rewrites. */
export const IN_OUT = 2 * REGISTERS_OF_KIND;
