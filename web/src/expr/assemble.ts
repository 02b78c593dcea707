// Steps -> the words of a program: registers and instructions.

import { HeedError } from "../api/errors.js";
import type { Extent, Step } from "./compile.js";
import { IN_OUT, INSTRUCTION_WORDS, OPCODES, REGISTERS_OF_KIND } from "./layout.js";
import type { ModTrees } from "./tree.js";

export type Program = readonly number[];

/** Steps in an order in which operands come first, and which of them is the result. */
export interface Placed {
  readonly steps: readonly Step[];
  readonly result: Step;
}

/** Kinds of registers: a number a row, a number a key, a number for each of both. */
const KIND: Readonly<Record<Extent, 0 | 1 | 2>> = { all: 0, row: 0, key: 1, tile: 2 };

/** Tiles are what takes memory. */
const MOST_TILES = 24;

const OPERANDS = 4;

export function assemble(where: string, name: keyof ModTrees, { steps, result }: Placed): Program {
  const lastUse = new Map<Step, Step>();
  for (const step of steps) for (const arg of step.args) lastUse.set(arg, step);
  const registers = new Map<Step, number>();
  // The first tile is what is rewritten.
  const counts: [number, number, number] = [0, 0, 1];
  const freeTiles: number[] = [];
  const place = (step: Step): number => {
    const kind = KIND[step.extent];
    const number = (kind === 2 ? freeTiles.pop() : undefined) ?? counts[kind]++;
    return kind * REGISTERS_OF_KIND + number;
  };
  const sections: [number[], number[], number[]] = [[], [], []];
  for (const step of steps) {
    if (step.op === "score") {
      registers.set(step, IN_OUT);
      continue;
    }
    const operands = step.args.map((arg) => registers.get(arg) ?? 0);
    for (const arg of new Set(step.args)) {
      if (lastUse.get(arg) === step && arg.extent === "tile" && arg !== result && arg.op !== "score") {
        freeTiles.push((registers.get(arg) ?? 0) % REGISTERS_OF_KIND);
      }
    }
    const register = place(step);
    registers.set(step, register);
    const filled = Array.from({ length: OPERANDS }, (_, index) => operands[index] ?? 0);
    sections[KIND[step.extent]].push(OPCODES.indexOf(step.op), register, ...filled, immediateOf(step));
  }
  if (counts[0] > REGISTERS_OF_KIND || counts[1] > REGISTERS_OF_KIND || counts[2] > MOST_TILES) {
    throw new HeedError("option", `${where}: ${name} keeps more than ${MOST_TILES} values at a time`);
  }
  const lengths = sections.map((words) => words.length / INSTRUCTION_WORDS);
  return [...lengths, ...counts, registers.get(result) ?? 0, ...sections.flat()];
}

const single = new Float32Array(1);
const bits = new Int32Array(single.buffer);

function immediateOf(step: Step): number {
  if (step.table !== null) return step.table.index;
  single[0] = step.value;
  return bits[0] ?? 0;
}
