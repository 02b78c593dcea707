// A head at a glance: a few dots both ways, from some of its rows where it has many, and how spread out those are.

import type { Rows } from "./rows.js";

/** Dots of a small picture, both ways. */
const GLANCE = 64;
/** Of each band of rows that becomes a line of dots, so many are looked at. */
const SAMPLED = 4;

export interface Glance {
  readonly rows: number;
  readonly cols: number;
  readonly max: Float32Array;
  /** The mean over the rows that were looked at, in nats. */
  readonly entropy: number;
  readonly sampled: number;
}

export async function glanceAt(rows: Rows, signal: AbortSignal): Promise<Glance> {
  const { queries, keys } = rows;
  const [lines, cols] = [Math.min(GLANCE, queries), Math.min(GLANCE, keys)];
  const max = new Float32Array(lines * cols);
  let [entropy, sampled] = [0, 0];
  for (let line = 0; line < lines; line++) {
    const [top, bottom] = [edge(line, lines, queries), edge(line + 1, lines, queries)];
    const from = top + Math.max(0, (bottom - top - SAMPLED) >> 1);
    const to = Math.min(bottom, from + SAMPLED);
    const weights = await rows.read(from, to, signal);
    signal.throwIfAborted();
    for (let row = 0; row < to - from; row++) {
      const one = weights.subarray(row * keys, (row + 1) * keys);
      entropy += entropyOf(one);
      sampled += 1;
      for (let col = 0; col < cols; col++) {
        const dot = line * cols + col;
        const right = edge(col + 1, cols, keys);
        for (let key = edge(col, cols, keys); key < right; key++) max[dot] = Math.max(max[dot] ?? 0, one[key] ?? 0);
      }
    }
  }
  return { rows: lines, cols, max, entropy: entropy / sampled, sampled };
}

function edge(index: number, parts: number, whole: number): number {
  return Math.floor((index * whole) / parts);
}

/** In nats, of the weights as parts of their sum; 0 for a row of zeros. */
export function entropyOf(weights: ArrayLike<number>): number {
  let [sum, logs] = [0, 0];
  for (let key = 0; key < weights.length; key++) {
    const weight = weights[key] ?? 0;
    if (weight <= 0) continue;
    sum += weight;
    logs += weight * Math.log(weight);
  }
  return sum === 0 ? 0 : Math.log(sum) - logs / sum;
}
