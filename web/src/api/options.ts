// The options of every call: public types, names and defaults. What the values must be is checked in read-options.ts.

import type { Expr, MaskModArguments, ProbModArguments, ScoreModArguments } from "../expr/tree.js";
import type { AnyGpuDevice, AnyModule, AnyWorker } from "./browser-globals.js";
import type { KVCache } from "./cache/types.js";
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

/** A parameter of a score function, likewise: one for all query heads, or, with a leading axis, one for each. */
export type ScoreParameter = TensorInput;

/**
 * How a query q and a key k make a score. `general` is q . (w k), `w` [D_q, D_k]; `additive` v . tanh(wq q + wk k + b), `wq`
 * [hidden, D_q], `wk` [hidden, D_k], `b` and `v` [hidden], of which those left out are the identity, the identity, zero and
 * ones; `gated` sigmoid(w . [q; k] + b) * (q . k), `w` [2 D]; `rbf` -|q - k|^2 / (2 bandwidth^2); `distance` -|q - k|; `cosine`
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

export type PlainScore = "scaled-dot" | "dot" | "cosine" | "distance";

export type Normalizer = "softmax" | "sparsemax" | "sigmoid" | "hard" | "none";

export interface TensorOptions {
  /** How the values are kept: "f16" takes half the memory, and rounds a Float32Array. Default: as they are given, else "f32". */
  readonly dtype?: "f32" | "f16" | "float32" | "float16" | undefined;
}

export interface ReturnOptions {
  /** Default true. */
  readonly output?: boolean | undefined;
  /**
   * The attention weights, [B, H, L, S]; `{ rows: [from, to] }`: of queries from <= i < to alone, [B, H, to - from, S]; "mean":
   * their mean over the query heads, [B, L, S]. Default false.
   */
  readonly weights?: boolean | "mean" | { readonly rows: readonly [number, number] } | undefined;
  /** The natural logarithm of each row's sum of exponentials, [B, H, L]; of a softmax. Default false. */
  readonly lse?: boolean | undefined;
  /** [B, H, L, S]: "raw" scaled, "capped" after softcap, "masked" after ALiBi, bias and masks. Default false. */
  readonly scores?: "raw" | "capped" | "masked" | false | undefined;
  /** Of the weights of each query, in nats, [B, H, L]; not of "sigmoid" and "none". Default false. */
  readonly entropy?: boolean | undefined;
}

