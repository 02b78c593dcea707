// Sizes in workgroup memory of the kernels whose threads share what they read. Pure.

import type { DecodeKernel, TilesKernel } from "../kernel.js";
import type { Constants } from "./compose.js";

/** Neighbouring threads that share rows or keys. */
export const SHARING = 8;

/** Rows and keys of a thread: a vector of either. */
const OWN = 4;

const DECODE_THREADS = 128;

/** Keys of a KV block of the decode kernel. */
export const DECODE_KEYS = 256;

export const decodeConstants: Constants = { THREADS: DECODE_THREADS, KEYS: DECODE_KEYS, OWN };

/** Bytes of workgroup memory: queries, scores, a row's rescale and state, and what threads exchange. */
export function decodeBytes({ rows, vectors }: Pick<DecodeKernel, "rows" | "vectors">): number {
  const perRow = vectors + DECODE_KEYS / 4 + 2;
  return 16 * (rows * perRow + DECODE_THREADS + DECODE_THREADS / SHARING + 1);
}

/** Keys of a KV block of the tiled kernel. */
export const TILE_KEYS = OWN * SHARING;

/** Vectors of a row of Q or K that are in workgroup memory at a time. */
const DEPTH = 4;

/** Vectors from one row to the next: an odd number, so that those of eight neighbours lie in different banks. */
const strideOf = (vectors: number): number => vectors + 1 - (vectors % 2);

type TileSizes = Pick<TilesKernel, "rows" | "vectors" | "valueVectors" | "resident">;

export function tileConstants({ rows, vectors, valueVectors, resident }: TileSizes) {
  const STRIDE = strideOf(DEPTH);
  const WEIGHT_STRIDE = strideOf(rows / OWN);
  const KEYS_AT = resident ? 0 : rows * STRIDE;
  const OWN_VECTORS = Math.ceil(valueVectors / SHARING);
  const threads = (rows / OWN) * SHARING;
  // Queries and keys, value rows and what threads exchange lie in the same array, one after the other in time.
  const STAGED_SIZE = Math.max(KEYS_AT + TILE_KEYS * STRIDE, OWN_VECTORS * SHARING, threads);
  return {
    OWN,
    KEYS: TILE_KEYS,
    DEPTH,
    RAGGED: vectors % DEPTH !== 0,
    STRIDE,
    QUERY_STRIDE: strideOf(vectors),
    WEIGHT_STRIDE,
    KEYS_AT,
    OWN_VECTORS,
    VALUE_KEYS: Math.min(TILE_KEYS, 2 ** Math.floor(Math.log2(STAGED_SIZE / (OWN_VECTORS * SHARING)))),
    QUERIES_SIZE: resident ? rows * strideOf(vectors) : 1,
    STAGED_SIZE,
    // The last row needs no distance to another.
    WEIGHTS_SIZE: TILE_KEYS * WEIGHT_STRIDE - 1,
  };
}

/** Bytes of workgroup memory, with a vector for the numbering of threads. */
export function tileBytes(sizes: TileSizes): number {
  const { QUERIES_SIZE, STAGED_SIZE, WEIGHTS_SIZE } = tileConstants(sizes);
  return 16 * ((sizes.resident ? QUERIES_SIZE : 0) + STAGED_SIZE + WEIGHTS_SIZE + 1);
}
