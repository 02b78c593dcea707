// Whether an output is right: some of its rows against heed/reference, all of it for being numbers.

import { attention } from "heed/reference";
import { inputsOf } from "./inputs.js";
import type { Problem } from "./peer.js";

export interface Verdict {
  readonly rows: readonly { readonly head: number; readonly query: number; readonly exact: readonly number[] }[];
}

/** The reference is slow: as many rows as it does in a second or two. */
const MULTIPLICATIONS = 2e7;
const MOST_ROWS = 48;

export function judge(problem: Problem): Verdict {
  const { heads, kvHeads, queries, keys, dim, causal } = problem;
  const { query, key, value } = inputsOf(problem);
  const count = Math.min(MOST_ROWS, heads * queries, Math.max(8, Math.floor(MULTIPLICATIONS / (2 * keys * dim))));
  const rows = Array.from({ length: count }, (_, n) => {
    // From the first row of the first head to the last row of the last one, evenly.
    const index = count === 1 ? 0 : Math.round((n * (heads * queries - 1)) / (count - 1));
    const head = Math.floor(index / queries);
    const i = index % queries;
    const group = Math.floor(head / (heads / kvHeads));
    const ofHead = (numbers: Float32Array) => numbers.subarray(group * keys * dim, (group + 1) * keys * dim);
    const { output } = attention(
      { data: query.subarray(index * dim, (index + 1) * dim), shape: [1, dim] },
      { data: ofHead(key), shape: [keys, dim] },
      { data: ofHead(value), shape: [keys, dim] },
      causal ? { causal: true, qOffset: i + keys - queries } : {},
    );
    return { head, query: i, exact: Array.from(output.data) };
  });
  return { rows };
}

/** The largest difference in any row of the verdict; NaN when the output has one anywhere, or has another size. */
export function worstError(
  output: Float32Array,
  layout: "bhnd" | "bnhd",
  { heads, queries, dim }: Problem,
  verdict: Verdict,
): number {
  if (output.length !== heads * queries * dim || output.some(Number.isNaN)) return Number.NaN;
  let worst = 0;
  for (const { head, query, exact } of verdict.rows) {
    const row = layout === "bhnd" ? head * queries + query : query * heads + head;
    for (const [e, value] of exact.entries()) {
      worst = Math.max(worst, Math.abs((output[row * dim + e] ?? Number.NaN) - value));
    }
  }
  return worst;
}
