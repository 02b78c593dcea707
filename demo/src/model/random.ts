// Random numbers that a seed decides, so that a picture can be had again, here and elsewhere.

import { randomOf } from "../../../examples/train/random.js";

/** Uniform in [0, 1). */
export const uniform = (seed: number): (() => number) => randomOf(seed).next;

/** Normal, mean 0 and variance 1, by the method of Box and Muller. */
export function normal(seed: number): () => number {
  const next = uniform(seed);
  return () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

/** As short as a number can be said aloud. */
export const twoDecimals = (value: number): number => Math.round(value * 100) / 100;
