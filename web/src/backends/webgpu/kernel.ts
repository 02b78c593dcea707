// Kernel variants as plain records: shaders are composed from them, and pipelines are cached by them.

import type { Constants } from "./shaders/compose.js";

/**
 * How a shader reads an operand. `vec4`: rows start at multiples of four elements and are multiples of four long. "native-f16" is the
 * shader type, where the adapter has it; elsewhere "f16" is unpacked from u32.
 */
export interface Load {
  readonly dtype: "f32" | "f16" | "native-f16";
  readonly vec4: boolean;
}

/** The score of a query and a key, whose rows a prepare kernel may have made. */
export type PairKind = "product" | "gated" | "rbf" | "distance" | "additive";

/** What happens to a score; the same for every kernel that makes scores. */
export interface ScoreFeatures {
  readonly query: Load;
  readonly key: Load;
  readonly pair: PairKind;
  /** Vectors of four elements in a row of Q or K. */
  readonly vectors: number;
  /** Overrides of which only scores.wgsl knows, by their names. */
  readonly steps: Constants;
  readonly ranges: boolean;
  readonly mask: boolean;
  readonly bias: boolean;
  /** The bodies of functions of a score and its position, in WGSL. */
  readonly scoreMod: string | null;
  readonly maskMod: string | null;
  readonly dropout: boolean;
  readonly normalizer: "softmax" | "sigmoid" | "none";
}

export interface RowOutputs {
  readonly sinks: boolean;
  readonly lse: boolean;
  readonly entropy: boolean;
  /** Keep each row max and row sum for the kernels that follow. */
  readonly stats: boolean;
}

/** What all kernels that compute outputs have in common. */
export interface AttentionKernel extends ScoreFeatures, RowOutputs {
  readonly value: Load;
  /** Query rows of a workgroup. */
  readonly rows: number;
  /** Vectors of a value row that a workgroup accumulates. */
  readonly valueVectors: number;
  /** Write partial results (m, l, O), one for each KV split, for the combine kernel. */
  readonly split: boolean;
}

/** Each thread computes a row, or a slice of its keys, and reads K and V for itself, without tiles in workgroup memory. */
export interface UntiledKernel extends AttentionKernel {
  readonly kind: "untiled";
  /** Threads of a row. */
  readonly slices: number;
  /** Keys between two updates of the row max. */
  readonly step: number;
}

/** Prefill: scores and outputs are products of tiles in workgroup memory and registers. */
export interface TilesKernel extends AttentionKernel {
  readonly kind: "tiles";
  /** Queries stay in workgroup memory. */
  readonly resident: boolean;
  readonly subgroups: boolean;
}

/** Decode: few query rows share the keys, and neighbouring threads read neighbouring vectors of K and V. */
export interface DecodeKernel extends AttentionKernel {
  readonly kind: "decode";
  readonly subgroups: boolean;
}

export interface CombineKernel extends RowOutputs {
  readonly kind: "combine";
  readonly normalizer: ScoreFeatures["normalizer"];
}

export interface PairsKernel extends ScoreFeatures {
  readonly kind: "pairs";
  readonly scores: "raw" | "capped" | "masked" | null;
  readonly weights: "rows" | "mean" | null;
}

/** Prepares rows of the query or of K, once a call. */
export interface PrepareKernel {
  readonly kind: "prepare";
  readonly source: Load;
  readonly what: "matrix" | "normalise" | "gate";
  /** A matrix multiplies from the right, as w of q . (w k) does when it is applied to the query. */
  readonly transposed: boolean;
  readonly identity: boolean;
  readonly offset: boolean;
}

/** Rotates pairs of elements. */
export interface RopeKernel {
  readonly kind: "rope";
  readonly dtype: Load["dtype"];
  readonly interleaved: boolean;
  readonly inverse: boolean;
}

export type Kernel =
  | UntiledKernel
  | TilesKernel
  | DecodeKernel
  | CombineKernel
  | PairsKernel
  | PrepareKernel
  | RopeKernel;

/** Records are made with their fields in one order, by plan.ts. */
export function kernelKey(kernel: Kernel): string {
  return JSON.stringify(kernel);
}
