// A problem and an adapter's limits -> kernels, their numbers, buffers and grids. A pure function: nothing here knows a device.

import type { AttentionProblem, Operand } from "../backend.js";
import type { GpuLimits } from "./gpu.js";
import type { Attending, Kernel, Load, MergeKernel, PairsKernel, RowOutputs, ScoreFeatures } from "./kernel.js";
import { type Params, packParams } from "./params.js";
import { keyRows, loadOf, type Making, PAIR, queryRows, type Rows } from "./prepared.js";
import { hasRanges } from "./row-ranges.js";
import { WORKGROUP } from "./shaders/common.js";
import { modBody } from "./shaders/mods.js";
import { PREPARE_FIELDS } from "./shaders/prepare.js";
import { type Shape, shapeOf, wayText } from "./shape.js";
import { makeTables } from "./tables.js";
import type { Tuning } from "./tuning.js";

/** Buffers of a call, by what they hold. */
export type Role =
  | "query"
  | "key"
  | "value"
  | "mask"
  | "bias"
  | "tables"
  | "results"
  | "stats"
  | "parts"
  | "queryWeights"
  | "keyWeights"
  | "queryRows"
  | "keyRows"
  | "input"
  | "cosines"
  | "sines"
  | "places";

export interface Step {
  readonly kernel: Kernel;
  /** Of its storage bindings, in their order. */
  readonly buffers: readonly Role[];
  readonly uniform: Uint32Array<ArrayBuffer>;
  readonly grid: readonly [number, number];
}

export interface Part {
  /** In words from the start of the results. */
  readonly at: number;
  readonly elements: number;
}

export interface Plan {
  readonly steps: readonly Step[];
  /** Bytes of each buffer that a step names. */
  readonly bytes: ReadonlyMap<Role, number>;
  /** What is uploaded beside the operands. */
  readonly uploads: ReadonlyMap<Role, Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>;
  readonly output: Part;
  readonly lse: Part | null;
  readonly entropy: Part | null;
  readonly weights: Part | null;
  readonly scores: Part | null;
  /** How threads share the work, for people. */
  readonly way: string;
  /** Why it cannot run under these limits; null: it can. */
  readonly tooLarge: string | null;
}

/** What a plan has to know of a device. */
export interface Machine {
  readonly limits: GpuLimits;
  /** Shaders are run by the processor, and barriers take its compiler seconds. */
  readonly isSoftware: boolean;
  /** Its shaders have half precision. */
  readonly f16: boolean;
  readonly subgroups: boolean;
  /** What was measured there. */
  readonly tunings?: ReadonlyMap<string, Tuning>;
}

