// linearAttention: reads its arguments, makes a checked problem, and returns results.

import type { Backend, Dims4, Operand } from "../../backends/backend.js";
import { showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard, guardAsync } from "../../base/guard.js";
import {
  readBoolean,
  readChoice,
  readCount,
  readFinite,
  readRecord,
  readSignal,
  throwIfAborted,
} from "../../base/read-values.js";
import { LINEAR_ATTENTION, type LinearProblem, type LinearRule } from "../../operations/linear-attention.js";
import { denseView, perHeadShape, readLayout, userShape, type View, viewOf } from "../layout.js";
import { operandOf, type ReadTensor, readTensor, roomFor } from "../operands.js";
import { DEFAULTS, type Layout } from "../options.js";
import type { ArrayTensor, Tensor } from "../tensor.js";
import { readOptional, sameShape } from "./read-tensors.js";
import { returnedAll } from "./results.js";

/** The names of LinearOptions. */
export const LINEAR_OPTIONS = [
  "rule",
  "decay",
  "beta",
  "state",
  "scale",
  "causal",
  "layout",
  "heads",
  "kvHeads",
  "keep",
  "signal",
] as const;

const RULES = ["linear", "gated", "delta", "gated-delta", "elu"] as const;

export async function linearAttention(
  backend: Backend,
  tensors: readonly unknown[],
  options: unknown,
): Promise<{ readonly output: ArrayTensor | Tensor; readonly state: ArrayTensor | Tensor }> {
  const where = "linearAttention";
  const { problem, shapes, signal } = guard("option", `${where}: reading its arguments`, () =>
    checkLinear(where, backend, tensors, readRecord(where, "options", options, LINEAR_OPTIONS)),
  );
  throwIfAborted(where, signal);
  return guardAsync("memory", `${where}: computing`, async () => {
    const computed = await backend.run(LINEAR_ATTENTION, problem, signal);
    const [output, state] = returnedAll(backend, computed, [shapes.output, shapes.state]);
    return { output, state };
  });
}

export interface CheckedLinear {
  readonly problem: LinearProblem;
  readonly shapes: { readonly output: readonly number[]; readonly state: readonly number[] };
  readonly signal: AbortSignal | null;
}

/** Checks a call of linear attention, or of its backward pass: `where` is the function's name in messages. */
export function checkLinear(
  where: string,
  backend: Backend,
  [q, k, v]: readonly unknown[],
  given: Readonly<Record<string, unknown>>,
): CheckedLinear {
  const rule = readRule(where, given["rule"]);
  const causal = readBoolean(where, "causal", given["causal"], rule !== "elu");
  if (!causal && rule !== "elu") {
    throw new HeedError("option", `${where}: causal may be false for rule elu alone, got rule "${rule}"`);
  }
  const scale = readFinite(where, "scale", given["scale"], null);
  if (scale !== null && rule === "elu") {
    throw new HeedError("option", `${where}: scale has no meaning for rule elu, which divides it out`);
  }
  const layout = readLayout(where, given["layout"]);
  const query = readTensor(where, "query", q, backend);
  const key = readTensor(where, "key", k, backend);
  const value = readTensor(where, "value", v, backend);
  const heads = readCount(where, "heads", given["heads"], null);
  const kvHeads = readCount(where, "kvHeads", given["kvHeads"], null);
  const views = viewsOf(where, { query, key, value }, layout, heads, kvHeads, causal);
  const rank = query.shape.length;
  const order = layout === "bhnd" || rank === 2 ? "bhnd" : "bnhd";
  const [batch, queryHeads, queries, headDim] = views.query.shape;
  const [, groups, keys, valueDim] = views.value.shape;
  const stateShape: Dims4 = [batch, groups, headDim, valueDim + (rule === "elu" ? 1 : 0)];
  const outputShape: Dims4 = [batch, Math.max(queryHeads, groups), queries, valueDim];
  const stateShapes = { view: stateShape, own: perHeadShape(stateShape, rank, layout) };
  const tokens: Dims4 = [batch, groups, keys, headDim];
  const perToken: PerToken = { where, rule, layout, order, tokens, shape: key.shape };
  const problem: LinearProblem = {
    query: operandOf(query, views.query),
    key: operandOf(key, views.key),
    value: operandOf(value, views.value),
    decay: readDecay(readOptional(where, "decay", given["decay"], backend), perToken),
    beta: readBeta(readOptional(where, "beta", given["beta"], backend), perToken),
    state: readState(where, "state", readOptional(where, "state", given["state"], backend), stateShapes),
    rule,
    causal,
    scale,
    output: roomFor(where, "output", denseView(order, outputShape)),
    newState: roomFor(where, "state", denseView("bhnd", stateShape)),
    keep: readBoolean(where, "keep", given["keep"], DEFAULTS.keep),
  };
  return {
    problem,
    shapes: { output: userShape(outputShape, rank, layout), state: stateShapes.own },
    signal: readSignal(where, given["signal"]),
  };
}

