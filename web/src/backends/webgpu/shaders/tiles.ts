// Prefill kernel: online softmax between two tiled GEMMs. The register tile of a thread is 4 query rows x 4 keys of scores, then every eighth
// vector of the same rows' outputs. Eight neighbouring threads share 4 rows and all keys of a KV block.

import type { TilesKernel } from "../kernel.js";
import { attentionHead, groupIndices, rowIndices } from "./attention-common.js";
import { times, when } from "./common.js";
import { eightThreads, laneInput, numberThreads, SHARING } from "./lanes.js";
import { pairResult, pairTerm, terms } from "./scores.js";

/** Rows of a thread, and keys. */
const OWN = 4;

/** Keys of a tile. */
export const TILE_KEYS = OWN * SHARING;

/** Vectors of a row that are in workgroup memory at a time, of queries and keys. */
const DEPTH = 4;

/** Vectors between two rows: an odd number, so that those of eight neighbours lie in different banks. */
const apart = (vectors: number): number => vectors + 1 - (vectors % 2);

const eights = (vectors: number): number => Math.ceil(vectors / SHARING);

const threadsOf = (rows: number): number => (rows / OWN) * SHARING;

type Sizes = Pick<TilesKernel, "rows" | "vectors" | "valueVectors" | "resident">;

/** What a workgroup keeps in its memory, in vectors: queries if they stay, 4 rows' weights by key, and what comes and goes, of each thread at least one. */
function memoryOf({ rows, vectors, valueVectors, resident }: Sizes) {
  const coming = (resident ? 0 : rows * apart(DEPTH)) + TILE_KEYS * apart(DEPTH);
  return {
    queries: resident ? rows * apart(vectors) : 0,
    // The last tile_row needs no distance to another.
    weights: TILE_KEYS * apart(rows / OWN) - 1,
    staged: Math.max(coming, eights(valueVectors) * SHARING, threadsOf(rows)),
  };
}

/** Bytes of workgroup memory, with a vector for the numbers that number threads. */
export function tileBytes(sizes: Sizes): number {
  const { queries, weights, staged } = memoryOf(sizes);
  return 16 * (queries + weights + staged + 1);
}

export function tilesShader(kernel: TilesKernel): string {
  const { rows, vectors, valueVectors, subgroups, resident, entropy, normalizer } = kernel;
  const memory = memoryOf(kernel);
  const valueStride = eights(valueVectors) * SHARING;
  const threads = threadsOf(rows);
  const isSoftmax = normalizer === "softmax";
  return `${attentionHead(kernel)}
const ROWS = ${rows}u;
const THREADS = ${threads}u;
const KEYS = ${TILE_KEYS}u;
const VECTORS = ${vectors}u;
const VALUE_VECTORS = ${valueVectors}u;
const DEPTH = ${DEPTH}u;
const STRIDE = ${apart(DEPTH)}u;
const QUERY_STRIDE = ${apart(vectors)}u;
const KEYS_AT = ${resident ? 0 : rows * apart(DEPTH)}u;
const WEIGHT_STRIDE = ${apart(rows / OWN)}u;
const VALUE_KEYS = ${Math.min(TILE_KEYS, 2 ** Math.floor(Math.log2(memory.staged / valueStride)))}u;
const VALUE_STRIDE = ${valueStride}u;
${when(resident, `var<workgroup> queries: array<vec4f, ${memory.queries}>;`)}
var<workgroup> staged: array<vec4f, ${memory.staged}>;
var<workgroup> weights: array<vec4f, ${memory.weights}>;
${eightThreads(subgroups, "staged")}
fn query_at(b: u32, key_head: u32, packed: u32) -> u32 {
  let i = min(packed / P.pack, P.queries - 1u);
  return b * P.q_b + (key_head * P.pack + packed % P.pack) * P.q_h + i * P.q_i;
}

@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32${laneInput(subgroups)}) {
  ${groupIndices(kernel)}
  ${numberThreads(subgroups)}
  let side = thread % ${SHARING}u;
  let four = thread / ${SHARING}u;
  let first_row = row_tile * ROWS;
  ${times(OWN, (r) => rowIndices(`first_row + four * ${OWN}u + ${r}u`, `${r}`))}
  ${when(resident, copy({ ...QUERIES, width: "VECTORS", to: "queries[tile_row * QUERY_STRIDE + d]" }))}
  var row_max = vec4f(${isSoftmax ? "NONE" : "0.0"});
  var row_sum = vec4f(${isSoftmax ? "0.0" : "0.125"});
  var spread = vec4f();
  ${times(OWN, (r) => times(eights(valueVectors), (n) => `var ${output(r, n)} = vec4f();`))}

  for (var first = begin; first < end; first += KEYS) {
    ${times(OWN, (c) => `var s${c} = vec4f();`)}
    ${when(
      kernel.pair === "gated",
      times(OWN, (c) => `var gates${c} = vec4f();`),
    )}
    for (var start = 0u; start < VECTORS; start += DEPTH) {
      workgroupBarrier();
      ${when(!resident, copy({ ...QUERIES, width: "DEPTH", to: "staged[tile_row * STRIDE + d]", exists: "start + d < VECTORS", from: "(start + d)" }))}
      ${copy({
        rows: "KEYS",
        width: "DEPTH",
        to: "staged[KEYS_AT + tile_row * STRIDE + d]",
        exists: "start + d < VECTORS && first + tile_row < end",
        load: "load_k(keys_at + (first + tile_row) * P.k_j",
        from: "(start + d)",
        dim: "P.head_dim",
      })}
      workgroupBarrier();
      for (var d = 0u; d < ${vectors % DEPTH === 0 ? "DEPTH" : "min(DEPTH, VECTORS - start)"}; d++) {
        ${addTerms(kernel)}
      }
    }
    ${transformScores(kernel)}
    workgroupBarrier();
    ${isSoftmax ? softmax(kernel) : plainWeights(kernel)}
    for (var start = 0u; start < KEYS; start += VALUE_KEYS) {
      if (start > 0u) { workgroupBarrier(); }
      ${copy({
        rows: "VALUE_KEYS",
        width: "VALUE_VECTORS",
        to: "staged[tile_row * VALUE_STRIDE + d]",
        exists: "first + start + tile_row < end",
        load: "load_v(values_at + (first + start + tile_row) * P.v_j",
        from: "(first_vector + d)",
        dim: "P.value_dim",
      })}
      workgroupBarrier();
      for (var key = 0u; key < VALUE_KEYS; key++) {
        let w = weights[(start + key) * WEIGHT_STRIDE + four];
        ${times(eights(valueVectors), (n) => `let v${n} = staged[key * VALUE_STRIDE + side + ${n * SHARING}u];`)}
        ${addValues(kernel)}
      }
    }
  }
  workgroupBarrier();
  row_sum = eight_sum(row_sum, thread, by_lanes);
  ${when(entropy, "spread = eight_sum(spread, thread, by_lanes);")}
  ${times(OWN, (r) => writeRow(kernel, r))}
}`;
}

