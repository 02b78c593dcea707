// Rows of weights, a few at a time: from the kernel, from what was brought, or, where no kernel runs, by the page's own arithmetic in
// double precision, which the kernel's rows are held against. Never all at once.

import type { Heed } from "heed";
import { pacer } from "../../src/ui/pieces.js";
import type { Source, Vectors } from "./source.js";

export type Rows = ReturnType<typeof rowsOf>;

/** Which head, and whether queries see only what came before. */
interface HeadAt {
  readonly layer: number;
  readonly head: number;
  readonly causal: boolean;
}

/** Numbers of one call: what it computes and hands over takes some milliseconds. */
const PART = 2 ** 19;

export const rowsAtOnce = ({ keys }: Pick<Rows, "keys">): number => Math.max(1, Math.floor(PART / keys));

/** Without scores where weights are as they were brought. */
export type Row = ReturnType<typeof madeRow> | { readonly weights: Float32Array; readonly scores?: undefined };

export function rowOf(source: Source, { layer, head, causal }: HeadAt, query: number): Row {
  const vectors = source.vectors(layer, head);
  if (vectors !== undefined) return madeRow(source, vectors, causal, query);
  const given = source.weights?.(layer, head) ?? new Float32Array(0);
  return { weights: given.subarray(query * source.keys, (query + 1) * source.keys) };
}

/** `read`: the weights of queries from <= i < to, row by row. */
export function rowsOf(source: Source, at: HeadAt, heed: Heed | undefined) {
  const { queries, keys } = source;
  const vectors = source.vectors(at.layer, at.head);
  const key = vectors && heed?.tensor(vectors.k, [1, 1, keys, vectors.width]);
  // Only the weights are wanted: the least that a value can be.
  const value = vectors && heed?.zeros([1, 1, keys, 1]);
  const ownRows = async (from: number, to: number, signal: AbortSignal): Promise<Float32Array> => {
    const rows = new Float32Array((to - from) * keys);
    const breathe = pacer();
    for (let query = from; query < to; query++) {
      rows.set(rowOf(source, at, query).weights, (query - from) * keys);
      await breathe();
      signal.throwIfAborted();
    }
    return rows;
  };
  const read = async (from: number, to: number, signal: AbortSignal): Promise<Float32Array> => {
    if (!(vectors && heed && key && value)) return ownRows(from, to, signal);
    const { width, q } = vectors;
    const query = { data: q.subarray(from * width, to * width), shape: [1, 1, to - from, width] };
    const seen = at.causal ? { causal: true, qOffset: from + keys - queries } : {};
    const wanted = { output: false, weights: true } as const;
    return (await heed.attention(query, key, value, { ...seen, signal, return: wanted })).weights.data;
  };
  const dispose = (): void => {
    for (const tensor of [key, value]) tensor?.dispose();
  };
  return { queries, keys, read, dispose };
}

/** The weights of a row, and what they are made of: scores, -Infinity where a key is hidden; the largest; the sum of e to each score less that. */
function madeRow({ queries, keys }: Source, { width, q, k }: Vectors, causal: boolean, query: number) {
  const seen = causal ? query + 1 + keys - queries : keys;
  const root = Math.sqrt(width);
  const scores = new Float64Array(keys).map((_, key) => {
    if (key >= seen) return Number.NEGATIVE_INFINITY;
    let dot = 0;
    for (let part = 0; part < width; part++) dot += (q[query * width + part] ?? 0) * (k[key * width + part] ?? 0);
    return dot / root;
  });
  const most = scores.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  // Where a query sees nothing, its weights are zeros.
  const powers = scores.map((score) => (seen > 0 ? Math.exp(score - most) : 0));
  const sum = powers.reduce((total, power) => total + power, 0);
  return { weights: powers.map((power) => power / (sum || 1)), scores, most, sum };
}

/** Dots of a head at a glance, both ways. */
const GLANCE = 64;
/** Of each band of rows that becomes a line of dots, so many are looked at. */
const SAMPLED = 4;

/** Its entropy is the mean over the rows that were looked at, in nats. */
export async function glanceAt({ queries, keys, read }: Rows, signal: AbortSignal) {
  const [rows, cols] = [Math.min(GLANCE, queries), Math.min(GLANCE, keys)];
  const max = new Float32Array(rows * cols);
  const edge = (row: number): number => Math.floor((row * queries) / rows);
  let [entropy, sampledRows] = [0, 0];
  for (let row = 0; row < rows; row++) {
    const [top, bottom] = [edge(row), edge(row + 1)];
    const from = top + Math.max(0, (bottom - top - SAMPLED) >> 1);
    const weights = await read(from, Math.min(bottom, from + SAMPLED), signal);
    signal.throwIfAborted();
    for (let first = 0; first < weights.length; first += keys) {
      const own = weights.subarray(first, first + keys);
      entropy += entropyOf(own);
      sampledRows += 1;
      own.forEach((weight, key) => {
        const dot = row * cols + Math.floor((key * cols) / keys);
        max[dot] = Math.max(max[dot] ?? 0, weight);
      });
    }
  }
  return { rows, cols, max, entropy: entropy / sampledRows, sampledRows };
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
