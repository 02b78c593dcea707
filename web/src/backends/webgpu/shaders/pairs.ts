// Results of a number a query and key: scores, weights, and the mean of the weights over the heads. A thread has one pair.

import type { PairsKernel } from "../kernel.js";
import { type Bound, bindings, GROUP_INDEX, operandType, WORKGROUP, when } from "./common.js";
import { directScore, scoreFunctions } from "./scores.js";

export function pairsBindings(kernel: PairsKernel): readonly Bound[] {
  return [
    { name: "q_data", type: operandType(kernel.query), access: "read" },
    { name: "k_data", type: operandType(kernel.key), access: "read" },
    ...(kernel.mask ? [{ name: "mask_data", type: "u32", access: "read" } as const] : []),
    ...(kernel.bias ? [{ name: "bias_data", type: "u32", access: "read" } as const] : []),
    { name: "tables", type: "u32", access: "read" },
    ...(needsStats(kernel) ? [{ name: "stats", type: "vec2f", access: "read" } as const] : []),
    { name: "results", type: "u32", access: "read_write" },
  ];
}

/** Each row's maximum and sum, of the kernel before. */
export function needsStats({ weights, normalizer }: PairsKernel): boolean {
  return weights !== null && normalizer === "softmax";
}

export function pairsShader(kernel: PairsKernel): string {
  const isMean = kernel.weights === "mean";
  const isRow = kernel.weights === "rows";
  return `${bindings(pairsBindings(kernel))}
${scoreFunctions(kernel)}
${directScore(kernel)}
${GROUP_INDEX}
${when(kernel.weights !== null, weightOf(kernel))}
fn at_pair(b: u32, h: u32, i: u32, j: u32, row: Row) -> f32 {
  return score_at(row, b * P.q_b + h * P.q_h + i * P.q_i, b * P.k_b + (h / P.pack) * P.k_h + j * P.k_j);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group) * ${WORKGROUP}u + thread;
  if (index >= P.pairs) { return; }
  let j = index % P.keys;
  let i = P.pairs_from + (index / P.keys) % P.pairs_rows;
  let outer = index / P.keys / P.pairs_rows;
  ${isMean ? meanOfHeads() : oneHead(kernel, isRow)}
}`;
}

function weightOf({ normalizer, dropout }: PairsKernel): string {
  const weight = {
    softmax: "exp(score.value - stats[row.number].x) / stats[row.number].y",
    sigmoid: "sigmoid(score.value)",
    none: "score.value",
  }[normalizer];
  return `fn weight_of(row: Row, score: Score, j: u32) -> f32 {
  if (!score.seen) { return 0.0; }
  ${when(dropout, "if (is_dropped(row, j)) { return 0.0; }")}
  return ${weight}${dropout ? " * P.drop_keep" : ""};
}`;
}

function meanOfHeads(): string {
  return `var sum = 0.0;
  for (var h = 0u; h < P.heads; h++) {
    let row = row_of(outer, h, i);
    sum += weight_of(row, transform_score(row, capped(at_pair(outer, h, i, j, row)), j), j);
  }
  results[P.weights_at + index] = number(sum / f32(P.heads));`;
}

function oneHead({ scores }: PairsKernel, isRow: boolean): string {
  const wanted = {
    raw: "number(raw)",
    capped: "number(capped(raw))",
    masked: "select(MINUS_INFINITY, number(score.value), score.seen)",
  };
  return `let h = outer % P.heads;
  let b = outer / P.heads;
  let row = row_of(b, h, i);
  let raw = at_pair(b, h, i, j, row);
  let score = transform_score(row, capped(raw), j);
  ${scores === null ? "" : `results[P.scores_at + index] = ${wanted[scores]};`}
  ${when(
    isRow,
    `if (i >= P.weights_from && i < P.weights_to) {
    let at = (outer * (P.weights_to - P.weights_from) + i - P.weights_from) * P.keys + j;
    results[P.weights_at + at] = number(weight_of(row, score, j));
  }`,
  )}`;
}
