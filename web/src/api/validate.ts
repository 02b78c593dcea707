// Makes an AttentionProblem of tensors and read options, or throws a HeedError that names the rule and the shapes that broke it.

import type { AttentionProblem, Backend, BlockMask, Dims4, Operand, WeightForm } from "../backends/backend.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { readRecord, refusal } from "../base/read-values.js";
import { lengthOf, numbersOf } from "../base/typed-array.js";
import { denseView, perHeadShape, userShape, type View, viewOf } from "./layout.js";
import { operandOf, type ReadTensor, type ReadTensors, readF32, readMask, roomFor, withBareShape } from "./operands.js";
import { BLOCK_OPTIONS, type Layout } from "./options.js";
import type { ReadOptions, WantedWeights } from "./read-options.js";
import { hasMatrices, readScoreFunction } from "./score.js";
import { readStructure } from "./structure.js";

/** A checked call: the problem, and the shapes of the results as the caller sees them. */
export interface CheckedAttention {
  readonly problem: AttentionProblem;
  readonly shapes: {
    readonly output: readonly number[];
    readonly weights: readonly number[];
    readonly scores: readonly number[];
    /** The shape of lse and entropy, which are one number for each query. */
    readonly perQuery: readonly number[];
  };
}

/** `held`: the number of keys and values in a cache, which come before the given ones. */
export function validateAttention(
  where: string,
  backend: Backend | null,
  { query, key, value }: ReadTensors,
  options: ReadOptions,
  held = 0,
): CheckedAttention {
  const views = viewsOf(where, query, key, value, options);
  const target = scoresShape(views.query, views.key, held);
  const outputShape: Dims4 = [target[0], target[1], target[2], views.value.shape[3]];
  const rank = query.shape.length;
  const order = options.layout === "bhnd" || rank === 2 ? "bhnd" : "bnhd";
  const output = roomFor(where, "output", denseView(order, outputShape));
  const perQuery = (): View => denseView("bhnd", [target[0], target[1], target[2], 1]);
  const form = weightForm(where, options.weights, target[2]);
  checkOut(where, options.out, output.elements);
  const problem: AttentionProblem = {
    ...options.rules,
    query: operandOf(query, views.query),
    key: operandOf(key, views.key),
    value: operandOf(value, views.value),
    pages: null,
    mask: broadcastOperand(where, "mask", options.mask, target, readMask, backend),
    bias: broadcastOperand(where, "bias", options.bias, target, readF32, backend),
    score: readScoreFunction(where, options.score, views.query.shape, views.key.shape, backend),
    scale: effectiveScale(where, options, views.query.shape[3]),
    blocks: readBlocks(where, options.blocks, target),
    structure: readStructure(where, options.structure, target),
    output,
    weights: form && { ...roomFor(where, "weights", denseView("bhnd", weightsShape(form, target))), form },
    lse: options.lse ? roomFor(where, "lse", perQuery()) : null,
    scores: options.scores ? roomFor(where, "scores", denseView("bhnd", target)) : null,
    scoreStage: options.scores ?? "raw",
    entropy: options.entropy ? roomFor(where, "entropy", perQuery()) : null,
    into: options.out,
  };
  return {
    problem,
    // Shapes of results that were not asked for are not used.
    shapes: {
      output: userShape(outputShape, rank, options.layout),
      weights: weightsUserShape(form, target, rank, options.layout),
      scores: options.scores ? perHeadShape(target, rank, options.layout) : [],
      perQuery: options.lse || options.entropy ? perHeadShape(target.slice(0, 3), rank, options.layout) : [],
    },
  };
}

/** Null: no weights are wanted. */
function weightForm(where: string, wanted: WantedWeights, queries: number): WeightForm | null {
  if (wanted === false) return null;
  if (wanted === true) return { of: "rows", from: 0, to: queries };
  if (wanted === "mean") return { of: "mean" };
  const [from = -1, to = -1] = numbersOf(wanted.rows, 2) ?? [];
  const isRange = Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from < to;
  if (isRange && to <= queries) return { of: "rows", from, to };
  throw refusal(
    where,
    "return.weights.rows",
    `[from, to], two whole numbers with 0 <= from < to <= ${queries}`,
    wanted.rows,
  );
}

function weightsShape(form: WeightForm, [batch, heads, queries, keys]: Dims4): Dims4 {
  return form.of === "mean" ? [batch, 1, queries, keys] : [batch, heads, form.to - form.from, keys];
}

/** The mean has no head axis. */
function weightsUserShape(form: WeightForm | null, target: Dims4, rank: number, layout: Layout): readonly number[] {
  if (form === null) return [];
  const shape = weightsShape(form, target);
  if (form.of === "rows") return perHeadShape(shape, rank, layout);
  const [batch, , queries, keys] = shape;
  return rank === 4 || layout === "packed" ? [batch, queries, keys] : [queries, keys];
}

interface Views {
  readonly query: View;
  readonly key: View;
  readonly value: View;
}