/** Of row `r`, the thread's vector `n`. */
const output = (r: number, n: number): string => `o${r}_${n}`;

interface Copied {
  readonly rows: string;
  readonly width: string;
  readonly to: string;
  /** The call's beginning: of which row. */
  readonly load: string;
  readonly dim: string;
  /** Which vector of the row. */
  readonly from?: string;
  readonly exists?: string;
}

const QUERIES = { rows: "ROWS", load: "load_q(query_at(b, key_head, first_row + tile_row)", dim: "P.head_dim" };

/** Rows into workgroup memory, a vector a thread and turn; zeros for what is not there. */
function copy({ rows, width, to, load, dim, from = "d", exists = "true" }: Copied): string {
  return `for (var n = thread; n < ${rows} * ${width}; n += THREADS) {
        let tile_row = n / ${width};
        let d = n % ${width};
        var loaded = vec4f();
        if (${exists}) { loaded = ${load}, ${from} * 4u, ${dim}); }
        ${to} = loaded;
      }`;
}

/** A vector of 4 rows and one of 4 keys. */
function addTerms(kernel: TilesKernel): string {
  const { pair, resident } = kernel;
  const query = (r: number): string =>
    resident
      ? `queries[(four * ${OWN}u + ${r}u) * QUERY_STRIDE + start + d]`
      : `staged[(four * ${OWN}u + ${r}u) * STRIDE + d]`;
  const loads = `${times(OWN, (r) => `let q${r} = ${query(r)};`)}
        ${times(OWN, (c) => `let k${c} = staged[KEYS_AT + (side + ${c * SHARING}u) * STRIDE + d];`)}`;
  if (pair === "product") return `${loads}\n${PRODUCTS}`;
  if (pair === "gated") {
    return `${loads}
        if (start + d < ${terms(kernel)}u) { ${PRODUCTS} }
        else { ${times(OWN, (c) => `gates${c} = vec4f(q0.x, q1.x, q2.x, q3.x) + k${c}.x;`)} }`;
  }
  const term = (r: number, c: number): string => `dot(${pairTerm(pair, `q${r}`, `k${c}`, "(start + d)")}, vec4f(1.0))`;
  return `${loads}
        ${times(OWN, (r) => `{ let row = row${r}; ${times(OWN, (c) => `s${c}[${r}] += ${term(r, c)};`)} }`)}`;
}

const PRODUCTS = ["x", "y", "z", "w"]
  .map(
    (at) => `{ let q = vec4f(q0.${at}, q1.${at}, q2.${at}, q3.${at});
        ${times(OWN, (c) => `s${c} = fma(q, vec4f(k${c}.${at}), s${c});`)} }`,
  )
  .join("\n");

/** For each of the thread's keys, in a loop: what becomes of a score is long. Scores and weights lie in workgroup memory meanwhile. */
const eachKey = (text: string): string =>
  `for (var c = 0u; c < ${OWN}u; c++) {
      let j = first + side + c * ${SHARING}u;
      let at = (side + c * ${SHARING}u) * WEIGHT_STRIDE + four;
      ${text}
    }`;

