// The engine as its users see it: the public interface, without how it is put together (engine.ts).
/// <reference lib="esnext.disposable" preserve="true" />

import type { Explanation, MemoryReport, WebGpuReport } from "../backends/backend.js";
import type { AnyGpuBuffer } from "./browser-globals.js";
import type { CacheOptions, KVCache } from "./cache/types.js";
import type {
  LinearOptions,
  LinearResult,
  RelativeKeysOptions,
  RelativeValuesOptions,
  RopeOptions,
} from "./extra/options.js";
import type { AttentionOptions, TensorInput, TensorOptions } from "./options.js";
import type { AttentionResult, NoAttentionOptions, NoOptions, Returned } from "./results.js";
import type { Tensor } from "./tensor.js";
import type { HalfArray } from "./typed-array.js";

export type { Explanation, MemoryReport, WebGpuReport };

/** What was found on this machine and what was chosen for it. */
export interface Capabilities {
  readonly simd: boolean;
  readonly relaxedSimd: boolean;
  /** Shared WebAssembly memory can be made and posted to workers here. */
  readonly sharedMemory: boolean;
  /** The page is cross-origin isolated; true where the notion does not exist, as in Node. */
  readonly isolated: boolean;
  readonly cores: number;
  /** Threads that compute an async call. */
  readonly threads: number;
  readonly variant: "simd" | "relaxed";
  readonly backend: "wasm" | "webgpu";
  /** Where async calls compute that are not so small that the calling thread does them itself; null: all there. */
  readonly worker: "shared-memory" | "private-memory" | null;
  /** The GPU that calls may run on; null: none is in use. "auto" opens one at the first large call. */
  readonly webgpu: WebGpuReport | null;
  /** Why it is so, and what was refused. */
  readonly reasons: readonly string[];
}

/** An engine: made by `createHeed`, freed by `dispose` or `using`. */
export interface Heed {
  /** As of now: an engine that fell back says so here. */
  readonly capabilities: Capabilities;

  /**
   * softmax(scale * Q K^T + bias, masked) V. Query [B, H, L, D], key [B, G, S, D], value [B, G, S, E] (or as `layout` says);
   * H a multiple of G. Never blocks the calling thread, but for calls of some microseconds, unless the engine was made
   * with `offload: false` or no worker could start. Arrays are read before it returns. Rejects with a HeedError.
   */
  attention<const O extends AttentionOptions = NoAttentionOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options?: O,
  ): Promise<AttentionResult<O>>;

  /** The same, on the calling thread. Throws a HeedError. */
  attentionSync<const O extends AttentionOptions = NoAttentionOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options?: O,
  ): AttentionResult<O>;

  /** Where this call would run now, and why. Computes nothing. */
  explain(query: TensorInput, key: TensorInput, value: TensorInput, options?: AttentionOptions): Explanation;

  /**
   * Turns the pairs of numbers of x by angles that grow with their position (rotary embedding). x and the result are
   * [B, H, L, D], or as `layout` says. A tensor that lives on the GPU is turned there. Loaded at its first call. Rejects with a
   * HeedError.
   */
  rope<const O extends RopeOptions = NoOptions>(x: TensorInput, options?: O): Promise<Returned<O>>;

  /**
   * Attention by a state matrix that keys and values are written to, one token after the other: time grows with the length,
   * memory does not. Shapes as of `attention`. Loaded at its first call. Rejects with a HeedError.
   */
  linearAttention<const O extends LinearOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options: O,
  ): Promise<LinearResult<O>>;

  /**
   * Shaw's relative keys: scale * q . table[clip(key - query)], a bias for `attention`, [B, H, L, S] with the leading axes that q
   * has. The table is [2 k + 1, D]: its middle row is that of the query's own place.
   */
  relativeKeys<const O extends RelativeKeysOptions = NoOptions>(
    q: TensorInput,
    table: TensorInput,
    options?: O,
  ): Promise<Returned<O>>;

  /**
   * Shaw's relative values: the sum over keys of weight * table[clip(key - query)], to be added to attention's output. Weights are
   * those that `attention` returns, the table is [2 k + 1, E], the result [B, H, L, E] with the weights' leading axes.
   */
  relativeValues<const O extends RelativeValuesOptions = NoOptions>(
    weights: TensorInput,
    table: TensorInput,
    options?: O,
  ): Promise<Returned<O>>;

  /** Copies values into the engine, for use in many calls. A Uint16Array holds the bits of halves, for dtype "f16". */
  tensor(data: Float32Array | HalfArray | Uint16Array, shape: readonly number[], options?: TensorOptions): Tensor;

  /** A tensor of the numbers that a buffer of the engine's device starts with. The buffer stays the caller's. */
  tensor(buffer: AnyGpuBuffer, shape: readonly number[], options?: TensorOptions): Tensor;

  /**
   * Makes a cache of keys and values that `attention` appends to and attends to: see its option `cache`. Loaded at its first call.
   * Rejects with a HeedError.
   */
  createCache(options: CacheOptions): Promise<KVCache>;

  /** What it holds now; zeros once it is disposed of. */
  memory(): MemoryReport;

  /** A tensor of zeros in the engine. */
  zeros(shape: readonly number[], options?: TensorOptions): Tensor;

  /** Frees the engine's memory and ends its workers. Calls in flight reject with `disposed`. Can be repeated. */
  dispose(): void;
  [Symbol.dispose](): void;
}
