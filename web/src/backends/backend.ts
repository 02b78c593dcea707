// The interface between the API and the backends, and the checked problem that it passes.

import type { Cut } from "./cut.js";

/** Four axes, always in the order [batch, heads, length, dim], whatever the caller's layout. */
export type Dims4 = readonly [number, number, number, number];

/** Types of tensors. Kernels compute in f32 and widen f16. */
export type DType = "f32" | "f16";

/** A tensor in a backend's memory. Only the backend that made it can use it. */
export interface Resident {
  readonly elements: number;
  readonly dtype: DType;
  /** False after `free`, and after the backend is disposed. */
  readonly live: boolean;
  /** What uses it, for which its memory stays after `free`. */
  readonly users?: number;
  /** The GPUBuffer that holds it, from its start; absent for a tensor in WebAssembly's memory. */
  readonly buffer?: object;
}

/** A byte range of a resident. */
export interface Span {
  readonly from: number;
  readonly bytes: number;
}

/** Where the numbers of an operand are: in an array of the caller's (f16 as bits), in a resident, or `offset` bytes into each of the problem's pages. */
export type Source =
  | { readonly kind: "array"; readonly array: Float32Array | Uint16Array | Uint8Array }
  | { readonly kind: "resident"; readonly resident: Resident }
  | { readonly kind: "paged"; readonly offset: number };

/** The page table of a KV cache. A page holds `rows` rows of all heads. Row r of batch entry b is row (first + r) % rows of page [b * perBatch + (first + r) / rows]. */
export interface Pages {
  readonly pages: readonly Resident[];
  readonly perBatch: number;
  readonly rows: number;
  readonly first: number;
  /** Bytes from a head's first row of K, or V, to the scales of its rows for i8; for f16 to a word that is not 0 if some row is NaN or infinite. */
  readonly keyScales: number;
  readonly valueScales: number;
  /** Bytes of each head in a page. */
  readonly headBytes: number;
}

/** One input as a strided view. Strides count elements; 0 broadcasts. */
export interface Operand {
  readonly source: Source;
  readonly dtype: DType | "i8" | "bool";
  readonly elements: number;
  readonly shape: Dims4;
  readonly strides: Dims4;
}

/** One output of `elements` f32 numbers, without gaps, as a strided view. */
export interface OutputView {
  readonly elements: number;
  readonly shape: Dims4;
  readonly strides: Dims4;
}

/** Compiled score and mask functions. cpp/include/heed/expressions.hpp describes their layout. */
export interface Programs {
  readonly words: Int32Array<ArrayBuffer>;
  /** The numbers of all tables that they read, concatenated. */
  readonly tables: Float32Array<ArrayBuffer>;
}

/** The block mask: query i sees key j only where `keep` is not 0 at [i / queries, j / keys]. */
export interface BlockMask {
  readonly queries: number;
  readonly keys: number;
  /** Bytes that broadcast to [batch, query heads, blocks of queries, blocks of keys]. */
  readonly keep: Operand;
}

/** "lower-right": query i sees keys j <= i + (S - L). "upper-left": j <= i. */
export type CausalRule = "none" | "lower-right" | "upper-left";

/** Sequences packed into a batch of one: the first query and key of each, then the ends. Both arrays have one length. */
export interface PackedSequences {
  readonly queryStarts: Int32Array<ArrayBuffer>;
  readonly keyStarts: Int32Array<ArrayBuffer>;
}

/** Options that limit the keys of a query, and options by head. Null: not given. */
export interface AttentionStructure {
  /** A query sees the keys from its position minus this ... */
  readonly windowLeft: number | null;
  /** ... to its position plus this. */
  readonly windowRight: number | null;
  /** By batch entry or sequence: the position of query 0 among the keys, instead of the causal alignment. */
  readonly qOffsets: Int32Array<ArrayBuffer> | null;
  /** By batch entry: how many queries, and how many keys, are no padding. */
  readonly qLengths: Int32Array<ArrayBuffer> | null;
  readonly kvLengths: Int32Array<ArrayBuffer> | null;
  readonly sequences: PackedSequences | null;
  /** By query head: -slope * |position - key| is added to the scores. */
  readonly alibiSlopes: Float32Array<ArrayBuffer> | null;
  /** By query head: a logit that is added to the denominator only. */
  readonly sinks: Float32Array<ArrayBuffer> | null;
}