function transformScores({ pair, normalizer }: TilesKernel): string {
  return `${times(OWN, (c) => `weights[(side + ${c * SHARING}u) * WEIGHT_STRIDE + four] = s${c};`)}
    var seen = 0u;
    ${when(normalizer === "softmax", "var new_max = row_max;")}
    ${eachKey(`var s = weights[at];
      ${when(pair === "gated", `let gate = ${choice(OWN, (c) => `gates${c}`)};`)}
      ${times(
        OWN,
        (r) => `{ let row = row${r};
        let score = transform_score(row, capped(${pairResult(pair, `s[${r}]`, `gate[${r}]`)}), j);
        let is_seen = score.seen && j < end;
        s[${r}] = select(NONE, score.value, is_seen);
        seen |= select(0u, 1u, is_seen) << (c * ${OWN}u + ${r}u); }`,
      )}
      weights[at] = s;
      ${when(normalizer === "softmax", "new_max = select(new_max, s, s > new_max);")}`)}`;
}

const choice = (count: number, text: (c: number) => string): string =>
  Array.from({ length: count }, (_, c) => c).reduce(
    (rest, c) => (c === 0 ? text(c) : `select(${rest}, ${text(c)}, c == ${c}u)`),
    "",
  );

const IS_SEEN = `let is_seen = ((vec4u(seen) >> vec4u(c * ${OWN}u)) & vec4u(1u, 2u, 4u, 8u)) != vec4u();`;

function softmax(kernel: TilesKernel): string {
  const { entropy, valueVectors } = kernel;
  return `new_max = eight_max(new_max, thread, by_lanes);
    let rescale = select(exp(row_max - new_max), vec4f(), row_max <= vec4f(NONE));
    ${when(entropy, "spread = select(rescale * (spread + row_sum * (row_max - new_max)), vec4f(), row_max <= vec4f(NONE));")}
    row_sum *= rescale;
    row_max = new_max;
    ${times(OWN, (r) => times(eights(valueVectors), (n) => `${output(r, n)} *= rescale[${r}];`))}
    ${eachKey(`${IS_SEEN}
      let below = weights[at] - row_max;
      let power = exp(below);
      let weight = select(vec4f(), select(power, vec4f(SMALLEST_WEIGHT), power < vec4f(SMALLEST_WEIGHT)), is_seen);
      row_sum += weight;
      ${when(entropy, "spread += select(vec4f(), weight * below, is_seen & !(below < vec4f(-80.0)));")}
      ${keep(kernel)}`)}`;
}

function plainWeights(kernel: TilesKernel): string {
  const weight = (r: number): string => (kernel.normalizer === "sigmoid" ? `sigmoid(s[${r}])` : `s[${r}]`);
  return eachKey(`${IS_SEEN}
      let s = weights[at];
      let weight = select(vec4f(), vec4f(${[0, 1, 2, 3].map(weight).join(", ")}), is_seen);
      ${keep(kernel)}`);
}

function keep({ dropout }: TilesKernel): string {
  if (!dropout) return "weights[at] = weight;";
  const dropped = [0, 1, 2, 3].map((r) => `is_dropped(row${r}, j)`);
  return `weights[at] = select(weight, vec4f(), vec4<bool>(${dropped.join(", ")}));`;
}

/** What has no weight is not added: it may be NaN. Where nothing is masked everything has one, and rows beyond the keys are zeros. */
function addValues({ valueVectors, ...kernel }: TilesKernel): string {
  const { ranges, mask, bias, scoreMod, maskMod, dropout, normalizer } = kernel;
  const add = (r: number): string =>
    times(eights(valueVectors), (n) => `${output(r, n)} = fma(vec4f(w[${r}]), v${n}, ${output(r, n)});`);
  const isWhole = !(ranges || mask || bias || dropout) && scoreMod === null && maskMod === null;
  if (isWhole && normalizer === "softmax") return times(OWN, add);
  return `if (all(w != vec4f())) { ${times(OWN, add)} }
        else { ${times(OWN, (r) => `if (w[${r}] != 0.0) { ${add(r)} }`)} }`;
}

function writeRow({ split, valueVectors }: TilesKernel, r: number): string {
  const sums = `RowState(row_max[${r}], row_sum[${r}], spread[${r}])`;
  const begin = split
    ? `let partial = (split * P.rows + row${r}.number) * P.partial_width;
    if (chunk == 0u && side == 0u) { partials[partial] = vec4f(row_max[${r}], row_sum[${r}], spread[${r}], 0.0); }`
    : `let factor = row_epilogue(${sums}, h${r}, row${r}.number, chunk == 0u && side == 0u);
    let out_at = b * P.out_b + h${r} * P.out_h + i${r} * P.out_i;`;
  const write = (n: number): string => {
    const e = `first_vector + side + ${n * SHARING}u`;
    const text = split
      ? `partials[partial + 1u + ${e}] = ${output(r, n)};`
      : `write_output(out_at, (${e}) * 4u, ${output(r, n)} * factor);`;
    return `if (side + ${n * SHARING}u < VALUE_VECTORS) { ${text} }`;
  };
  return `if (packed${r} < P.pack * P.queries) {
    ${begin}
    ${times(eights(valueVectors), write)}
  }`;
}
