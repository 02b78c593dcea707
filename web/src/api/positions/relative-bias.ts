// The relative position buckets of T5 (Raffel et al. 2019, arXiv 1910.10683): one number per head for each range of distances.

import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { readBoolean, readRecord } from "../../base/read-values.js";
import type { HalfTensorLike, TensorLike } from "../options.js";
import type { ArrayTensor } from "../tensor.js";
import { LEAST_OFFSET, newTable, readAndMake, readTable, readTableSize } from "./read.js";

/** The options of `relativeBias`: T5's buckets of distances. */
export interface RelativeBiasOptions {
  /** The number of queries, and of keys unless `keyLength` says otherwise. */
  readonly length: number;
  readonly keyLength?: number | undefined;
  /** The position of query 0 among the keys. Default keyLength - length. */
  readonly offset?: number | undefined;
  /** Default the table's rows. */
  readonly buckets?: number | undefined;
  /** From here on all distances share one bucket. It exceeds the number of distances with a bucket of their own. Default 128, or the least possible. */
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
  const queries = readTableSize(where, "length", given["length"], 0);
  const keys = readTableSize(where, "keyLength", given["keyLength"], 0, queries);
  const offset = readTableSize(where, "offset", given["offset"], LEAST_OFFSET, keys - queries);
  const buckets = readTableSize(where, "buckets", given["buckets"], 2, rows);
  const bidirectional = readBoolean(where, "bidirectional", given["bidirectional"], true);
  if (buckets !== rows || (bidirectional && buckets % 2 !== 0)) {
    throw new HeedError(
      "shape",
      `${where}: table must have ${buckets} rows${bidirectional ? ", an even number" : ""}, got ${showShape([rows, heads])}`,
    );
  }
  const side = bidirectional ? buckets / 2 : buckets;
  const exact = Math.max(1, Math.floor(side / 2));
  const maxDistance = readTableSize(where, "maxDistance", given["maxDistance"], exact + 1, Math.max(128, exact + 1));
  const bucketOf = bucketRule(side, exact, maxDistance, bidirectional);
  const made = newTable(where, [heads, queries, keys]);
  if (made.data.length === 0) return made;
  // A bucket depends on the distance only, so each row is the row before it, shifted by one.
  const last = offset + queries - 1;
  const bucketsOf = new Int32Array(queries + keys - 1).map((_, at) => bucketOf(at - last));
  for (let h = 0; h < heads; h++) {
    const numbers = new Float32Array(bucketsOf.length).map((_, at) => floats[(bucketsOf[at] ?? 0) * heads + h] ?? 0);
    for (let i = 0; i < queries; i++) {
      const first = queries - 1 - i;
      made.data.set(numbers.subarray(first, first + keys), (h * queries + i) * keys);
    }
  }
  return made;
}

/** The bucket of a key at a distance after the query. The first `exact` of `side` buckets are for one distance each. */
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