export function planAttention(problem: AttentionProblem, machine: Machine): Plan {
  const { limits } = machine;
  const [query, key] = [queryRows(problem), keyRows(problem)].map((rows) => native(rows, machine)) as [Rows, Rows];
  const [batch, heads, queries] = problem.query.shape;
  const keys = problem.key.shape[2];
  const pack = heads / key.heads;
  const features = featuresOf(problem, query, key);
  const shape = shapeOf(problem, query, key, machine);
  const tables = makeTables(problem, pack, shape.way.rows);
  const parts = resultParts(problem);
  const rows = batch * heads * queries;
  const { weights } = problem;
  const params: Params = {
    heads,
    key_heads: key.heads,
    pack,
    group: heads / problem.key.shape[1],
    queries,
    keys,
    head_dim: query.dim,
    value_dim: problem.value.shape[3],
    q_b: query.strides[0],
    q_h: query.strides[1],
    q_i: query.strides[2],
    k_b: key.strides[0],
    k_h: key.strides[1],
    k_j: key.strides[2],
    v_b: problem.value.strides[0],
    v_h: problem.value.strides[1],
    v_j: problem.value.strides[2],
    mask_b: stride(problem.mask, 0),
    mask_h: stride(problem.mask, 1),
    mask_i: stride(problem.mask, 2),
    mask_j: stride(problem.mask, 3),
    bias_b: stride(problem.bias, 0),
    bias_h: stride(problem.bias, 1),
    bias_i: stride(problem.bias, 2),
    bias_j: stride(problem.bias, 3),
    out_b: problem.output.strides[0],
    out_h: problem.output.strides[1],
    out_i: problem.output.strides[2],
    ranges_at: tables.rangesAt,
    tiles_at: tables.tilesAt,
    slopes_at: tables.slopesAt,
    sinks_at: tables.sinksAt,
    constants_at: tables.constantsAt,
    constants_h: tables.constantsHead,
    mods_at: tables.modsAt,
    row_tiles: shape.rowTiles,
    chunks: shape.chunks,
    splits: shape.splits,
    split_keys: shape.splitKeys,
    rows,
    part_width: 1 + shape.chunks * shape.valueVectors,
    groups: shape.groups,
    groups_x: 0,
    lse_at: parts.lse?.at ?? 0,
    entropy_at: parts.entropy?.at ?? 0,
    weights_at: parts.weights?.at ?? 0,
    scores_at: parts.scores?.at ?? 0,
    weights_from: weights?.form.of === "rows" ? weights.form.from : 0,
    weights_to: weights?.form.of === "rows" ? weights.form.to : queries,
    pairs_from: 0,
    pairs_rows: queries,
    pairs: 0,
    scale: problem.scale,
    softcap: problem.softcap ?? 1,
    ...dropoutParams(problem),
  };
  const outputs: RowOutputs = {
    sinks: problem.structure.sinks !== null,
    lse: parts.lse !== null,
    entropy: parts.entropy !== null,
    stats: weights !== null && problem.normalizer === "softmax",
  };
  const steps = [
    ...making("queryWeights", "query", "queryRows", query.making, limits),
    ...making("keyWeights", "key", "keyRows", key.making, limits),
    ...attending(
      shape,
      { features, outputs, problem, query, key, value: loadFor(machine, loadOf(problem.value)) },
      params,
      limits,
    ),
    ...pairing(problem, features, query, key, params, limits),
  ];
  const bytes = new Map<Role, number>();
  const uploads = new Map<Role, Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>([["tables", tables.words]]);
  if (query.making !== null) uploads.set("queryWeights", query.making.matrix);
  if (key.making !== null) uploads.set("keyWeights", key.making.matrix);
  const sizes: Readonly<Partial<Record<Role, number>>> = {
    query: operandBytes(problem.query),
    key: operandBytes(problem.key),
    value: operandBytes(problem.value),
    mask: operandBytes(problem.mask),
    bias: operandBytes(problem.bias),
    tables: tables.words.byteLength,
    results: parts.words * 4,
    stats: rows * 8,
    parts: shape.splits * rows * params.part_width * 16,
    queryWeights: query.making?.matrix.byteLength ?? 0,
    keyWeights: key.making?.matrix.byteLength ?? 0,
    queryRows: (query.making?.elements ?? 0) * 4,
    keyRows: (key.making?.elements ?? 0) * 4,
  };
  for (const role of steps.flatMap(({ buffers }) => buffers)) bytes.set(role, sizes[role] ?? 0);
  return { ...parts, steps, bytes, uploads, way: wayText(shape, features), tooLarge: tooLarge(bytes, steps, limits) };
}

/** Half precision as a type of the shader's where it has one. */
function loadFor({ f16 }: Machine, load: Load): Load {
  return f16 && load.dtype === "f16" ? { ...load, dtype: "half" } : load;
}

function native(rows: Rows, machine: Machine): Rows {
  const { making } = rows;
  const load = loadFor(machine, rows.load);
  if (making === null) return { ...rows, load };
  return {
    ...rows,
    load,
    making: { ...making, kernel: { ...making.kernel, source: loadFor(machine, making.kernel.source) } },
  };
}

