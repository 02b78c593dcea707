// Draws the numbers of new parameters from a seed.

import { product } from "../api/operands.js";
import { SeededRandom } from "./generate/random.js";
import type { ParameterRule } from "./parameter-rule.js";

export class Draw {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  /** Evenly from -bound to bound. */
  uniform(shape: readonly number[], bound: number): Float32Array {
    return this.#fill(shape, () => bound * (2 * this.#random.next() - 1));
  }

  /** Normally distributed around 0, by Box and Muller. */
  normal(shape: readonly number[], deviation: number): Float32Array {
    return this.#fill(shape, () => {
      const radius = Math.sqrt(-2 * Math.log(1 - this.#random.next()));
      return deviation * radius * Math.cos(2 * Math.PI * this.#random.next());
    });
  }

  #fill(shape: readonly number[], next: () => number): Float32Array {
    return new Float32Array(product(shape)).map(next);
  }
}

/** Gives the numbers of a parameter, by its name in the layer and its shape. */
export type DrawRule = (name: string, shape: readonly number[]) => Float32Array;

export function same(shape: readonly number[], number: number): Float32Array {
  return new Float32Array(product(shape)).fill(number);
}

/** PyTorch's bound for the numbers of a layer with so many inputs. */
export function boundOf(inputs: number): number {
  return 1 / Math.sqrt(inputs);
}

/** The numbers of a parameter with a rule of its own. */
export function drawnBy({ init }: ParameterRule, draw: Draw, shape: readonly number[]): Float32Array {
  if (typeof init === "function") return init(draw, shape);
  return init === undefined ? draw.uniform(shape, boundOf(shape.at(-1) ?? 1)) : same(shape, Number(init === "ones"));
}

/**
 * The rule of published transformers: weights around 0 with this deviation, those that a residual connection ends with by another; no bias;
 * norms that change nothing.
 */
export function transformerRule(draw: Draw, deviation: number, ofResidual = deviation): DrawRule {
  return (name, shape) => {
    if (name.endsWith("bias")) return same(shape, 0);
    if (/(?:^|[._])norm\d?\.weight$/.test(name)) return same(shape, 1);
    return draw.normal(shape, /(?:out|down)_proj\.weight$/.test(name) ? ofResidual : deviation);
  };
}
