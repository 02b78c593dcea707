// Makes the plan of an attention call: kernels, parameters, buffers and grids for a problem and the limits of an adapter. Pure.

import { attentionResults } from "../../operations/attention.js";
import type { AttentionProblem, Operand } from "../backend.js";
import { type Dispatch, dispatchOf, summaryOf } from "./dispatch.js";
import type { GpuLimits } from "./gpu.js";
import type { AttentionKernel, CombineKernel, Kernel, Load, PairsKernel, RowOutputs, ScoreFeatures } from "./kernel.js";
import { type Params, packParams, scoreSteps } from "./params.js";
import {
  gridOf,
  type Machine,
  operandBytes,
  type Plan,
  type ResultRange,
  type Role,
  type Step,
  tooLarge,
} from "./plan.js";
import { keyRows, loadOf, PAIR, queryRows, type Rows } from "./prepared-rows.js";
import { hasRanges } from "./row-ranges.js";
import { WORKGROUP } from "./shaders/common.js";
import { modBody } from "./shaders/mods.js";
import { PREPARE_FIELDS } from "./shaders/prepare.js";
import { makeTables, type Tables } from "./tables.js";

/** What the steps of a call are made from. */
interface Call {
  readonly problem: AttentionProblem;
  readonly machine: Machine;
  readonly query: Rows;
  readonly key: Rows;
  readonly features: ScoreFeatures;
  readonly outputs: RowOutputs;
  readonly dispatch: Dispatch;
  readonly tables: Tables;
  readonly results: readonly ResultRange[];
}

export function planAttention(problem: AttentionProblem, machine: Machine): Plan {
  const call = callOf(problem, machine);
  const { query, key, tables, dispatch, features, results } = call;
  const params = paramsOf(call);
  const steps = [
    ...prepareSteps("query", query, machine.limits),
    ...prepareSteps("key", key, machine.limits),
    ...attentionSteps(call, params),
    ...pairSteps(call, params),
  ];
  const sizes = bufferBytes(call, params);
  const bytes = new Map(steps.flatMap(({ buffers }) => buffers).map((role) => [role, sizes[role] ?? 0]));
  const uploads = new Map<Role, Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>([["tables", tables.data]]);
  if (query.preparation !== null) uploads.set("queryWeights", query.preparation.matrix);
  if (key.preparation !== null) uploads.set("keyWeights", key.preparation.matrix);
  const summary = summaryOf(dispatch, features);
  return { steps, results, bytes, uploads, summary, tooLarge: tooLarge(bytes, steps, machine.limits) };
}

function callOf(problem: AttentionProblem, machine: Machine): Call {
  const query = native(queryRows(problem), machine);
  const key = native(keyRows(problem), machine);
  const dispatch = dispatchOf(problem, query, key, machine);
  const { lse, entropy, weights, normalizer, structure } = problem;
  const outputs: RowOutputs = {
    sinks: structure.sinks !== null,
    lse: lse !== null,
    entropy: entropy !== null,
    stats: weights !== null && normalizer === "softmax",
  };
  const tables = makeTables(problem, problem.query.shape[1] / key.heads, dispatch.variant.rows);
  const features = featuresOf(problem, query, key, tables);
  return { problem, machine, query, key, features, outputs, dispatch, tables, results: layOutResults(problem) };
}

function paramsOf(call: Call): Params {
  const { problem, query, key } = call;
  const [batch, heads, queries] = problem.query.shape;
  return {
    heads,
    key_heads: key.heads,
    pack: heads / key.heads,
    group: heads / problem.key.shape[1],
    queries,
    keys: problem.key.shape[2],
    head_dim: query.dim,
    value_dim: problem.value.shape[3],
    rows: batch * heads * queries,
    scale: problem.scale,
    pairs_from: 0,
    pairs_rows: queries,
    pairs: 0,
    groups_x: 0,
    ...strideParams(call),
    ...tableParams(call),
    ...dispatchParams(call),
    ...resultParams(call),
    ...dropoutParams(problem),
  };
}

