// What a mask costs: counted on the grid, for many tokens if its proportions stay, and timed on this device.

import type { AttentionOptions, Heed } from "heed";
import { fastest, randoms } from "../../src/engine/fastest.js";
import { at } from "../../src/model/matrix.js";
import { whole } from "../../src/ui/numbers.js";
import type { MaskScene } from "./scene.js";

export const HEADS = 12;
export const WIDTH = 64;
const BYTES = 4;

/** `skipped`: tiles in which nothing is seen, never computed; `full`: with every pair; `computed`: pairs of all that are not skipped. */
export function gridCost({ seen, state }: MaskScene) {
  const { queries, keys, tile } = state;
  let [all, tiles, skipped, full, computed] = [0, 0, 0, 0, 0];
  for (let top = 0; top < queries; top += tile) {
    for (let first = 0; first < keys; first += tile) {
      const [bottom, last] = [Math.min(queries, top + tile), Math.min(keys, first + tile)];
      const size = (bottom - top) * (last - first);
      let count = 0;
      for (let row = top; row < bottom; row++) for (let col = first; col < last; col++) count += at(seen, row, col);
      tiles += 1;
      all += count;
      skipped += count === 0 ? 1 : 0;
      full += count === size ? 1 : 0;
      computed += count === 0 ? 0 : size;
    }
  }
  return { pairs: queries * keys, seen: all, tiles, skipped, full, computed };
}

export function scaledCost({ pairs, seen, computed }: ReturnType<typeof gridCost>, tokens: number) {
  // Multiply-adds of both products.
  const everything = 2 * HEADS * tokens * tokens * WIDTH;
  return {
    /** Bytes of all scores at once. */
    materialised: HEADS * tokens * tokens * BYTES,
    /** Bytes of the running maximum and sum of every row: all that is kept when tiles pass. */
    streamed: HEADS * tokens * 2 * BYTES,
    everything,
    byTiles: (everything * computed) / pairs,
    seenOnly: (everything * seen) / pairs,
  };
}

/** Multiply-adds in thousands of millions. */
export function billions(count: number): string {
  const value = count / 1e9;
  return `${value < 100 ? value.toFixed(value < 10 ? 2 : 1) : whole(value)} billion`;
}

export const RACE_HEADS = 2;
const ROUNDS = 3;

const RUNNERS: Readonly<Record<string, (tokens: number) => AttentionOptions>> = {
  everything: () => ({}),
  "everything, scores kept": () => ({ return: { weights: true } }),
  causal: () => ({ causal: true }),
  "causal, 8 documents": (tokens) => ({ causal: true, cuSeqlensQ: eighths(tokens) }),
  "causal, window of 128": () => ({ causal: true, window: [127, 0] }),
};

/** In milliseconds. */
export type Laps = ReadonlyMap<string, number>;

export function race(heed: Heed, tokens: number, signal: AbortSignal, progress: (said: string, laps: Laps) => void) {
  const random = randoms();
  const vectors = () => random(1, RACE_HEADS, tokens, WIDTH);
  const [q, k, v] = [vectors(), vectors(), vectors()];
  const call = (options: AttentionOptions) => () => heed.attention(q, k, v, { ...options, signal });
  const calls = Object.entries(RUNNERS).map(([name, options]) => [name, call(options(tokens))] as const);
  return fastest(calls, ROUNDS, progress);
}

const eighths = (tokens: number) => Array.from({ length: 9 }, (_, index) => Math.round((index * tokens) / 8));
