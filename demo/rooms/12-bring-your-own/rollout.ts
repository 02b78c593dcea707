// What reaches a token through all layers: rollout, by Abnar and Zuidema (2020), of some rows alone, so that no matrix of all pairs is ever made.

import type { Heed } from "heed";
import { rowsOf } from "./rows.js";
import { askedOf, type BringScene } from "./scene.js";

/** Rows that matter less than this to the result are left out; how much that was is told. */
const NEGLIGIBLE = 1e-7;
const ROWS = 64;

/**
 * Each layer passes on half of its input by the mean of its heads, and half as it was, for the connections around attention.
 * `progress`: how much of it is done. Resolves with the weights of each token of the first layer, and what was left out of them.
 */
export async function rollout(
  scene: BringScene,
  heed: Heed | undefined,
  signal: AbortSignal,
  progress: (done: number) => void,
) {
  const { source, at } = scene;
  const { layers, heads, keys } = source;
  let reached = new Float64Array(keys);
  for (const query of askedOf(scene)) reached[query] = (reached[query] ?? 0) + 1;
  let lost = 0;
  for (let layer = layers - 1; layer >= 0; layer--) {
    const next = reached.map((weight) => weight / 2);
    const starts: number[] = [];
    for (let from = 0; from < keys; from += ROWS) {
      const sum = reached.subarray(from, from + ROWS).reduce((total, weight) => total + weight, 0);
      if (sum > NEGLIGIBLE) starts.push(from);
      else lost += sum / 2;
    }
    for (let head = 0; head < heads; head++) {
      const rows = rowsOf(source, { ...at, layer, head }, heed);
      try {
        for (const [index, from] of starts.entries()) {
          progress(((layers - 1 - layer) * heads + head + index / starts.length) / (layers * heads));
          const weights = await rows.read(from, Math.min(keys, from + ROWS), signal);
          signal.throwIfAborted();
          addRows(next, weights, reached.subarray(from, from + ROWS), 0.5 / heads);
        }
      } finally {
        rows.dispose();
      }
    }
    reached = next;
  }
  return { weights: reached, lost };
}

/** Adds rows times what reaches them. */
function addRows(into: Float64Array, weights: Float32Array, reached: Float64Array, factor: number): void {
  reached.forEach((one, row) => {
    if (one === 0) return;
    for (let key = 0; key < into.length; key++) {
      into[key] = (into[key] ?? 0) + one * factor * (weights[row * into.length + key] ?? 0);
    }
  });
}
