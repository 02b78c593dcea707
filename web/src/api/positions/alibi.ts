// The slopes of ALiBi (Press et al. 2021, arXiv 2108.12409), for any number of heads as in the authors' code.

import type { ArrayTensor } from "../tensor.js";
import { readTableSize } from "./read.js";

/** [heads], for the option `alibiSlopes` of attention. Throws a HeedError. */
export function alibiSlopes(heads: number): ArrayTensor {
  const count = readTableSize("alibiSlopes", "heads", heads, 1);
  const whole = 2 ** Math.floor(Math.log2(count));
  // Heads beyond a power of two have every other slope of the next power of two.
  const data = new Float32Array(count).map((_, head) =>
    head < whole ? slope(head + 1, whole) : slope(2 * (head - whole) + 1, 2 * whole),
  );
  return { data, shape: [count], dtype: "f32" };
}

function slope(number: number, heads: number): number {
  return 2 ** ((-8 * number) / heads);
}
