// Derivatives of expressions, in forward mode: the slope of a step, its derivative with respect to one number, is computed beside its value.
// A program has one result, so this takes no more steps than reverse mode, which would keep the values of all steps alive to the end.

import type { OrderedSteps, Step } from "./assemble.js";
import type { Graph, Operator } from "./graph.js";

/** Null is zero. */
type Slope = Step | null;

interface Operand {
  readonly value: Step;
  readonly slope: Slope;
}

/** Throws an error that names an operator without a derivative. */
export type Refuse = (op: string) => never;

/** The copies of the steps of one graph in another. */
export type Copies = Map<Step, Step>;

export function copyStep(step: Step, graph: Graph, copies: Copies): Step {
  const args = step.args.map((arg) => copies.get(arg) ?? arg);
  const copy = graph.add(step.op, args, step.value, step.table);
  copies.set(step, copy);
  return copy;
}

/** The derivative of the result with respect to one of its steps. It is made in an empty graph. */
export function differentiate({ steps, result }: OrderedSteps, by: Step, graph: Graph, refuse: Refuse): Step {
  const copies: Copies = new Map();
  const slopes = new Map<Step, Slope>();
  const differentiable = differentiableSteps(result);
  const calculus = new Calculus(graph);
  for (const step of steps) {
    const copy = copyStep(step, graph, copies);
    if (!differentiable.has(step)) continue;
    const operands = step.args.map((arg) => ({ value: copies.get(arg) ?? arg, slope: slopes.get(arg) ?? null }));
    if (step === by) slopes.set(step, graph.constant(1));
    else if (operands.some(({ slope }) => slope !== null)) {
      const rule = RULES[step.op];
      slopes.set(step, rule === undefined ? refuse(step.op) : calculus.apply(rule, operands, copy));
    }
  }
  return slopes.get(result) ?? graph.constant(0);
}

/** The reads of tables of floats with respect to which the result may have a derivative. */
export function readsOf({ steps, result }: OrderedSteps): readonly Step[] {
  const differentiable = differentiableSteps(result);
  return steps.filter((step) => step.table?.type === "float" && differentiable.has(step));
}

/** The result, and the steps that it depends on by more than a condition. */
function differentiableSteps(result: Step): ReadonlySet<Step> {
  const found = new Set([result]);
  for (const { op, args } of found) {
    for (const arg of op === "select" ? args.slice(1) : args) found.add(arg);
  }
  return found;
}

type Rule = (of: Calculus, operands: readonly [Operand, Operand, Operand], result: Step) => Slope;

/** Arithmetic with slopes, where zeros and ones take no instruction. */
class Calculus {
  readonly #graph: Graph;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  apply(rule: Rule, [a, b, c]: readonly Operand[], result: Step): Slope {
    const none: Operand = { value: result, slope: null };
    return rule(this, [a ?? none, b ?? none, c ?? none], result);
  }

  sum(a: Slope, b: Slope): Slope {
    if (a === null || b === null) return a ?? b;
    return a === b ? this.scaled(a, 2) : this.#made("add", a, b);
  }

  difference(a: Slope, b: Slope): Slope {
    if (b === null) return a;
    return a === null ? this.scaled(b, -1) : this.#made("sub", a, b);
  }

  product(a: Slope, b: Step): Slope {
    if (a === null || isConstant(b, 1)) return a;
    if (isConstant(a, 1)) return b;
    return b.op === "const" ? this.scaled(a, b.value) : this.#made("mul", a, b);
  }

  /** Constant factors come together, because those of a softcap cancel. */
  scaled(a: Slope, by: number): Slope {
    if (a === null) return null;
    const [x, y] = a.op === "mul" ? a.args : [];
    if (x?.op === "const") return this.product(y ?? null, this.#graph.constant(x.value * by));
    if (y?.op === "const") return this.product(x ?? null, this.#graph.constant(y.value * by));
    return this.#made("mul", a, this.#graph.constant(by));
  }

  quotient(a: Slope, b: Step): Slope {
    return a === null ? null : this.#made("div", a, b);
  }

  select(condition: Step, yes: Slope, no: Slope): Slope {
    if (yes === no) return yes;
    const zero = this.#graph.constant(0);
    return this.#graph.apply("select", [condition, yes ?? zero, no ?? zero]);
  }

  less(a: Step, b: Step): Step {
    return this.#graph.apply("less", [a, b]);
  }

  /** -1, 0 or 1. True is 1. */
  sign(x: Step): Step {
    const zero = this.#graph.constant(0);
    return this.#graph.apply("sub", [this.less(zero, x), this.less(x, zero)]);
  }

  /** 1 - x^2. */
  oneMinusSquare(x: Step): Step {
    return this.#graph.apply("sub", [this.#graph.constant(1), this.#graph.apply("mul", [x, x])]);
  }

  /** `a` where x is larger, `b` where y is, and their mean where both are equal. */
  byLarger(x: Step, y: Step, a: Slope, b: Slope): Slope {
    const mean = a === b ? a : this.scaled(this.sum(a, b), 0.5);
    return this.select(this.less(x, y), b, this.select(this.less(y, x), a, mean));
  }

  #made(op: Operator, a: Step, b: Step): Slope {
    const step = this.#graph.apply(op, [a, b]);
    return isConstant(step, 0) ? null : step;
  }
}

/** Programs hold constants in f32. */
const isConstant = (step: Step, value: number): boolean => step.op === "const" && Math.fround(step.value) === value;

/** Operators without a rule have no derivative. */
const RULES: Readonly<Partial<Record<Step["op"], Rule>>> = {
  broadcast: (_, [a]) => a.slope,
  select: (of, [a, b, c]) => of.select(a.value, b.slope, c.slope),
  multiplyAdd: (of, [a, b, c]) => of.sum(of.sum(of.product(a.slope, b.value), of.product(b.slope, a.value)), c.slope),
  abs: (of, [a]) => of.product(a.slope, of.sign(a.value)),
  sqrt: (of, [a], result) => of.quotient(of.scaled(a.slope, 0.5), result),
  exp: (of, [a], result) => of.product(a.slope, result),
  log: (of, [a]) => of.quotient(a.slope, a.value),
  tanh: (of, [a], result) => of.product(a.slope, of.oneMinusSquare(result)),
  add: (of, [a, b]) => of.sum(a.slope, b.slope),
  sub: (of, [a, b]) => of.difference(a.slope, b.slope),
  mul: (of, [a, b]) => of.sum(of.product(a.slope, b.value), of.product(b.slope, a.value)),
  div: (of, [a, b], result) => of.quotient(of.difference(a.slope, of.product(b.slope, result)), b.value),
  min: (of, [a, b]) => of.byLarger(a.value, b.value, b.slope, a.slope),
  max: (of, [a, b]) => of.byLarger(a.value, b.value, a.slope, b.slope),
};