/** What turns scores into weights. docs/semantics/attention.md has the formulae. */
export type Normalizer = "softmax" | "sparsemax" | "sigmoid" | "hard" | "none";

/** The stage at which scores are returned. */
export type ScoreStage = "raw" | "capped" | "masked";

/** Applied after the normalizer. docs/semantics/attention.md has the hash that decides which weights become 0. */
export interface Dropout {
  /** In (0, 1], as f32. */
  readonly p: number;
  /** Unsigned, 32 bits. */
  readonly seed: number;
}

/** Which weights to return: those of each head for queries [from, to), or their mean over the query heads. */
export type WeightForm = { readonly of: "rows"; readonly from: number; readonly to: number } | { readonly of: "mean" };

/** docs/semantics/attention.md has the formulae. */
export type ScoreKind = "scaled-dot" | "dot" | "cosine" | "general" | "additive" | "gated" | "rbf" | "distance";

/** How queries and keys make scores. Parameters are f32, [1, 1 or query heads, rows, columns]; null: not given. */
export interface ScoreFunction {
  readonly kind: ScoreKind;
  /** The length of the product that makes a score: head_dim, or the rows of the additive score's matrices. */
  readonly hidden: number;
  readonly w: Operand | null;
  readonly wq: Operand | null;
  readonly wk: Operand | null;
  readonly b: Operand | null;
  readonly v: Operand | null;
  readonly bandwidth: Operand | null;
}

/** Options of a call that mean the same whatever its tensors are. Null: not given. */
export interface AttentionRules {
  /** A score becomes softcap * tanh(score / softcap). */
  readonly softcap: number | null;
  readonly normalizer: Normalizer;
  /** How many of its best keys each query attends to; null: all. */
  readonly topK: number | null;
  readonly causal: CausalRule;
  readonly programs: Programs | null;
  readonly dropout: Dropout | null;
  /** Whether the results stay in the backend's memory, as residents. */
  readonly keep: boolean;
  /** Whether to compute it again when the GPU is lost meanwhile. */
  readonly retry: boolean;
}

/** A checked attention call, which a backend computes without checking it again. */
export interface AttentionProblem extends AttentionRules {
  readonly query: Operand;
  readonly key: Operand;
  readonly value: Operand;
  /** The pages of K and V; null when they are not paged. */
  readonly pages: Pages | null;
  /** Bytes that broadcast to [batch, query heads, query length, key length]; a query sees the keys where it is not 0. */
  readonly mask: Operand | null;
  /** Added to the scores: f32, broadcast likewise. */
  readonly bias: Operand | null;
  readonly score: ScoreFunction;
  /** The factor of the scores, temperature included. */
  readonly scale: number;
  readonly blocks: BlockMask | null;
  readonly structure: AttentionStructure;
  readonly output: OutputView;
  readonly weights: (OutputView & { readonly form: WeightForm }) | null;
  readonly lse: OutputView | null;
  readonly scores: OutputView | null;
  readonly scoreStage: ScoreStage;
  readonly entropy: OutputView | null;
  /** The caller's array for the output; null: a new one. */
  readonly into: Float32Array | null;
}

export interface Kept {
  readonly kind: "resident";
  readonly resident: Resident;
}

/** One result: an array that the caller owns or, with `keep`, a resident. */
export type Computed = { readonly kind: "array"; readonly array: Float32Array } | Kept;

/** Where a call would run, and why there. */
export interface Explanation {
  readonly backend: "wasm" | "webgpu";
  readonly reasons: readonly string[];
}

