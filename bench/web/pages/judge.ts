// Judges an output: some of its rows are compared with heed/reference, and none may hold NaN.

import { attention, type ReferenceOptions } from "heed/reference";
import { type Addition, biasOf, maskOf, WINDOW } from "./additions.js";
import { inputsOf } from "./inputs.js";
import type { Problem } from "./peer.js";

export interface Verdict {
  readonly rows: readonly {
    /** Which of the outputs. Default 0. */
    readonly output?: number;
    readonly head: number;
    readonly query: number;
    readonly exact: readonly number[];
  }[];
}

/** The reference is slow: this many multiplications take it a second or two. */
const MULTIPLICATIONS = 2e7;
const FEWEST_ROWS = 8;
const MOST_ROWS = 1024;

export function judge(problem: Problem, addition: Addition | null): Verdict {
  const { heads, kvHeads, queries, keys, dim } = problem;
  const { query, key, value } = inputsOf(problem);
  const rowOptions = optionsOf(problem, addition);
  const affordable = Math.max(FEWEST_ROWS, Math.floor(MULTIPLICATIONS / (2 * keys * dim)));
  const count = Math.min(MOST_ROWS, heads * queries, affordable);
  const rows = Array.from({ length: count }, (_, n) => {
    // The rows are spread evenly from the first row of the first head to the last row of the last head.
    const index = count === 1 ? 0 : Math.round((n * (heads * queries - 1)) / (count - 1));
    const head = Math.floor(index / queries);
    const group = Math.floor(head / (heads / kvHeads));
    const ofHead = (numbers: Float32Array) => numbers.subarray(group * keys * dim, (group + 1) * keys * dim);
    const { output } = attention(
      { data: query.subarray(index * dim, (index + 1) * dim), shape: [1, dim] },
      { data: ofHead(key), shape: [keys, dim] },
      { data: ofHead(value), shape: [keys, dim] },
      rowOptions(index),
    );
    return { head, query: index % queries, exact: Array.from(output.data) };
  });
  return { rows };
}

/** The options of a single row, by its index among the rows of all heads. */
function optionsOf(problem: Problem, addition: Addition | null): (index: number) => ReferenceOptions {
  const { queries, keys, causal } = problem;
  const mask = addition === "mask" ? maskOf(problem).data : null;
  const bias = addition === "bias" ? biasOf(problem).data : null;
  return (index) => {
    const part = [index * keys, (index + 1) * keys] as const;
    return {
      causal,
      qOffset: (index % queries) + keys - queries,
      ...(addition === "window" ? { window: WINDOW } : {}),
      ...(mask === null ? {} : { mask: { data: mask.subarray(...part), shape: [keys] } }),
      ...(bias === null ? {} : { bias: { data: bias.subarray(...part), shape: [keys] } }),
    };
  };
}

/** The largest difference in any row of the verdict; NaN when an output has one anywhere, or has another size. */
export function worstError(
  outputs: readonly Float32Array[],
  layout: "bhnd" | "bnhd",
  { heads, queries, dim }: Problem,
  verdict: Verdict,
): number {
  if (outputs.some((one) => one.length !== heads * queries * dim || one.some(Number.isNaN))) return Number.NaN;
  let worst = 0;
  for (const { output = 0, head, query, exact } of verdict.rows) {
    const row = layout === "bhnd" ? head * queries + query : query * heads + head;
    for (const [e, value] of exact.entries()) {
      worst = Math.max(worst, Math.abs((outputs[output]?.[row * dim + e] ?? Number.NaN) - value));
    }
  }
  return worst;
}
