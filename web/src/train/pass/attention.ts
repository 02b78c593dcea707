// Attention in a pass, of which every option that is a number may learn.

import { product } from "../../api/operands.js";
import type { AttentionOptions, BiasInput, Numbers, PlainScore } from "../../api/options.js";
import type { AttentionResult } from "../../api/results.js";
import { Tensor } from "../../api/tensor.js";
import type { Resident } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { isOptions, isRecord } from "../../base/read-values.js";
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

/** Without the option that decides the type of the result. */
export type NoPassOptions = Omit<PassAttentionOptions, "return">;

/** The results are tensors of the pass. */
export type PassAttentionResult<O> = AttentionResult<Omit<O, "keep"> & { readonly keep: true }>;

const isLearnt = (value: unknown): boolean =>
  value instanceof Parameter || value instanceof Promise || Tensor.is(value);

const OPTIONS = [...PASSED_OPTIONS.filter((name) => name !== "cache"), "layout", "heads", "kvHeads"];

/** A copy of the options, which the caller may change meanwhile. */
export const readAttention = (where: string, options: unknown): Record<string, unknown> => ({
  ...readCopy(where, "options", copyOf(options), OPTIONS),
});

export async function attention<const O extends PassAttentionOptions = NoPassOptions>(
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
    const { withSlopes } = await import("../later/functions.js");
    given["scoreMod"] = await withSlopes(where, slopes, given, tensors);
    given["alibiSlopes"] = undefined;
  }
  const { learnt, checks } = await numbersOfTables(scope, where, given);
  const { layout, heads, kvHeads, ...passed } = given;
  const read = await readOptions(scope, where, passed, { layout, heads, kvHeads });
  for (const check of checks) check();
  LEARNT_OPTIONS.set(read.trees, { numbers, tables: learnt });
  const rule = ruleOf(scope, where, read, tensors, null);
  return handOutAll(scope, await scope.attention(where, tensors, rule), true, false);
}

/** What the functions among the options have tables of, whose numbers they are given. */
async function numbersOfTables(scope: Scope, where: string, given: Record<string, unknown>) {
  if (!MODS.some((name) => given[name] !== undefined)) return { learnt: new Map<unknown, Resident>(), checks: [] };
  const { withNumbers } = await import("../later/functions.js");
  return withNumbers(where, given, async (of) => {
    const tensor = await bringOne(scope, where, "a table", of);
    return { tensor, resident: residentOf(scope, tensor) };
  });
}

const MODS = ["scoreMod", "maskMod", "probMod"] as const;
