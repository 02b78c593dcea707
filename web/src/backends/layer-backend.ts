// The interface between heed/layers and the backend of layers. It imports only the types of backend.ts and extra-backend.ts.

import type { Backend, MemoryReport, Operand, Resident } from "./backend.js";
import type { ExtraBackend } from "./extra-backend.js";

/** The engine's method by which heed/layers gets its backend. The symbol is registered, so that it works across the package's entries. */
export const LAYERS: unique symbol = Symbol.for("heed.layers");

export type Activation = "none" | "relu" | "gelu" | "gelu-tanh" | "silu" | "tanh" | "sigmoid";

/** Dense rows at the start of a resident. */
export interface Rows {
  readonly resident: Resident;
  readonly count: number;
  readonly length: number;
}

/** activation(x + bias) * factor + addend; a null one is left out, and one with fewer rows repeats them. */
export interface PointwiseRule {
  readonly activation: Activation;
  readonly bias: Rows | null;
  readonly factor: Rows | null;
  readonly addend: Rows | null;
}

export interface AffineProblem {
  readonly input: Rows;
  /** The result of `pack`. */
  readonly weights: Resident;
  readonly outputs: number;
  readonly rule: PointwiseRule;
}

export interface NormProblem {
  readonly input: Rows;
  readonly isCentred: boolean;
  readonly epsilon: number;
  readonly weight: Rows | null;
  readonly bias: Rows | null;
}

export interface GruProblem {
  /** The inputs' part of the three gates at every step: [batch * steps, 3 * hidden]. */
  readonly gates: Rows;
  /** The result of `pack` for three matrices. */
  readonly weights: Resident;
  readonly bias: Rows | null;
  /** [batch, hidden]; null: zeros. */
  readonly state: Rows | null;
  readonly batch: number;
  readonly isReversed: boolean;
}

/** As with Backend, a problem is valid when it arrives. All inputs and results are residents of `core`. */
export interface LayerBackend {
  /** Opens `core`, unless it is open, and keeps it open for a pass, until `end`. */
  begin(): Promise<void>;
  end(): void;
  /** Frees a parameter whose layer was disposed of or loaded anew. Does nothing after the engine has ended. */
  free(parameter: Resident): void;
  /** A layer was disposed of: `core` is closed once it holds nothing and no pass is under way. */
  rest(): void;
  /** The backend that computes attention and holds the tensors. Throws HeedError `disposed` while it is not open. */
  readonly core: Backend;
  /** Computes in the same memory. */
  readonly extra: ExtraBackend;
  /** Adds the memory of layers to that of the engine. */
  memoryWith(engine: MemoryReport): MemoryReport;
  /** Packs matrices [1, matrices, outputs, inputs] into the panels that `affine` reads. */
  pack(matrices: Operand): Promise<Resident>;
  affine(problem: AffineProblem, signal: AbortSignal | null): Promise<Resident>;
  pointwise(input: Rows, rule: PointwiseRule, signal: AbortSignal | null): Promise<Resident>;
  norm(problem: NormProblem, signal: AbortSignal | null): Promise<Resident>;
  gather(table: Rows, indices: Int32Array<ArrayBuffer>, signal: AbortSignal | null): Promise<Resident>;
  /** Returns the states of every step, and the last ones. */
  gru(problem: GruProblem, signal: AbortSignal | null): Promise<readonly [Resident, Resident]>;
  dispose(): void;
}
