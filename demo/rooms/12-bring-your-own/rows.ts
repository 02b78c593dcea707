// Rows of weights, a few at a time: from the kernel, from what was brought, or, where no kernel runs, by hand. Never all at once.

import type { Heed } from "heed";
import { pause } from "../../src/ui/pieces.js";
import { ownRow } from "./own-rows.js";
import type { Source } from "./source.js";

export interface Rows {
  readonly queries: number;
  readonly keys: number;
  /** The weights of queries from <= i < to, row by row. */
  readonly read: (from: number, to: number, signal: AbortSignal) => Promise<Float32Array>;
  readonly dispose: () => void;
}

/** Which head, and whether queries see only what came before. */
export interface HeadAt {
  readonly layer: number;
  readonly head: number;
  readonly causal: boolean;
}

/** Numbers of one call: what it computes and hands over takes some milliseconds. */
const PART = 2 ** 19;

export function rowsAtOnce({ keys }: Pick<Rows, "keys">): number {
  return Math.max(1, Math.floor(PART / keys));
}

export function lastSeen({ queries, keys }: Source, causal: boolean, query: number): number {
  return causal ? query + keys - queries : keys - 1;
}

export function rowsOf(source: Source, at: HeadAt, heed: Heed | undefined): Rows {
  const { queries, keys } = source;
  const given = source.weights(at.layer, at.head);
  if (given !== undefined) {
    const read: Rows["read"] = async (from, to) => given.subarray(from * keys, to * keys);
    return { queries, keys, read, dispose: () => {} };
  }
  return heed === undefined ? ownRows(source, at) : kernelRows(source, at, heed);
}

function kernelRows(source: Source, { layer, head, causal }: HeadAt, heed: Heed): Rows {
  const { queries, keys } = source;
  const { width, q, k } = vectorsOf(source, layer, head);
  const key = heed.tensor(k, [1, 1, keys, width]);
  // Only the weights are wanted: the least that a value can be.
  const value = heed.zeros([1, 1, keys, 1]);
  return {
    queries,
    keys,
    read: async (from, to, signal) => {
      const query = { data: q.subarray(from * width, to * width), shape: [1, 1, to - from, width] };
      const { weights } = await heed.attention(query, key, value, {
        ...(causal ? { causal: true, qOffset: from + keys - queries } : {}),
        signal,
        return: { output: false, weights: true },
      });
      return weights.data;
    },
    dispose: () => {
      key.dispose();
      value.dispose();
    },
  };
}

function ownRows(source: Source, { layer, head, causal }: HeadAt): Rows {
  const { queries, keys } = source;
  const vectors = vectorsOf(source, layer, head);
  return {
    queries,
    keys,
    read: async (from, to, signal) => {
      const rows = new Float32Array((to - from) * keys);
      for (let query = from; query < to; query++) {
        rows.set(ownRow(vectors, query, keys, lastSeen(source, causal, query)).shares, (query - from) * keys);
        await pause();
        signal.throwIfAborted();
      }
      return rows;
    },
    dispose: () => {},
  };
}

function vectorsOf(source: Source, layer: number, head: number) {
  const vectors = source.vectors(layer, head);
  if (vectors === undefined) throw new RangeError(`there is no head ${head + 1} in layer ${layer + 1}`);
  return vectors;
}
