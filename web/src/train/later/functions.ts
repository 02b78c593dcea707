// Functions of scores and weights in a pass: their tables of what learns, and ALiBi with slopes that learn. Loaded at the first call with one.

import type { Tensor } from "../../api/tensor.js";
import type { Resident } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard } from "../../base/guard.js";
import { numbersOf as listed } from "../../base/typed-array.js";
import { unfilled } from "../../expr/fill-tables.js";
import {
  COMPILER,
  type Expr,
  type Learnt,
  type LearntTable,
  type ScoreModArguments,
  type TableData,
} from "../../expr/tree.js";

/** Calls the functions among the options, which become their results, and reads the numbers of what these have tables of. */
export async function withNumbers(
  where: string,
  given: Record<string, unknown>,
  bring: (of: Learnt) => Promise<{ readonly tensor: Tensor; readonly resident: Resident }>,
) {
  const learnt = new Map<unknown, Resident>();
  const checks: (() => void)[] = [];
  const known = new Map<Learnt, TableData>();
  const { begin } = Reflect.get(globalThis, COMPILER) ?? {};
  for (const name of ["scoreMod", "maskMod", "probMod"] as const) {
    const act = given[name];
    // Without heed/expr the call is refused.
    if (typeof act !== "function" || !begin) continue;
    const called = `${where}: ${name}`;
    const { leaves, check } = begin(called);
    const own = name.slice(0, -3);
    const { made, tree } = guard("option", called, () => {
      const made: unknown = act(leaves);
      return { made, tree: unfilled(made) };
    });
    for (const of of tree.sources) {
      const { tensor, resident } = await bring(of);
      const table = known.get(of) ?? ({ data: await tensor.read(), shape: tensor.shape, type: "float" } as const);
      known.set(of, table);
      learnt.set(table, resident);
    }
    const filled = tree.fill(known);
    const result = (of: Readonly<Record<string, unknown>>): unknown => (made === leaves[own] ? of[own] : filled);
    given[name] = Object.defineProperty(result, "length", { value: act.length });
    checks.push(check);
  }
  return { learnt, checks };
}

/** ALiBi as a function of scores: score - slope |position - key|. */
export async function withSlopes(
  where: string,
  x: Tensor,
  given: Readonly<Record<string, unknown>>,
  { query, key }: { readonly query: Tensor; readonly key: Tensor },
): Promise<(of: ScoreModArguments) => unknown> {
  const { causal, qOffset, qLengths, kvLengths, scoreMod } = given;
  if (given["cuSeqlensQ"] !== undefined) {
    throw new HeedError("unsupported", `${where}: alibiSlopes that learn and cuSeqlensQ exclude each other`);
  }
  const { layout } = given;
  const slopes = await slopesOf(where, x, given, query);
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
    const slope: Expr = { type: "float", op: "at", args: [leaves.h], table: slopes as never };
    const position = node("int", "add", leaves.q, offset);
    const distance = node("int", "abs", node("int", "sub", position, leaves.k));
    return node("float", "sub", changed, node("float", "mul", slope, distance));
  };
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

const exprOf = (index: Expr | number): Expr =>
  typeof index === "number" ? { type: typeOf(index), op: "const", args: [], value: index } : index;

/** As heed/expr has it. */
const typeOf = (value: number): "int" | "float" =>
  Number.isInteger(value) && Math.abs(value) <= 2 ** 24 ? "int" : "float";
