// What reaches a token through all layers: rollout, by Abnar and Zuidema (2020), of some rows alone, so that no matrix of all pairs is ever made.

import type { Heed } from "heed";
import { type Rows, rowsOf } from "./rows.js";
import type { Source } from "./source.js";

/** Rows that matter less than this to the result are left out; how much that was is told. */
const NEGLIGIBLE = 1e-7;
const ROWS = 64;

export interface Rollout {
  /** Of each token of the first layer, to the sum of those that were asked for. */
  readonly shares: Float64Array;
  /** What was left out of it. */
  readonly lost: number;
}

/**
 * Each layer passes on half of what it takes in by the mean of its heads, and half as it was, for the connections around attention.
 */
export async function rollout(
  source: Source,
  asked: readonly number[],
  causal: boolean,
  heed: Heed | undefined,
  signal: AbortSignal,
  progress: (done: number, of: number) => void,
): Promise<Rollout> {
  const { layers, heads, keys } = source;
  let shares = new Float64Array(keys);
  for (const query of asked) shares[query] = (shares[query] ?? 0) + 1;
  let lost = 0;
  for (let layer = layers - 1; layer >= 0; layer--) {
    const next = shares.map((share) => share / 2);
    const blocks = blocksOf(shares);
    lost += blocks.lost / 2;
    for (let head = 0; head < heads; head++) {
      const rows = rowsOf(source, { layer, head, causal }, heed);
      try {
        for (const [index, from] of blocks.starts.entries()) {
          const step = ((layers - 1 - layer) * heads + head + index / blocks.starts.length) / (layers * heads);
          progress(step, 1);
          await addRows(next, shares, rows, from, 0.5 / heads, signal);
        }
      } finally {
        rows.dispose();
      }
    }
    shares = next;
  }
  return { shares, lost };
}

/** Adds rows times their shares. */
async function addRows(
  into: Float64Array,
  shares: Float64Array,
  rows: Rows,
  from: number,
  factor: number,
  signal: AbortSignal,
): Promise<void> {
  const { keys } = rows;
  const to = Math.min(keys, from + ROWS);
  const weights = await rows.read(from, to, signal);
  signal.throwIfAborted();
  for (let row = from; row < to; row++) {
    const share = (shares[row] ?? 0) * factor;
    if (share === 0) continue;
    const start = (row - from) * keys;
    for (let key = 0; key < keys; key++) into[key] = (into[key] ?? 0) + share * (weights[start + key] ?? 0);
  }
}

/** Where blocks of rows begin that are worth computing. */
function blocksOf(shares: Float64Array): { readonly starts: readonly number[]; readonly lost: number } {
  const starts: number[] = [];
  let lost = 0;
  for (let from = 0; from < shares.length; from += ROWS) {
    const sum = shares.subarray(from, from + ROWS).reduce((total, share) => total + share, 0);
    if (sum > NEGLIGIBLE) starts.push(from);
    else lost += sum;
  }
  return { starts, lost };
}
