// The options of attention and of createHeed: public types, names and defaults. read-options.ts checks the values.

import type { AnyGpuDevice, AnyModule, AnyWorker } from "../base/browser-globals.js";
import type { Expr, MaskModArguments, ProbModArguments, ScoreModArguments } from "../expr/tree.js";
import type { KVCache } from "./cache-types.js";
import type {
  BiasInput,
  HalfTensorLike,
  Layout,
  MaskInput,
  MaskLike,
  Numbers,
  TensorInput,
  TensorLike,
} from "./inputs.js";

export type { BiasInput, HalfTensorLike, Layout, MaskInput, MaskLike, Numbers, TensorInput, TensorLike };

/** A parameter of a score function: one for all query heads or, with a leading axis, one for each. */
export type ScoreParameter = TensorInput;

/**
 * How a query q and a key k make a score. `general` is q . (w k), `w` [D_q, D_k]; `additive` v . tanh(wq q + wk k + b), `wq`
 * [hidden, D_q], `wk` [hidden, D_k], `b` and `v` [hidden], by default the identity, the identity, zeros and ones;
 * `gated` sigmoid(w . [q; k] + b) * (q . k), `w` [2 D]; `rbf` -|q - k|^2 / (2 bandwidth^2); `distance` -|q - k|; `cosine`
 * q . k / (|q| |k|).
 */
export type Score =
  | PlainScore
  | "additive"
  | { readonly type: PlainScore }
  | { readonly type: "general"; readonly w: ScoreParameter }
  | {
      readonly type: "additive";
      readonly wq?: ScoreParameter | undefined;
      readonly wk?: ScoreParameter | undefined;
      readonly b?: ScoreParameter | Float32Array | undefined;
      readonly v?: ScoreParameter | Float32Array | undefined;
    }
  | {
      readonly type: "gated";
      readonly w: ScoreParameter | Float32Array;
      readonly b?: number | Numbers | undefined;
    }
  | { readonly type: "rbf"; readonly bandwidth: number | Numbers };

/** The score functions without parameters. */
export type PlainScore = "scaled-dot" | "dot" | "cosine" | "distance";

/** What makes weights of a row of scores. "sigmoid" takes each score alone, "hard" gives the whole weight to the largest, "none" leaves scores as they are. */
export type Normalizer = "softmax" | "sparsemax" | "sigmoid" | "hard" | "none";

/** The options of a tensor that an engine keeps. */
export interface TensorOptions {
  /** The type in which values are stored. "f16" takes half the memory, and rounds a Float32Array. Default: that of the data, else "f32". */
  readonly dtype?: "f32" | "f16" | "float32" | "float16" | undefined;
}

/** Which results a call returns. */
export interface ReturnOptions {
  /** Default true. */
  readonly output?: boolean | undefined;
  /**
   * The attention weights. true: all, [B, H, L, S]; `{ rows: [from, to] }`: those of queries from <= i < to, [B, H, to - from, S];
   * "mean": their mean over the query heads, [B, L, S]. Default false.
   */
  readonly weights?: boolean | "mean" | { readonly rows: readonly [number, number] } | undefined;
  /** The natural logarithm of each row's sum of exponentials, [B, H, L]; for a softmax. Default false. */
  readonly lse?: boolean | undefined;
  /** The scores, [B, H, L, S]: "raw" after scale, "capped" after softcap, "masked" after ALiBi, bias and masks. Default false. */
  readonly scores?: "raw" | "capped" | "masked" | false | undefined;
  /** The entropy of each query's weights, in nats, [B, H, L]; not for "sigmoid" and "none". Default false. */
  readonly entropy?: boolean | undefined;
}