function strideParams({ problem, query, key }: Call) {
  const { value, mask, bias, output } = problem;
  return {
    q_b: query.strides[0],
    q_h: query.strides[1],
    q_i: query.strides[2],
    k_b: key.strides[0],
    k_h: key.strides[1],
    k_j: key.strides[2],
    v_b: value.strides[0],
    v_h: value.strides[1],
    v_j: value.strides[2],
    mask_b: stride(mask, 0),
    mask_h: stride(mask, 1),
    mask_i: stride(mask, 2),
    mask_j: stride(mask, 3),
    bias_b: stride(bias, 0),
    bias_h: stride(bias, 1),
    bias_i: stride(bias, 2),
    bias_j: stride(bias, 3),
    out_b: output.strides[0],
    out_h: output.strides[1],
    out_i: output.strides[2],
  };
}

function tableParams({ tables }: Call) {
  return {
    ranges_at: tables.rangesAt,
    tiles_at: tables.tilesAt,
    constants_at: tables.constantsAt,
    constants_h: tables.constantsHead,
    mods_at: tables.modsAt,
    ...tables.options,
  };
}

function dispatchParams({ dispatch }: Call) {
  const { rowTiles, chunks, splits, splitKeys, groups, valueVectors } = dispatch;
  return {
    row_tiles: rowTiles,
    chunks,
    splits,
    split_keys: splitKeys,
    // The first vector of a partial result holds its row max, row sum and entropy sum.
    partial_width: 1 + chunks * valueVectors,
    groups,
  };
}

function resultParams({ problem, results }: Call) {
  const { lse, entropy, weights, scores } = attentionResults(problem, results);
  const form = problem.weights?.form;
  return {
    lse_at: lse?.at ?? 0,
    entropy_at: entropy?.at ?? 0,
    weights_at: weights?.at ?? 0,
    scores_at: scores?.at ?? 0,
    weights_from: form?.of === "rows" ? form.from : 0,
    weights_to: form?.of === "rows" ? form.to : problem.query.shape[2],
  };
}

function bufferBytes({ problem, query, key, tables, dispatch, results }: Call, { rows, partial_width }: Params) {
  const sizes: Readonly<Partial<Record<Role, number>>> = {
    query: operandBytes(problem.query),
    key: operandBytes(problem.key),
    value: operandBytes(problem.value),
    mask: operandBytes(problem.mask),
    bias: operandBytes(problem.bias),
    tables: tables.data.byteLength,
    results: results.reduce((bytes, { elements }) => bytes + elements * 4, 0),
    stats: rows * 8,
    partials: dispatch.splits * rows * partial_width * 16,
    queryWeights: query.preparation?.matrix.byteLength ?? 0,
    keyWeights: key.preparation?.matrix.byteLength ?? 0,
    queryRows: (query.preparation?.elements ?? 0) * 4,
    keyRows: (key.preparation?.elements ?? 0) * 4,
  };
  return sizes;
}

/** The shader reads f16 as its own type where the adapter has it. */
function loadFor({ f16 }: Machine, load: Load): Load {
  return f16 && load.dtype === "f16" ? { ...load, dtype: "native-f16" } : load;
}

function native(rows: Rows, machine: Machine): Rows {
  const { preparation } = rows;
  const load = loadFor(machine, rows.load);
  if (preparation === null) return { ...rows, load };
  return {
    ...rows,
    load,
    preparation: {
      ...preparation,
      kernel: { ...preparation.kernel, source: loadFor(machine, preparation.kernel.source) },
    },
  };
}

function featuresOf(problem: AttentionProblem, query: Rows, key: Rows, { options }: Tables): ScoreFeatures {
  const { normalizer } = problem;
  if (normalizer === "hard" || normalizer === "sparsemax")
    throw new TypeError(`normalize ${normalizer} reached the GPU`);
  return {
    query: query.load,
    key: key.load,
    pair: PAIR[problem.score.kind],
    vectors: Math.ceil(query.dim / 4),
    steps: scoreSteps(options),
    ranges: hasRanges(problem),
    mask: problem.mask !== null,
    bias: problem.bias !== null,
    scoreMod: problem.programs && modBody(problem.programs.words, 0),
    maskMod: problem.programs && modBody(problem.programs.words, 1),
    dropout: problem.dropout !== null,
    normalizer,
  };
}

