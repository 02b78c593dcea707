// A row of queries, and what becomes of its scores: docs/semantics.md's steps, those that the kernel has.

import type { PairKind, ScoreFeatures } from "../kernel.js";
import { DROPOUT, loader, NUMBERS, SIGMOID, TANH, when } from "./common.js";
import { FLOOR_DIV } from "./mods.js";

/** Functions over the bindings q_data, k_data, mask_data, bias_data and tables, of which it names those that it needs. */
export function scoreFunctions(features: ScoreFeatures): string {
  const { pair, softcap, alibi, ranges, mask, bias, scoreMod, maskMod, dropout, normalizer } = features;
  const hasMods = scoreMod !== null || maskMod !== null;
  return `${NUMBERS}
${when(softcap || pair === "additive" || hasMods, TANH)}
${when(pair === "gated" || normalizer === "sigmoid", SIGMOID)}
${loader("q", features.query)}
${loader("k", features.key)}
struct Row {
  number: u32,
  begin: u32,
  end: u32,
  position: i32,
  mask_at: u32,
  bias_at: u32,
  slope: f32,
  constant: f32,
  constants: u32,
  drop: u32,
  indices: vec3f,
}
struct Score { value: f32, seen: bool }
fn float_of(at: u32) -> f32 { return ${usesTables(features) ? "bitcast<f32>(tables[at])" : "0.0"}; }
${when(dropout, DROPOUT)}
fn row_of(b: u32, h: u32, i: u32) -> Row {
  var row: Row;
  row.number = (b * P.heads + h) * P.queries + i;
  row.begin = 0u;
  row.end = P.keys;
  ${when(
    ranges,
    `let range = P.ranges_at + (b * P.queries + i) * 3u;
  row.begin = tables[range];
  row.end = tables[range + 1u];
  row.position = bitcast<i32>(tables[range + 2u]);`,
  )}
  ${when(mask, "row.mask_at = b * P.mask_b + h * P.mask_h + i * P.mask_i;")}
  ${when(bias, "row.bias_at = b * P.bias_b + h * P.bias_h + i * P.bias_i;")}
  ${when(alibi, "row.slope = float_of(P.slopes_at + h);")}
  ${when(pair === "rbf", "row.constant = float_of(P.constants_at + h * P.constants_h);")}
  ${when(pair === "additive", "row.constants = P.constants_at + h * P.constants_h;")}
  ${when(hasMods, "row.indices = vec3f(f32(b), f32(h), f32(i));")}
  ${when(dropout, "row.drop = mix_bits(P.drop_seed ^ row.number);")}
  return row;
}
${when(pair === "additive", ADDITIVE_WEIGHTS)}
fn capped(raw: f32) -> f32 {
  ${softcap ? "return P.softcap * tanh_f32(raw / P.softcap);" : "return raw;"}
}
${when(hasMods, FLOOR_DIV)}
${when(scoreMod !== null, `fn score_mod(score: f32, row: Row, k: f32) -> f32 {\n  ${scoreMod}\n}`)}
${when(maskMod !== null, `fn mask_mod(score: f32, row: Row, k: f32) -> f32 {\n  ${maskMod}\n}`)}
fn transform_score(row: Row, given: f32, j: u32) -> Score {
  var score = Score(given, j >= row.begin && j < row.end);
  ${when(
    scoreMod !== null,
    `score.value = score_mod(given, row, f32(j));
  score.seen = score.seen && !(score.value < -BIAS_LIMIT);
  score.value = select(score.value, BIAS_LIMIT, score.value > BIAS_LIMIT);`,
  )}
  ${when(maskMod !== null, "score.seen = score.seen && mask_mod(0.0, row, f32(j)) != 0.0;")}
  ${when(alibi, "score.value -= row.slope * abs(f32(row.position - i32(j)));")}
  ${when(
    mask,
    `if (score.seen) {
    let at = row.mask_at + j * P.mask_j;
    score.seen = ((mask_data[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu) != 0u;
  }`,
  )}
  ${when(
    bias,
    `if (score.seen) {
    let bits = bias_data[row.bias_at + j * P.bias_j];
    let added = bitcast<f32>(bits);
    score.seen = bits != MINUS_INFINITY;
    score.value += select(select(added, BIAS_LIMIT, added > BIAS_LIMIT), -BIAS_LIMIT, added < -BIAS_LIMIT);
  }`,
  )}
  score.seen = score.seen && !(score.value < NONE);
  return score;
}`;
}

export function usesTables({ pair, alibi, ranges, scoreMod, maskMod }: ScoreFeatures): boolean {
  return alibi || ranges || scoreMod !== null || maskMod !== null || pair === "rbf" || pair === "additive";
}

const ADDITIVE_WEIGHTS = `fn weights_of(row: Row, d: u32) -> vec4f {
  let at = row.constants + d;
  return vec4f(float_of(at), float_of(at + 1u), float_of(at + 2u), float_of(at + 3u));
}`;

/** What vector `d` of a query and a key adds to the sum of a pair, as two factors. */
export function pairFactors(pair: PairKind, query: string, key: string, d: string): readonly [string, string] {
  switch (pair) {
    case "product":
    case "gated":
      return [query, key];
    case "rbf":
    case "distance":
      return [`(${query} - ${key})`, `(${query} - ${key})`];
    case "additive":
      return [`weights_of(row, ${d} * 4u)`, `tanh_vec4f(${query} + ${key})`];
  }
}

export function pairTerm(pair: PairKind, query: string, key: string, d: string): string {
  return pairFactors(pair, query, key, d).join(" * ");
}

/** The score that the total of all terms makes, scaled; `gate` is the first number of both last vectors added, of a gated score. */
export function pairResult(pair: PairKind, total: string, gate: string): string {
  switch (pair) {
    case "product":
    case "additive":
      return `(${total}) * P.scale`;
    case "gated":
      return `(${total}) * sigmoid(${gate}) * P.scale`;
    case "rbf":
      return `(${total}) * row.constant * P.scale`;
    case "distance":
      return `-sqrt(${total}) * P.scale`;
  }
}

/** Vectors of a row that are terms of the sum: all but the gate's own. */
export function terms({ pair, vectors }: ScoreFeatures): number {
  return pair === "gated" ? vectors - 1 : vectors;
}

/** `score_at(row, q_at, k_at)`: from where query and key lie. */
export function directScore(features: ScoreFeatures): string {
  const { pair, vectors } = features;
  const count = terms(features);
  const gate = `(load_q(q_at, ${(vectors - 1) * 4}u, P.head_dim) + load_k(k_at, ${(vectors - 1) * 4}u, P.head_dim)).x`;
  return `fn score_at(row: Row, q_at: u32, k_at: u32) -> f32 {
  var sum = vec4f();
  for (var d = 0u; d < ${count}u; d++) {
    let query = load_q(q_at, d * 4u, P.head_dim);
    let key = load_k(k_at, d * 4u, P.head_dim);
    sum += ${pairTerm(pair, "query", "key", "d")};
  }
  return ${pairResult(pair, "dot(sum, vec4f(1.0))", gate)};
}`;
}