/** The three shapes in [batch, heads, length, dim], checked against each other. */
function viewsOf(where: string, query: ReadTensor, key: ReadTensor, value: ReadTensor, options: ReadOptions): Views {
  const { layout } = options;
  const fail = (rule: string): never => {
    const got = `got query ${showShape(query.shape)} key ${showShape(key.shape)} value ${showShape(value.shape)}`;
    throw new HeedError("shape", `${where}: ${rule}, ${got}`);
  };
  const ranks = [query.shape.length, key.shape.length, value.shape.length];
  if (ranks.some((rank) => rank < 2 || rank > 4)) fail("query, key and value must have rank 2, 3 or 4");
  if (ranks.some((rank) => rank !== ranks[0])) fail("query, key and value must have the same rank");
  if (layout === "packed" && options.heads === null) {
    throw new HeedError("option", `${where}: layout "packed" needs heads (and kvHeads where they differ)`);
  }
  const heads = options.heads ?? 1;
  const q = viewOf(where, "query", query.shape, layout, heads);
  const k = viewOf(where, "key", key.shape, layout, options.kvHeads ?? heads);
  const v = viewOf(where, "value", value.shape, layout, options.kvHeads ?? heads);

  if (q.shape[1] === 0 || k.shape[1] === 0 || v.shape[1] === 0)
    fail("query, key and value must have at least one head");
  if (q.shape[3] === 0 || k.shape[3] === 0) fail("head_dim must be at least 1");
  if (v.shape[3] === 0) fail("value_dim must be at least 1");
  if (q.shape[0] !== k.shape[0] || q.shape[0] !== v.shape[0]) fail("query, key and value must have the same batch");
  if (q.shape[3] !== k.shape[3] && !hasMatrices(options.score)) fail("query and key must have the same head_dim");
  if (k.shape[1] !== v.shape[1]) fail("key and value heads must match");
  if (k.shape[2] !== v.shape[2]) {
    const got = `got key ${showShape(key.shape)} value ${showShape(value.shape)}`;
    throw new HeedError("shape", `${where}: key and value lengths must match, ${got}`);
  }
  if (q.shape[1] % k.shape[1] !== 0) {
    fail(`query heads must be a multiple of key and value heads (${q.shape[1]} and ${k.shape[1]})`);
  }
  checkHeads(where, "heads", options.heads, q.shape[1], query.shape);
  checkHeads(where, "kvHeads", options.kvHeads, k.shape[1], key.shape);
  return { query: q, key: k, value: v };
}

function checkHeads(where: string, name: string, given: number | null, heads: number, shape: readonly number[]): void {
  if (given === null || given === heads) return;
  throw new HeedError("option", `${where}: ${name} is ${given}, but the shape ${showShape(shape)} has ${heads}`);
}

/** [batch, query heads, query length, key length] */
function scoresShape(query: View, key: View, held: number): Dims4 {
  return [query.shape[0], query.shape[1], query.shape[2], held + key.shape[2]];
}

/** A mask or bias over [B, H, L, S]: axes of size 1 repeat, a shorter last axis masks the keys beyond it. */
function broadcastOperand(
  where: string,
  name: string,
  value: unknown,
  target: Dims4,
  read: (where: string, name: string, value: unknown, backend: Backend | null) => ReadTensor,
  backend: Backend | null,
  lastAxis?: "whole",
): Operand | null {
  if (value === undefined) return null;
  const tensor = read(where, name, withBareShape(where, name, value, target), backend);
  const { shape } = tensor;
  const rank = shape.length;
  const axis = (index: number): number => shape[index - 4 + rank] ?? 1;
  const full: Dims4 = [axis(0), axis(1), axis(2), axis(3)];
  const fits = full.every(
    (size, index) => size === 1 || size === target[index] || (index === 3 && size < target[3] && lastAxis !== "whole"),
  );
  if (rank < 1 || rank > 4 || !fits) {
    throw new HeedError("shape", `${where}: ${name} must broadcast to ${showShape(target)}, got ${showShape(shape)}`);
  }
  const view = denseView("bhnd", full);
  const step = (index: 0 | 1 | 2 | 3): number => (full[index] === 1 && target[index] !== 1 ? 0 : view.strides[index]);
  return operandOf(tensor, { shape: full, strides: [step(0), step(1), step(2), step(3)] });
}

function readBlocks(where: string, value: unknown, [batch, heads, queries, keys]: Dims4): BlockMask | null {
  if (value === undefined) return null;
  const { size, keep } = readRecord(where, "blocks", value, BLOCK_OPTIONS);
  const [ofQueries = 0, ofKeys = 0] = numbersOf(size, 2) ?? [];
  if (![ofQueries, ofKeys].every((count) => Number.isInteger(count) && count >= 1 && count < 2 ** 31)) {
    throw refusal(where, "blocks.size", "two whole numbers, 1 or more, of queries and of keys", size);
  }
  const name = "blocks.keep";
  const target: Dims4 = [batch, heads, Math.ceil(queries / ofQueries), Math.ceil(keys / ofKeys)];
  const kept = broadcastOperand(where, name, keep ?? null, target, readMask, null, "whole");
  return kept && { queries: ofQueries, keys: ofKeys, keep: kept };
}

function checkOut(where: string, out: Float32Array | null, elements: number): void {
  if (out === null || lengthOf(out) >= elements) return;
  throw new HeedError("shape", `${where}: out must have room for ${elements} elements, got ${lengthOf(out)}`);
}

/** scale / temperature. It must be finite in f32, and so must its product with log2(e), by which kernels multiply. */
function effectiveScale(where: string, options: ReadOptions, headDim: number): number {
  const scale = (options.scale ?? 1 / Math.sqrt(headDim)) / options.temperature;
  const f32 = Math.fround(scale);
  if (Number.isFinite(Math.fround(f32 * Math.fround(Math.LOG2E)))) return scale;
  const rule = Number.isFinite(f32) ? "scale * log2(e)" : "scale / temperature";
  throw new HeedError("option", `${where}: ${rule} must be finite in f32, got ${scale}`);
}
