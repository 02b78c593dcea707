// Tensors of random numbers, and of zeros.

import type { Random } from "./random.js";

export interface Drawn {
  readonly data: Float32Array;
  readonly shape: number[];
}

/** Tensors of this source's numbers, by their shapes. */
export const drawnBy =
  (random: Random) =>
  (...shape: number[]): Drawn => ({ data: random.floats(sizeOf(shape)), shape });

export const zeros = (...shape: number[]): Drawn => ({ data: new Float32Array(sizeOf(shape)), shape });

export const sizeOf = (shape: readonly number[]): number => shape.reduce((total, size) => total * size, 1);
