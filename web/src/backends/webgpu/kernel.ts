// What tells one compiled kernel from another: plain records, from which shaders are written and by which pipelines are kept.

/**
 * How an operand lies in its buffer. `vec4`: rows start at multiples of four numbers and are multiples of four long. Half precision is a type
 * where the adapter has it ("half"), and unpacked from words elsewhere ("f16").
 */
export interface Load {
  readonly dtype: "f32" | "f16" | "native-f16";
  readonly vec4: boolean;
}

/** What a query and a key make, once what belongs to one of them alone is prepared. */
export type PairKind = "product" | "gated" | "rbf" | "distance" | "additive";

/** What happens to a score; the same for every kernel that makes scores. */
export interface ScoreFeatures {
  readonly query: Load;
  readonly key: Load;
  readonly pair: PairKind;
  /** Vectors of four numbers in a row of query or key. */
  readonly vectors: number;
  readonly softcap: boolean;
  readonly alibi: boolean;
  readonly ranges: boolean;
  readonly mask: boolean;
  readonly bias: boolean;
  /** The bodies of functions of a score and its place, in WGSL. */
  readonly scoreMod: string | null;
  readonly maskMod: string | null;
  readonly dropout: boolean;
  readonly normalizer: "softmax" | "sigmoid" | "none";
}

export interface RowOutputs {
  readonly sinks: boolean;
  readonly lse: boolean;
  readonly entropy: boolean;
  /** Keep each row's maximum and sum, for kernels that follow. */
  readonly stats: boolean;
}

/** What every kernel that makes outputs is told. */
export interface AttentionKernel extends ScoreFeatures, RowOutputs {
  readonly value: Load;
  /** Rows of queries of a workgroup. */
  readonly rows: number;
  /** Vectors of a value that a workgroup adds up. */
  readonly valueVectors: number;
  /** Leave parts for a merge, one a split of the keys. */
  readonly split: boolean;
}

/** A thread a row, or several, which share out its keys; keys and values are read where they lie. */
export interface UntiledKernel extends AttentionKernel {
  readonly kind: "untiled";
  /** Threads of a row. */
  readonly slices: number;
  /** Keys between two looks at the running maximum. */
  readonly step: number;
}

/** Many rows, whose scores and outputs are products of tiles in workgroup memory and registers. */
export interface TilesKernel extends AttentionKernel {
  readonly kind: "tiles";
  /** Queries stay in workgroup memory. */
  readonly resident: boolean;
  readonly subgroups: boolean;
}

/** Few rows that share keys: threads side by side read what lies side by side. */
export interface DecodeKernel extends AttentionKernel {
  readonly kind: "decode";
  readonly subgroups: boolean;
}

/** For processors that run shaders: threads have several rows, whose sums stand side by side. */
export interface SoftwareKernel extends AttentionKernel {
  readonly kind: "software";
  /** Rows of a thread. */
  readonly own: number;
  /** Threads of the same rows, each with a part of the keys of its own. */
  readonly shares: number;
  /** Keys between two looks at the running maximum. */
  readonly step: number;
}

export interface CombineKernel extends RowOutputs {
  readonly kind: "combine";
  readonly normalizer: ScoreFeatures["normalizer"];
  readonly dropout: boolean;
}

export interface PairsKernel extends ScoreFeatures {
  readonly kind: "pairs";
  readonly scores: "raw" | "capped" | "masked" | null;
  readonly weights: "rows" | "mean" | null;
}

/** Rows that belong to a query or key alone, made once a call. */
export interface PrepareKernel {
  readonly kind: "prepare";
  readonly source: Load;
  readonly what: "matrix" | "normalise" | "gate";
  /** Matrix: columns are what comes out, as of q . (w k), where w meets the query. */
  readonly transposed: boolean;
  readonly identity: boolean;
  readonly offset: boolean;
}

/** Pairs of numbers turned. */
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
  | SoftwareKernel
  | CombineKernel
  | PairsKernel
  | PrepareKernel
  | RopeKernel;

/** Records are made with their fields in one order, by plan.ts. */
export function kernelKey(kernel: Kernel): string {
  return JSON.stringify(kernel);
}
