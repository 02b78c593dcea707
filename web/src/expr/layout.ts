// The layout of programs in memory, which the build prints from cpp/include/heed/expressions.hpp.

import { type OPCODES, REGISTERS_OF_KIND } from "../backends/wasm/generated/expression-program.js";

export * from "../backends/wasm/generated/expression-program.js";

export type Opcode = (typeof OPCODES)[number];

/** The first tile, which holds the scores or weights that the program rewrites. */
export const IN_OUT = 2 * REGISTERS_OF_KIND;
