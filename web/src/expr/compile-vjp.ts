// Compiles the functions of a call with their derivatives, for the backward pass of attention. cpp/include/heed/expressions.hpp describes the
// layout (ExpressionSlopes, TableRead). Only the backward pass imports this.

import { HeedError } from "../base/errors.js";
import { assemble, type OrderedSteps, type Step } from "./assemble.js";
import { type CompiledMods, link, MODS, readMods } from "./compile.js";
import { type Copies, copyStep, differentiate, readsOf } from "./differentiate.js";
import { Graph } from "./graph.js";
import { reading } from "./reading.js";
import { MOST_AXES } from "./rules.js";
import type { ProgramTable } from "./tables.js";
import type { ModTrees } from "./tree.js";

/** The words of the functions, which are those of the forward pass, and behind them derivatives and indices of reads, as programs. */
export interface CompiledVjp extends CompiledMods {
  /** Where the derivative of scoreMod with respect to the score starts, and that of probMod. 0: there is no such function. */
  readonly scoreSlope: number;
  readonly weightSlope: number;
  /** TableReads, of TABLE_READ_WORDS each. */
  readonly tableReads: Int32Array<ArrayBuffer>;
  /** How many numbers the gradients of all tables have. */
  readonly tableGradientNumbers: number;
  /** All tables of the functions, in the order in which these read them. */
  readonly tableGradients: readonly TableGradient[];
}

/** Where the gradient of a table starts among those of all tables. It has the table's shape. */
export interface TableGradient {
  /** The `table` of the nodes that read it. */
  readonly table: unknown;
  readonly shape: readonly number[];
  /** Null: the gradient is zero, because the table is read in conditions and as an index alone, or has no floats. */
  readonly start: number | null;
}

/** Its reader (the number of a function), its table, its target, the derivative with respect to it, and an index an axis. */
export const TABLE_READ_WORDS = 4 + MOST_AXES;

/** Below the instructions that kernels take in a program. */
const MOST_STEPS = 1000;

/** Gradients of tables are left out unless they are wanted. */
export function compileVjp(where: string, trees: ModTrees, { wantsTables }: { wantsTables: boolean }): CompiledVjp {
  return reading(where, () => {
    const mods = readMods(where, trees);
    const { words, tables } = link(where, mods);
    const linker = new Linker(where, words);
    const [scoreSlope = 0, , weightSlope = 0] = mods.functions.map((steps, n) =>
      steps === null || MODS[n] === "maskMod" ? 0 : linker.add(n, steps, wantsTables),
    );
    return { tables, scoreSlope, weightSlope, ...linker.linked(wantsTables ? mods.tables.entries() : []) };
  });
}

/** Appends programs to those of the functions. */
class Linker {
  readonly #where: string;
  readonly #words: number[];
  /** Equal programs are there once. */
  readonly #starts = new Map<string, number>();
  readonly #reads: number[] = [];
  readonly #targets = new Map<ProgramTable, number>();
  #targetEnd = 0;

  constructor(where: string, words: Iterable<number>) {
    this.#where = where;
    this.#words = [...words];
  }

  /** Adds the derivatives of a function, and gives the start of that with respect to what it rewrites. */
  add(reader: number, steps: OrderedSteps, wantsTables: boolean): number {
    const taken = steps.steps.find(({ op }) => op === "score");
    const slope = this.#slope(reader, steps, taken, MODS[reader] === "scoreMod" ? "the score" : "the weight");
    if (wantsTables) this.#addReads(reader, steps);
    return slope;
  }

  linked(
    tables: Iterable<[unknown, ProgramTable]>,
  ): Pick<CompiledVjp, "words" | "tableReads" | "tableGradientNumbers" | "tableGradients"> {
    return {
      words: Int32Array.from(this.#words),
      tableReads: Int32Array.from(this.#reads),
      tableGradientNumbers: this.#targetEnd,
      tableGradients: Array.from(tables, ([given, table]) => ({
        table: given,
        shape: table.shape,
        start: this.#targets.get(table) ?? null,
      })),
    };
  }

  #addReads(reader: number, steps: OrderedSteps): void {
    const graph = this.#graph(reader);
    const copies: Copies = new Map();
    for (const step of steps.steps) copyStep(step, graph, copies);
    for (const read of readsOf(steps)) {
      if (read.table === null) continue;
      const slope = this.#slope(reader, steps, read, "a number of a table");
      const indices = read.args.map((index) => this.#place(reader, graph.order(copies.get(index) ?? index)));
      const filled = Array.from({ length: MOST_AXES }, (_, axis) => indices[axis] ?? 0);
      this.#reads.push(reader, read.table.index, this.#target(read.table), slope, ...filled);
    }
  }

  #target(table: ProgramTable): number {
    const known = this.#targets.get(table);
    if (known !== undefined) return known;
    const start = this.#targetEnd;
    this.#targets.set(table, start);
    this.#targetEnd += table.data.length;
    return start;
  }

  /** The start of the derivative with respect to a step of the function; undefined: it does not depend on it. */
  #slope(reader: number, steps: OrderedSteps, by: Step | undefined, what: string): number {
    const graph = this.#graph(reader);
    const refuse = (op: string): never => {
      const reason = `because ${op} is applied to what depends on ${what}`;
      throw new HeedError("unsupported", `${this.#where}: ${MODS[reader]} has no derivative, ${reason}`);
    };
    const slope = by === undefined ? graph.constant(0) : differentiate(steps, by, graph, refuse);
    return this.#place(reader, graph.order(slope));
  }

  #graph(reader: number): Graph {
    return new Graph({ mostSteps: MOST_STEPS, keepsDivisions: false }, (rule) => {
      throw new HeedError("option", `${this.#where}: ${nameOf(reader)} ${rule}`);
    });
  }

  #place(reader: number, steps: OrderedSteps): number {
    const program = assemble(this.#where, nameOf(reader), steps);
    const key = program.join(" ");
    const start = this.#starts.get(key) ?? this.#words.length;
    if (!this.#starts.has(key)) this.#words.push(...program);
    this.#starts.set(key, start);
    return start;
  }
}

const nameOf = (reader: number): string => `the derivative of ${MODS[reader]}`;
