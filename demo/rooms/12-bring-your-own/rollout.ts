// What reaches a token through all layers: rollout, by Abnar and Zuidema (2020), of some rows alone, so that no matrix of all pairs is ever made.

import type { Heed } from "heed";
import { rowsOf } from "./rows.js";
import { askedOf, type BringScene } from "./scene.js";

/** Rows that matter less than this to the result are left out; how much that was is told. */
const NEGLIGIBLE = 1e-7;
const ROWS = 64;

export interface Rollout {
  /** Of each token of the first layer, to the sum of the queries. */
  readonly shares: Float64Array;
  /** What was left out of it. */
  readonly lost: number;
}

/**
 * Each layer passes on half of its input by the mean of its heads, and half as it was, for the connections around attention.
 * `progress`: how much of it is done.
 */
export async function rollout(
  scene: BringScene,
  heed: Heed | undefined,
  signal: AbortSignal,
  progress: (done: number) => void,
): Promise<Rollout> {
  const { source, at } = scene;
  const { layers, heads, keys } = source;
  let shares = new Float64Array(keys);
  for (const query of askedOf(scene)) shares[query] = (shares[query] ?? 0) + 1;
  let lost = 0;
  for (let layer = layers - 1; layer >= 0; layer--) {
    const next = shares.map((share) => share / 2);
    const blocks = blocksOf(shares);
    lost += blocks.lost / 2;
    for (let head = 0; head < heads; head++) {
      const rows = rowsOf(source, { ...at, layer, head }, heed);
      try {
        for (const [index, from] of blocks.starts.entries()) {
          progress(((layers - 1 - layer) * heads + head + index / blocks.starts.length) / (layers * heads));
          const weights = await rows.read(from, Math.min(keys, from + ROWS), signal);
          signal.throwIfAborted();
          addRows(next, weights, shares.subarray(from, from + ROWS), 0.5 / heads);
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
function addRows(into: Float64Array, weights: Float32Array, shares: Float64Array, factor: number): void {
  const keys = into.length;
  for (let row = 0; row < shares.length; row++) {
    const share = (shares[row] ?? 0) * factor;
    if (share === 0) continue;
    for (let key = 0; key < keys; key++) into[key] = (into[key] ?? 0) + share * (weights[row * keys + key] ?? 0);
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