function featuresOf(problem: AttentionProblem, query: Rows, key: Rows): ScoreFeatures {
  const { normalizer } = problem;
  if (normalizer === "hard" || normalizer === "sparsemax")
    throw new TypeError(`normalize ${normalizer} reached the GPU`);
  return {
    query: query.load,
    key: key.load,
    pair: PAIR[problem.score.kind],
    vectors: Math.ceil(query.dim / 4),
    softcap: problem.softcap !== null,
    alibi: problem.structure.alibiSlopes !== null,
    ranges: hasRanges(problem),
    mask: problem.mask !== null,
    bias: problem.bias !== null,
    scoreMod: problem.programs && modBody(problem.programs.words, 0),
    maskMod: problem.programs && modBody(problem.programs.words, 1),
    dropout: problem.dropout !== null,
    normalizer,
  };
}

interface Parts {
  readonly output: Part;
  readonly lse: Part | null;
  readonly entropy: Part | null;
  readonly weights: Part | null;
  readonly scores: Part | null;
  readonly words: number;
}

function resultParts({ output, lse, entropy, weights, scores }: AttentionProblem): Parts {
  let words = 0;
  const part = (view: { readonly elements: number }): Part => {
    words += view.elements;
    return { at: words - view.elements, elements: view.elements };
  };
  const parts = {
    output: part(output),
    lse: lse && part(lse),
    entropy: entropy && part(entropy),
    weights: weights && part(weights),
    scores: scores && part(scores),
  };
  return { ...parts, words };
}

/** Dropped is what is at most `drop_last`: below floor(p * 2^32), which for p = 1 is beyond 32 bits. */
function dropoutParams({ dropout }: AttentionProblem): Pick<Params, "drop_last" | "drop_seed" | "drop_keep"> {
  if (dropout === null) return { drop_last: 0, drop_seed: 0, drop_keep: 1 };
  const keep = dropout.p === 1 ? 0 : 1 / (1 - dropout.p);
  return {
    drop_last: Math.max(0, Math.floor(dropout.p * 2 ** 32) - 1),
    drop_seed: mixed(dropout.seed + 0x9e3779b9),
    drop_keep: keep,
  };
}

