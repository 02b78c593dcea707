// Finds the code of a KV cache by the object that users hold. That code is loaded with the first cache, so a call without one never loads it.

import type { Backend } from "../backends/backend.js";
import { guard } from "../base/guard.js";
import { isOptions, isRecord, refusal } from "../base/read-values.js";
import type { GivenTensors } from "./inputs.js";
import type { AnyAttentionResult } from "./results.js";

/** Attention of a call that has a cache. */
export interface CachedAttention {
  attend(backend: Backend, tensors: GivenTensors, options: unknown): Promise<AnyAttentionResult>;
  attendSync(backend: Backend, tensors: GivenTensors, options: unknown): AnyAttentionResult;
}

const caches = new WeakMap<object, CachedAttention>();

export function registerCache(cache: object, attention: CachedAttention): void {
  caches.set(cache, attention);
}

/** What the option `cache` of a call was registered with; null where the call has none. */
export function registeredCache(where: string, options: unknown): CachedAttention | null {
  return guard("option", `${where}: reading its arguments`, () => {
    const cache = isOptions(options) ? options["cache"] : undefined;
    if (cache === undefined) return null;
    const found = isRecord(cache) ? caches.get(cache) : undefined;
    if (found !== undefined) return found;
    throw refusal(where, "cache", "made by createCache", cache);
  });
}
