// Online softmax without workgroup tiles: a thread computes a row and reads K and V for itself. Where rows are few, several threads
// share a row and combine at the end. It suits software adapters, and rows that are too long for the other kernels.

import type { UntiledKernel } from "../kernel.js";
import { attentionHead, groupIndices, rowIndices } from "./attention-common.js";
import { each, when } from "./common.js";
import { weightsStep } from "./online-softmax.js";
import { directScore } from "./scores.js";

/** Vectors of a thread that are merged between two barriers, of which some compilers make much. */
const COMBINED_VECTORS = 4;

export function untiledShader(kernel: UntiledKernel): string {
  const { rows, slices, step, valueVectors, split } = kernel;
  const threads = rows * slices;
  return `${attentionHead(kernel)}
${directScore(kernel)}
const ROWS = ${rows}u;
const SLICES = ${slices}u;
const STEP = ${step}u;
const VALUE_VECTORS = ${valueVectors}u;
${when(slices > 1, `var<workgroup> combined: array<vec4f, ${threads * COMBINED_VECTORS}>;`)}

@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  ${groupIndices(kernel)}
  ${rowIndices("row_tile * ROWS + thread % ROWS")}
  let is_row = packed < P.pack * P.queries;
  let slice = thread / ROWS;

  var o: array<vec4f, ${valueVectors}>;
  var s: array<f32, ${step}>;
  var w: array<f32, ${step}>;
  var sums = RowState(${kernel.normalizer === "softmax" ? "NONE, 0.0" : "0.0, 1.0"}, 0.0);

  for (var first = begin; first < end; first += STEP * SLICES) {
    let j = first + slice * STEP;
    var seen = 0u;
    ${each("c", step, ONE_SCORE)}
    ${weightsStep(kernel, each("e", valueVectors, "o[e] *= rescale;"))}
    ${each("c", step, ONE_VALUE)}
  }
  ${when(slices > 1, combineSlices(kernel))}
  if (!is_row || slice != 0u) { return; }
  ${split ? writePart(valueVectors) : writeRow(valueVectors)}
}`;
}

const ONE_SCORE = `let raw = score_at(row, q_at, keys_at + min(j + c, P.keys - 1u) * P.k_j);
      let score = transform_score(row, capped(raw), j + c);
      let is_seen = score.seen && j + c < end;
      s[c] = select(NONE, score.value, is_seen);
      seen |= select(0u, 1u, is_seen) << c;`;

/** What has no weight is not read: it may be NaN. */
const ONE_VALUE = `if (w[c] != 0.0) {
        let weight = w[c];
        let value_at = values_at + (j + c) * P.v_j;
        ${each("e", "VALUE_VECTORS", "o[e] += weight * load_v(value_at, (first_vector + e) * 4u, P.value_dim);")}
      }`;

/** Threads of the same row, through workgroup memory; what is merged ends up in the first of them. */
function combineSlices({ normalizer, valueVectors }: UntiledKernel): string {
  const sums =
    normalizer === "softmax"
      ? `combined[thread] = vec4f(sums.row_max, sums.row_sum, sums.spread, 0.0);
  workgroupBarrier();
  var row_max = NONE;
  for (var t = 0u; t < SLICES; t++) { let m = combined[thread % ROWS + t * ROWS].x; row_max = select(row_max, m, m > row_max); }
  var whole = RowState(row_max, 0.0, 0.0);
  for (var t = 0u; t < SLICES; t++) {
    let other = combined[thread % ROWS + t * ROWS];
    let rescale = select(exp(other.x - row_max), 0.0, other.x <= NONE);
    whole.spread += select(rescale * (other.z + other.y * (other.x - row_max)), 0.0, other.x <= NONE);
    whole.row_sum += select(rescale * other.y, 0.0, other.y == 0.0);
  }
  let rescale = select(exp(sums.row_max - row_max), 0.0, sums.row_max <= NONE);
  sums = whole;`
      : "let rescale = 1.0;";
  const own = (text: string): string => `for (var n = 0u; n < ${COMBINED_VECTORS}u; n++) {
      let e = round * ${COMBINED_VECTORS}u + n;
      if (e < VALUE_VECTORS) { ${text} }
    }`;
  return `${sums}
  ${each(
    "round",
    Math.ceil(valueVectors / COMBINED_VECTORS),
    `workgroupBarrier();
  ${own(`combined[thread * ${COMBINED_VECTORS}u + n] = o[e] * rescale;`)}
  workgroupBarrier();
  if (slice == 0u) {
    ${own(`var sum = vec4f();
    for (var t = 0u; t < SLICES; t++) { sum += combined[(thread + t * ROWS) * ${COMBINED_VECTORS}u + n]; }
    o[e] = sum;`)}
  }`,
  )}`;
}

function writeRow(valueVectors: number): string {
  return `let factor = row_epilogue(sums, h, row.number, chunk == 0u);
  let out_at = b * P.out_b + h * P.out_h + i * P.out_i;
  ${each("e", valueVectors, "write_output(out_at, (first_vector + e) * 4u, o[e] * factor);")}`;
}

function writePart(valueVectors: number): string {
  return `let partial = (split * P.rows + row.number) * P.partial_width;
  if (chunk == 0u) { partials[partial] = vec4f(sums.row_max, sums.row_sum, sums.spread, 0.0); }
  ${each("e", valueVectors, "partials[partial + 1u + first_vector + e] = o[e];")}`;
}
