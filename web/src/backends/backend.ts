// The interface between the API and whatever computes, and the problem that crosses it. Leans on nothing.

/** Four axes, always [batch, heads, length, dim], whatever the caller's layout. */
export type Dims4 = readonly [number, number, number, number];

/** Numbers in single precision, or in half, which are computed with in single precision. */
export type DType = "f32" | "f16";

/** Values that live in a backend's memory. Immutable once made; only the backend that made it can use it. */
export interface Resident {
  readonly elements: number;
  readonly dtype: DType;
  /** False from `free` on, and after the backend's own end. */
  readonly live: boolean;
  /** The GPUBuffer that holds them, from its start; absent where they are in memory of WebAssembly. */
  readonly buffer?: object;
}

/** Some bytes of a resident. */
export interface Span {
  readonly from: number;
  readonly bytes: number;
}

/** Where the numbers of an operand are: in an array of the caller's (halves by their bits), in the backend's memory already, or so many bytes behind the start of each of a problem's pages. */
export type Source =
  | { readonly kind: "array"; readonly array: Float32Array | Uint16Array | Uint8Array }
  | { readonly kind: "resident"; readonly resident: Resident }
  | { readonly kind: "paged"; readonly offset: number };

/** Keys and values in pages that hold as many rows each, of all heads. Row r of batch entry b is at place (first + r) % rows of page [b * perBatch + (first + r) / rows]. */
export interface Pages {
  readonly pages: readonly Resident[];
  readonly perBatch: number;
  readonly rows: number;
  readonly first: number;
  /** They are known to hold neither NaN nor infinity. */
  readonly areFinite: boolean;
  /** Of i8: bytes from a head's first key, or value, to the scales of its keys, or values: one a row. */
  readonly keyScales: number;
  readonly valueScales: number;
}

/** One input: its numbers, and how [batch, heads, length, dim] walks over them. Strides count elements; 0 broadcasts. */
export interface Operand {
  readonly source: Source;
  readonly dtype: DType | "i8" | "bool";
  readonly elements: number;
  readonly shape: Dims4;
  readonly strides: Dims4;
}

/** One output: dense, `elements` floats, walked like an operand. */
export interface OutputView {
  readonly elements: number;
  readonly shape: Dims4;
  readonly strides: Dims4;
}

/** Functions of scores and their places, and masks, as programs: cpp/include/heed/expressions.hpp says how they are laid out. */
export interface Programs {
  readonly words: Int32Array<ArrayBuffer>;
  /** The numbers of all tables that they read. */
  readonly tables: Float32Array<ArrayBuffer>;
}

/** Queries and keys in blocks: query i sees key j only where `keep` is not 0 at [i / queries, j / keys]. */
export interface KeptBlocks {
  readonly queries: number;
  readonly keys: number;
  /** Bytes, broadcast against [batch, query heads, blocks of queries, blocks of keys]. */
  readonly keep: Operand;
}

/** "lower-right": query i sees keys j <= i + (S - L). "upper-left": j <= i. */
export type CausalRule = "none" | "lower-right" | "upper-left";

/** Sequences one after the other in a batch of one: where the queries and keys of each start, then their ends. Of equal length. */
export interface PackedSequences {
  readonly queryStarts: Int32Array<ArrayBuffer>;
  readonly keyStarts: Int32Array<ArrayBuffer>;
}

/** Which keys the structure leaves to a query, and what goes by head. Null: not given. */
export interface AttentionStructure {
  /** A query sees the keys from its position less this one ... */
  readonly windowLeft: number | null;
  /** ... to its position plus this one. */
  readonly windowRight: number | null;
  /** One a batch entry or sequence: the position of query 0 among the keys, instead of the causal alignment. */
  readonly qOffsets: Int32Array<ArrayBuffer> | null;
  /** One a batch entry: queries from here on are padding. */
  readonly qLengths: Int32Array<ArrayBuffer> | null;
  readonly kvLengths: Int32Array<ArrayBuffer> | null;
  readonly sequences: PackedSequences | null;
  /** One a query head: -slope * |position - key| joins the scores. */
  readonly alibiSlopes: Float32Array<ArrayBuffer> | null;
  /** One a query head: a logit that joins the denominator only. */
  readonly sinks: Float32Array<ArrayBuffer> | null;
}

/** What turns scores into weights: docs/semantics.md has the formulae. */
export type Normalizer = "softmax" | "sparsemax" | "sigmoid" | "hard" | "none";

/** How far the scores have come when they are handed out. */
export type ScoreStage = "raw" | "capped" | "masked";

/** After the normalizer: which weights become zeros and what the others are divided by. The hash is in docs/semantics.md. */
export interface Dropout {
  /** In (0, 1], single precision. */
  readonly p: number;
  /** 32 bits, unsigned. */
  readonly seed: number;
}

/** Weights that are wanted: of each head for queries [from, to), or their mean over the query heads. */
export type WeightForm = { readonly of: "rows"; readonly from: number; readonly to: number } | { readonly of: "mean" };

/** q . k and its likes: docs/semantics.md has the formulae. */
export type ScoreKind = "scaled-dot" | "dot" | "cosine" | "general" | "additive" | "gated" | "rbf" | "distance";

/** How queries and keys make scores. Parameters are floats of [1, 1 or query heads, rows, columns]; null: not given. */
export interface ScoreFunction {
  readonly kind: ScoreKind;
  /** Numbers that a query and a key have in common: head_dim, or what additive's matrices make of them. */
  readonly hidden: number;
  readonly w: Operand | null;
  readonly wq: Operand | null;
  readonly wk: Operand | null;
  readonly b: Operand | null;
  readonly v: Operand | null;
  readonly bandwidth: Operand | null;
}