/** docs/semantics.md, dropout. */
function mixed(given: number): number {
  let x = given >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

function making(matrix: Role, source: Role, made: Role, how: Making | null, limits: GpuLimits): readonly Step[] {
  if (how === null) return [];
  const grid = gridOf(Math.ceil(how.threads / WORKGROUP), limits);
  const uniform = new Uint32Array(Math.ceil(how.fields.length / 4) * 4);
  uniform.set(how.fields);
  uniform[PREPARE_FIELDS.indexOf("groups_x")] = grid[0];
  return [{ kernel: how.kernel, buffers: [source, matrix, made], uniform, grid }];
}

interface Given {
  readonly features: ScoreFeatures;
  readonly outputs: RowOutputs;
  readonly problem: AttentionProblem;
  readonly query: Rows;
  readonly key: Rows;
  readonly value: Load;
}

function attending(shape: Shape, given: Given, params: Params, limits: GpuLimits): readonly Step[] {
  const { features, outputs, problem, query, key, value } = given;
  const { way, valueVectors } = shape;
  const split = shape.splits > 1;
  const none: RowOutputs = { sinks: false, lse: false, entropy: outputs.entropy, stats: false };
  const attends: Omit<Attending, "rows"> = { ...features, ...(split ? none : outputs), value, valueVectors, split };
  const grid = gridOf(shape.groups, limits);
  const stats: readonly Role[] = outputs.stats ? ["stats"] : [];
  const first: Step = {
    kernel: { ...way, ...attends },
    buffers: [
      ...scoreOperands(problem, query, key, "value"),
      "tables",
      ...(split ? (["parts"] as const) : (["results", ...stats] as const)),
    ],
    uniform: packParams({ ...params, groups_x: grid[0] }),
    grid,
  };
  if (!split) return [first];
  const merge: MergeKernel = { kind: "merge", ...outputs, normalizer: features.normalizer, dropout: features.dropout };
  const mergeGrid = gridOf(Math.ceil((params.rows * Math.ceil(params.value_dim / 4)) / WORKGROUP), limits);
  const uniform = packParams({ ...params, groups_x: mergeGrid[0] });
  return [first, { kernel: merge, buffers: ["tables", "parts", "results", ...stats], uniform, grid: mergeGrid }];
}

function pairing(
  problem: AttentionProblem,
  features: ScoreFeatures,
  query: Rows,
  key: Rows,
  params: Params,
  limits: GpuLimits,
): readonly Step[] {
  const form = problem.weights?.form ?? null;
  const step = (kernel: Pick<PairsKernel, "scores" | "weights">, outer: number, from: number, to: number): Step => {
    const pairs = outer * (to - from) * params.keys;
    const grid = gridOf(Math.ceil(pairs / WORKGROUP), limits);
    const stats: readonly Role[] = kernel.weights !== null && features.normalizer === "softmax" ? ["stats"] : [];
    return {
      kernel: { kind: "pairs", ...features, ...kernel },
      buffers: [...scoreOperands(problem, query, key, null), "tables", ...stats, "results"],
      uniform: packParams({ ...params, groups_x: grid[0], pairs_from: from, pairs_rows: to - from, pairs }),
      grid,
    };
  };
  const [batch, heads, queries] = problem.query.shape;
  const scores = problem.scores === null ? null : problem.scoreStage;
  const weights = form?.of === "rows" ? "rows" : null;
  const [from, to] = scores === null && form?.of === "rows" ? [form.from, form.to] : [0, queries];
  return [
    ...(scores !== null || weights !== null ? [step({ scores, weights }, batch * heads, from, to)] : []),
    ...(form?.of === "mean" ? [step({ scores: null, weights: "mean" }, batch, 0, queries)] : []),
  ];
}

function scoreOperands(
  { mask, bias }: AttentionProblem,
  query: Rows,
  key: Rows,
  value: "value" | null,
): readonly Role[] {
  return [
    query.making === null ? "query" : "queryRows",
    key.making === null ? "key" : "keyRows",
    ...(value === null ? [] : [value]),
    ...(mask === null ? [] : (["mask"] as const)),
    ...(bias === null ? [] : (["bias"] as const)),
  ];
}

/** Workgroups as a grid whose sides are within the limit. */
export function gridOf(
  groups: number,
  { maxComputeWorkgroupsPerDimension: limit }: GpuLimits,
): readonly [number, number] {
  const y = Math.ceil(groups / limit);
  return [Math.ceil(groups / y), y];
}

function stride(operand: Operand | null, axis: 0 | 1 | 2 | 3): number {
  return operand?.strides[axis] ?? 0;
}

const ELEMENT_BYTES: Readonly<Record<Operand["dtype"], number>> = { f32: 4, f16: 2, i8: 1, bool: 1 };

export function operandBytes(operand: Operand | null): number {
  return operand === null ? 0 : operand.elements * ELEMENT_BYTES[operand.dtype];
}

/** Of a buffer that shaders read. */
export function mostBytes({ maxStorageBufferBindingSize, maxBufferSize }: GpuLimits): number {
  return Math.min(maxStorageBufferBindingSize, maxBufferSize);
}

export function tooLarge(bytes: ReadonlyMap<Role, number>, steps: readonly Step[], limits: GpuLimits): string | null {
  const most = mostBytes(limits);
  for (const [role, size] of bytes) {
    if (size > most) return `${role} takes ${size} bytes, of which the adapter binds ${most}`;
  }
  for (const { kernel, buffers, grid } of steps) {
    if (buffers.length > limits.maxStorageBuffersPerShaderStage) {
      return `its ${kernel.kind} kernel needs ${buffers.length} buffers, of which the adapter binds ${limits.maxStorageBuffersPerShaderStage}`;
    }
    if (grid[1] > limits.maxComputeWorkgroupsPerDimension) return `it needs ${grid[0] * grid[1]} workgroups`;
  }
  return null;
}
