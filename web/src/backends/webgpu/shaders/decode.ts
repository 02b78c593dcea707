// Decode kernel: online softmax for up to eight query rows that share the keys. Decode is memory-bound, so neighbouring threads read neighbouring
// vectors. Eight threads compute the QK^T of a key, then each thread weighs scores of one row, then each accumulates one vector of the output.

import type { DecodeKernel } from "../kernel.js";
import { attentionHead, groupIndices, rowIndices } from "./attention-common.js";
import { times, when } from "./common.js";
import { eightThreads, laneInput, numberThreads, SHARING } from "./lanes.js";
import { pairResult } from "./scores.js";

const THREADS = 128;

/** Keys that eight threads have at a time. */
const OWN = 4;

/** Keys of a block. */
export const DECODE_KEYS = 256;

/** Bytes of workgroup memory. */
export function decodeBytes({ rows, vectors }: Pick<DecodeKernel, "rows" | "vectors">): number {
  const perRow = vectors + DECODE_KEYS / 4 + 2;
  return 16 * (rows * perRow + THREADS + THREADS / SHARING + 1);
}

export function decodeShader(kernel: DecodeKernel): string {
  const { rows, vectors, valueVectors, split, subgroups, normalizer, entropy } = kernel;
  const isSoftmax = normalizer === "softmax";
  return `${attentionHead(kernel)}
const ROWS = ${rows}u;
const THREADS = ${THREADS}u;
const KEYS = ${DECODE_KEYS}u;
const VECTORS = ${vectors}u;
const VALUE_VECTORS = ${valueVectors}u;
const ROW_THREADS = ${THREADS / rows}u;
const ROW_EIGHTS = ${THREADS / rows / SHARING}u;
const KEY_GROUPS = ${Math.floor(THREADS / valueVectors)}u;
var<workgroup> queries: array<vec4f, ${rows * vectors}>;
var<workgroup> scores: array<f32, ${rows * DECODE_KEYS}>;
var<workgroup> exchanged: array<vec4f, ${THREADS}>;
var<workgroup> eights: array<vec4f, ${THREADS / SHARING}>;
var<workgroup> rescales: array<f32, ${rows}>;
var<workgroup> row_states: array<RowState, ${rows}>;
${eightThreads(subgroups, "exchanged")}

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32${laneInput(subgroups)}) {
  ${groupIndices(kernel)}
  ${numberThreads(subgroups)}
  let side = thread % ${SHARING}u;
  let own_row = thread / ROW_THREADS;
  let first_eight = own_row * ROW_EIGHTS;
  ${rowIndices("own_row")}
  ${times(rows, (r) => `{ let q_at = ${queryAt(r)}; for (var d = thread; d < VECTORS; d += THREADS) { queries[${r * vectors}u + d] = load_q(q_at, d * 4u, P.head_dim); } }`)}
  let vector = thread % VALUE_VECTORS;
  let key_group = thread / VALUE_VECTORS;
  var sums = RowState(${isSoftmax ? "NONE, 0.0" : "0.0, 1.0"}, 0.0);
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
        ${times(rows, (r) => times(OWN, (c) => `scores[${r * DECODE_KEYS}u + key${c}] = sum${r}[${c}];`))}
      }
    }
    workgroupBarrier();
    ${isSoftmax ? softmax(kernel) : plainWeights(kernel)}
    workgroupBarrier();
    if (key_group < KEY_GROUPS) {
      ${when(
        isSoftmax,
        times(rows, (r) => `o${r} *= rescales[${r}];`),
      )}
      for (var key = key_group; key < count; key += KEY_GROUPS) {
        let v = load_v(values_at + (first + key) * P.v_j, (first_vector + vector) * 4u, P.value_dim);
        ${times(rows, (r) => `{ let w = scores[${r * DECODE_KEYS}u + key]; o${r} = select(o${r}, fma(vec4f(w), v, o${r}), w != 0.0); }`)}
      }
    }
    workgroupBarrier();
  }
  ${when(isSoftmax, wholeSums(entropy))}
  if (thread % ROW_THREADS == 0u) { row_states[own_row] = sums; }
  ${times(
    rows,
    (r) => `exchanged[thread] = o${r};
  workgroupBarrier();
  if (thread < VALUE_VECTORS) { for (var n = 1u; n < KEY_GROUPS; n++) { o${r} += exchanged[thread + n * VALUE_VECTORS]; } }
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

const TRANSFORM_SCORE = `let score = transform_score(row, capped(${pairResult("product", "scores[at]", "")}), j);
      let is_seen = score.seen && key < count;`;

/** Of a row's threads, from what each eight of them has: their own barrier follows. */
const ofEights = (merge: string): string =>
  `if (side == 0u) { eights[thread / ${SHARING}u] = of_eight; }
    workgroupBarrier();
    for (var n = 0u; n < ROW_EIGHTS; n++) { let other = eights[first_eight + n]; ${merge} }`;

function softmax({ entropy, dropout }: DecodeKernel): string {
  return `var seen = 0u;
    var new_max = sums.row_max;
    ${ownKeys(`${TRANSFORM_SCORE}
      let value = select(NONE, score.value, is_seen);
      scores[at] = value;
      new_max = select(new_max, value, value > new_max);
      seen |= select(0u, 1u, is_seen) << c;`)}
    { let of_eight = eight_max(vec4f(new_max), thread, by_lanes);
    ${ofEights("new_max = select(new_max, other.x, other.x > new_max);")} }
    let rescale = select(exp(sums.row_max - new_max), 0.0, sums.row_max <= NONE);
    if (thread % ROW_THREADS == 0u) { rescales[own_row] = rescale; }
    ${when(entropy, "sums.spread = select(rescale * (sums.spread + sums.row_sum * (sums.row_max - new_max)), 0.0, sums.row_max <= NONE);")}
    sums.row_sum *= rescale;
    sums.row_max = new_max;
    ${ownKeys(`let is_seen = ((seen >> c) & 1u) == 1u;
      let below = scores[at] - new_max;
      let power = exp(below);
      let weight = select(0.0, select(power, SMALLEST_WEIGHT, power < SMALLEST_WEIGHT), is_seen);
      sums.row_sum += weight;
      ${when(entropy, "sums.spread += select(0.0, weight * below, is_seen && !(below < -80.0));")}
      scores[at] = ${kept(dropout)};`)}`;
}

function plainWeights({ normalizer, dropout }: DecodeKernel): string {
  const weight = normalizer === "sigmoid" ? "sigmoid(score.value)" : "score.value";
  return ownKeys(`${TRANSFORM_SCORE}
      let weight = select(0.0, ${weight}, is_seen);
      scores[at] = ${kept(dropout)};`);
}

const kept = (dropout: boolean): string => (dropout ? "select(weight, 0.0, is_dropped(row, j))" : "weight");

/** Threads of a row have the same maximum by then. */
const wholeSums = (entropy: boolean): string => `{
    let of_eight = eight_sum(vec4f(sums.row_sum, ${entropy ? "sums.spread" : "0.0"}, 0.0, 0.0), thread, by_lanes);
    var whole = vec4f();
    ${ofEights("whole += other;")}
    sums.row_sum = whole.x;
    sums.spread = whole.y;
  }`;

function writeRow(split: boolean, r: number): string {
  const number = `(b * P.heads + ${headOf(r)}) * P.queries + ${positionOf(r)}`;
  const write = split
    ? `let to = (split * P.rows + number) * P.partial_width;
    if (chunk == 0u && thread == 0u) { partials[to] = vec4f(sums.row_max, sums.row_sum, sums.spread, 0.0); }
    partials[to + 1u + first_vector + thread] = o${r};`
    : `let factor = row_epilogue(sums, ${headOf(r)}, number, chunk == 0u && thread == 0u);
    write_output(b * P.out_b + ${headOf(r)} * P.out_h + ${positionOf(r)} * P.out_i, (first_vector + thread) * 4u, o${r} * factor);`;
  return `if (${r}u < P.pack * P.queries) {
    let sums = row_states[${r}];
    let number = ${number};
    ${write}
  }`;
}
