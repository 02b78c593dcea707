// Attention by the online softmax. A thread has a row of queries in its registers and walks over keys and values, which the
// workgroup brings into its memory a tile at a time; where rows are few, several threads share a row and merge at the end.

import type { AttendKernel, RowsKernel } from "../kernel.js";
import { type Bound, bindings, each, GROUP_INDEX, loader, operandType, when } from "./common.js";
import { finishRow, ROW_SUMS, WRITE_OUTPUT } from "./finish-row.js";
import { directScore, pairResult, pairTerm, scoreFunctions, terms } from "./scores.js";
import { weighStep } from "./weigh.js";

export function attendBindings(kernel: AttendKernel | RowsKernel): readonly Bound[] {
  return [
    { name: "q_data", type: operandType(kernel.query), access: "read" },
    { name: "k_data", type: operandType(kernel.key), access: "read" },
    { name: "v_data", type: operandType(kernel.value), access: "read" },
    ...(kernel.mask ? [{ name: "mask_data", type: "u32", access: "read" } as const] : []),
    ...(kernel.bias ? [{ name: "bias_data", type: "u32", access: "read" } as const] : []),
    { name: "tables", type: "u32", access: "read" },
    ...(kernel.split
      ? [{ name: "parts", type: "vec4f", access: "read_write" } as const]
      : [{ name: "results", type: "u32", access: "read_write" } as const]),
    ...(kernel.stats && !kernel.split ? [{ name: "stats", type: "vec2f", access: "read_write" } as const] : []),
  ];
}

/** Vectors between two rows of a tile: one more where threads of a subgroup read different rows, which then lie in different banks. */
export const tileStride = (vectors: number, slices: number): number => vectors + (slices > 1 ? 1 : 0);

/** Vectors of a thread that are merged between two barriers, of which some compilers make much. */
export const MERGED_VECTORS = 4;

export function attendShader(kernel: AttendKernel): string {
  const { rows, slices, tile, step, vectors, valueVectors, split, unrolled } = kernel;
  const threads = rows * slices;
  const isTiled = tile > 0;
  const block = isTiled ? tile : step * slices;
  const eachValue = (text: (e: string) => string): string => each("e", [0, valueVectors], unrolled, text);
  return `${bindings(attendBindings(kernel))}
${ROW_SUMS}
${scoreFunctions(kernel)}
${loader("v", kernel.value)}
${when(!isTiled, directScore(kernel))}
${when(!split, `${WRITE_OUTPUT}\n${finishRow(kernel)}`)}
${GROUP_INDEX}
const ROWS = ${rows}u;
const SLICES = ${slices}u;
const THREADS = ${threads}u;
const BLOCK = ${block}u;
const STEP = ${step}u;
const VALUE_VECTORS = ${valueVectors}u;
${when(
  isTiled,
  `const KEY_VECTORS = ${vectors}u;
const KEY_STRIDE = ${tileStride(vectors, slices)}u;
const VALUE_STRIDE = ${tileStride(valueVectors, slices)}u;
var<workgroup> key_tile: array<vec4f, ${tile * tileStride(vectors, slices)}>;
var<workgroup> value_tile: array<vec4f, ${tile * tileStride(valueVectors, slices)}>;`,
)}
${when(slices > 1, `var<workgroup> merged: array<vec4f, ${threads * MERGED_VECTORS}>;`)}

@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group);
  if (index >= P.groups) { return; }
  let chunk = index % P.chunks;
  let row_tile = (index / P.chunks) % P.row_tiles;
  let rest = index / P.chunks / P.row_tiles;
  let split = rest % P.splits;
  let b = rest / P.splits / P.key_heads;
  let key_head = (rest / P.splits) % P.key_heads;

  let packed = row_tile * ROWS + thread % ROWS;
  let is_row = packed < P.pack * P.queries;
  let i = min(packed / P.pack, P.queries - 1u);
  let h = key_head * P.pack + packed % P.pack;
  let row = row_of(b, h, i);
  let q_at = b * P.q_b + h * P.q_h + i * P.q_i;
  let keys_at = b * P.k_b + key_head * P.k_h;
  let values_at = b * P.v_b + (key_head * P.pack / P.group) * P.v_h;
  let first_vector = chunk * VALUE_VECTORS;
  let slice = thread / ROWS;

  var begin = split * P.split_keys;
  var end = min(begin + P.split_keys, P.keys);
  ${when(
    kernel.ranges,
    `let tile_at = P.tiles_at + (b * P.row_tiles + row_tile) * 2u;
  begin = max(begin, tables[tile_at]);
  end = min(end, tables[tile_at + 1u]);`,
  )}
  ${when(isTiled, `var q: array<vec4f, ${vectors}>;\n${each("d", [0, vectors], unrolled, (d) => `q[${d}] = load_q(q_at, ${d} * 4u, P.head_dim);`)}`)}
  var o: array<vec4f, ${valueVectors}>;
  var s: array<f32, ${step}>;
  var w: array<f32, ${step}>;
  var sums = RowSums(${kernel.normalizer === "softmax" ? "NONE, 0.0" : "0.0, 1.0"}, 0.0);

  for (var first = begin; first < end; first += BLOCK) {
    ${isTiled ? loadTiles(kernel) : ""}
    for (var start = 0u; start < BLOCK / SLICES; start += STEP) {
      let local = slice * (BLOCK / SLICES) + start;
      let j = first + local;
      var seen = 0u;
      ${each("c", [0, step], unrolled, (c) => oneScore(kernel, c))}
      ${weighStep(
        kernel,
        unrolled,
        eachValue((e) => `o[${e}] *= shrink;`),
      )}
      ${each("c", [0, step], unrolled, (c) => oneValue(kernel, c, eachValue))}
    }
  }
  ${when(slices > 1, mergeSlices(kernel))}
  if (!is_row || slice != 0u) { return; }
  ${split ? writePart(eachValue) : writeRow(eachValue)}
}`;
}

