// Attention by the online softmax for few rows that share keys, as in decoding, where memory is what they wait for. Keys of a block are multiplied
// by eight threads each, which read what lies side by side; then threads have scores, of one row each; then vectors of values.

import type { FewKernel } from "../kernel.js";
import { attendingHead, groupPlace, rowPlace } from "./attended.js";
import { times, when } from "./common.js";
import { eightThreads, laneInput, numberThreads, SHARING } from "./lanes.js";
import { pairResult } from "./scores.js";

const THREADS = 128;

/** Keys that eight threads have at a time. */
const OWN = 4;

/** Keys of a block. */
export const FEW_KEYS = 256;

/** Bytes of workgroup memory. */
export function fewBytes({ rows, vectors }: Pick<FewKernel, "rows" | "vectors">): number {
  const perRow = vectors + FEW_KEYS / 4 + 2;
  return 16 * (rows * perRow + THREADS + THREADS / SHARING + 1);
}

export function fewShader(kernel: FewKernel): string {
  const { rows, vectors, valueVectors, split, subgroups, normalizer, entropy } = kernel;
  const isSoftmax = normalizer === "softmax";
  return `${attendingHead(kernel)}
const ROWS = ${rows}u;
const THREADS = ${THREADS}u;
const KEYS = ${FEW_KEYS}u;
const VECTORS = ${vectors}u;
const VALUE_VECTORS = ${valueVectors}u;
const ROW_THREADS = ${THREADS / rows}u;
const ROW_EIGHTS = ${THREADS / rows / SHARING}u;
const PARTS = ${Math.floor(THREADS / valueVectors)}u;
var<workgroup> queries: array<vec4f, ${rows * vectors}>;
var<workgroup> scores: array<f32, ${rows * FEW_KEYS}>;
var<workgroup> exchanged: array<vec4f, ${THREADS}>;
var<workgroup> eights: array<vec4f, ${THREADS / SHARING}>;
var<workgroup> shrinks: array<f32, ${rows}>;
var<workgroup> row_sums: array<RowSums, ${rows}>;
${eightThreads(subgroups, "exchanged")}

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32${laneInput(subgroups)}) {
  ${groupPlace(kernel)}
  ${numberThreads(subgroups)}
  let side = thread % ${SHARING}u;
  let own_row = thread / ROW_THREADS;
  let first_eight = own_row * ROW_EIGHTS;
  ${rowPlace("own_row")}
  ${times(rows, (r) => `{ let q_at = ${queryAt(r)}; for (var d = thread; d < VECTORS; d += THREADS) { queries[${r * vectors}u + d] = load_q(q_at, d * 4u, P.head_dim); } }`)}
  let vector = thread % VALUE_VECTORS;
  let part = thread / VALUE_VECTORS;
  var sums = RowSums(${isSoftmax ? "NONE, 0.0" : "0.0, 1.0"}, 0.0);
  ${times(rows, (r) => `var o${r} = vec4f();`)}
  workgroupBarrier();

  for (var first = begin; first < end; first += KEYS) {
    let count = min(KEYS, end - first);
    for (var at = 0u; at < count; at += ${(THREADS / SHARING) * OWN}u) {
      ${times(OWN, (c) => `let key${c} = at + thread / ${SHARING}u + ${(THREADS / SHARING) * c}u;`)}
      ${times(OWN, (c) => `let key_at${c} = keys_at + min(first + key${c}, P.keys - 1u) * P.k_j;`)}
      ${times(rows, (r) => `var sum${r} = vec4f();`)}
      for (var d = side; d < VECTORS; d += ${SHARING}u) {
        ${times(OWN, (c) => `let k${c} = load_k(key_at${c}, d * 4u, P.head_dim);`)}
        ${times(rows, (r) => `{ let q = queries[${r * vectors}u + d]; sum${r} += vec4f(dot(q, k0), dot(q, k1), dot(q, k2), dot(q, k3)); }`)}
      }
      ${times(rows, (r) => `sum${r} = eight_sum(sum${r}, thread, by_lanes);`)}
      if (side == 0u) {
        ${times(rows, (r) => times(OWN, (c) => `scores[${r * FEW_KEYS}u + key${c}] = sum${r}[${c}];`))}
      }
    }
    workgroupBarrier();
    ${isSoftmax ? softmax(kernel) : plainWeights(kernel)}
    workgroupBarrier();
    if (part < PARTS) {
      ${when(
        isSoftmax,
        times(rows, (r) => `o${r} *= shrinks[${r}];`),
      )}
      for (var key = part; key < count; key += PARTS) {
        let v = load_v(values_at + (first + key) * P.v_j, (first_vector + vector) * 4u, P.value_dim);
        ${times(rows, (r) => `{ let w = scores[${r * FEW_KEYS}u + key]; o${r} = select(o${r}, fma(vec4f(w), v, o${r}), w != 0.0); }`)}
      }
    }
    workgroupBarrier();
  }
  ${when(isSoftmax, wholeSums(entropy))}
  if (thread % ROW_THREADS == 0u) { row_sums[own_row] = sums; }
  ${times(
    rows,
    (r) => `exchanged[thread] = o${r};
  workgroupBarrier();
  if (thread < VALUE_VECTORS) { for (var n = 1u; n < PARTS; n++) { o${r} += exchanged[thread + n * VALUE_VECTORS]; } }
  workgroupBarrier();`,
  )}
  if (thread >= VALUE_VECTORS) { return; }
  ${times(rows, (r) => writeRow(split, r))}
}`;
}

