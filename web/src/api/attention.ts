// The attention operation of the API: options -> checked problem -> backend -> results, sync and async, on any backend.

import type { Backend } from "../backends/backend.js";
import { cacheIn } from "./cache/door.js";
import { asyncStep, step } from "./door.js";
import { type ReadOptions, readAttentionOptions } from "./read-options.js";
import { throwIfAborted } from "./read-values.js";
import { type AnyAttentionResult, resultOf } from "./results.js";
import { type CheckedAttention, validateAttention } from "./validate.js";

/** Query, key and value as they arrived. */
export interface GivenTensors {
  readonly query: unknown;
  readonly key: unknown;
  readonly value: unknown;
}

/** Validates and starts before it returns, so that the caller may overwrite its arrays at once. */
export async function attend(backend: Backend, tensors: GivenTensors, options: unknown): Promise<AnyAttentionResult> {
  const cache = cacheIn("attention", options);
  if (cache !== null) return cache.attend(backend, tensors, options);
  const { read, checked } = check("attention", backend, tensors, options);
  return asyncStep("memory", "attention: computing", async () => {
    const computed = await backend.attention(checked.problem, read.signal);
    return resultOf(backend, computed, checked.shapes, read.output);
  });
}

export function attendSync(backend: Backend, tensors: GivenTensors, options: unknown): AnyAttentionResult {
  const cache = cacheIn("attentionSync", options);
  if (cache !== null) return cache.attendSync(backend, tensors, options);
  const { read, checked } = check("attentionSync", backend, tensors, options);
  return step("memory", "attentionSync: computing", () =>
    resultOf(backend, backend.attentionSync(checked.problem), checked.shapes, read.output),
  );
}

/** With no backend yet, what can be checked without one, which is all but the tensors that live in one. */
export function check(
  where: string,
  backend: Backend | null,
  tensors: GivenTensors,
  options: unknown,
): { readonly read: ReadOptions; readonly checked: CheckedAttention } {
  return step("option", `${where}: reading its arguments`, () => {
    const read = readAttentionOptions(where, options);
    const checked = validateAttention(where, backend, tensors, read);
    throwIfAborted(where, read.signal);
    return { read, checked };
  });
}