/** What an operation writes its problem into. Word offsets are generated from C++. */
export interface CallBuilder {
  integer(word: number, value: number | boolean): void;
  float(word: number, value: number): void;
  dtype(word: number, operand: Pick<Operand, "dtype">): void;
  /** A null operand stays absent. */
  input(word: number, operand: Operand | null): void;
  /** Numbers by batch entry, head, sequence or pair. A null array stays absent. */
  numbers(word: number, array: Int32Array | Float32Array | Float64Array | null): void;
  /** A table of the addresses of residents, behind the call. `word` takes its own address. It comes before all else. */
  table(word: number, residents: readonly Resident[]): void;
  /** A result: a new array of the caller's or, with `keep`, a resident, unless the caller gave an array for it. Outputs come after inputs. */
  output(word: number, view: OutputView, keep: boolean, into?: Float32Array | null): void;
}

/** An operation as a record: how a problem becomes a packed call, what it costs, and how it may be cut. Backends know nothing else of it. */
export interface Operation<P extends object> {
  /** The caller's function, for messages. */
  readonly name: string;
  /** The smallest module that has it. Absent: "full". */
  readonly module?: "core" | "training" | "narrow";
  /** The layout of its packed call. */
  readonly call: { readonly words: number };
  pack(problem: P, builder: CallBuilder): void;
  /** About how many multiplications it costs. */
  work(problem: P): number;
  /** How it may be cut for so many workers with memories of their own, or (0) for one thread that computes slices in turn. A slice should have at most so many multiplications. */
  cut(problem: P, workers: number, most: number): Cut;
}

/** An operation that every module has, so that it never waits for one. */
export interface CoreOperation<P extends object> extends Operation<P> {
  readonly module: "core";
}

/** The GPU that an engine uses. */
export interface WebGpuReport {
  readonly vendor: string;
  readonly architecture: string;
  readonly f16: boolean;
  readonly subgroups: boolean;
}

/** A backend's part of `capabilities`, which changes when it falls back. */
export interface BackendReport {
  readonly backend: "wasm" | "webgpu";
  readonly variant: "simd" | "relaxed";
  /** Where async calls are computed, except small ones: workers on shared memory, workers with their own, or (null) the calling thread. */
  readonly worker: "shared-memory" | "private-memory" | null;
  readonly threads: number;
  /** Null or absent while no GPU is in use. */
  readonly webgpu?: WebGpuReport | null;
  /** Why nothing better is used. */
  readonly reasons: readonly string[];
}

/** The memory that an engine holds, in bytes. WebAssembly memories never shrink; freed parts are reused. */
export interface MemoryReport {
  /** All WebAssembly memories. */
  readonly total: number;
  /** The engine's memory, which workers share on isolated pages. */
  readonly engine: number;
  /** The workers' own memories, as of their last answers. */
  readonly workers: number;
  /** GPU buffers, pooled ones included; absent when there is none. */
  readonly gpu?: number;
  /** The number of tensors and cache pages in the engine's memory, and their bytes. */
  readonly tensors: number;
  readonly tensorBytes: number;
}

/**
 * The contract. A problem is valid when it arrives. Its arrays are read before `run` returns its promise, so the caller
 * may overwrite them at once; its residents stay in memory until the call is over, even when they are freed meanwhile. Calls
 * finish in the order in which they were made. A failed call rejects with a HeedError, frees its memory, and leaves the backend
 * working. An aborted call rejects at once. `dispose` frees everything and rejects the calls in flight; it can be repeated.
 */
