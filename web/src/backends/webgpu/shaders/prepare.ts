// What of a score function belongs to a query or a key alone, as rows of their own: projected, of length one, or with their gate.

import type { PrepareKernel } from "../kernel.js";
import { type Bound, bindings, GROUP_INDEX, loader, operandType, WORKGROUP, when } from "./common.js";

/** Its numbers: not those of the call, since query and key are prepared apart. */
export const PREPARE_FIELDS = [
  "heads",
  "length",
  "dim",
  "source_b",
  "source_h",
  "source_l",
  "source_group",
  "made_dim",
  "row_stride",
  "matrix_h",
  "offset_at",
  "offset_h",
  "rows",
  "groups_x",
] as const;

export function prepareBindings({ source }: PrepareKernel): readonly Bound[] {
  return [
    { name: "x_data", type: operandType(source), access: "read" },
    { name: "matrix", type: "f32", access: "read" },
    { name: "made", type: "f32", access: "read_write" },
  ];
}

export function prepareShader(kernel: PrepareKernel): string {
  const body = { matrix: matrixBody, normalise: normaliseBody, gate: gateBody }[kernel.what];
  return `${bindings(prepareBindings(kernel), PREPARE_FIELDS)}
${loader("x", kernel.source)}
${GROUP_INDEX}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group) * ${WORKGROUP}u + thread;
  ${body(kernel)}
}`;
}

const ROW = `let l = row % P.length;
  let h = (row / P.length) % P.heads;
  let b = row / P.length / P.heads;
  let x_at = b * P.source_b + (h / P.source_group) * P.source_h + l * P.source_l;
  let made_at = row * P.row_stride;`;

/** A thread a number. */
function matrixBody({ transposed, identity, offset }: PrepareKernel): string {
  const element = transposed ? "d * P.made_dim + c" : "c * P.dim + d";
  const product = `for (var d = 0u; d < P.dim; d += 4u) {
      let x = load_x(x_at, d, P.dim);
      for (var n = 0u; n < 4u; n++) {
        let d = d + n;
        if (d < P.dim) { sum += x[n] * matrix[h * P.matrix_h + ${element}]; }
      }
    }`;
  return `if (index >= P.rows * P.row_stride) { return; }
  let row = index / P.row_stride;
  let c = index % P.row_stride;
  ${ROW}
  var sum = 0.0;
  if (c < P.made_dim) {
    ${identity ? "sum = load_x(x_at, c & ~3u, P.dim)[c & 3u];" : product}
    ${when(offset, "sum += matrix[P.offset_at + h * P.offset_h + c];")}
  }
  made[made_at + c] = sum;`;
}

/** A thread a row; lengths are taken of the row over its largest number, so that squares neither overflow nor vanish. */
function normaliseBody(): string {
  return `let row = index;
  if (row >= P.rows) { return; }
  ${ROW}
  var largest = vec4f();
  for (var d = 0u; d < P.dim; d += 4u) { largest = max(largest, abs(load_x(x_at, d, P.dim))); }
  let row_max = max(max(largest.x, largest.y), max(largest.z, largest.w));
  let inverse = select(1.0 / row_max, 0.0, row_max == 0.0);
  var squares = vec4f();
  for (var d = 0u; d < P.dim; d += 4u) { let x = load_x(x_at, d, P.dim) * inverse; squares += x * x; }
  let length = sqrt(dot(squares, vec4f(1.0)));
  // Shorter than 2^-126 it has no direction.
  let factor = select(1.0 / length, 0.0, row_max * length < 0x1p-126f);
  for (var d = 0u; d < P.row_stride; d += 4u) {
    let x = select(vec4f(), load_x(x_at, d, P.dim) * inverse * factor, vec4<bool>(d < P.dim));
    for (var n = 0u; n < 4u; n++) { made[made_at + d + n] = x[n]; }
  }`;
}

/** A thread a row: its numbers, and in a vector of its own what it adds to the gate. */
function gateBody(): string {
  return `let row = index;
  if (row >= P.rows) { return; }
  ${ROW}
  var gate = matrix[P.offset_at + h * P.offset_h];
  for (var d = 0u; d < P.row_stride - 4u; d += 4u) {
    let x = load_x(x_at, d, P.dim);
    for (var n = 0u; n < 4u; n++) {
      made[made_at + d + n] = x[n];
      if (d + n < P.dim) { gate += x[n] * matrix[h * P.matrix_h + d + n]; }
    }
  }
  made[made_at + P.row_stride - 4u] = gate;
  for (var n = 1u; n < 4u; n++) { made[made_at + P.row_stride - 4u + n] = 0.0; }`;
}
