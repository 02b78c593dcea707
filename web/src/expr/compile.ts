// Expression trees -> programs for the kernels (cpp/include/heed/expressions.hpp says how they are laid out). Nodes that say the same
// are computed once, constants here, and what depends on rows or keys alone outside the tile.

import { HeedError } from "../api/errors.js";
import { assemble, type Placed, type Program } from "./assemble.js";
import { fold } from "./fold.js";
import type { Opcode } from "./layout.js";
import type { Expr, ExprType, Leaf, ModTrees, Op, TableData } from "./tree.js";

/** A call's programs, and the numbers of all of their tables. */
export interface CompiledMods {
  readonly words: Int32Array<ArrayBuffer>;
  readonly tables: Float32Array<ArrayBuffer>;
}

/** Where a value differs: nowhere in a block of work; by row (its head and query); by key; by both. */
export type Extent = "all" | "row" | "key" | "tile";

/** A node of the graph that is left when equal ones are one: in an order in which operands come first. */
export interface Step {
  /** What kernels have: other operators are said by these. */
  readonly op: Opcode | "score";
  readonly args: readonly Step[];
  readonly extent: Extent;
  readonly value: number;
  readonly table: TableData | null;
}

/** Deeper ones, and larger ones, are refused: beyond any use, and far from the limits of the stack. */
const DEEPEST = 200;
const MOST_STEPS = 400;

const LEAVES: Readonly<Record<keyof ModTrees, readonly Leaf[]>> = {
  scoreMod: ["score", "b", "h", "q", "k"],
  maskMod: ["b", "h", "q", "k"],
  probMod: ["prob", "b", "h", "q", "k"],
};

export function compile(where: string, trees: ModTrees): CompiledMods {
  const tables = new Tables();
  const one = (name: keyof ModTrees): Program | null => {
    const tree = trees[name];
    return tree && assemble(where, name, new Graph(where, name).program(tree), tables);
  };
  const programs = [one("scoreMod"), one("maskMod"), one("probMod")];
  return { words: join(programs, tables), tables: tables.numbers() };
}

/** The tables of a call, one after the other, each once. */
export class Tables {
  readonly #all = new Map<TableData, { readonly index: number; readonly offset: number }>();
  #end = 0;

  indexOf(table: TableData): number {
    const known = this.#all.get(table);
    if (known !== undefined) return known.index;
    const index = this.#all.size;
    this.#all.set(table, { index, offset: this.#end });
    this.#end += table.data.length;
    return index;
  }

