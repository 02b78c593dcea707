// Attention in a pass, of which every option that is a number may learn.

import { product } from "../../api/operands.js";
import type { AttentionOptions, BiasInput, Numbers, PlainScore } from "../../api/options.js";
import type { AttentionResult, NoAttentionOptions } from "../../api/results.js";
import { Tensor } from "../../api/tensor.js";
import type { Resident } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard } from "../../base/guard.js";
import { isOptions, isRecord } from "../../base/read-values.js";
import { numbersOf as listed } from "../../base/typed-array.js";
import {
  COMPILER,
  type Expr,
  type Learnt,
  type LearntTable,
  type ScoreModArguments,
  type TableData,
} from "../../expr/tree.js";
import { handOutAll } from "../../layers/hand-out.js";
import { Parameter } from "../../layers/parameters.js";
import { readCopy } from "../../layers/read.js";
import { PASSED_OPTIONS, readOptions, ruleOf } from "../../layers/read-rule.js";
import type { Scope } from "../../layers/scope.js";
import type { WantedGradient } from "../../operations/attention-vjp.js";
import { LEARNT_OPTIONS } from "./learnt-options.js";
import { bringOne, copyOf, type PassValue, residentOf } from "./values.js";

/** The parameters of a score may all be tensors of the pass. */
export type PassScore =
  | PlainScore
  | "additive"
  | {
      readonly type: PlainScore | "general" | "additive" | "gated" | "rbf";
      readonly w?: PassValue | Float32Array | undefined;
      readonly wq?: PassValue | undefined;
      readonly wk?: PassValue | undefined;
      readonly b?: PassValue | Numbers | undefined;
      readonly v?: PassValue | Float32Array | undefined;
      readonly bandwidth?: PassValue | Numbers | undefined;
    };

type Changed = "bias" | "sinks" | "temperature" | "alibiSlopes" | "score";

/** Those of `attention`, of which tensors of the pass and parameters learn. */
export interface PassAttentionOptions
  extends Omit<AttentionOptions, Changed | "cache" | "out" | "keep" | "signal" | "retry"> {
  readonly bias?: PassValue | BiasInput | undefined;
  readonly sinks?: PassValue | Numbers | undefined;
  readonly temperature?: PassValue | undefined;
  readonly alibiSlopes?: PassValue | Numbers | undefined;
  readonly score?: PassScore | undefined;
}

/** The results are tensors of the pass. */
export type PassAttentionResult<O> = AttentionResult<Omit<O, "keep"> & { readonly keep: true }>;

const exprOf = (index: Expr | number): Expr =>
  typeof index === "number" ? { type: typeOf(index), op: "const", args: [], value: index } : index;

/** As heed/expr has it. */
const typeOf = (value: number): "int" | "float" =>
  Number.isInteger(value) && Math.abs(value) <= 2 ** 24 ? "int" : "float";

const isLearnt = (value: unknown): boolean =>
  value instanceof Parameter || value instanceof Promise || Tensor.is(value);

const OPTIONS = [...PASSED_OPTIONS.filter((name) => name !== "cache"), "layout", "heads", "kvHeads"];

/** A copy of the options, which the caller may change meanwhile. */
export const readAttention = (where: string, options: unknown): Record<string, unknown> => ({
  ...readCopy(where, "options", copyOf(options), OPTIONS),
});

export async function attention<const O extends PassAttentionOptions = NoAttentionOptions>(
  scope: Scope,
  where: string,
  tensors: { readonly query: Tensor; readonly key: Tensor; readonly value: Tensor },
  given: Record<string, unknown>,
): Promise<PassAttentionResult<O>> {
  const numbers = new Map<WantedGradient, Resident>();
  /** The numbers of what learns although it is no operand; `is` names its gradient. */
  const numbersOf = async (is: WantedGradient, name: string, value: unknown): Promise<number | Float32Array> => {
    const tensor = await bringOne(scope, where, name, value);
    if (is === "logScale" && product(tensor.shape) !== 1) {
      throw new HeedError("shape", `${where}: temperature must be one number, got ${showShape(tensor.shape)}`);
    }
    numbers.set(is, residentOf(scope, tensor));
    const read = await tensor.read();
    return read.length === 1 && is !== "sinks" ? (read[0] ?? Number.NaN) : read;
  };
  if (isLearnt(given["bias"])) given["bias"] = await bringOne(scope, where, "bias", given["bias"]);
  for (const [name, is] of [
    ["sinks", "sinks"],
    ["temperature", "logScale"],
  ] as const) {
    const isTensor = isLearnt(given[name]) || (name === "temperature" && isRecord(given[name]));
    if (isTensor) given[name] = await numbersOf(is, name, given[name]);
  }
  if (isOptions(given["score"])) {
    const { type, ...parameters } = given["score"] as Readonly<Record<string, unknown>>;
    const brought: Record<string, unknown> = { type };
    for (const [name, value] of Object.entries(parameters)) {
      const is = name === "bandwidth" || (name === "b" && type === "gated") ? name : null;
      if (!isLearnt(value)) brought[name] = value;
      else if (is !== null) brought[name] = await numbersOf(is, `score.${name}`, value);
      else brought[name] = await bringOne(scope, where, `score.${name}`, value);
    }
    given["score"] = brought;
  }
  if (isLearnt(given["alibiSlopes"])) {
    const slopes = await bringOne(scope, where, "alibiSlopes", given["alibiSlopes"]);
    given["scoreMod"] = withSlopes(where, await slopesOf(where, slopes, given, tensors.query), given, tensors);
    given["alibiSlopes"] = undefined;
  }
  const { learnt, checks } = await withNumbers(scope, where, given);
  const { layout, heads, kvHeads, ...passed } = given;
  const read = await readOptions(scope, where, passed, { layout, heads, kvHeads });
  for (const check of checks) check();
  LEARNT_OPTIONS.set(read.trees, { numbers, tables: learnt });
  const rule = ruleOf(scope, where, read, tensors, null);
  return handOutAll(scope, await scope.attention(where, tensors, rule), true, false);
}

