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

/**
 * A cache's method by which heed/layers takes a turn that outlasts one call, whichever of the package's entries the cache is from. It
 * stands here because both of its sides are loaded after this file: in one of theirs it would bring that to the other.
 */
export const TURN: unique symbol = Symbol.for("heed.cache.turn");

/** A pass through several layers has its caches to itself from its start to its end. */
export interface CacheTurn {
  /** Calls that were made before are done. */
  readonly begun: Promise<void>;
  /** Is the cache to calls of this turn, as their option `cache`: they need not wait. */
  readonly standIn: object;
  /** Lets the next call go on; unless `isKept`, the cache is again what it was when the turn began. */
  end(isKept: boolean): Promise<void>;
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
