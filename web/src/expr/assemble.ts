// Steps -> the words of a program: registers and instructions.

import { HeedError } from "../api/errors.js";
import type { Extent, Step, Tables } from "./compile.js";
import type { ModTrees } from "./tree.js";

export type Program = readonly number[];

/** Steps in an order in which operands come first, and which of them is the result. */
export interface Placed {
  readonly steps: readonly Step[];
  readonly result: Step;
}

/** As C++ numbers them. */
const OPCODES: Readonly<Record<Exclude<Step["op"], "score">, number>> = {
  const: 0,
  b: 1,
  h: 2,
  q: 3,
  k: 4,
  spread: 5,
  at: 6,
  select: 7,
  multiplyAdd: 8,
  neg: 9,
  abs: 10,
  floor: 11,
  sqrt: 12,
  exp: 13,
  log: 14,
  tanh: 15,
  not: 16,
  add: 17,
  sub: 18,
  mul: 19,
  div: 20,
  floorDiv: 21,
  mod: 22,
  min: 23,
  max: 24,
  less: 25,
  lessEqual: 26,
  equal: 27,
  notEqual: 28,
  and: 23,
  or: 24,
};

/** Kinds of registers: a number a row, a number a key, a number for each of both. */
const KIND: Readonly<Record<Extent, 0 | 1 | 2>> = { all: 0, row: 0, key: 1, tile: 2 };

/** Of a kind, fewer than this: a register is named by kind * 256 + its number. */
const MOST_REGISTERS = 256;
/** Tiles are what takes memory. */
const MOST_TILES = 24;

const OPERANDS = 4;

export function assemble(where: string, name: keyof ModTrees, { steps, result }: Placed, tables: Tables): Program {
  const lastUse = new Map<Step, Step>();
  for (const step of steps) for (const arg of step.args) lastUse.set(arg, step);
  const registers = new Map<Step, number>();
  // The first tile is what is rewritten.
  const counts: [number, number, number] = [0, 0, 1];
  const freeTiles: number[] = [];
  const place = (step: Step): number => {
    const kind = KIND[step.extent];
    const number = (kind === 2 ? freeTiles.pop() : undefined) ?? counts[kind]++;
    return kind * MOST_REGISTERS + number;
  };
  const sections: [number[], number[], number[]] = [[], [], []];
  for (const step of steps) {
    if (step.op === "score") {
      registers.set(step, 2 * MOST_REGISTERS);
      continue;
    }
    const operands = step.args.map((arg) => registers.get(arg) ?? 0);
    for (const arg of new Set(step.args)) {
      if (lastUse.get(arg) === step && arg.extent === "tile" && arg !== result && arg.op !== "score") {
        freeTiles.push((registers.get(arg) ?? 0) % MOST_REGISTERS);
      }
    }
    const register = place(step);
    registers.set(step, register);
    const filled = Array.from({ length: OPERANDS }, (_, index) => operands[index] ?? 0);
    sections[KIND[step.extent]].push(OPCODES[step.op], register, ...filled, immediateOf(step, tables));
  }
  if (counts[0] > MOST_REGISTERS || counts[1] > MOST_REGISTERS || counts[2] > MOST_TILES) {
    throw new HeedError("option", `${where}: ${name} keeps more than ${MOST_TILES} values at a time`);
  }
  const lengths = sections.map((words) => words.length / (OPERANDS + 3));
  return [...lengths, ...counts, registers.get(result) ?? 0, ...sections.flat()];
}

const single = new Float32Array(1);
const bits = new Int32Array(single.buffer);

function immediateOf(step: Step, tables: Tables): number {
  if (step.table !== null) return tables.indexOf(step.table);
  single[0] = step.value;
  return bits[0] ?? 0;
}