function readRule(where: string, value: unknown): LinearRule {
  if (value !== undefined) return readChoice(where, "rule", value, RULES, "linear");
  const list = RULES.map((rule) => `"${rule}"`).join(", ");
  throw new HeedError("option", `${where}: rule must be one of ${list}, got undefined`);
}

interface Tensors {
  readonly query: ReadTensor;
  readonly key: ReadTensor;
  readonly value: ReadTensor;
}

/** The three shapes in [batch, heads, length, dim], checked against each other. */
function viewsOf(
  where: string,
  { query, key, value }: Tensors,
  layout: Layout,
  heads: number | null,
  kvHeads: number | null,
  causal: boolean,
): { readonly query: View; readonly key: View; readonly value: View } {
  const check = (isGood: boolean, rule: string): void => {
    if (isGood) return;
    const got = `got query ${showShape(query.shape)} key ${showShape(key.shape)} value ${showShape(value.shape)}`;
    throw new HeedError("shape", `${where}: ${rule}, ${got}`);
  };
  const ranks = [query.shape.length, key.shape.length, value.shape.length];
  check(
    ranks.every((rank) => rank === ranks[0]),
    "query, key and value must have the same rank",
  );
  check(
    ranks.every((rank) => rank >= 2 && rank <= 4),
    "query, key and value must have rank 2, 3 or 4",
  );
  if (layout === "packed" && heads === null) {
    throw new HeedError("option", `${where}: layout "packed" needs heads (and kvHeads where they differ)`);
  }
  const q = viewOf(where, "query", query.shape, layout, heads ?? 1);
  // Of packed heads the query's say how wide a key is.
  const keyHeads = (key.shape[2] ?? 0) / q.shape[3];
  const k = viewOf(where, "key", key.shape, layout, Number.isInteger(keyHeads) ? keyHeads : (kvHeads ?? heads ?? 1));
  const v = viewOf(where, "value", value.shape, layout, kvHeads ?? heads ?? 1);
  check(q.shape[1] > 0 && k.shape[1] > 0 && v.shape[1] > 0, "query, key and value must have at least one head");
  check(q.shape[3] > 0, "head_dim must be at least 1");
  check(v.shape[3] > 0, "value_dim must be at least 1");
  check(q.shape[0] === k.shape[0] && q.shape[0] === v.shape[0], "query, key and value must have the same batch");
  check(q.shape[3] === k.shape[3], "query and key must have the same head_dim");
  check(k.shape[2] === v.shape[2], "key and value lengths must match");
  check(
    v.shape[1] % k.shape[1] === 0 && (q.shape[1] % v.shape[1] === 0 || v.shape[1] % q.shape[1] === 0),
    "value heads must be a multiple of key heads, and of query heads or a divisor",
  );
  check(!causal || q.shape[2] === k.shape[2], "query and key lengths must match unless causal is false");
  for (const [name, count, wanted] of [
    ["heads", q.shape[1], heads],
    ["kvHeads", v.shape[1], kvHeads],
  ] as const) {
    if (wanted === null || wanted === count) continue;
    throw new HeedError("option", `${where}: ${name} is ${wanted}, but the shapes have ${count}`);
  }
  return { query: q, key: k, value: v };
}