/** Attention, checked: a backend computes it without asking again. */
export interface AttentionProblem {
  readonly query: Operand;
  readonly key: Operand;
  readonly value: Operand;
  /** That keys and values lie in; null: they do not. */
  readonly pages: Pages | null;
  /** Bytes, nonzero = attend, broadcast against [batch, query heads, query length, key length]. */
  readonly mask: Operand | null;
  /** Floats of single precision added to the scores, broadcast likewise. */
  readonly bias: Operand | null;
  readonly score: ScoreFunction;
  /** Everything that multiplies the scores, temperature included. */
  readonly scale: number;
  /** Scores become softcap * tanh(score / softcap). */
  readonly softcap: number | null;
  readonly normalizer: Normalizer;
  /** The keys of each query that count; null: all. */
  readonly topK: number | null;
  readonly causal: CausalRule;
  readonly blocks: KeptBlocks | null;
  readonly programs: Programs | null;
  readonly dropout: Dropout | null;
  readonly structure: AttentionStructure;
  readonly output: OutputView;
  readonly weights: (OutputView & { readonly form: WeightForm }) | null;
  readonly lse: OutputView | null;
  readonly scores: OutputView | null;
  readonly scoreStage: ScoreStage;
  readonly entropy: OutputView | null;
  /** Where the output goes; null: into an array of its own. */
  readonly into: Float32Array | null;
  /** Leave the results in the backend's memory. */
  readonly keep: boolean;
  /** Compute it again where a GPU that is lost interrupts it. */
  readonly retry: boolean;
}

/** One result: an array that the caller owns, or a resident, as `keep` asked. */
export type Computed =
  | { readonly kind: "array"; readonly array: Float32Array }
  | { readonly kind: "resident"; readonly resident: Resident };

export interface AttentionComputed {
  readonly output: Computed;
  readonly weights: Computed | null;
  readonly lse: Computed | null;
  readonly scores: Computed | null;
  readonly entropy: Computed | null;
}

/** Where a call would run, and why. */
export interface Explanation {
  readonly backend: "wasm" | "webgpu";
  readonly reasons: readonly string[];
}

/** Arguments of an operation that takes tensors and then options, as they were given. */
export interface Arguments {
  readonly tensors: readonly unknown[];
  readonly options: unknown;
}

/** A call of such an operation, and what makes it once more; or the operation alone, where it is no call. */
export type BesideCall = readonly [
  operation: string,
  given?: Arguments,
  again?: (given: Arguments) => Promise<unknown>,
];

/** What is known of the GPU that an engine uses. */
export interface WebGpuReport {
  readonly vendor: string;
  readonly architecture: string;
  readonly f16: boolean;
  readonly subgroups: boolean;
}

/** What a backend says of itself in `capabilities`; may change when it falls back. */
export interface BackendReport {
  readonly backend: "wasm" | "webgpu";
  readonly variant: "simd" | "relaxed";
  /** Where async calls compute but for small ones: workers on shared memory, workers with their own, or (null) the calling thread. */
  readonly worker: "shared-memory" | "private-memory" | null;
  readonly threads: number;
  /** Null, or absent: no GPU is in use. */
  readonly webgpu?: WebGpuReport | null;
  /** Why it is this way and no better. */
  readonly reasons: readonly string[];
}

/** Memory that an engine holds, in bytes. Memories of WebAssembly grow and never shrink: what is freed in them is used again. */
export interface MemoryReport {
  /** All of WebAssembly's. */
  readonly total: number;
  /** The engine's own, which it shares with its workers where they share. */
  readonly engine: number;
  /** Of workers with memories of their own, as of their last answers. */
  readonly workers: number;
  /** GPU buffers, those among them that wait for the next call. Absent: none. */
  readonly gpu?: number;
  /** Tensors that live in the engine and pages of its caches, and what their numbers take of its memory. */
  readonly tensors: number;
  readonly tensorBytes: number;
}

/**
 * The contract. A problem is valid when it arrives. Its arrays are read before `attention` returns its promise, so the caller
 * may overwrite them at once; residents that it names stay alive until it is done, freed by the caller or not. Calls finish in
 * the order in which they were made. A failed call is a HeedError, frees what it took, and leaves the backend working. An
 * aborted call rejects at once, computed or not. `dispose` frees everything and rejects what is in flight; it can be repeated.
 */
export interface Backend {
  report(): BackendReport;
  explain(problem: AttentionProblem): Explanation;
  attention(problem: AttentionProblem, signal: AbortSignal | null): Promise<AttentionComputed>;
  attentionSync(problem: AttentionProblem): AttentionComputed;
  /** Halves by their bits. */
  upload(data: Float32Array | Uint16Array): Resident;
  zeros(elements: number, dtype: DType): Resident;
  /** A GPUBuffer of the caller's. Absent, or undefined, where there is no GPU. */
  adopt?(buffer: object, elements: number, dtype: DType): Resident | undefined;
  /** An operation beside attention, where this backend has its own way with it. Absent, or null: it has none. */
  beside?(...call: BesideCall): Promise<unknown> | null;
  download(resident: Resident): Promise<Float32Array | Uint16Array>;
  free(resident: Resident): void;
  /** Memory that `bytesOf` sees. */
  page(bytes: number): Resident;
  /** Where a resident lies, until the backend is next asked for anything. Who writes to it says so, by `changed`; no call may be reading what is written. */
  bytesOf(where: string, resident: Resident): Uint8Array<ArrayBuffer>;
  changed(resident: Resident, spans: readonly Span[]): void;
  memory(): MemoryReport;
  dispose(): void;
}
