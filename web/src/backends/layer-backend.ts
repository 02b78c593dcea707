// The interface between heed/layers and whatever computes layers. Leans on nothing but the shapes of backend.ts.

import type { Backend, MemoryReport, Operand, Resident } from "./backend.js";
import type { ExtraBackend } from "./extra-backend.js";

/** An engine's method by which heed/layers finds what computes there, whichever of the package's entries the engine is from. */
export const LAYERS: unique symbol = Symbol.for("heed.layers");

export type Activation = "none" | "relu" | "gelu" | "gelu-tanh" | "silu" | "tanh" | "sigmoid";

/** Rows of a resident, dense, from its start. */
export interface Rows {
  readonly resident: Resident;
  readonly count: number;
  readonly length: number;
}

/** activation(x + bias) * factor + addend; null: left out. Rows that are fewer repeat. */
export interface PointwiseRule {
  readonly activation: Activation;
  readonly bias: Rows | null;
  readonly factor: Rows | null;
  readonly addend: Rows | null;
}

export interface AffineProblem {
  readonly input: Rows;
  /** What `pack` made. */
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
  /** Of every step, three of each: [batch * steps, 3 * hidden]. */
  readonly gates: Rows;
  /** Three matrices that `pack` made. */
  readonly weights: Resident;
  readonly bias: Rows | null;
  /** [batch, hidden]; null: zeros. */
  readonly state: Rows | null;
  readonly batch: number;
  readonly isReversed: boolean;
}

/** As Backend: a problem is valid when it arrives. Results are residents of `home`, as are all inputs. */
export interface LayerBackend {
  /** Where attention is computed, and tensors live. */
  readonly home: Backend;
  /** Of the same memory. */
  readonly extra: ExtraBackend;
  /** What layers hold, and what the engine holds beside it. */
  memoryBeside(engine: MemoryReport): MemoryReport;
  /** Matrices [1, matrices, outputs, inputs] as `affine` reads them. */
  pack(matrices: Operand): Promise<Resident>;
  affine(problem: AffineProblem, signal: AbortSignal | null): Promise<Resident>;
  pointwise(input: Rows, rule: PointwiseRule, signal: AbortSignal | null): Promise<Resident>;
  norm(problem: NormProblem, signal: AbortSignal | null): Promise<Resident>;
  gather(table: Rows, indices: Int32Array<ArrayBuffer>, signal: AbortSignal | null): Promise<Resident>;
  /** The states of every step, and the last ones. */
  gru(problem: GruProblem, signal: AbortSignal | null): Promise<readonly [Resident, Resident]>;
  dispose(): void;
}
