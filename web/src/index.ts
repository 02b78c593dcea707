// heed's public surface: named exports only. Importing it does nothing and touches no globals.

import type { Heed } from "./api/heed.js";
import { shared } from "./shared-engine.js";

export type { CacheOptions, KVCache } from "./api/cache-types.js";
export type { Capabilities, Explanation, Heed, MemoryReport, WebGpuReport } from "./api/heed.js";
export type {
  LinearOptions,
  LinearResult,
  RelativeKeysOptions,
  RelativeValuesOptions,
  RopeOptions,
  RopeScaling,
} from "./api/operations/options.js";
export type {
  AttentionGradients,
  AttentionVjp,
  AttentionVjpOptions,
  BackwardOptions,
  LinearGradients,
  LinearVjpOptions,
} from "./api/operations/vjp.js";
export type {
  AttentionOptions,
  BiasInput,
  CreateOptions,
  HalfTensorLike,
  Layout,
  MaskInput,
  MaskLike,
  Normalizer,
  Numbers,
  PlainScore,
  ReturnOptions,
  Score,
  ScoreParameter,
  TensorInput,
  TensorLike,
  TensorOptions,
  WasmOverrides,
} from "./api/options.js";
export { alibiSlopes } from "./api/positions/alibi.js";
export { type LearnedOptions, learnedPositions } from "./api/positions/learned.js";
export { type RelativeBiasOptions, relativeBias } from "./api/positions/relative-bias.js";
export { type SinusoidalOptions, sinusoidal } from "./api/positions/sinusoidal.js";
export type { AttentionResult, NoAttentionOptions, NoOptions, Returned } from "./api/results.js";
export type { ArrayTensor, Tensor } from "./api/tensor.js";
export type { DType, ScoreStage } from "./backends/backend.js";
export type { HeedErrorCode } from "./base/errors.js";
export { HeedError } from "./base/errors.js";
export type { HalfArray } from "./base/typed-array.js";
export { createHeed } from "./engine.js";
export type { LinearRule } from "./operations/linear-attention.js";

/** `heed.attention` of a shared engine with default options. */
export const attention: Heed["attention"] = shared("attention");
/** `heed.linearAttention` of a shared engine with default options. */
export const linearAttention: Heed["linearAttention"] = shared("linearAttention");
/** `heed.relativeKeys` of a shared engine with default options. */
export const relativeKeys: Heed["relativeKeys"] = shared("relativeKeys");
/** `heed.relativeValues` of a shared engine with default options. */
export const relativeValues: Heed["relativeValues"] = shared("relativeValues");
/** `heed.rope` of a shared engine with default options. */
export const rope: Heed["rope"] = shared("rope");
