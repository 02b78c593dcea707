// The epilogue of a row, whole or combined from KV splits: it divides by the row sum and writes output, lse, entropy and stats.

import type { RowOutputs } from "../kernel.js";
import { when } from "./common.js";

/** What a row has gathered: maximum, sum of exponentials, and of those times their distance to the maximum. */
export const ROW_STATE = "struct RowState { row_max: f32, row_sum: f32, spread: f32 }";

export interface RowEpilogueOptions extends RowOutputs {
  readonly normalizer: "softmax" | "sigmoid" | "none";
  readonly dropout: boolean;
}

/** Numbers e to e + 3 of the output's row, as far as it has them. */
export const WRITE_OUTPUT = `fn write_output(at: u32, e: u32, value: vec4f) {
  for (var n = 0u; n < 4u; n++) { if (e + n < P.value_dim) { results[at + e + n] = number(value[n]); } }
}`;

/** `finish_sums`: the sink joins, numbers a row are written; what is returned multiplies the output. */
export function rowEpilogue({ sinks, lse, entropy, stats, normalizer, dropout }: RowEpilogueOptions): string {
  const keep = dropout ? "P.drop_keep" : "1.0";
  if (normalizer !== "softmax")
    return `fn row_epilogue(given: RowState, h: u32, row: u32, writes: bool) -> f32 { return ${keep}; }`;
  return `fn row_epilogue(given: RowState, h: u32, row: u32, writes: bool) -> f32 {
  // Of a key that is seen the weight is at least SMALLEST_WEIGHT.
  let is_empty = given.row_sum == 0.0;
  var sums = given;
  ${when(
    sinks,
    `let sink = bitcast<f32>(tables[P.sinks_at + h]);
  if (sink > NONE && !is_empty) {
    let row_max = select(sums.row_max, sink, sink > sums.row_max);
    sums.spread = exp(sums.row_max - row_max) * (sums.spread + sums.row_sum * (sums.row_max - row_max));
    sums.row_sum = sums.row_sum * exp(sums.row_max - row_max) + exp(sink - row_max);
    sums.row_max = row_max;
  }`,
  )}
  if (writes) {
    ${when(lse, "results[P.lse_at + row] = select(number(sums.row_max + log(sums.row_sum)), MINUS_INFINITY, is_empty);")}
    ${when(
      entropy,
      `// -sum of p ln p, p = exp(score - row_max) / sum: what a sink took of the sum has no weight of its own.
    let weights = ${sinks ? "select(1.0, (given.row_sum * exp(given.row_max - sums.row_max)) / sums.row_sum, !is_empty)" : "1.0"};
    results[P.entropy_at + row] = number(select(weights * log(sums.row_sum) - sums.spread / sums.row_sum, 0.0, is_empty));`,
    )}
    ${when(stats, "stats[row] = vec2f(sums.row_max, sums.row_sum);")}
  }
  // What the output was summed up relative to, a sink may have changed.
  return select(${keep} * ${sinks ? "exp(given.row_max - sums.row_max)" : "1.0"} / sums.row_sum, 0.0, is_empty);
}`;
}