type EachValue = (text: (e: string) => string) => string;

function loadTiles({ tile, vectors, valueVectors }: AttendKernel): string {
  const load = (name: string, count: string, stride: string, body: string): string =>
    `for (var n = thread; n < ${tile}u * ${count}; n += THREADS) {
      let line = n / ${count};
      let c = n % ${count};
      let key = min(first + line, P.keys - 1u);
      ${name}[line * ${stride} + c] = ${body};
    }`;
  return `workgroupBarrier();
    ${load("key_tile", `${vectors}u`, "KEY_STRIDE", "load_k(keys_at + key * P.k_j, c * 4u, P.head_dim)")}
    ${load("value_tile", `${valueVectors}u`, "VALUE_STRIDE", "load_v(values_at + key * P.v_j, (first_vector + c) * 4u, P.value_dim)")}
    workgroupBarrier();`;
}

function oneScore(kernel: AttendKernel, c: string): string {
  const { pair, vectors, tile, unrolled } = kernel;
  const count = terms(kernel);
  const gate = `q[${vectors - 1}u] + key_tile[key_at + ${vectors - 1}u]`;
  const raw =
    tile === 0
      ? `let raw = score_at(row, q_at, keys_at + min(j + ${c}, P.keys - 1u) * P.k_j);`
      : `let key_at = (local + ${c}) * KEY_STRIDE;
      var sum = vec4f();
      ${each("d", [0, count], unrolled, (d) => `sum += ${pairTerm(pair, `q[${d}]`, `key_tile[key_at + ${d}]`, d)};`)}
      let raw = ${pairResult(pair, "dot(sum, vec4f(1.0))", gate)};`;
  return `{ ${raw}
      let score = finish(row, capped(raw), j + ${c});
      let is_seen = score.seen && j + ${c} < end;
      s[${c}] = select(NONE, score.value, is_seen);
      seen |= select(0u, 1u, is_seen) << ${c}; }`;
}

/** What has no weight is not read: it may be NaN. */
function oneValue({ tile }: AttendKernel, c: string, eachValue: EachValue): string {
  const [at, value] =
    tile === 0
      ? [`values_at + (j + ${c}) * P.v_j`, (e: string) => `load_v(value_at, (first_vector + ${e}) * 4u, P.value_dim)`]
      : [`(local + ${c}) * VALUE_STRIDE`, (e: string) => `value_tile[value_at + ${e}]`];
  return `if (w[${c}] != 0.0) {
        let weight = w[${c}];
        let value_at = ${at};
        ${eachValue((e) => `o[${e}] += weight * ${value(e)};`)}
      }`;
}

/** Threads of the same row, through workgroup memory; what is merged ends up in the first of them. */
function mergeSlices({ normalizer, valueVectors, unrolled }: AttendKernel): string {
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
  const rounds = Math.ceil(valueVectors / MERGED_VECTORS);
  return `${sums}
  ${each("round", [0, rounds], unrolled, (round) => {
    const own = (text: string): string => `for (var n = 0u; n < ${MERGED_VECTORS}u; n++) {
      let e = ${round} * ${MERGED_VECTORS}u + n;
      if (e < VALUE_VECTORS) { ${text} }
    }`;
    return `workgroupBarrier();
  ${own(`merged[thread * ${MERGED_VECTORS}u + n] = o[e] * shrink;`)}
  workgroupBarrier();
  if (slice == 0u) {
    ${own(`var sum = vec4f();
    for (var t = 0u; t < SLICES; t++) { sum += merged[(thread + t * ROWS) * ${MERGED_VECTORS}u + n]; }
    o[e] = sum;`)}
  }`;
  })}`;
}

function writeRow(eachValue: EachValue): string {
  return `let factor = finish_sums(sums, h, row.number, chunk == 0u);
  let out_at = b * P.out_b + h * P.out_h + i * P.out_i;
  ${eachValue((e) => `write_output(out_at, (first_vector + ${e}) * 4u, o[${e}] * factor);`)}`;
}

function writePart(eachValue: EachValue): string {
  return `let part = (split * P.rows + row.number) * P.part_width;
  if (chunk == 0u) { parts[part] = vec4f(sums.most, sums.sum, sums.spread, 0.0); }
  ${eachValue((e) => `parts[part + 1u + first_vector + ${e}] = o[${e}];`)}`;
}
