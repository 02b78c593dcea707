// The dispatch of a call: which kernel variant, how many rows a workgroup, how many KV splits. Pure.

import type { AttentionProblem } from "../backend.js";
import type { PairKind, ScoreFeatures } from "./kernel.js";
import type { Machine } from "./plan.js";
import { keyRows, PAIR, queryRows, type Rows } from "./prepared-rows.js";
import { WORKGROUP } from "./shaders/common.js";
import { DECODE_KEYS, decodeBytes, TILE_KEYS, tileBytes } from "./shaders/sizes.js";
import { kernelClass, type Tuning, untuned } from "./tuning.js";

/** The most vectors of an output row that a workgroup accumulates; so many fit into registers. */
const MOST_VECTORS = 32;

/** The most rows of the decode kernel. */
const MOST_DECODE_ROWS = 8;

/** The fewest rows of the tiled kernel. */
const LEAST_TILE_ROWS = 16;

/** The fewest keys worth a KV split. */
const LEAST_SPLIT_KEYS = 256;

/** The kernel variant: how threads of a workgroup share rows, keys and values. */
type Variant =
  | { readonly kind: "untiled"; readonly rows: number; readonly slices: number; readonly step: number }
  | { readonly kind: "tiles"; readonly rows: number; readonly resident: boolean; readonly subgroups: boolean }
  | { readonly kind: "decode"; readonly rows: number; readonly subgroups: boolean };

export interface Dispatch {
  readonly variant: Variant;
  readonly valueVectors: number;
  readonly chunks: number;
  readonly rowTiles: number;
  readonly splits: number;
  readonly splitKeys: number;
  readonly groups: number;
}

interface Sizes {
  /** Query rows that read the same keys (GQA). */
  readonly packed: number;
  readonly vectors: number;
  readonly chunks: number;
  /** Vectors of a value row that one workgroup accumulates. */
  readonly valueVectors: number;
}

function sizesOf({ query, value }: AttentionProblem, made: Rows, { heads }: Rows): Sizes {
  const allValueVectors = Math.ceil(value.shape[3] / 4);
  const chunks = Math.ceil(allValueVectors / MOST_VECTORS);
  const packed = (query.shape[1] / heads) * query.shape[2];
  return { packed, vectors: Math.ceil(made.dim / 4), chunks, valueVectors: Math.ceil(allValueVectors / chunks) };
}

export function dispatchOf(problem: AttentionProblem, query: Rows, key: Rows, machine: Machine): Dispatch {
  const sizes = sizesOf(problem, query, key);
  const { packed, chunks, valueVectors } = sizes;
  const tuning = machine.tunings?.get(classOfSizes(sizes)) ?? untuned(machine.isSoftware);
  const variant = variantOf(sizes, PAIR[problem.score.kind], machine, tuning);
  const outer = problem.query.shape[0] * key.heads;
  const rowTiles = Math.ceil(packed / variant.rows);
  const keys = problem.key.shape[2];
  const block = blockOf(variant);
  const wanted = Math.min(Math.ceil(tuning.groups / (rowTiles * outer * chunks)), Math.floor(keys / LEAST_SPLIT_KEYS));
  const splitKeys = Math.ceil(Math.ceil(keys / Math.max(wanted, 1)) / block) * block;
  const splits = Math.ceil(keys / splitKeys);
  return {
    variant,
    valueVectors,
    chunks,
    rowTiles,
    splits,
    splitKeys,
    groups: rowTiles * outer * chunks * splits,
  };
}

/** The class of kernels that a tuning is for. */
export function classOf(problem: AttentionProblem): string {
  return classOfSizes(sizesOf(problem, queryRows(problem), keyRows(problem)));
}

function classOfSizes({ vectors, valueVectors, packed }: Sizes): string {
  return kernelClass(vectors, valueVectors, powerOfTwo(packed, WORKGROUP));
}

/** Keys of a KV block. */
function blockOf(variant: Variant): number {
  if (variant.kind === "untiled") return variant.step * variant.slices;
  return variant.kind === "tiles" ? TILE_KEYS : DECODE_KEYS;
}

/** Prefers variants whose threads share what they read, if their tiles fit into workgroup memory. */
function variantOf(sizes: Sizes, pair: PairKind, machine: Machine, tuning: Tuning): Variant {
  const { packed, vectors, valueVectors } = sizes;
  const memory = Math.min(tuning.memory, machine.limits.maxComputeWorkgroupStorageSize);
  const subgroups = tuning.subgroups && machine.subgroups;
  if (tuning.shared && packed <= MOST_DECODE_ROWS && pair === "product") {
    const rows = powerOfTwo(packed, MOST_DECODE_ROWS);
    if (decodeBytes({ rows, vectors }) <= memory) return { kind: "decode", rows, subgroups };
  }
  if (tuning.shared && packed > MOST_DECODE_ROWS) {
    for (let rows = powerOfTwo(packed, tuning.rows); rows >= LEAST_TILE_ROWS; rows /= 2) {
      for (const resident of [true, false]) {
        const isFitting = tileBytes({ rows, vectors, valueVectors, resident }) <= memory;
        if (isFitting) return { kind: "tiles", rows, resident, subgroups };
      }
    }
  }
  const rows = powerOfTwo(packed, WORKGROUP);
  return { kind: "untiled", rows, slices: WORKGROUP / rows, step: tuning.step };
}

/** The smallest power of two from `count` on, at most `most`. */
function powerOfTwo(count: number, most: number): number {
  return Math.min(most, 2 ** Math.ceil(Math.log2(count)));
}

/** A sentence for `explain`. */
export function summaryOf({ variant, splits }: Dispatch, { query, key }: ScoreFeatures): string {
  const how = {
    untiled: "each thread a row, or a share of its keys",
    tiles: `tiles of ${variant.rows} rows and ${TILE_KEYS} keys`,
    decode: "eight threads a key, for all rows that share it",
  }[variant.kind];
  const subgroups = "subgroups" in variant && variant.subgroups ? ", subgroups" : "";
  const nativeF16 = [query, key].some(({ dtype }) => dtype === "native-f16") ? ", shader-f16" : "";
  return `computed by ${how}${splits > 1 ? `, ${splits} KV splits` : ""}${subgroups}${nativeF16}`;
}