/** All results lie in one buffer, one after the other. */
function layOutResults({ output, weights, lse, scores, entropy }: AttentionProblem): readonly ResultRange[] {
  let end = 0;
  return [output, weights, lse, scores, entropy].flatMap((view) => {
    if (view === null) return [];
    const at = end;
    end += view.elements;
    return [{ at, elements: view.elements }];
  });
}

/** A weight whose bits are at most `drop_last` is dropped. The count of such bits, floor(p * 2^32), needs 33 bits for p = 1. */
function dropoutParams({ dropout }: AttentionProblem): Pick<Params, "drop_last" | "drop_seed" | "drop_keep"> {
  if (dropout === null) return { drop_last: 0, drop_seed: 0, drop_keep: 1 };
  const keep = dropout.p === 1 ? 0 : 1 / (1 - dropout.p);
  return {
    drop_last: Math.max(0, Math.floor(dropout.p * 2 ** 32) - 1),
    drop_seed: mixed(dropout.seed + 0x9e3779b9),
    drop_keep: keep,
  };
}

/** The hash of docs/semantics/attention.md, dropout. */
function mixed(given: number): number {
  let x = given >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** The step that prepares the rows of the query or of K; none where the kernels read them as given. */
function prepareSteps(side: "query" | "key", { preparation }: Rows, limits: GpuLimits): readonly Step[] {
  if (preparation === null) return [];
  const grid = gridOf(Math.ceil(preparation.threads / WORKGROUP), limits);
  const uniform = new Uint32Array(Math.ceil(preparation.fields.length / 4) * 4);
  uniform.set(preparation.fields);
  uniform[PREPARE_FIELDS.indexOf("groups_x")] = grid[0];
  return [{ kernel: preparation.kernel, buffers: [side, `${side}Weights`, `${side}Rows`], uniform, grid }];
}

/** The attention kernel, and if it splits the keys, the kernel that combines the partial results. */
function attentionSteps(call: Call, params: Params): readonly Step[] {
  const { dispatch, features, outputs, problem, query, key, machine } = call;
  const { variant, valueVectors } = dispatch;
  const split = dispatch.splits > 1;
  const none: RowOutputs = { sinks: false, lse: false, entropy: outputs.entropy, stats: false };
  const value = loadFor(machine, loadOf(problem.value));
  const attention: Omit<AttentionKernel, "rows"> = {
    ...features,
    ...(split ? none : outputs),
    value,
    valueVectors,
    split,
  };
  const stats: readonly Role[] = outputs.stats ? ["stats"] : [];
  const written: readonly Role[] = split ? ["partials"] : ["results", ...stats];
  const step = (kernel: Kernel, buffers: readonly Role[], groups: number): Step => {
    const grid = gridOf(groups, machine.limits);
    return { kernel, buffers, uniform: packParams({ ...params, groups_x: grid[0] }), grid };
  };
  const operands = scoreOperands(problem, query, key, "value");
  const first = step({ ...variant, ...attention }, [...operands, "tables", ...written], dispatch.groups);
  if (!split) return [first];
  const groups = Math.ceil((params.rows * Math.ceil(params.value_dim / 4)) / WORKGROUP);
  const combine: CombineKernel = { kind: "combine", ...outputs, normalizer: features.normalizer };
  return [first, step(combine, ["tables", "partials", "results", ...stats], groups)];
}

/** The kernels for results with one number a query and key: scores and weights. */
function pairSteps({ problem, features, query, key, machine }: Call, params: Params): readonly Step[] {
  const form = problem.weights?.form ?? null;
  const step = (kernel: Pick<PairsKernel, "scores" | "weights">, outer: number, from: number, to: number): Step => {
    const pairs = outer * (to - from) * params.keys;
    const grid = gridOf(Math.ceil(pairs / WORKGROUP), machine.limits);
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
    query.preparation === null ? "query" : "queryRows",
    key.preparation === null ? "key" : "keyRows",
    ...(value === null ? [] : [value]),
    ...(mask === null ? [] : (["mask"] as const)),
    ...(bias === null ? [] : (["bias"] as const)),
  ];
}

function stride(operand: Operand | null, axis: 0 | 1 | 2 | 3): number {
  return operand?.strides[axis] ?? 0;
}
