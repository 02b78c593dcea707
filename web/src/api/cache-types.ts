// The types of a KV cache that its users, its calls and heed/layers share, so that none of them has to take the others.

import type { AttentionProblem, Kept, Program } from "../backends/backend.js";
import type { AttentionResults } from "../operations/attention.js";
import type { Layout, Numbers, TensorInput } from "./inputs.js";

/** The sizes and the type of a KV cache, for `createCache`. */
export interface CacheOptions {
  /** How many sequences it holds: batch entries, or beams. Default 1. */
  readonly batch?: number | undefined;
  /** Heads of keys and values. */
  readonly kvHeads: number;
  readonly headDim: number;
  /** Default headDim. */
  readonly valueDim?: number | undefined;
  /** The most tokens that it holds between calls. If `window` is not larger, old tokens make room for new ones; with a window it may be left out. */
  readonly maxLength?: number | undefined;
  /** The type in which keys and values are stored. "i8" has one scale for each token and head. Default "f32". */
  readonly dtype?: "f32" | "f16" | "i8" | "float32" | "float16" | undefined;
  /** Sliding window: a query sees its own token and the `window - 1` before it, and tokens that no later query can see are freed. Default: no window. */
  readonly window?: number | undefined;
}

/**
 * The name of the method by which heed/layers locks a cache for longer than one call. It is a registered symbol, because the cache
 * may come from another entry of the package, which is bundled apart.
 */
export const LOCK: unique symbol = Symbol.for("heed.cache.lock");

/** A KV cache: the keys and values of earlier tokens, in the engine's memory. Made by `heed.createCache`, freed by `dispose` or `using`. */
export interface KVCache {
  readonly batch: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly valueDim: number;
  readonly maxLength: number;
  readonly dtype: "f32" | "f16" | "i8";
  readonly window: number | null;
  /** The number of tokens appended so far, which is the position of the next one. */
  readonly length: number;
  /** The position of the first token that it still holds: 0 without a window. A call numbers its keys from there. */
  readonly start: number;

  /** Appends keys [B, G, T, D] and values [B, G, T, E], or as `layout` says. */
  append(key: TensorInput, value: TensorInput, options?: { readonly layout?: Layout | undefined }): Promise<void>;

  /** Keeps the first `length` tokens and forgets the others. */
  truncate(length: number): Promise<void>;

  /** For beam search: batch entry i continues what entry indices[i] has been. No keys or values are copied. */
  reorder(indices: Numbers): Promise<void>;

  /** Frees its memory as soon as the calls that use it are done. May be called twice. */
  dispose(): void;
  [Symbol.dispose](): void;

  /** @internal */
  [LOCK](): CacheLock;
}

/** A lock on a cache: a pass through several layers has its caches to itself from its start to its end. */
export interface CacheLock {
  /** Resolves when the calls that were made before the lock are done. */
  readonly acquired: Promise<void>;
  /** By which the lock's owner uses the cache, without waiting. */
  readonly handle: HeldCache;
  /** Lets the next call go on. Unless `isKept`, the cache first becomes what it was when the lock was acquired. */
  release(isKept: boolean): Promise<void>;
}

/** A cache for the owner of its lock. */
export interface HeldCache {
  /** As in KVCache. */
  readonly length: number;
  readonly start: number;
  /** Where it is several caches, of one batch entry each: how many tokens each of them holds. `length` is that of the longest. */
  readonly lengths: readonly number[] | null;
  /** Several caches, of which this is the first, as that of a batch in which each has an entry. */
  join(where: string, others: readonly HeldCache[]): HeldCache;
  /**
   * Records calls that append the problem's keys and values, and attend to all of the cache. The problem is checked but for what depends
   * on the cache. `where` names the function in messages.
   */
  attend(where: string, program: Program, problem: AttentionProblem): Promise<AttentionResults<Kept>>;
}