/** Calls the functions among the options, which become their results, and reads the numbers of what these have tables of. */
async function withNumbers(scope: Scope, where: string, given: Record<string, unknown>) {
  const learnt = new Map<unknown, Resident>();
  const checks: (() => void)[] = [];
  const known = new Map<Learnt, TableData>();
  const { begin } = Reflect.get(globalThis, COMPILER) ?? {};
  for (const name of ["scoreMod", "maskMod", "probMod"] as const) {
    const act = given[name];
    // Without heed/expr the call is refused.
    if (typeof act !== "function" || !begin) continue;
    const { unfilled } = await import("../../expr/fill-tables.js");
    const called = `${where}: ${name}`;
    const { leaves, check } = begin(called);
    const own = name.slice(0, -3);
    const { made, tree } = guard("option", called, () => {
      const made: unknown = act(leaves);
      return { made, tree: unfilled(made) };
    });
    for (const of of tree.sources) {
      const tensor = await bringOne(scope, where, "a table", of);
      const table = known.get(of) ?? ({ data: await tensor.read(), shape: tensor.shape, type: "float" } as const);
      known.set(of, table);
      learnt.set(table, residentOf(scope, tensor));
    }
    const filled = tree.fill(known);
    const result = (of: Readonly<Record<string, unknown>>): unknown => (made === leaves[own] ? of[own] : filled);
    given[name] = Object.defineProperty(result, "length", { value: act.length });
    checks.push(check);
  }
  return { learnt, checks };
}

/** One slope for each query head, as the engine has them where they are numbers. */
async function slopesOf(
  where: string,
  slopes: Tensor,
  { layout = "bhnd", heads: given }: Readonly<Record<string, unknown>>,
  { shape }: Tensor,
): Promise<LearntTable> {
  const axis = shape.length - (layout === "bnhd" ? 2 : 3);
  const heads = layout === "packed" ? given : shape.length === 2 ? 1 : shape[axis];
  const isGood = (await slopes.read()).every((slope) => Math.abs(slope) <= 1e30);
  if (isGood && slopes.shape.join() === `${heads}`) return { of: slopes, shape: slopes.shape, type: "float" };
  const rule = `alibiSlopes must hold a number of at most 1e30 for each of ${heads} query heads`;
  throw new HeedError("option", `${where}: ${rule}, got ${isGood ? showShape(slopes.shape) : "one that is not"}`);
}

/** ALiBi as a function of scores: score - slope |position - key|. */
function withSlopes(
  where: string,
  slopes: LearntTable,
  given: Readonly<Record<string, unknown>>,
  { query, key }: { readonly query: Tensor; readonly key: Tensor },
): (of: ScoreModArguments) => unknown {
  const { causal, qOffset, qLengths, kvLengths, scoreMod } = given;
  if (given["cuSeqlensQ"] !== undefined) {
    throw new HeedError("unsupported", `${where}: alibiSlopes that learn and cuSeqlensQ exclude each other`);
  }
  const { layout } = given;
  /** The batch entries of a tensor, and its tokens. Other layouts and ranks are refused when the call is read. */
  const sizesOf = ({ shape }: Tensor): readonly [number, number] => {
    const tokens = layout === "packed" ? 1 : shape.length - (layout === "bnhd" && shape.length > 2 ? 3 : 2);
    return [layout === "packed" || shape.length === 4 ? (shape[0] ?? 1) : 1, shape[tokens] ?? 1];
  };
  const [batch, queries] = sizesOf(query);
  const [, keys] = sizesOf(key);
  const at = (value: unknown, entry: number, absent: number): number =>
    typeof value === "number" ? value : (listed(value)?.[entry] ?? absent);
  const offsets = Float32Array.from({ length: batch }, (_, entry) => {
    const lowerRight = at(kvLengths, entry, keys) - at(qLengths, entry, queries);
    return at(qOffset, entry, causal === "upper-left" ? 0 : lowerRight);
  });
  const table: TableData = { data: offsets, shape: [batch], type: "int" };
  const node = (type: Expr["type"], op: Expr["op"], ...args: readonly Expr[]): Expr => ({ type, op, args });
  return (leaves) => {
    const made: unknown = typeof scoreMod === "function" ? scoreMod(leaves) : leaves.score;
    const changed = exprOf(made as Expr | number);
    const offset: Expr = { type: "int", op: "at", args: [leaves.b], table };
    const slope: Expr = { type: "float", op: "at", args: [leaves.h], table: slopes };
    const position = node("int", "add", leaves.q, offset);
    const distance = node("int", "abs", node("int", "sub", position, leaves.k));
    return node("float", "sub", changed, node("float", "mul", slope, distance));
  };
}
