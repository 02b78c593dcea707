// The engine as its users see it: the public interface, without how it is put together (engine.ts).
/// <reference lib="esnext.disposable" preserve="true" />

import type { Explanation, MemoryReport, WebGpuReport } from "../backends/backend.js";
import type { AnyGpuBuffer } from "../base/browser-globals.js";
import type { HalfArray } from "../base/typed-array.js";
import type { CacheOptions, KVCache } from "./cache-types.js";
import type {
  LinearOptions,
  LinearResult,
  RelativeKeysOptions,
  RelativeValuesOptions,
  RopeOptions,
} from "./operations/options.js";
import type { AttentionVjp, AttentionVjpOptions, LinearGradients, LinearVjpOptions } from "./operations/vjp.js";
import type { AttentionOptions, TensorInput, TensorOptions } from "./options.js";
import type { AttentionResult, NoAttentionOptions, NoOptions, Returned } from "./results.js";
import type { Tensor } from "./tensor.js";

export type { Explanation, MemoryReport, WebGpuReport };

/** What heed found on this machine, and what it chose. */
export interface Capabilities {
  readonly simd: boolean;
  readonly relaxedSimd: boolean;
  /** Whether shared WebAssembly memory can be made here and posted to workers. */
  readonly sharedMemory: boolean;
  /** Whether the page is cross-origin isolated. True where there are no pages, as in Node. */
  readonly isolated: boolean;
  readonly cores: number;
  /** The number of threads that compute an async call. */
  readonly threads: number;
  readonly variant: "simd" | "relaxed";
  readonly backend: "wasm" | "webgpu";
  /** Where async calls are computed, except small ones: in workers on shared memory, in workers with their own, or (null) on the calling thread. */
  readonly worker: "shared-memory" | "private-memory" | null;
  /** The GPU that calls may run on; null: none. With "auto" the first large call opens one. */
  readonly webgpu: WebGpuReport | null;
  /** Why this was chosen, and what was not possible. */
  readonly reasons: readonly string[];
}

/** An engine: made by `createHeed`, freed by `dispose` or `using`. */
export interface Heed {
  /** The current state: an engine that fell back says so here. */
  readonly capabilities: Capabilities;

  /**
   * softmax(scale * Q K^T + bias, masked) V. Query [B, H, L, D], key [B, G, S, D], value [B, G, S, E] (or as `layout` says);
   * H is a multiple of G. It does not block the calling thread, except for calls of some microseconds, unless the engine was made
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

  /** Says where this call would run now, and why. Computes nothing. */
  explain(query: TensorInput, key: TensorInput, value: TensorInput, options?: AttentionOptions): Explanation;

  /**
   * Attention, and its backward pass: `backward` gives the gradients of query, key, value and every differentiable option. It computes
   * on WebAssembly. The code is loaded at the first call. Rejects with a HeedError.
   */
  attentionVjp<const O extends AttentionVjpOptions = NoAttentionOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options?: O,
  ): Promise<AttentionVjp<O>>;

  /**
   * Rotary embedding: rotates pairs of numbers of x by angles that grow with the position. x and the result are [B, H, L, D], or
   * as `layout` says. A tensor on the GPU is rotated there. The code is loaded at the first call. Rejects with a HeedError.
   */
  rope<const O extends RopeOptions = NoOptions>(x: TensorInput, options?: O): Promise<Returned<O>>;

  /**
   * Linear attention: keys and values are written to a state matrix token by token, so that time grows linearly with the length,
   * and memory not at all. Shapes are those of `attention`. The code is loaded at the first call. Rejects with a HeedError.
   */
  linearAttention<const O extends LinearOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options: O,
  ): Promise<LinearResult<O>>;

  /**
   * The gradients of a loss, given those in the output and the final state of `linearAttention` with the same arguments. It computes on
   * WebAssembly, and needs no result of that call. The code is loaded at the first call. Rejects with a HeedError.
   */
  linearAttentionVjp<const O extends LinearVjpOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options: O,
  ): Promise<LinearGradients<O>>;

  /**
   * Shaw's relative keys: scale * q . table[clip(key - query)], a bias for `attention`, [B, H, L, S] with the leading axes that q
   * has. The table is [2 k + 1, D]; its middle row is for the query's own position.
   */
  relativeKeys<const O extends RelativeKeysOptions = NoOptions>(
    q: TensorInput,
    table: TensorInput,
    options?: O,
  ): Promise<Returned<O>>;

  /**
   * Shaw's relative values: the sum over keys of weight * table[clip(key - query)], to be added to attention's output. The weights
   * are those that `attention` returns, the table is [2 k + 1, E], the result [B, H, L, E] with the weights' leading axes.
   */
  relativeValues<const O extends RelativeValuesOptions = NoOptions>(
    weights: TensorInput,
    table: TensorInput,
    options?: O,
  ): Promise<Returned<O>>;

  /** Copies values into the engine, for use in many calls. A Uint16Array holds the bits of f16 numbers, with dtype "f16". */
  tensor(data: Float32Array | HalfArray | Uint16Array, shape: readonly number[], options?: TensorOptions): Tensor;

  /** Makes a tensor of the first numbers of a buffer of the engine's device. The buffer stays the caller's. */
  tensor(buffer: AnyGpuBuffer, shape: readonly number[], options?: TensorOptions): Tensor;

  /**
   * Makes a KV cache, for the option `cache` of `attention`, which appends to it and attends to it. The code is loaded at the first
   * call. Rejects with a HeedError.
   */
  createCache(options: CacheOptions): Promise<KVCache>;

  /** The memory that the engine holds now; zeros once it is disposed of. */
  memory(): MemoryReport;

  /** A tensor of zeros in the engine. */
  zeros(shape: readonly number[], options?: TensorOptions): Tensor;

  /** Frees the engine's memory and ends its workers. Calls in flight reject with `disposed`. May be called twice. */
  dispose(): void;
  [Symbol.dispose](): void;
}