  /** Six words each: where its numbers start, how many axes it has, and their sizes. */
  words(): readonly number[] {
    return [...this.#all].flatMap(([{ shape }, { offset }]) => {
      const sizes = [0, 1, 2, 3].map((axis) => shape[axis] ?? 1);
      return [offset, shape.length, ...sizes];
    });
  }

  get count(): number {
    return this.#all.size;
  }

  numbers(): Float32Array<ArrayBuffer> {
    const numbers = new Float32Array(this.#end);
    for (const [{ data }, { offset }] of this.#all) numbers.set(data, offset);
    return numbers;
  }
}

/** Where each program starts (0: there is none), how many tables there are, those, and the programs. */
function join(programs: readonly (Program | null)[], tables: Tables): Int32Array<ArrayBuffer> {
  const directory = tables.words();
  let end = programs.length + 1 + directory.length;
  const starts = programs.map((program) => {
    const start = program === null ? 0 : end;
    end += program?.length ?? 0;
    return start;
  });
  return Int32Array.from([...starts, tables.count, ...directory, ...programs.flatMap((program) => program ?? [])]);
}

class Graph {
  readonly #where: string;
  readonly #name: keyof ModTrees;
  readonly #known = new Map<Expr, Step>();
  readonly #steps = new Map<string, Step>();
  readonly #numbers = new Map<Step, number>();
  readonly #tables = new Map<TableData, number>();

  constructor(where: string, name: keyof ModTrees) {
    this.#where = where;
    this.#name = name;
  }

  program(tree: Expr): Placed {
    const wanted: readonly ExprType[] = this.#name === "maskMod" ? ["bool"] : ["float", "int"];
    if (!wanted.includes(tree.type)) {
      const kind = this.#name === "maskMod" ? "true or false" : "a number";
      this.#fail(`must be an expression that is ${kind}, got one of type ${tree.type}`);
    }
    const result = this.#spread(this.#step(tree, 0));
    // A step that nothing needs any more, since what it was for was computed here, stays out.
    const needed = new Set<Step>([result]);
    for (const step of [...this.#steps.values()].reverse()) {
      if (needed.has(step)) for (const arg of step.args) needed.add(arg);
    }
    return { steps: [...this.#steps.values()].filter((step) => needed.has(step)), result };
  }

  #step(expr: Expr, depth: number): Step {
    const known = this.#known.get(expr);
    if (known !== undefined) return known;
    if (depth > DEEPEST) this.#fail(`is nested deeper than ${DEEPEST}`);
    const made = this.#make(expr, depth);
    this.#known.set(expr, made);
    return made;
  }

  #make(expr: Expr, depth: number): Step {
    const { op, args, value = 0 } = expr;
    const table = expr.table ?? null;
    if (args.length === 0 && op !== "const" && !LEAVES[this.#name].some((leaf) => leaf === op)) {
      this.#fail(`has no ${op}`);
    }
    const steps = args.map((arg) => this.#step(arg, depth + 1));
    // What is rewritten, whichever it is.
    if (op === "score" || op === "prob") return this.#add("score", [], 0, null);
    return this.#simple(op, steps, value, table);
  }

  #simple(op: Exclude<Op, "score" | "prob">, args: readonly Step[], value: number, table: TableData | null): Step {
    const constants = args.map((arg) => (arg.op === "const" ? arg.value : null));
    if (args.length > 0 && table === null && constants.every((one) => one !== null)) {
      return this.#constant(fold(op, constants));
    }
    const [a, b, c] = args;
    if (op === "select" && b !== undefined && c !== undefined && constants[0] !== null) return constants[0] ? b : c;
    if (a === undefined || b === undefined) return this.#said(op, args, value, table);
    const divisor = constants[1] ?? null;
    if (op === "floorDiv" || op === "mod") {
      // A division, not a product with 1 / b: of whole numbers that is below the whole number it should be.
      const quotient = this.#simple("floor", [this.#add("div", args, 0, null)], 0, null);
      const result =
        op === "floorDiv" ? quotient : this.#simple("sub", [a, this.#simple("mul", [b, quotient], 0, null)], 0, null);
      if (divisor !== null && divisor !== 0) return result;
      const zero = this.#constant(0);
      return this.#simple("select", [this.#add("equal", [b, zero], 0, null), zero, result], 0, null);
    }
    // Powers of two and their like aside, a rounding more, which conditions would show; divisions take five times as long.
    if (op === "div" && this.#name !== "maskMod" && divisor !== null && Number.isFinite(1 / divisor)) {
      return this.#simple("mul", [a, this.#constant(1 / divisor)], 0, null);
    }
    if (op === "add" && a.op === "mul") return this.#add("multiplyAdd", [...a.args, b], 0, null);
    if (op === "add" && b.op === "mul") return this.#add("multiplyAdd", [...b.args, a], 0, null);
    const [left, right] = b.args;
    if (op === "sub" && b.op === "mul" && left !== undefined && right !== undefined) {
      const isLeft = left.extent === "all" || left.extent === "row";
      const [once, other] = isLeft ? [left, right] : [right, left];
      if (once.extent !== "tile") {
        return this.#add("multiplyAdd", [this.#simple("neg", [once], 0, null), other, a], 0, null);
      }
    }
    return this.#said(op, args, value, table);
  }

  /** In the operators that kernels have. */
  #said(op: Exclude<Op, "score" | "prob">, args: readonly Step[], value: number, table: TableData | null): Step {
    switch (op) {
      case "neg":
        return this.#add("mul", [...args, this.#constant(-1)], 0, null);
      case "not":
        return this.#add("sub", [this.#constant(1), ...args], 0, null);
      case "notEqual":
        return this.#add("sub", [this.#constant(1), this.#add("equal", args, 0, null)], 0, null);
      case "and":
        return this.#add("min", args, 0, null);
      case "or":
        return this.#add("max", args, 0, null);
      case "floorDiv":
      case "mod":
        throw new TypeError(`${op} takes two operands`);
      default:
        return this.#add(op, args, value, table);
    }
  }

  #constant(value: number): Step {
    return this.#add("const", [], value, null);
  }

  #add(op: Step["op"], given: readonly Step[], value: number, table: TableData | null): Step {
    const extent = extentOf(op, given);
    const args = extent === "tile" && op !== "spread" ? given.map((arg) => this.#spread(arg)) : given;
    const key = [
      op,
      Object.is(value, -0) ? "-0" : value,
      table && this.#tableNumber(table),
      ...args.map((arg) => this.#numbers.get(arg)),
    ].join(" ");
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    if (this.#steps.size >= MOST_STEPS) this.#fail(`has more than ${MOST_STEPS} steps`);
    const step = { op, args, extent, value, table };
    this.#numbers.set(step, this.#steps.size);
    this.#steps.set(key, step);
    return step;
  }

  /** What goes by key, as a tile has it. */
  #spread(step: Step): Step {
    return step.extent === "key" ? this.#add("spread", [step], 0, null) : step;
  }

  #tableNumber(table: TableData): number {
    const number = this.#tables.get(table) ?? this.#tables.size;
    this.#tables.set(table, number);
    return number;
  }

  #fail(rule: string): never {
    throw new HeedError("option", `${this.#where}: ${this.#name} ${rule}`);
  }
}

function extentOf(op: Step["op"], args: readonly Step[]): Extent {
  if (op === "spread" || op === "score") return "tile";
  if (op === "h" || op === "q") return "row";
  if (op === "k") return "key";
  const extents = new Set(args.map(({ extent }) => extent));
  if (extents.has("tile") || (extents.has("row") && extents.has("key"))) return "tile";
  if (extents.has("row")) return "row";
  return extents.has("key") ? "key" : "all";
}
