// Attention by the online softmax. A thread has a row and walks over keys and values where they lie; where rows are few, several
// threads share a row and merge at the end. What suits processors that run shaders, and rows that are too long for other kernels.

import type { AttendKernel } from "../kernel.js";
import { attendingHead, groupPlace, rowPlace } from "./attended.js";
import { each, when } from "./common.js";
import { directScore } from "./scores.js";
import { weighStep } from "./weigh.js";

/** Vectors of a thread that are merged between two barriers, of which some compilers make much. */
const MERGED_VECTORS = 4;

export function attendShader(kernel: AttendKernel): string {
  const { rows, slices, step, valueVectors, split } = kernel;
  const threads = rows * slices;
  return `${attendingHead(kernel)}
${directScore(kernel)}
const ROWS = ${rows}u;
const SLICES = ${slices}u;
const STEP = ${step}u;
const VALUE_VECTORS = ${valueVectors}u;
${when(slices > 1, `var<workgroup> merged: array<vec4f, ${threads * MERGED_VECTORS}>;`)}

@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  ${groupPlace(kernel)}
  ${rowPlace("row_tile * ROWS + thread % ROWS")}
  let is_row = packed < P.pack * P.queries;
  let slice = thread / ROWS;

  var o: array<vec4f, ${valueVectors}>;
  var s: array<f32, ${step}>;
  var w: array<f32, ${step}>;
  var sums = RowSums(${kernel.normalizer === "softmax" ? "NONE, 0.0" : "0.0, 1.0"}, 0.0);

  for (var first = begin; first < end; first += STEP * SLICES) {
    let j = first + slice * STEP;
    var seen = 0u;
    ${each("c", step, ONE_SCORE)}
    ${weighStep(kernel, each("e", valueVectors, "o[e] *= shrink;"))}
    ${each("c", step, ONE_VALUE)}
  }
  ${when(slices > 1, mergeSlices(kernel))}
  if (!is_row || slice != 0u) { return; }
  ${split ? writePart(valueVectors) : writeRow(valueVectors)}
}`;
}

const ONE_SCORE = `let raw = score_at(row, q_at, keys_at + min(j + c, P.keys - 1u) * P.k_j);
      let score = finish(row, capped(raw), j + c);
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
function mergeSlices({ normalizer, valueVectors }: AttendKernel): string {
  const sums =
    normalizer === "softmax"
      ? `merged[thread] = vec4f(sums.most, sums.sum, sums.spread, 0.0);
  workgroupBarrier();
  var most = NONE;
  for (var t = 0u; t < SLICES; t++) { let m = merged[thread % ROWS + t * ROWS].x; most = select(most, m, m > most); }
  var whole = RowSums(most, 0.0, 0.0);
  for (var t = 0u; t < SLICES; t++) {
    let other = merged[thread % ROWS + t * ROWS];
    let shrink = select(exp(other.x - most), 0.0, other.x <= NONE);
    whole.spread += select(shrink * (other.z + other.y * (other.x - most)), 0.0, other.x <= NONE);
    whole.sum += select(shrink * other.y, 0.0, other.y == 0.0);
  }
  let shrink = select(exp(sums.most - most), 0.0, sums.most <= NONE);
  sums = whole;`
      : "let shrink = 1.0;";
  const own = (text: string): string => `for (var n = 0u; n < ${MERGED_VECTORS}u; n++) {
      let e = round * ${MERGED_VECTORS}u + n;
      if (e < VALUE_VECTORS) { ${text} }
    }`;
  return `${sums}
  ${each(
    "round",
    Math.ceil(valueVectors / MERGED_VECTORS),
    `workgroupBarrier();
  ${own(`merged[thread * ${MERGED_VECTORS}u + n] = o[e] * shrink;`)}
  workgroupBarrier();
  if (slice == 0u) {
    ${own(`var sum = vec4f();
    for (var t = 0u; t < SLICES; t++) { sum += merged[(thread + t * ROWS) * ${MERGED_VECTORS}u + n]; }
    o[e] = sum;`)}
  }`,
  )}`;
}

function writeRow(valueVectors: number): string {
  return `let factor = finish_sums(sums, h, row.number, chunk == 0u);
  let out_at = b * P.out_b + h * P.out_h + i * P.out_i;
  ${each("e", valueVectors, "write_output(out_at, (first_vector + e) * 4u, o[e] * factor);")}`;
}

function writePart(valueVectors: number): string {
  return `let part = (split * P.rows + row.number) * P.part_width;
  if (chunk == 0u) { parts[part] = vec4f(sums.most, sums.sum, sums.spread, 0.0); }
  ${each("e", valueVectors, "parts[part + 1u + first_vector + e] = o[e];")}`;
}
