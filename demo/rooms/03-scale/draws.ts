// The random queries and keys of this room, and their scores at every width. A narrower vector is the beginning of a wider one.

import { normal, twoDecimals } from "../../src/model/random.js";
import { WIDTHS } from "./state.js";

/** Queries, each with keys of its own; the page shows the first and averages over all. */
const DRAWS = 64;
const WIDEST = WIDTHS.at(-1) ?? 1;

export interface Draw {
  /** WIDEST numbers. */
  readonly q: Float64Array;
  readonly keys: readonly Float64Array[];
  /** q . k at each of WIDTHS, by key. */
  readonly scores: readonly (readonly number[])[];
}

/** One after the other; together they are some milliseconds. */
export function* draws(seed: number, keys: number, likeness: number): Generator<Draw> {
  const next = normal(seed);
  for (let draw = 0; draw < DRAWS; draw++) {
    const q = Float64Array.from({ length: WIDEST }, () => twoDecimals(next()));
    const vectors = Array.from({ length: keys }, (_, key) => {
      const part = key === 0 ? likeness : 0;
      const rest = Math.sqrt(1 - part * part);
      return q.map((component) => twoDecimals(part * component + rest * next()));
    });
    yield { q, keys: vectors, scores: vectors.map((vector) => scoresAt(q, vector)) };
  }
}

/** The sum of products so far, wherever a width of the list is reached. */
function scoresAt(q: Float64Array, k: Float64Array): readonly number[] {
  let sum = 0;
  let done = 0;
  return WIDTHS.map((width) => {
    for (; done < width; done++) sum += (q[done] ?? 0) * (k[done] ?? 0);
    return sum;
  });
}
