// Online softmax for software adapters. A thread computes several rows and reads each key and value once for all of them. It uses no
// workgroup memory, which on a CPU is only a copy.

import type { SoftwareKernel } from "../kernel.js";
import { attentionHead, groupIndices, rowIndices, type Splitting } from "./attention-common.js";
import { times } from "./common.js";
import { weightsStep } from "./online-softmax.js";
import { pairFactors, pairResult } from "./scores.js";

const SHARED_SPLITS: Splitting = {
  count: "(P.splits + SHARES - 1u) / SHARES",
  own: (taken) => `(${taken}) * SHARES + thread / THREADS_OF_SHARE`,
};

export function softwareShader(kernel: SoftwareKernel): string {
  const { rows, own, shares, step, vectors, valueVectors, split, normalizer } = kernel;
  return `${attentionHead(kernel)}
const ROWS = ${rows}u;
const OWN = ${own}u;
const SHARES = ${shares}u;
const THREADS_OF_SHARE = ${rows / own}u;
const STEP = ${step}u;
const VECTORS = ${vectors}u;
const VALUE_VECTORS = ${valueVectors}u;

@compute @workgroup_size(${(rows / own) * shares})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  ${groupIndices(kernel, SHARED_SPLITS)}
  if (split >= P.splits) { return; }
  let first_packed = row_tile * ROWS + (thread % THREADS_OF_SHARE) * OWN;
  var all: array<Row, OWN>;
  var q: array<array<vec4f, VECTORS>, OWN>;
  var o: array<array<vec4f, VALUE_VECTORS>, OWN>;
  var all_sums: array<RowState, OWN>;
  var scores: array<array<f32, STEP>, OWN>;
  for (var r = 0u; r < OWN; r++) {
    ${rowIndices("first_packed + r")}
    all[r] = row;
    all_sums[r] = RowState(${normalizer === "softmax" ? "NONE, 0.0" : "0.0, 1.0"}, 0.0);
    for (var d = 0u; d < VECTORS; d++) { q[r][d] = load_q(q_at, d * 4u, P.head_dim); }
  }

  for (var j = begin; j < end; j += STEP) {
    ${scoreStep(kernel)}
    var is_plain = true;
    for (var r = 0u; r < OWN; r++) {
      let row = all[r];
      var sums = all_sums[r];
      var s: array<f32, STEP>;
      var w: array<f32, STEP>;
      var seen = 0u;
      for (var c = 0u; c < STEP; c++) {
        let total = scores[r][c];
        let score = transform_score(row, capped(${pairResult(kernel.pair, "total", "")}), j + c);
        let is_seen = score.seen && j + c < end;
        s[c] = select(NONE, score.value, is_seen);
        seen |= select(0u, 1u, is_seen) << c;
      }
      ${weightsStep(kernel, "for (var e = 0u; e < VALUE_VECTORS; e++) { o[r][e] *= rescale; }")}
      for (var c = 0u; c < STEP; c++) {
        scores[r][c] = w[c];
        is_plain = is_plain && w[c] != 0.0;
      }
      all_sums[r] = sums;
    }
    // What has no weight is not added: it may be NaN.
    if (is_plain) {
      ${valueStep(kernel, (weight, value) => `${weight} * ${value}`)}
    } else {
      ${valueStep(kernel, (weight, value) => `select(vec4f(), ${weight} * ${value}, ${weight} != 0.0)`)}
    }
  }

  for (var r = 0u; r < OWN; r++) {
    let packed = first_packed + r;
    if (packed >= P.pack * P.queries) { break; }
    let sums = all_sums[r];
    ${split ? WRITE_PART : WRITE_ROW}
  }
}`;
}

/** Products of all rows with a step's keys: loops over rows and keys are written out, so that sums are in registers. */
function scoreStep({ own, step, pair }: SoftwareKernel): string {
  const keys = (text: (c: number) => string): string => times(step, text);
  return `{
      ${keys((c) => `let key_${c} = keys_at + min(j + ${c}u, P.keys - 1u) * P.k_j;`)}
      ${times(own, (r) => keys((c) => `var sum_${r}_${c} = 0.0;`))}
      for (var d = 0u; d < VECTORS; d++) {
        ${keys((c) => `let k_${c} = load_k(key_${c}, d * 4u, P.head_dim);`)}
        ${times(
          own,
          (r) => `let q_${r} = q[${r}][d];
        ${keys((c) => `sum_${r}_${c} += dot(${pairFactors(pair, `q_${r}`, `k_${c}`, "d").join(", ")});`)}`,
        )}
      }
      ${times(own, (r) => keys((c) => `scores[${r}][${c}] = sum_${r}_${c};`))}
    }`;
}

function valueStep({ own, step }: SoftwareKernel, weighed: (weight: string, value: string) => string): string {
  return `${times(step, (c) => `let value_${c} = values_at + min(j + ${c}u, P.keys - 1u) * P.v_j;`)}
      ${times(own, (r) => times(step, (c) => `let w_${r}_${c} = scores[${r}][${c}];`))}
      for (var e = 0u; e < VALUE_VECTORS; e++) {
        ${times(step, (c) => `let v_${c} = load_v(value_${c}, (first_vector + e) * 4u, P.value_dim);`)}
        ${times(own, (r) => `o[${r}][e] += ${times(step, (c) => weighed(`w_${r}_${c}`, `v_${c}`), " + ")};`)}
      }`;
}

const WRITE_ROW = `let i = packed / P.pack;
    let h = key_head * P.pack + packed % P.pack;
    let factor = row_epilogue(sums, h, all[r].number, chunk == 0u);
    let out_at = b * P.out_b + h * P.out_h + i * P.out_i;
    for (var e = 0u; e < VALUE_VECTORS; e++) { write_output(out_at, (first_vector + e) * 4u, o[r][e] * factor); }`;

const WRITE_PART = `let partial = (split * P.rows + all[r].number) * P.partial_width;
    if (chunk == 0u) { partials[partial] = vec4f(sums.row_max, sums.row_sum, sums.spread, 0.0); }
    for (var e = 0u; e < VALUE_VECTORS; e++) { partials[partial + 1u + first_vector + e] = o[r][e]; }`;
