// From a call's `cache` option to the cache's own code, which is loaded with the first cache.

import type { Backend } from "../../backends/backend.js";
import type { GivenTensors } from "../attention.js";
import { showValue } from "../describe.js";
import { step } from "../door.js";
import { HeedError } from "../errors.js";
import { isOptions, isRecord } from "../read-values.js";
import type { AnyAttentionResult } from "../results.js";

/** What a call with a cache does. */
export interface CachedAttention {
  attend(backend: Backend, tensors: GivenTensors, options: unknown): Promise<AnyAttentionResult>;
  attendSync(backend: Backend, tensors: GivenTensors, options: unknown): AnyAttentionResult;
}

const doors = new WeakMap<object, CachedAttention>();

/** Has calls find `door` by the cache that users hold. */
export function openDoor(cache: object, door: CachedAttention): void {
  doors.set(cache, door);
}

/** Of the options of a call; null: it has none. */
export function cacheIn(where: string, options: unknown): CachedAttention | null {
  return step("option", `${where}: reading its arguments`, () => {
    const cache = isOptions(options) ? options["cache"] : undefined;
    if (cache === undefined) return null;
    const door = isRecord(cache) ? doors.get(cache) : undefined;
    if (door !== undefined) return door;
    throw new HeedError("option", `${where}: cache must be made by createCache, got ${showValue(cache)}`);
  });
}
