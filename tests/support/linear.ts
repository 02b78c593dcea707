// Linear attention for tests: random calls, and how far f32 may be from heed/reference.

import type { LinearOptions, TensorLike } from "../../web/src/index.js";
import { linearAttention } from "../../web/src/reference/index.js";
import type { Random } from "./random.js";

export interface LinearCall {
  readonly query: TensorLike;
  readonly key: TensorLike;
  readonly value: TensorLike;
  readonly options: LinearOptions;
}

export const RULES = ["linear", "gated", "delta", "gated-delta", "elu"] as const;

/** Four states, of which some may share keys or queries, or two queries a state; keys of length 1, as the delta rules want them. */
export function linearCall(random: Random, rule: LinearOptions["rule"], length: number, hasState = false): LinearCall {
  const [batch, groups, dim, valueDim] = [2, 4, 8, 6];
  const [heads, keyHeads] = [random.pick([8, 4, 2, 1]), random.pick([4, 2, 1])];
  const tensor = (...shape: number[]): TensorLike => ({ data: random.floats(shape.reduce((a, b) => a * b, 1)), shape });
  const key = tensor(batch, keyHeads, length, dim);
  for (const [at, number] of key.data.entries()) key.data[at] = number / Math.sqrt(dim);
  const decay = tensor(batch, groups, length, dim);
  for (const [at, number] of decay.data.entries()) decay.data[at] = -Math.abs(number);
  const beta = tensor(batch, groups, length);
  for (const [at, number] of beta.data.entries()) beta.data[at] = 1 / (1 + Math.exp(number));
  const state = tensor(batch, groups, dim, valueDim + (rule === "elu" ? 1 : 0));
  if (rule === "elu") for (const [at, number] of state.data.entries()) state.data[at] = Math.abs(number);
  return {
    query: tensor(batch, heads, length, dim),
    key,
    value: tensor(batch, groups, length, valueDim),
    options: {
      rule,
      ...(rule.startsWith("gated") ? { decay } : {}),
      ...(rule.endsWith("delta") ? { beta } : {}),
      ...(hasState ? { state } : {}),
      ...(rule === "elu" ? { causal: true } : {}),
    },
  };
}

/**
 * The largest error in units of its bound. States and outputs of these calls are sums of at most 8 * 64 products of size 1: the
 * C++ tests have the model of each number, this is a bound of them all, of 600 roundings of numbers up to 8.
 */
export function worstError(call: LinearCall, got: { output: TensorLike; state: TensorLike }): number {
  const wanted = linearAttention(call.query, call.key, call.value, call.options as never);
  const bound = 600 * 8 * 2 ** -24;
  let worst = 0;
  for (const name of ["output", "state"] as const) {
    if (String(got[name].shape) !== String(wanted[name].shape)) return Number.POSITIVE_INFINITY;
    for (const [at, number] of wanted[name].data.entries()) {
      const error = Math.abs((got[name].data[at] ?? Number.NaN) - number);
      worst = error >= 0 ? Math.max(worst, error / bound) : Number.POSITIVE_INFINITY;
    }
  }
  return worst;
}
