// Random functions of scores and weights that have derivatives, except at single points.

import {
  abs,
  add,
  and,
  constant,
  div,
  type Expr,
  equal,
  exp,
  floor,
  floorDiv,
  greater,
  greaterEqual,
  less,
  lessEqual,
  log,
  max,
  min,
  mod,
  mul,
  neg,
  not,
  notEqual,
  or,
  select,
  sqrt,
  sub,
  table,
  tanh,
} from "../../web/src/expr/index.js";
import type { Random } from "./random.js";

const leaf = (op: "score" | "prob" | "b" | "h" | "q" | "k"): Expr => ({
  op,
  type: op.length > 1 ? "float" : "int",
  args: [],
});

/** What functions take. */
export const LEAVES = {
  score: leaf("score"),
  prob: leaf("prob"),
  b: leaf("b"),
  h: leaf("h"),
  q: leaf("q"),
  k: leaf("k"),
} as const;

const { b, h, q, k } = LEAVES;

/** Eighths, which are exact in f32. */
const eighths = (random: Random, count: number): Float32Array =>
  Float32Array.from({ length: count }, () => random.whole(-16, 16) / 8);

/** Makes functions of `taken`, the score or the weight, with every operator of heed/expr. */
export class RandomFunctions {
  readonly #random: Random;
  readonly #bias;
  readonly #gains;
  readonly #kinds = table({ data: Int32Array.of(2, 0, 1, 4), shape: [4] });
  readonly #flags = table({ data: [true, false, true], shape: [3] });

  constructor(random: Random) {
    this.#random = random;
    this.#bias = table({ data: eighths(random, 12), shape: [3, 4] });
    this.#gains = table({ data: eighths(random, 5), shape: [5] });
  }

  /** Finite for any `taken`. */
  number(size: number, taken: Expr): Expr {
    const random = this.#random;
    if (size <= 0) {
      const [i, j] = [this.#whole(1), this.#whole(1)];
      const eighth = constant(random.whole(-16, 16) / 8);
      return random.pick([taken, taken, this.#gains.at(i), this.#bias.at(i, j), mul(0.25, i), eighth]);
    }
    const x = this.number(size - 1, taken);
    const y = random.chance(0.2) ? x : this.number(size - 2, taken);
    return random.pick<() => Expr>([
      () => add(x, y),
      () => sub(x, y),
      () => mul(tanh(x), y),
      () => mul(x, y, 0.125),
      () => div(x, random.pick([2, 0.5, -4])),
      () => div(x, add(1, abs(y))),
      () => neg(x),
      () => abs(x),
      () => min(x, y),
      () => max(x, y),
      () => tanh(x),
      () => exp(min(x, 1.5)),
      () => log(add(0.5, abs(x))),
      () => sqrt(add(0.5, mul(x, x))),
      // What is not taken is NaN.
      () => select(less(x, 0.25), y, sqrt(sub(x, 0.125))),
      () => select(this.#truth(2, taken), x, y),
    ])();
  }

  #whole(size: number): Expr {
    const random = this.#random;
    if (size <= 0) return random.pick([b, h, q, k, constant(random.whole(-4, 4))]);
    const [x, y] = [this.#whole(size - 1), this.#whole(size - 2)];
    return random.pick<() => Expr>([
      () => add(x, y),
      () => sub(x, y),
      () => min(x, y),
      () => max(x, y),
      () => neg(x),
      () => abs(x),
      () => mod(x, y),
      () => floorDiv(x, random.whole(0, 3)),
      () => floor(div(x, 4)),
      () => this.#kinds.at(x),
    ])();
  }

  #truth(size: number, taken: Expr): Expr {
    const random = this.#random;
    const [x, y] = [this.#whole(1), this.#whole(2)];
    if (size <= 0) return random.pick([less(x, y), lessEqual(x, y), equal(x, y), notEqual(x, y), this.#flags.at(x)]);
    return random.pick<() => Expr>([
      () => and(this.#truth(size - 1, taken), this.#truth(size - 2, taken)),
      () => or(this.#truth(size - 1, taken), this.#truth(size - 2, taken)),
      () => not(this.#truth(size - 1, taken)),
      () => greater(this.number(size - 1, taken), 0.375),
      () => greaterEqual(floor(this.number(size - 1, taken)), y),
    ])();
  }
}