/** An option that is `undefined` is absent; `null` is refused, as any other value of a wrong type. */
export interface AttentionOptions {
  /** Multiplies the scores. Default 1 / sqrt(head_dim) for "scaled-dot", 1 for every other score. */
  readonly scale?: number | undefined;
  /** Divides the scores on top of scale. Default 1. */
  readonly temperature?: number | undefined;
  /** c: scores become c * tanh(score / c), before bias and masks. */
  readonly softcap?: number | undefined;
  /** What becomes of each score after softcap, as an expression of heed/expr or a number; -Infinity masks. Called as a call is made. */
  readonly scoreMod?: ((of: ScoreModArguments) => Expr | number) | undefined;
  /** Which keys a query sees, as an expression of heed/expr that is true or false, or a boolean. Called as a call is made. */
  readonly maskMod?: ((of: MaskModArguments) => Expr | boolean) | undefined;
  /** What becomes of each weight before dropout, as an expression of heed/expr or a number. Called as a call is made. */
  readonly probMod?: ((of: ProbModArguments) => Expr | number) | undefined;
  /** Default "scaled-dot". */
  readonly score?: Score | undefined;
  /** Added to the scores after scaling, broadcast to [B, H, L, S]; -Infinity masks. */
  readonly bias?: BiasInput | undefined;
  /** Broadcast to [B, H, L, S]; a last axis shorter than S (and not 1) masks the remaining keys. */
  readonly mask?: MaskInput | undefined;
  /** true = "lower-right": query i sees keys j <= i + (S - L). "upper-left": j <= i. Default false. */
  readonly causal?: boolean | "lower-right" | "upper-left" | undefined;
  /**
   * The position of query 0 among the keys, for causal, window and ALiBi: instead of the alignment. One, or one a batch entry;
   * with cuSeqlensQ one a sequence.
   */
  readonly qOffset?: number | Numbers | undefined;
  /** [left, right]: a query sees keys from position - left to position + right; -1 or Infinity is open. */
  readonly window?: readonly [number, number] | undefined;
  /**
   * Queries and keys in blocks of `size`, [of queries, of keys]: a query sees the keys of the blocks that `keep` has a 1 for, 1 byte
   * a block, broadcast to [B, H, ceil(L / size[0]), ceil(S / size[1])]. What is not kept is not computed.
   */
  readonly blocks?: { readonly size: readonly [number, number]; readonly keep: MaskInput } | undefined;
  /** The valid queries of each batch entry; the rest is padding, and gives zeros. */
  readonly qLengths?: Numbers | undefined;
  /** The valid keys of each batch entry. */
  readonly kvLengths?: Numbers | undefined;
  /**
   * Where sequences start that lie one after the other along the query's length axis, and its length: [0, ..., L]. Each attends
   * to its own keys alone and counts positions from its own start. Needs a batch of one.
   */
  readonly cuSeqlensQ?: Numbers | undefined;
  /** The same of the keys: [0, ..., S]. Default cuSeqlensQ. */
  readonly cuSeqlensK?: Numbers | undefined;
  /** One a query head: adds -slope * |position - key| to the scores. */
  readonly alibiSlopes?: Numbers | undefined;
  /** One a query head: a logit that joins the denominator only. */
  readonly sinks?: Numbers | undefined;
  /** Each weight becomes 0 with probability p and is else divided by 1 - p; which, follows from the seed, a whole number of 32 bits. */
  readonly dropout?: { readonly p: number; readonly seed?: number | undefined } | undefined;
  /**
   * What turns scores into weights. "sparsemax": max(score - t, 0), with the t by which they add up to 1; "sigmoid": each by
   * itself; "hard": 1 for the highest, the first of equals; "none": the scores themselves. Default "softmax".
   */
  readonly normalize?: Normalizer | undefined;
  /** Only so many keys of each query count, those with the highest scores, the first of equals. Default: all. */
  readonly topK?: number | undefined;
  /** Holds the keys and values of earlier calls: key and value are appended, and the query attends to all of them. */
  readonly cache?: KVCache | undefined;
  readonly return?: ReturnOptions | undefined;
  /** Default "bhnd". */
  readonly layout?: Layout | undefined;
  /** Query heads; needed by `layout: "packed"`, else checked against the shape. */
  readonly heads?: number | undefined;
  /** Key and value heads; default `heads`. */
  readonly kvHeads?: number | undefined;
  /** Leave the results in the engine, as tensors. Default false. */
  readonly keep?: boolean | undefined;
  /**
   * A call that loses its GPU on the way is computed again: on a new device, or in WebAssembly. For that its arrays are copied when
   * it is made. false: no copy, and the call rejects with `device-lost`. Default true.
   */
  readonly retry?: boolean | undefined;
  /** Filled with the output, from its start. */
  readonly out?: Float32Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Overrides for those who host the files themselves. */
export interface WasmOverrides {
  /** Fetched instead of using the package's binary: the file of any variant. */
  readonly url?: string | URL | undefined;
  /** Compiled instead of the package's binary. */
  readonly binary?: ArrayBuffer | Uint8Array | undefined;
  /** Used instead of the package's binary. */
  readonly module?: AnyModule | undefined;
  /** A file with the worker, for pages whose policy forbids `blob:` workers. */
  readonly workerUrl?: string | URL | undefined;
  /** Makes a worker; called with no arguments each time one is needed, which is once a thread. */
  readonly workerFactory?: (() => AnyWorker) | undefined;
}

export interface CreateOptions {
  /**
   * "webgpu": on the GPU whatever it can compute, or `unsupported` where there is none; "auto": there what is faster there, once a
   * call was large enough to look; "wasm": never. Default "auto".
   */
  readonly backend?: "auto" | "wasm" | "webgpu" | undefined;
  /** A device of the caller's, to compute on; never destroyed, nor replaced when it is lost. Default: one of heed's own. */
  readonly device?: AnyGpuDevice | undefined;
  /** Threads that compute a call: workers, on shared memory or each with its own. At most 64: more are as 64. Default "auto" = min(4, cores / 2), at least 1. */
  readonly threads?: number | "auto" | undefined;
  /** Default "auto" = the fastest that runs here. */
  readonly variant?: "auto" | "simd" | "relaxed" | undefined;
  /**
   * true: never compute on the calling thread; false: always, in one piece. Default "auto" = only calls so small that they are
   * done there before a worker would have been told of them. Where no worker can be had, calls are computed on the calling
   * thread in slices of some milliseconds, between which the page goes on.
   */
  readonly offload?: boolean | "auto" | undefined;
  readonly wasm?: WasmOverrides | undefined;
}

/** The defaults, in one place. */
export const DEFAULTS = {
  temperature: 1,
  score: "scaled-dot",
  normalize: "softmax",
  causal: "none",
  layout: "bhnd",
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

/** The parameters of each score function. None but additive can do without its first. */
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
