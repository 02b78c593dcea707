// attention and attentionSync on any backend: arguments -> checked problem -> backend -> results.

import type { AttentionProblem, Backend } from "../backends/backend.js";
import { guard, guardAsync } from "../base/guard.js";
import { throwIfAborted } from "../base/read-values.js";
import { ATTENTION, attentionResults } from "../operations/attention.js";
import { registeredCache } from "./cache-registry.js";
import type { GivenTensors } from "./inputs.js";
import { readTensors } from "./operands.js";
import { type ReadOptions, readAttentionOptions } from "./read-options.js";
import { type AnyAttentionResult, resultOf } from "./results.js";
import { type CheckedAttention, validateAttention } from "./validate.js";

/** Validates and starts the call before it returns, so the caller may overwrite its arrays at once. */
export async function attend(
  backend: Backend,
  tensors: GivenTensors,
  options: unknown,
  watch?: (problem: AttentionProblem) => void,
): Promise<AnyAttentionResult> {
  const cache = registeredCache("attention", options);
  if (cache !== null) return cache.attend(backend, tensors, options);
  const { read, checked } = check("attention", backend, tensors, options);
  watch?.(checked.problem);
  return guardAsync("memory", "attention: computing", async () => {
    const made = await backend.run(ATTENTION, checked.problem, read.signal);
    return resultOf(backend, attentionResults(checked.problem, made), checked.shapes, read.output);
  });
}

export function attendSync(backend: Backend, tensors: GivenTensors, options: unknown): AnyAttentionResult {
  const cache = registeredCache("attentionSync", options);
  if (cache !== null) return cache.attendSync(backend, tensors, options);
  const { read, checked } = check("attentionSync", backend, tensors, options);
  return guard("memory", "attentionSync: computing", () => {
    const made = backend.runSync(ATTENTION, checked.problem);
    return resultOf(backend, attentionResults(checked.problem, made), checked.shapes, read.output);
  });
}

/** Checks a call. Tensors can be checked only where there is a backend. */
export function check(
  where: string,
  backend: Backend | null,
  tensors: GivenTensors,
  options: unknown,
): { readonly read: ReadOptions; readonly checked: CheckedAttention } {
  return guard("option", `${where}: reading its arguments`, () => {
    const read = readAttentionOptions(where, options);
    const checked = validateAttention(where, backend, readTensors(where, tensors, backend), read);
    throwIfAborted(where, read.signal);
    return { read, checked };
  });
}