/** An option that is `undefined` is absent. `null` is refused, like any other value of a wrong type. */
export interface AttentionOptions {
  /** Multiplies the scores. Default 1 / sqrt(head_dim) for "scaled-dot", 1 for every other score. */
  readonly scale?: number | undefined;
  /** Divides the scores on top of scale. Default 1. */
  readonly temperature?: number | undefined;
  /** Limits the scores: with softcap c they become c * tanh(score / c), before bias and masks. */
  readonly softcap?: number | undefined;
  /** Changes each score after softcap: returns an expression of heed/expr or, where it takes no argument, a number; -Infinity masks. It is called once per call. */
  readonly scoreMod?: ((of: ScoreModArguments) => Expr) | (() => number) | undefined;
  /** Says which keys a query sees: returns an expression of heed/expr that is true or false or, where it takes no argument, a boolean. It is called once per call. */
  readonly maskMod?: ((of: MaskModArguments) => Expr) | (() => boolean) | undefined;
  /** Changes each weight before dropout: returns an expression of heed/expr or, where it takes no argument, a number. It is called once per call. */
  readonly probMod?: ((of: ProbModArguments) => Expr) | (() => number) | undefined;
  /** The score function. Default "scaled-dot". */
  readonly score?: Score | undefined;
  /** Added to the scores after scaling, broadcast to [B, H, L, S]; -Infinity masks. */
  readonly bias?: BiasInput | undefined;
  /** 1 or true lets the query attend to the key. Broadcast to [B, H, L, S]; a last axis shorter than S (and not 1) masks the remaining keys. */
  readonly mask?: MaskInput | undefined;
  /** true or "lower-right": query i sees keys j <= i + (S - L). "upper-left": j <= i. Default false. */
  readonly causal?: boolean | "lower-right" | "upper-left" | undefined;
  /**
   * The position of query 0 among the keys, for causal, window and ALiBi, instead of the alignment: one number, or one for each batch
   * entry, or with cuSeqlensQ one for each sequence.
   */
  readonly qOffset?: number | Numbers | undefined;
  /** Sliding window [left, right]: a query sees keys from position - left to position + right. -1 or Infinity leaves a side open. */
  readonly window?: readonly [number, number] | undefined;
  /**
   * Block mask: queries and keys are cut into blocks of `size`, [queries, keys], and a query sees the keys of the blocks for which
   * `keep` has a 1. `keep` is broadcast to [B, H, ceil(L / size[0]), ceil(S / size[1])]. Empty blocks are not computed.
   */
  readonly blocks?: { readonly size: readonly [number, number]; readonly keep: MaskInput } | undefined;
  /** The number of valid queries of each batch entry. The rest is padding and gives zeros. */
  readonly qLengths?: Numbers | undefined;
  /** The number of valid keys of each batch entry. */
  readonly kvLengths?: Numbers | undefined;
  /**
   * Packed sequences: where each starts along the query's length axis, then the length: [0, ..., L]. A sequence attends to its own
   * keys only and counts positions from its own start. Needs a batch of one.
   */
  readonly cuSeqlensQ?: Numbers | undefined;
  /** The same for the keys: [0, ..., S]. Default cuSeqlensQ. */
  readonly cuSeqlensK?: Numbers | undefined;
  /** One for each query head: adds -slope * |position - key| to the scores. */
  readonly alibiSlopes?: Numbers | undefined;
  /** One for each query head: a logit that is added to the denominator only. */
  readonly sinks?: Numbers | undefined;
  /** Each weight becomes 0 with probability p, and is divided by 1 - p otherwise. The seed, a whole number of 32 bits, decides which. */
  readonly dropout?: { readonly p: number; readonly seed?: number | undefined } | undefined;
  /**
   * How scores become weights. "sparsemax": max(score - t, 0), with the t for which the weights add up to 1; "sigmoid": the sigmoid of
   * each score; "hard": 1 for the highest score, the first of equals; "none": the scores themselves. Default "softmax".
   */
  readonly normalize?: Normalizer | undefined;
  /** The number of keys to which each query attends: those with the highest scores, the first of equals. Default: all. */
  readonly topK?: number | undefined;
  /** A KV cache of earlier calls. Key and value are appended to it, and the query attends to all of it. */
  readonly cache?: KVCache | undefined;
  readonly return?: ReturnOptions | undefined;
  /** Default "bhnd". */
  readonly layout?: Layout | undefined;
  /** The number of query heads: needed by `layout: "packed"`, otherwise checked against the shape. */
  readonly heads?: number | undefined;
  /** The number of key and value heads. Default `heads`. */
  readonly kvHeads?: number | undefined;
  /** Leaves the results in the engine, as tensors. Default false. */
  readonly keep?: boolean | undefined;
  /**
   * true: a call whose GPU is lost is computed again, on a new device or in WebAssembly, for which its arrays are copied at the start.
   * false: no copy, and such a call rejects with `device-lost`. Default true.
   */
  readonly retry?: boolean | undefined;
  /** An array for the output, which is written from its start. */
  readonly out?: Float32Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** For those who host the files themselves. */
export interface WasmOverrides {
  /** Where to fetch the file of any variant, in place of the package's binary. */
  readonly url?: string | URL | undefined;
  /** A file of any variant, in place of the package's binary. */
  readonly binary?: ArrayBuffer | Uint8Array | undefined;
  /** A compiled file of any variant, in place of the package's binary. */
  readonly module?: AnyModule | undefined;
  /** Where the worker's file is, for pages whose policy forbids `blob:` workers. */
  readonly workerUrl?: string | URL | undefined;
  /** Makes a worker. It is called without arguments, once for each thread. */
  readonly workerFactory?: (() => AnyWorker) | undefined;
}

/** The options of `createHeed`: where an engine computes, and with how many threads. */
export interface CreateOptions {
  /**
   * "webgpu": the GPU computes whatever it can, and createHeed rejects with `unsupported` where there is none; "auto": the GPU computes
   * what is faster there, once a call was large enough to open it; "wasm": no GPU. Default "auto".
   */
  readonly backend?: "auto" | "wasm" | "webgpu" | undefined;
  /** A device to compute on, which heed neither destroys nor replaces when it is lost. Default: heed opens its own. */
  readonly device?: AnyGpuDevice | undefined;
  /** The number of workers that compute a call, on shared memory or each with its own. More than 64 count as 64. Default "auto": min(4, cores / 2), at least 1. */
  readonly threads?: number | "auto" | undefined;
  /** Default "auto": the fastest that runs here. */
  readonly variant?: "auto" | "simd" | "relaxed" | undefined;
  /**
   * true: never compute on the calling thread; false: always, without a pause. Default "auto": only calls that would be over before a
   * worker woke. Where no worker can start, the calling thread computes calls in slices of some milliseconds, and lets the page work
   * in between.
   */
  readonly offload?: boolean | "auto" | undefined;
  readonly wasm?: WasmOverrides | undefined;
}

export const DEFAULTS = {
  temperature: 1,
  score: "scaled-dot",
  normalize: "softmax",
  causal: "none",
  output: true,
  weights: false,
  lse: false,
  entropy: false,
  keep: false,
  retry: true,
  backend: "auto",
  threads: "auto",
  variant: "auto",
  offload: "auto",
} as const;

export const ATTENTION_OPTIONS = [
  "scale",
  "temperature",
  "score",
  "bias",
  "mask",
  "softcap",
  "causal",
  "qOffset",
  "window",
  "scoreMod",
  "maskMod",
  "probMod",
  "blocks",
  "qLengths",
  "kvLengths",
  "cuSeqlensQ",
  "cuSeqlensK",
  "alibiSlopes",
  "sinks",
  "dropout",
  "normalize",
  "topK",
  "cache",
  "return",
  "layout",
  "heads",
  "kvHeads",
  "keep",
  "retry",
  "out",
  "signal",
] as const;

export const RETURN_OPTIONS = ["output", "weights", "lse", "scores", "entropy"] as const;
export const TENSOR_OPTIONS = ["dtype"] as const;
export const DROPOUT_OPTIONS = ["p", "seed"] as const;
export const WEIGHT_OPTIONS = ["rows"] as const;
export const BLOCK_OPTIONS = ["size", "keep"] as const;
export const SCORE_STAGES = ["raw", "capped", "masked"] as const;

/** The parameters of each score function. All but additive need their first. */
export const SCORE_PARAMETERS = {
  "scaled-dot": [],
  dot: [],
  cosine: [],
  general: ["w"],
  additive: ["wq", "wk", "b", "v"],
  gated: ["w", "b"],
  rbf: ["bandwidth"],
  distance: [],
} as const;

export const NORMALIZERS = ["softmax", "sparsemax", "sigmoid", "hard", "none"] as const;

export const CREATE_OPTIONS = ["backend", "device", "threads", "variant", "offload", "wasm"] as const;
export const WASM_OVERRIDES = ["url", "binary", "module", "workerUrl", "workerFactory"] as const;
