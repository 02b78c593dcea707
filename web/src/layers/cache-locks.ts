// A pass locks all of its caches at once when it is called, and leaves them as they were if it fails.

import { type CacheLock, type HeldCache, LOCK } from "../api/cache-types.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { listOf } from "../base/typed-array.js";
import { unlessAborted } from "../base/unless-aborted.js";
import { MOST_LAYERS } from "./read.js";

/** From each cache to the handle by which a pass that holds its lock uses it. */
export type HeldCaches = ReadonlyMap<unknown, HeldCache>;

const NONE: HeldCaches = new Map();

export interface Pass<R> {
  readonly where: string;
  readonly caches: readonly unknown[];
  readonly signal: AbortSignal | null;
  readonly act: (held: HeldCaches) => Promise<R>;
}

/**
 * Runs `act` when all earlier calls with the caches are done. Passes cannot deadlock, because each asks for all of its locks in one
 * task of the event loop.
 */
export async function withLocks<R>({ where, caches, signal, act }: Pass<R>): Promise<R> {
  const lockable = [...new Set(caches)].filter(hasLock);
  if (lockable.length === 0) return act(NONE);
  const locks = new Map<unknown, CacheLock>(lockable.map((cache) => [cache, cache[LOCK]()]));
  const release = (isKept: boolean): Promise<unknown> =>
    Promise.all([...locks.values()].map((lock) => lock.release(isKept)));
  const acquired = Promise.all([...locks.values()].map((lock) => lock.acquired));
  try {
    await unlessAborted(where, signal, () => acquired);
  } catch (error) {
    // The locks are still to come, and are released as soon as they do.
    release(false).catch(() => {});
    throw error;
  }
  let result: R;
  try {
    result = await act(new Map([...locks].map(([cache, { handle }]) => [cache, handle])));
  } catch (error) {
    await release(false);
    throw error;
  }
  await release(true);
  return result;
}

/** A cache among the options of a pass that has its lock; null where there is none. */
export function heldCache(held: HeldCaches, where: string, cache: unknown): HeldCache | null {
  if (cache === undefined) return null;
  const handle = held.get(cache);
  if (handle !== undefined) return handle;
  throw new HeedError("option", `${where}: cache must be made by createCache, got ${showValue(cache)}`);
}

/** Every cache among the options of a forward pass: of the layer itself, of each layer of a model, and of attentions inside. */
export function cachesIn(given: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { cache, caches } = given;
  const inner = ["self", "cross", "encoder"].map((name) => given[name]).map((part) => isRecord(part) && part["cache"]);
  return [cache, ...(listOf<unknown>(caches, MOST_LAYERS)?.flat() ?? []), ...inner];
}

function hasLock(cache: unknown): cache is { [LOCK](): CacheLock } {
  return isRecord(cache) && LOCK in cache && typeof cache[LOCK] === "function";
}