export interface Backend {
  /** The backend whose memory is WebAssembly's: this one, or the one below. Tensors and caches are those of all backends with one root. */
  readonly root: RootBackend;
  report(): BackendReport;
  explain<P extends object>(operation: Operation<P>, problem: P): Explanation;
  /** Resolves to the operation's outputs, in the order in which it packs them. */
  run<P extends object>(operation: Operation<P>, problem: P, signal: AbortSignal | null): Promise<readonly Computed[]>;
  /** Computes on the calling thread. Messages name the caller's function, which ends with "Sync". */
  runSync<P extends object>(operation: CoreOperation<P>, problem: P): readonly Computed[];
  /** A Uint16Array holds the bits of f16 numbers. */
  upload(data: Float32Array | Uint16Array): Resident;
  zeros(elements: number, dtype: DType): Resident;
  /** Takes a GPUBuffer of the caller's. Absent, or returns undefined, when there is no GPU. */
  adopt?(buffer: object, elements: number, dtype: DType): Resident | undefined;
  /** Runs a call of an operation that the root computes, with copies there of what lives elsewhere. Absent where nothing does. */
  onRoot?<P extends object, C>(operation: string, problem: P, run: (own: P) => Promise<C>): Promise<C>;
  download(resident: Resident): Promise<Float32Array | Uint16Array>;
  free(resident: Resident): void;
  memory(): MemoryReport;
  dispose(): void;
}

/** What computes calls and holds tensors: a backend, or a program of calls. */
export type Computer = Pick<Backend, "root" | "run" | "upload" | "download" | "free">;

/**
 * Calls that are recorded in order and told to the workers many at a time. The results of a call are residents that it has at once,
 * and of which later calls of the program may be made; whoever else needs them waits for `flush`. `run` reads the
 * arrays of its problem, and resolves at once, or in a later task of the event loop where recording has taken long. The program ends
 * with the first call that fails: whatever is asked of it afterwards rejects with that HeedError. Residents that it is given stay in
 * memory until it is closed.
 */
export interface Program extends Computer {
  run<P extends object>(operation: Operation<P>, problem: P): Promise<readonly Kept[]>;
  /** The memory of a resident of the program is used again by calls that are recorded later. */
  free(resident: Resident): void;
  upload(data: Float32Array): Resident;
  /** A call that is recorded next changes bytes of a resident that is not the program's, a page of a cache. Nobody else may read it before `flush`. */
  changed(resident: Resident, spans: readonly Span[]): void;
  /** Waits for the calls, and brings residents that a worker has alone to where everybody can use them. */
  bring(residents: readonly Resident[]): Promise<void>;
  /** Keeps the memory of a resident, which must be live, until the program is closed. */
  hold(resident: Resident): void;
  /** Gives the backend a resident of the program, as another one with its memory. All calls must be done. Unless it was brought, only programs and `download` can use it. */
  keep(resident: Resident): Resident;
  /** Resolves when the calls so far are done. */
  flush(): Promise<void>;
  /** Stops the calls that are not done, and frees all that is left. */
  close(): Promise<void>;
}

/** The engine's method by which heed/layers gets its backend. The symbol is registered, so that it works across the package's entries. */
export const ENGINE: unique symbol = Symbol.for("heed.engine");

/** The WebAssembly module of attention and its caches, of every operation but those of training and of stored weights, of those of training too, or of all. Each has what those before it have. */
export type ModuleName = "core" | "full" | "training" | "narrow";

/** Computes all operations in one WebAssembly memory. */
export interface RootBackend extends Backend {
  /** Not filled, it has whatever numbers are there, for those who write all of them. */
  zeros(elements: number, dtype: DType, isFilled?: boolean): Resident;
  /** Allocates a cache page, whose memory `bytesOf` gives. */
  page(bytes: number): Resident;
  /** The memory of a resident, valid until the next call of the backend. Whoever writes to it must call `changed`, and no running call may read what is written. */
  bytesOf(where: string, resident: Resident): Uint8Array<ArrayBuffer>;
  changed(resident: Resident, spans: readonly Span[]): void;
  /** Moves to a module with a new memory, all tensors and pages along: "core" for attention, "full", "training" or "narrow" for more. The first operation that needs one does so by itself. */
  use(module: ModuleName): Promise<void>;
  /** Begins a program, on a module that is not "core". */
  program(signal: AbortSignal | null, module: ModuleName): Promise<Program>;
}
