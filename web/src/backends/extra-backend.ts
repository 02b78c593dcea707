// The interface between the API and whatever computes what is beside attention. Leans on nothing but the shapes of backend.ts.

import type { Computed, Operand, OutputView } from "./backend.js";

/** Rotary embedding, checked. */
export interface RopeProblem {
  readonly input: Operand;
  readonly output: OutputView;
  /** [1 or batch, 1, rows, pairs] each, in place of frequencies. */
  readonly tables: { readonly cosines: Operand; readonly sines: Operand } | null;
  /** One a pair: radians a position. */
  readonly frequencies: Float64Array<ArrayBuffer> | null;
  /** One a place, or a batch entry and place; null: 0, 1, 2 ... */
  readonly positions: Float64Array<ArrayBuffer> | null;
  readonly positionsByBatch: boolean;
  readonly rotaryDim: number;
  readonly interleaved: boolean;
  readonly inverse: boolean;
  /** Multiplies what is turned. */
  readonly magnitude: number;
  /** Leave the result in the memory of the backend that computes it. */
  readonly keep: boolean;
  /** Compute it again where a GPU that is lost interrupts it. */
  readonly retry: boolean;
}

export type LinearRule = "linear" | "gated" | "delta" | "gated-delta" | "elu";

/** Linear attention, checked. */
export interface LinearProblem {
  readonly query: Operand;
  readonly key: Operand;
  readonly value: Operand;
  /** [batch, key heads, length, head_dim or 1] */
  readonly decay: Operand | null;
  /** [batch, key heads or 1, length, 1] */
  readonly beta: Operand | null;
  /** [batch, key heads, head_dim, value_dim], for elu one more. */
  readonly state: Operand | null;
  readonly rule: LinearRule;
  readonly causal: boolean;
  /** Null: 1 / sqrt(head_dim), or none for elu. */
  readonly scale: number | null;
  readonly output: OutputView;
  readonly newState: OutputView;
}

/** As Backend: a problem is valid when it arrives, its arrays are read before the call returns, no operand is a resident. */
export interface ExtraBackend {
  rope(problem: RopeProblem, signal: AbortSignal | null): Promise<Float32Array>;
  linearAttention(
    problem: LinearProblem,
    signal: AbortSignal | null,
  ): Promise<{ readonly output: Float32Array; readonly state: Float32Array }>;
  dispose(): void;
}

/** A backend that computes some of this itself, from its own residents. */
export interface ExtraOnGpu {
  /** Null: it is for an ExtraBackend. Arrays are read before this returns. */
  rope(problem: RopeProblem, signal: AbortSignal | null): Promise<Computed> | null;
  /** Whether a call failed with its device alone, and can be made again: told when there is another device, or will be none. */
  recovers(error: unknown, problem: object): Promise<boolean>;
  /** Somebody else computes an operation: `capabilities` is to say why. */
  leave(operation: string): void;
}
