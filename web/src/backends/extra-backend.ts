// The interface between the API and the backends of rotary embedding and linear attention. It imports only the types of backend.ts.

import type { Computed, Operand, OutputView } from "./backend.js";

/** A checked call of rotary embedding. */
export interface RopeProblem {
  readonly input: Operand;
  readonly output: OutputView;
  /** Each is [1 or batch, 1, rows, pairs]; given instead of frequencies. */
  readonly tables: { readonly cosines: Operand; readonly sines: Operand } | null;
  /** The angle of each pair from one position to the next, in radians. */
  readonly frequencies: Float64Array<ArrayBuffer> | null;
  /** One for each token, or for each batch entry and token; null: 0, 1, 2, ... */
  readonly positions: Float64Array<ArrayBuffer> | null;
  readonly positionsByBatch: boolean;
  readonly rotaryDim: number;
  readonly interleaved: boolean;
  readonly inverse: boolean;
  /** Multiplies the rotated numbers. */
  readonly magnitude: number;
  /** Whether the result stays in the backend's memory, as a resident. */
  readonly keep: boolean;
  /** Whether to compute it again when the GPU is lost meanwhile. */
  readonly retry: boolean;
}

export type LinearRule = "linear" | "gated" | "delta" | "gated-delta" | "elu";

/** A checked call of linear attention. */
export interface LinearProblem {
  readonly query: Operand;
  readonly key: Operand;
  readonly value: Operand;
  /** [batch, key heads, length, head_dim or 1] */
  readonly decay: Operand | null;
  /** [batch, key heads or 1, length, 1] */
  readonly beta: Operand | null;
  /** [batch, key heads, head_dim, value_dim]; for elu value_dim + 1, the last for the denominator. */
  readonly state: Operand | null;
  readonly rule: LinearRule;
  readonly causal: boolean;
  /** Null: 1 / sqrt(head_dim), or 1 for elu. */
  readonly scale: number | null;
  readonly output: OutputView;
  readonly newState: OutputView;
}

/** As with Backend, a problem is valid when it arrives, and its arrays are read before the call returns. No operand is a resident. */
export interface ExtraBackend {
  rope(problem: RopeProblem, signal: AbortSignal | null): Promise<Float32Array>;
  linearAttention(
    problem: LinearProblem,
    signal: AbortSignal | null,
  ): Promise<{ readonly output: Float32Array; readonly state: Float32Array }>;
  dispose(): void;
}

/** A GPU backend that computes some of these operations from its own residents. */
export interface ExtraOnGpu {
  /** Returns null when an ExtraBackend should compute the problem. Arrays are read before this returns. */
  rope(problem: RopeProblem, signal: AbortSignal | null): Promise<Computed> | null;
  /** Whether a call failed only because its device was lost, and can be made again. Resolves when there is another device, or when there will be none. */
  recovers(error: unknown, problem: object): Promise<boolean>;
  /** Notes in `capabilities` that WebAssembly computes an operation. */
  leave(operation: string): void;
}