/** The shape of a key that had so many heads, and `dim` numbers for each head and token. With null it is one number, without an axis unless heads are packed. */
function perTokenShape(shape: readonly number[], layout: Layout, heads: number, dim: number | null): readonly number[] {
  if (layout === "packed") return [shape[0] ?? 0, shape[1] ?? 0, heads * (dim ?? 1)];
  const axes = shape.slice(0, -1);
  if (shape.length > 2) axes[axes.length - (layout === "bhnd" ? 2 : 1)] = heads;
  return dim === null ? axes : [...axes, dim];
}

/** Whether a tensor has this shape, with a last axis of one or without. */
function isOnePer({ shape }: ReadTensor, axes: readonly number[]): boolean {
  return sameShape(shape, axes) || sameShape(shape, [...axes, 1]);
}

/** A call with numbers for each token and head: the shape of its key as the caller wrote it, and as it were with the values' heads. */
interface PerToken {
  readonly where: string;
  readonly rule: LinearRule;
  readonly layout: Layout;
  readonly order: "bhnd" | "bnhd";
  readonly tokens: Dims4;
  readonly shape: readonly number[];
}

function readDecay(decay: ReadTensor | null, { where, rule, layout, order, tokens, shape }: PerToken): Operand | null {
  const isGated = rule === "gated" || rule === "gated-delta";
  if (!isGated && decay !== null) {
    throw new HeedError("option", `${where}: decay is for the gated rules alone, got rule "${rule}"`);
  }
  if (!isGated) return null;
  if (decay === null)
    throw new HeedError("option", `${where}: the gated rules need decay, got ${showValue(undefined)}`);
  const [batch, heads, length, dim] = tokens;
  const narrow = perTokenShape(shape, layout, heads, null);
  const wide = perTokenShape(shape, layout, heads, dim);
  if (sameShape(decay.shape, wide)) return operandOf(decay, denseView(order, tokens));
  if (isOnePer(decay, narrow)) return operandOf(decay, denseView(order, [batch, heads, length, 1]));
  throw new HeedError(
    "shape",
    `${where}: decay must be ${showShape(narrow)} or ${showShape(wide)}, got ${showShape(decay.shape)}`,
  );
}

function readBeta(beta: ReadTensor | null, { where, rule, layout, order, tokens, shape }: PerToken): Operand | null {
  if (beta === null) return null;
  if (rule !== "delta" && rule !== "gated-delta") {
    throw new HeedError("option", `${where}: beta is for the delta rules alone, got rule "${rule}"`);
  }
  const [batch, heads, length] = tokens;
  const perHead = perTokenShape(shape, layout, heads, null);
  const shared = perTokenShape(shape, layout, 1, null);
  if (isOnePer(beta, perHead)) return operandOf(beta, denseView(order, [batch, heads, length, 1]));
  if (isOnePer(beta, shared)) return operandOf(beta, denseView(order, [batch, 1, length, 1]));
  throw new HeedError(
    "shape",
    `${where}: beta must be ${showShape(perHead)} or ${showShape(shared)}, got ${showShape(beta.shape)}`,
  );
}

/** Reads a state, or the gradient of one, of a shape as the kernel sees it and as the caller does. */
export function readState(
  where: string,
  name: string,
  state: ReadTensor | null,
  { view, own }: { readonly view: Dims4; readonly own: readonly number[] },
): Operand | null {
  if (state === null) return null;
  if (sameShape(state.shape, own) || sameShape(state.shape, view)) return operandOf(state, denseView("bhnd", view));
  throw new HeedError("shape", `${where}: ${name} must be ${showShape(own)}, got ${showShape(state.shape)}`);
}
