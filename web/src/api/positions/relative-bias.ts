// The relative position buckets of T5 (Raffel et al. 2019, arXiv 1910.10683): one number a head for each range of distances.

import { showShape } from "../describe.js";
import { HeedError } from "../errors.js";
import type { HalfTensorLike, TensorLike } from "../options.js";
import { readBoolean, readRecord } from "../read-values.js";
import type { ArrayTensor } from "../tensor.js";
import { LEAST_OFFSET, newTable, readAndMake, readSize, readTable } from "./read.js";

export interface RelativeBiasOptions {
  /** Queries, and keys unless `keyLength` says otherwise. */
  readonly length: number;
  readonly keyLength?: number | undefined;
  /** The position of query 0 among the keys. Default keyLength - length. */
  readonly offset?: number | undefined;
  /** Default the table's rows. */
  readonly buckets?: number | undefined;
  /** From here on all distances are in one bucket; more than the buckets that are distances of their own. Default 128, or the least. */
  readonly maxDistance?: number | undefined;
  /** false: keys after the query are all at distance 0, as in T5's decoder. Default true. */
  readonly bidirectional?: boolean | undefined;
}

const NAMES = ["length", "keyLength", "offset", "buckets", "maxDistance", "bidirectional"];

/** [H, length, keyLength], a bias for attention, from a table of [buckets, H]. Throws a HeedError. */
export function relativeBias(table: TensorLike | HalfTensorLike, options: RelativeBiasOptions): ArrayTensor {
  return readAndMake("relativeBias", (where) => biasOf(where, table, options));
}

function biasOf(where: string, table: unknown, options: unknown): ArrayTensor {
  const given = readRecord(where, "options", options, NAMES);
  const { floats, rows, columns: heads } = readTable(where, table);
  const queries = readSize(where, "length", given["length"], 0);
  const keys = readSize(where, "keyLength", given["keyLength"], 0, queries);
  const offset = readSize(where, "offset", given["offset"], LEAST_OFFSET, keys - queries);
  const buckets = readSize(where, "buckets", given["buckets"], 2, rows);
  const bidirectional = readBoolean(where, "bidirectional", given["bidirectional"], true);
  if (buckets !== rows || (bidirectional && buckets % 2 !== 0)) {
    throw new HeedError(
      "shape",
      `${where}: table must have ${buckets} rows${bidirectional ? ", an even number" : ""}, got ${showShape([rows, heads])}`,
    );
  }
  const side = bidirectional ? buckets / 2 : buckets;
  const exact = Math.max(1, Math.floor(side / 2));
  const maxDistance = readSize(where, "maxDistance", given["maxDistance"], exact + 1, Math.max(128, exact + 1));
  const bucketOf = bucketRule(side, exact, maxDistance, bidirectional);
  const made = newTable(where, [heads, queries, keys]);
  if (made.data.length === 0) return made;
  // Buckets go by distance alone, so a row is the one before it, one distance on.
  const last = offset + queries - 1;
  const places = new Int32Array(queries + keys - 1).map((_, at) => bucketOf(at - last));
  for (let h = 0; h < heads; h++) {
    const numbers = new Float32Array(places.length).map((_, at) => floats[(places[at] ?? 0) * heads + h] ?? 0);
    for (let i = 0; i < queries; i++) {
      const first = queries - 1 - i;
      made.data.set(numbers.subarray(first, first + keys), (h * queries + i) * keys);
    }
  }
  return made;
}

/** The bucket of a key so far after the query: of `side` buckets the first `exact` are distances of their own. */
function bucketRule(
  side: number,
  exact: number,
  maxDistance: number,
  bidirectional: boolean,
): (distance: number) => number {
  return (distance) => {
    const start = bidirectional && distance > 0 ? side : 0;
    const away = bidirectional ? Math.abs(distance) : Math.max(0, -distance);
    if (away < exact) return start + away;
    const steps = (Math.log(away / exact) / Math.log(maxDistance / exact)) * (side - exact);
    return start + Math.min(exact + Math.floor(steps), side - 1);
  };
}
