// The relative position buckets of T5 (Raffel et al. 2019, arXiv 1910.10683): one number a head for each range of distances.

import { showShape } from "../describe.js";
import { HeedError } from "../errors.js";
import type { TensorLike } from "../options.js";
import { readBoolean, readFinite, readRecord } from "../read-values.js";
import type { ArrayTensor } from "../tensor.js";
import { readSize, readTable } from "./read.js";

export interface RelativeBiasOptions {
  /** Queries, and keys unless `keyLength` says otherwise. */
  readonly length: number;
  readonly keyLength?: number | undefined;
  /** The position of query 0 among the keys. Default keyLength - length. */
  readonly offset?: number | undefined;
  /** Default the table's rows. */
  readonly buckets?: number | undefined;
  /** From here on all distances are in one bucket. Default 128. */
  readonly maxDistance?: number | undefined;
  /** false: keys after the query are all at distance 0, as in T5's decoder. Default true. */
  readonly bidirectional?: boolean | undefined;
}

const NAMES = ["length", "keyLength", "offset", "buckets", "maxDistance", "bidirectional"];

/** [H, length, keyLength], a bias for attention, from a table of [buckets, H]. Throws a HeedError. */
export function relativeBias(table: TensorLike, options: RelativeBiasOptions): ArrayTensor {
  const where = "relativeBias";
  const given = readRecord(where, "options", options, NAMES);
  const { floats, rows, columns: heads } = readTable(where, table);
  const queries = readSize(where, "length", given["length"], 0);
  const keys = readSize(where, "keyLength", given["keyLength"] ?? queries, 0);
  const offset = readFinite(where, "offset", given["offset"], keys - queries);
  const buckets = readSize(where, "buckets", given["buckets"] ?? rows, 2);
  const maxDistance = readSize(where, "maxDistance", given["maxDistance"] ?? 128, 2);
  const bidirectional = readBoolean(where, "bidirectional", given["bidirectional"], true);
  if (buckets !== rows || (bidirectional && buckets % 2 !== 0)) {
    throw new HeedError(
      "shape",
      `${where}: table must have ${buckets} rows${bidirectional ? ", an even number" : ""}, got ${showShape([rows, heads])}`,
    );
  }
  const bucketOf = bucketRule(buckets, maxDistance, bidirectional);
  const data = new Float32Array(heads * queries * keys);
  // Buckets go by distance alone, of which there are as many as diagonals.
  for (let distance = -offset - queries + 1; distance < keys - offset; distance++) {
    const bucket = bucketOf(distance);
    for (let h = 0; h < heads; h++) {
      const number = floats[bucket * heads + h] ?? 0;
      const first = Math.max(0, -offset - distance);
      for (let i = first; i < queries && i + offset + distance < keys; i++) {
        data[(h * queries + i) * keys + i + offset + distance] = number;
      }
    }
  }
  return { data, shape: [heads, queries, keys], dtype: "f32" };
}

/** The bucket of a key so far after the query. */
function bucketRule(buckets: number, maxDistance: number, bidirectional: boolean): (distance: number) => number {
  const side = bidirectional ? buckets / 2 : buckets;
  const exact = Math.max(1, Math.floor(side / 2));
  return (distance) => {
    const start = bidirectional && distance > 0 ? side : 0;
    const away = bidirectional ? Math.abs(distance) : Math.max(0, -distance);
    if (away < exact) return start + away;
    const steps = (Math.log(away / exact) / Math.log(maxDistance / exact)) * (side - exact);
    return start + Math.min(exact + Math.floor(steps), side - 1);
  };
}
