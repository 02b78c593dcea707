// The graph of a program. Equal nodes are computed once, constants are folded here, and values that depend on rows or keys only are computed
// outside the tile.

import type { Extent, OrderedSteps, Step } from "./assemble.js";
import { fold } from "./fold.js";
import type { Fail } from "./rules.js";
import type { ProgramTable } from "./tables.js";
import type { Op } from "./tree.js";

/** An operator, other than the constants and the values that a program rewrites. */
export type Operator = Exclude<Op, "score" | "prob" | "const">;

export interface GraphLimits {
  readonly mostSteps: number;
  /** A product with the inverse of a constant rounds once more than a division by it. */
  readonly keepsDivisions: boolean;
}

export class Graph {
  readonly #limits: GraphLimits;
  readonly #fail: Fail;
  readonly #steps = new Map<string, Step>();
  readonly #numbers = new Map<Step, number>();

  constructor(limits: GraphLimits, fail: Fail) {
    this.#limits = limits;
    this.#fail = fail;
  }

  /** The steps that a result needs. Folding leaves others, which are dropped. */
  order(of: Step): OrderedSteps {
    const result = this.#broadcast(of);
    const needed = new Set<Step>([result]);
    for (const step of [...this.#steps.values()].reverse()) {
      if (needed.has(step)) for (const arg of step.args) needed.add(arg);
    }
    return { steps: [...this.#steps.values()].filter((step) => needed.has(step)), result };
  }

  /** Applies an operator of expressions. */
  apply(op: Operator, args: readonly Step[], table: ProgramTable | null = null): Step {
    const constants = args.map((arg) => (arg.op === "const" ? arg.value : null));
    if (args.length > 0 && table === null && constants.every((one) => one !== null)) {
      return this.constant(fold(op, constants));
    }
    const [a, b, c] = args;
    if (op === "select" && b !== undefined && c !== undefined && constants[0] !== null) return constants[0] ? b : c;
    if (a === undefined || b === undefined) return this.#native(op, args, table);
    const divisor = constants[1] ?? null;
    if (op === "floorDiv" || op === "mod") {
      // A division, because a product with 1 / b may lie just below the whole number that it should be.
      const quotient = this.apply("floor", [this.add("div", args)]);
      const result = op === "floorDiv" ? quotient : this.apply("sub", [a, this.apply("mul", [b, quotient])]);
      if (divisor !== null && divisor !== 0) return result;
      const zero = this.constant(0);
      return this.apply("select", [this.add("equal", [b, zero]), zero, result]);
    }
    // A product with the inverse is five times as fast.
    if (op === "div" && !this.#limits.keepsDivisions && divisor !== null && Number.isFinite(1 / divisor)) {
      return this.apply("mul", [a, this.constant(1 / divisor)]);
    }
    if (op === "add" && a.op === "mul") return this.add("multiplyAdd", [...a.args, b]);
    if (op === "add" && b.op === "mul") return this.add("multiplyAdd", [...b.args, a]);
    const [left, right] = b.args;
    if (op === "sub" && b.op === "mul" && left !== undefined && right !== undefined) {
      const isLeft = left.extent === "all" || left.extent === "row";
      const [factor, other] = isLeft ? [left, right] : [right, left];
      if (factor.extent !== "tile") {
        return this.add("multiplyAdd", [this.apply("neg", [factor]), other, a]);
      }
    }
    return this.#native(op, args, table);
  }

  /** Expresses an operator by those of the kernels. */
  #native(op: Operator, args: readonly Step[], table: ProgramTable | null): Step {
    switch (op) {
      case "neg":
        return this.add("mul", [...args, this.constant(-1)]);
      case "not":
        return this.add("sub", [this.constant(1), ...args]);
      case "notEqual":
        return this.add("sub", [this.constant(1), this.add("equal", args)]);
      case "and":
        return this.add("min", args);
      case "or":
        return this.add("max", args);
      case "floorDiv":
      case "mod":
        throw new TypeError(`${op} takes two operands`);
      default:
        return this.add(op, args, 0, table);
    }
  }

  constant(value: number): Step {
    return this.add("const", [], value);
  }

  /** Adds an instruction as it is, unless it is there. */
  add(op: Step["op"], given: readonly Step[], value = 0, table: ProgramTable | null = null): Step {
    const extent = extentOf(op, given);
    const args = extent === "tile" && op !== "broadcast" ? given.map((arg) => this.#broadcast(arg)) : given;
    const key = [
      op,
      Object.is(value, -0) ? "-0" : value,
      table?.index,
      ...args.map((arg) => this.#numbers.get(arg)),
    ].join(" ");
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    const { mostSteps } = this.#limits;
    if (this.#steps.size >= mostSteps) this.#fail(`has more than ${mostSteps} steps`);
    const step = { op, args, extent, value, table };
    this.#numbers.set(step, this.#steps.size);
    this.#steps.set(key, step);
    return step;
  }

  /** A value per key, repeated for all rows of a tile. */
  #broadcast(step: Step): Step {
    return step.extent === "key" ? this.add("broadcast", [step]) : step;
  }
}

function extentOf(op: Step["op"], args: readonly Step[]): Extent {
  if (op === "broadcast" || op === "score") return "tile";
  if (op === "h" || op === "q") return "row";
  if (op === "k") return "key";
  const extents = new Set(args.map(({ extent }) => extent));
  if (extents.has("tile") || (extents.has("row") && extents.has("key"))) return "tile";
  if (extents.has("row")) return "row";
  return extents.has("key") ? "key" : "all";
}
