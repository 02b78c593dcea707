// Attention in a pass, of which every option that is a number may learn.

import { readLayout, viewOf } from "../../api/layout.js";
import { product } from "../../api/operands.js";
import type { AttentionOptions, BiasInput, Numbers, PlainScore } from "../../api/options.js";
import type { AttentionResult, NoAttentionOptions } from "../../api/results.js";
import { Tensor } from "../../api/tensor.js";
import type { Resident } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { isOptions, isRecord, readRecord } from "../../base/read-values.js";
import { numbersOf } from "../../base/typed-array.js";
import type { Expr, ScoreModArguments, TableData } from "../../expr/tree.js";
import { handOutAll } from "../../layers/hand-out.js";
import { Parameter } from "../../layers/parameters.js";
import { PASSED_OPTIONS, readOptions, ruleOf } from "../../layers/read-rule.js";
import type { Scope } from "../../layers/scope.js";
import { LEARNT_OPTIONS } from "./learnt-options.js";
import { bringOne, type PassValue, residentOf } from "./values.js";

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

/** Numbers of a tensor that expressions of heed/expr read. */
export interface PassTable {
  /** The number at these whole indices, one for each axis. An index beyond an end reads the number at that end. */
  at(...indices: readonly (Expr | number)[]): Expr;
}

/** The tensors that tables of expressions were made of. */
const TABLES = new WeakMap<TableData, Tensor>();

export async function tableOf(where: string, x: Tensor): Promise<PassTable> {
  const { shape } = x;
  if (shape.length < 1 || shape.length > 4) {
    throw new HeedError("shape", `${where}: a table must have one to four axes, got ${showShape(shape)}`);
  }
  const table: TableData = { data: await x.read(), shape, type: "float" };
  TABLES.set(table, x);
  return {
    at: (...indices) => ({ type: "float", op: "at", args: indices.map(exprOf), table }) as Expr,
  };
}

const exprOf = (index: Expr | number): Expr =>
  typeof index === "number" ? { type: "int", op: "const", args: [], value: index } : index;

const isLearnt = (value: unknown): boolean =>
  value instanceof Parameter || value instanceof Promise || Tensor.is(value);

export async function attention<const O extends PassAttentionOptions = NoAttentionOptions>(
  scope: Scope,
  where: string,
  tensors: { readonly query: Tensor; readonly key: Tensor; readonly value: Tensor },
  options: unknown,
): Promise<PassAttentionResult<O>> {
  const given = { ...readRecord(where, "options", options, [...PASSED_OPTIONS, "layout", "heads", "kvHeads"]) };
  const learnt: Partial<Record<"sinks" | "temperature", Resident>> = {};
  if (isLearnt(given["bias"])) given["bias"] = await bringOne(scope, where, "bias", given["bias"]);
  if (isOptions(given["score"])) given["score"] = await scoreOf(scope, where, given["score"]);
  for (const name of ["sinks", "temperature"] as const) {
    if (!isLearnt(given[name])) continue;
    const tensor = await bringOne(scope, where, name, given[name]);
    if (name === "temperature" && product(tensor.shape) !== 1) {
      throw new HeedError("shape", `${where}: temperature must be one number, got ${showShape(tensor.shape)}`);
    }
    const numbers = await tensor.read();
    given[name] = name === "temperature" ? numbers[0] : numbers;
    learnt[name] = residentOf(scope, tensor);
  }
  if (isLearnt(given["alibiSlopes"])) {
    const slopes = await tableOf(where, await bringOne(scope, where, "alibiSlopes", given["alibiSlopes"]));
    given["scoreMod"] = withSlopes(where, slopes, given, tensors);
    given["alibiSlopes"] = undefined;
  }
  const { layout, heads, kvHeads, ...passed } = given;
  const read = await readOptions(scope, where, passed, { layout, heads, kvHeads });
  const tables = tablesIn(Object.values(read.trees)).map(([table, x]) => [table, residentOf(scope, x)] as const);
  LEARNT_OPTIONS.set(read.trees, { ...learnt, tables: new Map(tables) });
  const rule = ruleOf(scope, where, read, tensors, null);
  return handOutAll(scope, await scope.attention(where, tensors, rule), true, false);
}

/** The tables of expressions that were made of tensors, with these. */
function tablesIn(trees: readonly unknown[]): readonly (readonly [TableData, Tensor])[] {
  const found = new Map<TableData, Tensor>();
  const seen = new Set<unknown>();
  const look = (node: unknown): void => {
    if (!isRecord(node) || seen.has(node)) return;
    seen.add(node);
    const table = node["table"] as TableData | undefined;
    const tensor = table && TABLES.get(table);
    if (table && tensor) found.set(table, tensor);
    if (Array.isArray(node["args"])) node["args"].forEach(look);
  };
  trees.forEach(look);
  return [...found];
}

async function scoreOf(scope: Scope, where: string, score: object): Promise<object> {
  const brought: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(score)) {
    brought[name] = isLearnt(value) ? await bringOne(scope, where, `score.${name}`, value) : value;
  }
  return brought;
}

/** ALiBi as a function of scores: score - slope |position - key|. */
function withSlopes(
  where: string,
  slopes: PassTable,
  given: Readonly<Record<string, unknown>>,
  { query, key }: { readonly query: Tensor; readonly key: Tensor },
): (of: ScoreModArguments) => unknown {
  const { causal, qOffset, qLengths, kvLengths, scoreMod, heads } = given;
  if (given["cuSeqlensQ"] !== undefined) {
    throw new HeedError("unsupported", `${where}: alibiSlopes that learn and cuSeqlensQ exclude each other`);
  }
  const layout = readLayout(where, given["layout"]);
  const [batch, , queries] = viewOf(where, "query", query.shape, layout, Number(heads ?? 1)).shape;
  const keys = viewOf(where, "key", key.shape, layout, 1).shape[2];
  const at = (value: unknown, entry: number, absent: number): number =>
    typeof value === "number" ? value : (numbersOf(value)?.[entry] ?? absent);
  const offsets = Float32Array.from({ length: batch }, (_, entry) => {
    const lowerRight = at(kvLengths, entry, keys) - at(qLengths, entry, queries);
    return at(qOffset, entry, causal === "upper-left" ? 0 : lowerRight);
  });
  const table: TableData = { data: offsets, shape: [batch], type: "int" };
  const node = (type: Expr["type"], op: Expr["op"], ...args: readonly Expr[]): Expr => ({ type, op, args });
  return (leaves) => {
    const made: unknown = typeof scoreMod === "function" ? scoreMod(leaves) : leaves.score;
    const changed = typeof made === "number" ? ({ ...exprOf(made), type: "float" } as const) : (made as Expr);
    const offset: Expr = { type: "int", op: "at", args: [leaves.b], table };
    const position = node("int", "add", leaves.q, offset);
    const distance = node("int", "abs", node("int", "sub", position, leaves.k));
    return node("float", "sub", changed, node("float", "mul", slopes.at(leaves.h), distance));
  };
}
