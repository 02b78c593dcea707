// Steps -> a program: registers are assigned, and instructions become 32-bit integers.

import { HeedError } from "../base/errors.js";
import { IN_OUT, INSTRUCTION_WORDS, MOST_TILES, OPCODES, type Opcode, REGISTERS_OF_KIND } from "./layout.js";
import type { ProgramTable } from "./tables.js";

export type Program = readonly number[];

/** What a value depends on: on nothing within a block, on its row (head and query), on its key, or on both. */
export type Extent = "all" | "row" | "key" | "tile";

/** A node of the graph after equal nodes were merged. */
export interface Step {
  /** An opcode of the kernels, or the score that they rewrite. The compiler expresses other operators by these. */
  readonly op: Opcode | "score";
  readonly args: readonly Step[];
  readonly extent: Extent;
  readonly value: number;
  readonly table: ProgramTable | null;
}

/** Steps in an order in which operands come first, and which of them is the result. */
export interface OrderedSteps {
  readonly steps: readonly Step[];
  readonly result: Step;
}

/** Registers hold a number for each row (kind 0), for each key (1), or for each pair of both (2). */
const KIND: Readonly<Record<Extent, 0 | 1 | 2>> = { all: 0, row: 0, key: 1, tile: 2 };

const OPERANDS = 4;

export function assemble(where: string, name: string, { steps, result }: OrderedSteps): Program {
  const lastUse = new Map<Step, Step>();
  for (const step of steps) for (const arg of step.args) lastUse.set(arg, step);
  const registers = new Map<Step, number>();
  // The first tile holds the scores, which the program rewrites.
  const counts: [number, number, number] = [0, 0, 1];
  const freeTiles: number[] = [];
  const allocate = (step: Step): number => {
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
    const register = allocate(step);
    registers.set(step, register);
    const filled = Array.from({ length: OPERANDS }, (_, index) => operands[index] ?? 0);
    sections[KIND[step.extent]].push(OPCODES.indexOf(step.op), register, ...filled, immediateOf(step));
  }
  if (counts[0] > REGISTERS_OF_KIND || counts[1] > REGISTERS_OF_KIND || counts[2] > MOST_TILES) {
    throw new HeedError("option", `${where}: ${name} needs more than ${MOST_TILES} values at a time`);
  }
  const lengths = sections.map((words) => words.length / INSTRUCTION_WORDS);
  return [...lengths, ...counts, registers.get(result) ?? 0, ...sections.flat()];
}

const f32 = new Float32Array(1);
const bits = new Int32Array(f32.buffer);

function immediateOf(step: Step): number {
  if (step.table !== null) return step.table.index;
  f32[0] = step.value;
  return bits[0] ?? 0;
}
