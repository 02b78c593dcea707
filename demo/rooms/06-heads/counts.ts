// Parameters and memory of attention layers, counted by their definitions.

import type { HeadsState } from "./state.js";

const HALF = 2;

export interface Count {
  readonly name: string;
  /** As a product, to be checked. */
  readonly factors: readonly number[];
  readonly total: number;
}

type Sizes = Pick<HeadsState, "queryHeads" | "kvHeads" | "headWidth" | "layers">;

/** The model is as wide as its query heads together. */
export function modelWidth({ queryHeads, headWidth }: Sizes): number {
  return queryHeads * headWidth;
}

export function countsOf(sizes: Sizes): readonly Count[] {
  const { queryHeads, kvHeads, headWidth } = sizes;
  const width = modelWidth(sizes);
  return [
    count("W_Q", width, queryHeads, headWidth),
    count("W_K", width, kvHeads, headWidth),
    count("W_V", width, kvHeads, headWidth),
    count("W_O", queryHeads, headWidth, width),
  ];
}

export function perLayer(sizes: Sizes): number {
  return countsOf(sizes).reduce((sum, { total }) => sum + total, 0);
}

/** Bytes that one more token adds to the cache of keys and values, in half precision. */
export function cachePerToken({ kvHeads, headWidth, layers }: Sizes): Count {
  return count("keys and values", 2, kvHeads, headWidth, layers, HALF);
}

function count(name: string, ...factors: readonly number[]): Count {
  return { name, factors, total: factors.reduce((product, factor) => product * factor, 1) };
}