const headOf = (r: number): string => `(key_head * P.pack + ${r}u % P.pack)`;

const positionOf = (r: number): string => `min(${r}u / P.pack, P.queries - 1u)`;

const queryAt = (r: number): string => `b * P.q_b + ${headOf(r)} * P.q_h + ${positionOf(r)} * P.q_i`;

/** A thread has every ROW_THREADS-th key of its row. */
const ownKeys = (text: string): string =>
  `for (var c = 0u; c < KEYS / ROW_THREADS; c++) {
      let key = thread % ROW_THREADS + c * ROW_THREADS;
      let j = first + key;
      let at = own_row * KEYS + key;
      ${text}
    }`;

const FINISH = `let score = finish(row, capped(${pairResult("product", "scores[at]", "")}), j);
      let is_seen = score.seen && key < count;`;

/** Of a row's threads, from what each eight of them has: their own barrier follows. */
const ofEights = (merge: string): string =>
  `if (side == 0u) { eights[thread / ${SHARING}u] = of_eight; }
    workgroupBarrier();
    for (var n = 0u; n < ROW_EIGHTS; n++) { let other = eights[first_eight + n]; ${merge} }`;

function softmax({ entropy, dropout }: FewKernel): string {
  return `var seen = 0u;
    var highest = sums.most;
    ${ownKeys(`${FINISH}
      let value = select(NONE, score.value, is_seen);
      scores[at] = value;
      highest = select(highest, value, value > highest);
      seen |= select(0u, 1u, is_seen) << c;`)}
    { let of_eight = eight_max(vec4f(highest), thread, by_lanes);
    ${ofEights("highest = select(highest, other.x, other.x > highest);")} }
    let shrink = select(exp(sums.most - highest), 0.0, sums.most <= NONE);
    if (thread % ROW_THREADS == 0u) { shrinks[own_row] = shrink; }
    ${when(entropy, "sums.spread = select(shrink * (sums.spread + sums.sum * (sums.most - highest)), 0.0, sums.most <= NONE);")}
    sums.sum *= shrink;
    sums.most = highest;
    ${ownKeys(`let is_seen = ((seen >> c) & 1u) == 1u;
      let below = scores[at] - highest;
      let power = exp(below);
      let weight = select(0.0, select(power, SMALLEST_WEIGHT, power < SMALLEST_WEIGHT), is_seen);
      sums.sum += weight;
      ${when(entropy, "sums.spread += select(0.0, weight * below, is_seen && !(below < -80.0));")}
      scores[at] = ${kept(dropout)};`)}`;
}

function plainWeights({ normalizer, dropout }: FewKernel): string {
  const weight = normalizer === "sigmoid" ? "sigmoid(score.value)" : "score.value";
  return ownKeys(`${FINISH}
      let weight = select(0.0, ${weight}, is_seen);
      scores[at] = ${kept(dropout)};`);
}

const kept = (dropout: boolean): string => (dropout ? "select(weight, 0.0, is_dropped(row, j))" : "weight");

/** Threads of a row have the same maximum by then. */
const wholeSums = (entropy: boolean): string => `{
    let of_eight = eight_sum(vec4f(sums.sum, ${entropy ? "sums.spread" : "0.0"}, 0.0, 0.0), thread, by_lanes);
    var whole = vec4f();
    ${ofEights("whole += other;")}
    sums.sum = whole.x;
    sums.spread = whole.y;
  }`;

function writeRow(split: boolean, r: number): string {
  const number = `(b * P.heads + ${headOf(r)}) * P.queries + ${positionOf(r)}`;
  const write = split
    ? `let to = (split * P.rows + number) * P.part_width;
    if (chunk == 0u && thread == 0u) { parts[to] = vec4f(sums.most, sums.sum, sums.spread, 0.0); }
    parts[to + 1u + first_vector + thread] = o${r};`
    : `let factor = finish_sums(sums, ${headOf(r)}, number, chunk == 0u && thread == 0u);
    write_output(b * P.out_b + ${headOf(r)} * P.out_h + ${positionOf(r)} * P.out_i, (first_vector + thread) * 4u, o${r} * factor);`;
  return `if (${r}u < P.pack * P.queries) {
    let sums = row_sums[${r}];
    let number = ${number};
    ${write}
  }`;
}
