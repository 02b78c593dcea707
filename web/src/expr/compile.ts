// Compiles expression trees to programs for the kernels. cpp/include/heed/expressions.hpp describes their layout. Equal nodes are computed
// once, constants are folded here, and values that depend on rows or keys only are computed outside the tile.

import { showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { assemble, type Extent, type OrderedSteps, type Program, type Step } from "./assemble.js";
import { fold } from "./fold.js";
import { reading } from "./reading.js";
import { checkCount, type Fail, ruleOf, ruleOfTable, typeOf, typeOfConstant } from "./rules.js";
import { type ProgramTable, Tables } from "./tables.js";
import type { ExprType, Leaf, ModTrees, Op } from "./tree.js";

/** The programs of a call, as 32-bit words, and the numbers of all their tables. */
export interface CompiledMods {
  readonly words: Int32Array<ArrayBuffer>;
  readonly tables: Float32Array<ArrayBuffer>;
}

/** Limits beyond any use, and far below that of the stack. */
const DEEPEST = 200;
const MOST_STEPS = 400;
/** Equal nodes become one step, so a tree whose getters make new nodes for ever needs a limit of its own. */
const MOST_NODES = 10_000;

const LEAVES: Readonly<Record<keyof ModTrees, readonly Leaf[]>> = {
  scoreMod: ["score", "b", "h", "q", "k"],
  maskMod: ["b", "h", "q", "k"],
  probMod: ["prob", "b", "h", "q", "k"],
};

/** Trees may be objects of any kind. They become programs that keep the kernels' rules, or a HeedError is thrown. */
export function compile(where: string, trees: ModTrees): CompiledMods {
  return reading(where, () => compileTrees(where, trees));
}

function compileTrees(where: string, trees: ModTrees): CompiledMods {
  const tables = new Tables();
  const one = (name: keyof ModTrees): Program | null => {
    const tree = trees[name];
    return tree === undefined ? null : assemble(where, name, new Graph(where, name, tables).program(tree));
  };
  const programs = [one("scoreMod"), one("maskMod"), one("probMod")];
  return { words: join(programs, tables), tables: tables.numbers() };
}

/** The start of each program (0: there is none), the number of tables, their descriptions, and the programs. */
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

/** A node after it was read: the step that computes it, and its type. */
interface Read {
  readonly step: Step;
  readonly type: ExprType;
}

/** An operator, other than the constants and the values that a program rewrites. */
type Operator = Exclude<Op, "score" | "prob" | "const">;

class Graph {
  readonly #where: string;
  readonly #name: keyof ModTrees;
  readonly #tables: Tables;
  readonly #known = new Map<unknown, Read>();
  readonly #steps = new Map<string, Step>();
  readonly #numbers = new Map<Step, number>();
  readonly #refuse: Fail = (rule) => this.#fail(`is no expression of heed/expr: ${rule}`);
  #nodes = 0;

  constructor(where: string, name: keyof ModTrees, tables: Tables) {
    this.#where = where;
    this.#name = name;
    this.#tables = tables;
  }

  program(tree: unknown): OrderedSteps {
    const { step, type } = this.#read(tree, 0);
    if ((this.#name === "maskMod") !== (type === "bool")) {
      const kind = this.#name === "maskMod" ? "true or false" : "a number";
      this.#fail(`must be an expression that is ${kind}, got one of type ${type}`);
    }
    const result = this.#spread(step);
    // Folding leaves steps that nothing needs. They are dropped.
    const needed = new Set<Step>([result]);
    for (const step of [...this.#steps.values()].reverse()) {
      if (needed.has(step)) for (const arg of step.args) needed.add(arg);
    }
    return { steps: [...this.#steps.values()].filter((step) => needed.has(step)), result };
  }

  #read(node: unknown, depth: number): Read {
    if (typeof node !== "object") return this.#readConstant(node);
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    if (depth > DEEPEST) this.#fail(`is nested deeper than ${DEEPEST}`);
    if (this.#nodes++ === MOST_NODES) this.#fail(`has more than ${MOST_NODES} nodes`);
    // A node may come from anywhere, so each of its properties is read once and checked by the rules of the operators.
    const { op, type, args, value, table } = Object(node);
    const isTruth = type === "bool" && (value === 0 || value === 1);
    const read =
      op === "const"
        ? this.#readConstant(isTruth ? value === 1 : value)
        : this.#readOperator(op, Array.isArray(args) ? args : [], table, depth);
    if (read.type !== type) this.#refuse(`${op} is of type ${read.type}, got ${showValue(type)}`);
    this.#known.set(node, read);
    return read;
  }

  #readConstant(value: unknown): Read {
    const type = typeOfConstant(value, this.#refuse);
    return { step: this.#constant(Number(value)), type };
  }

  #readOperator(op: Exclude<Op, "const">, args: readonly unknown[], given: unknown, depth: number): Read {
    const table = op === "at" ? this.#tables.add(given, this.#refuse) : null;
    const rule = table === null ? ruleOf(op) : ruleOfTable(table);
    if (rule === undefined) return this.#refuse(`there is no operator ${showValue(op)}`);
    if (rule.takes.length === 0 && !LEAVES[this.#name].some((leaf) => leaf === op)) this.#fail(`has no ${op}`);
    checkCount(op, rule, args.length, this.#refuse);
    const operands = rule.takes.map((_, n) => this.#read(args[n], depth + 1));
    const types = operands.map(({ type }) => type);
    const steps = operands.map(({ step }) => step);
    const type = typeOf(op, rule, types, this.#refuse);
    // A program rewrites scores or weights, and its first tile holds them.
    if (op === "score" || op === "prob") return { step: this.#add("score", [], 0, null), type };
    return { step: this.#simple(op, steps, table), type };
  }

  #simple(op: Operator, args: readonly Step[], table: ProgramTable | null = null): Step {
    const constants = args.map((arg) => (arg.op === "const" ? arg.value : null));
    if (args.length > 0 && table === null && constants.every((one) => one !== null)) {
      return this.#constant(fold(op, constants));
    }
    const [a, b, c] = args;
    if (op === "select" && b !== undefined && c !== undefined && constants[0] !== null) return constants[0] ? b : c;
    if (a === undefined || b === undefined) return this.#native(op, args, table);
    const divisor = constants[1] ?? null;
    if (op === "floorDiv" || op === "mod") {
      // A division, because a product with 1 / b may lie just below the whole number that it should be.
      const quotient = this.#simple("floor", [this.#add("div", args, 0, null)]);
      const result = op === "floorDiv" ? quotient : this.#simple("sub", [a, this.#simple("mul", [b, quotient])]);
      if (divisor !== null && divisor !== 0) return result;
      const zero = this.#constant(0);
      return this.#simple("select", [this.#add("equal", [b, zero], 0, null), zero, result]);
    }
    // A product with the inverse is five times as fast. It rounds once more, which a condition could show, so masks keep the division.
    if (op === "div" && this.#name !== "maskMod" && divisor !== null && Number.isFinite(1 / divisor)) {
      return this.#simple("mul", [a, this.#constant(1 / divisor)]);
    }
    if (op === "add" && a.op === "mul") return this.#add("multiplyAdd", [...a.args, b], 0, null);
    if (op === "add" && b.op === "mul") return this.#add("multiplyAdd", [...b.args, a], 0, null);
    const [left, right] = b.args;
    if (op === "sub" && b.op === "mul" && left !== undefined && right !== undefined) {
      const isLeft = left.extent === "all" || left.extent === "row";
      const [factor, other] = isLeft ? [left, right] : [right, left];
      if (factor.extent !== "tile") {
        return this.#add("multiplyAdd", [this.#simple("neg", [factor]), other, a], 0, null);
      }
    }
    return this.#native(op, args, table);
  }

  /** Expresses an operator by those of the kernels. */
  #native(op: Operator, args: readonly Step[], table: ProgramTable | null): Step {
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
        return this.#add(op, args, 0, table);
    }
  }

  #constant(value: number): Step {
    return this.#add("const", [], value, null);
  }

  #add(op: Step["op"], given: readonly Step[], value: number, table: ProgramTable | null): Step {
    const extent = extentOf(op, given);
    const args = extent === "tile" && op !== "spread" ? given.map((arg) => this.#spread(arg)) : given;
    const key = [
      op,
      Object.is(value, -0) ? "-0" : value,
      table?.index,
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

  /** A value per key, repeated for all rows of a tile. */
  #spread(step: Step): Step {
    return step.extent === "key" ? this.#add("spread", [step], 0, null) : step;
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
