// Compiles expression trees to programs for the kernels. cpp/include/heed/expressions.hpp describes their layout.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { assemble, type OrderedSteps, type Program, type Step } from "./assemble.js";
import { markRead } from "./family.js";
import { Graph } from "./graph.js";
import { reading } from "./reading.js";
import { checkCount, type Fail, ruleOf, ruleOfTable, typeOf, typeOfConstant } from "./rules.js";
import { Tables } from "./tables.js";
import type { ExprType, Leaf, ModTrees, Op } from "./tree.js";

/** The programs of a call, as 32-bit words, and the numbers of all their tables. */
export interface CompiledMods {
  readonly words: Int32Array<ArrayBuffer>;
  readonly tables: Float32Array<ArrayBuffer>;
}

/** The functions of a call after their trees were read, in the order of their programs. Null: there is none. */
export interface ReadMods {
  readonly functions: readonly (OrderedSteps | null)[];
  readonly tables: Tables;
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

/** In the order of their programs. */
export const MODS = ["scoreMod", "maskMod", "probMod"] as const;

/** Trees may be objects of any kind. They become programs that keep the kernels' rules, or a HeedError is thrown. */
export function compile(where: string, trees: ModTrees): CompiledMods {
  return reading(where, () => link(where, readMods(where, trees)));
}

export function readMods(where: string, trees: ModTrees): ReadMods {
  const tables = new Tables();
  const functions = MODS.map((name) => {
    const tree = trees[name];
    return tree === undefined ? null : new Reader(where, name, tables).function(tree);
  });
  return { functions, tables };
}

/** The start of each program (0: there is none), the number of tables, their descriptions, and the programs. */
export function link(where: string, { functions, tables }: ReadMods): CompiledMods {
  const programs = MODS.map((name, n): Program => {
    const steps = functions[n] ?? null;
    return steps === null ? [] : assemble(where, name, steps);
  });
  const directory = tables.words();
  let end = programs.length + 1 + directory.length;
  const starts = programs.map(({ length }) => {
    const start = length === 0 ? 0 : end;
    end += length;
    return start;
  });
  const words = Int32Array.from([...starts, tables.count, ...directory, ...programs.flat()]);
  return { words, tables: tables.numbers() };
}

/** A node after it was read: the step that computes it, and its type. */
interface Read {
  readonly step: Step;
  readonly type: ExprType;
}

class Reader {
  readonly #where: string;
  readonly #name: keyof ModTrees;
  readonly #tables: Tables;
  readonly #known = new Map<unknown, Read>();
  readonly #refuse: Fail = (rule) => this.#fail(`is no expression of heed/expr: ${rule}`);
  readonly #graph: Graph;
  #nodes = 0;

  constructor(where: string, name: keyof ModTrees, tables: Tables) {
    this.#where = where;
    this.#name = name;
    this.#tables = tables;
    // A condition could show that a product with the inverse rounds once more, so masks keep the division.
    const limits = { mostSteps: MOST_STEPS, keepsDivisions: name === "maskMod" };
    this.#graph = new Graph(limits, (rule) => this.#fail(rule));
  }

  function(tree: unknown): OrderedSteps {
    const { step, type } = this.#read(tree, 0);
    if ((this.#name === "maskMod") !== (type === "bool")) {
      const kind = this.#name === "maskMod" ? "true or false" : "a number";
      this.#fail(`must be an expression that is ${kind}, got one of type ${type}`);
    }
    return this.#graph.order(step);
  }

  #read(node: unknown, depth: number): Read {
    if (typeof node !== "object") return this.#readConstant(node);
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    if (depth > DEEPEST) this.#fail(`is nested deeper than ${DEEPEST}`);
    if (this.#nodes++ === MOST_NODES) this.#fail(`has more than ${MOST_NODES} nodes`);
    // A node may come from anywhere, so each of its properties is read once and checked by the rules of the operators.
    const { op, type, args, value, table } = Object(node);
    markRead(Object(node));
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
    return { step: this.#graph.constant(Number(value)), type };
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
    if (op === "score" || op === "prob") return { step: this.#graph.add("score", []), type };
    return { step: this.#graph.apply(op, steps, table), type };
  }

  #fail(rule: string): never {
    throw new HeedError("option", `${this.#where}: ${this.#name} ${rule}`);
  }
}
