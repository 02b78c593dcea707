// `attention` and the other functions without an engine: they share one, which the first call makes.

import { check } from "./api/attention.js";
import type { Heed } from "./api/heed.js";
import { hold } from "./api/hold.js";
import type {
  LinearOptions,
  LinearResult,
  RelativeKeysOptions,
  RelativeValuesOptions,
  RopeOptions,
} from "./api/operations/options.js";
import type { AttentionOptions, TensorInput } from "./api/options.js";
import type { AttentionResult, NoAttentionOptions, NoOptions, Returned } from "./api/results.js";
import { guard } from "./base/guard.js";
import { createHeed } from "./engine.js";

let engine: Heed | undefined;
let opening: Promise<Heed> | undefined;

/** `heed.attention` of a shared engine with default options. */
export function attention<const O extends AttentionOptions = NoAttentionOptions>(
  query: TensorInput,
  key: TensorInput,
  value: TensorInput,
  options?: O,
): Promise<AttentionResult<O>> {
  return byName("attention", [query, key, value], options);
}

/** `heed.rope` of a shared engine with default options. */
export function rope<const O extends RopeOptions = NoOptions>(x: TensorInput, options?: O): Promise<Returned<O>> {
  return byName("rope", [x], options);
}

/** `heed.linearAttention` of a shared engine with default options. */
export function linearAttention<const O extends LinearOptions>(
  query: TensorInput,
  key: TensorInput,
  value: TensorInput,
  options: O,
): Promise<LinearResult<O>> {
  return byName("linearAttention", [query, key, value], options);
}

/** `heed.relativeKeys` of a shared engine with default options. */
export function relativeKeys<const O extends RelativeKeysOptions = NoOptions>(
  q: TensorInput,
  table: TensorInput,
  options?: O,
): Promise<Returned<O>> {
  return byName("relativeKeys", [q, table], options);
}

/** `heed.relativeValues` of a shared engine with default options. */
export function relativeValues<const O extends RelativeValuesOptions = NoOptions>(
  weights: TensorInput,
  table: TensorInput,
  options?: O,
): Promise<Returned<O>> {
  return byName("relativeValues", [weights, table], options);
}

/** Arguments are read before this returns. Without an engine, which would read them, they are copied. */
async function byName<R>(
  operation: "attention" | "rope" | "linearAttention" | "relativeKeys" | "relativeValues",
  tensors: readonly unknown[],
  options: unknown,
): Promise<R> {
  if (engine !== undefined) return Reflect.apply(engine[operation], engine, [...tensors, options]);
  const copies = guard("option", `${operation}: reading its arguments`, () => hold({ tensors, options }));
  const [query, key, value] = copies.tensors;
  if (operation === "attention") check(operation, null, { query, key, value }, copies.options);
  const heed = await openShared();
  return Reflect.apply(heed[operation], heed, [...copies.tensors, copies.options]);
}

/** Opens the shared engine. */
export async function openShared(): Promise<Heed> {
  opening ??= createHeed();
  try {
    engine = await opening;
    return engine;
  } catch (error) {
    // The next call tries again: the network or memory may be back.
    opening = undefined;
    throw error;
  }
}
