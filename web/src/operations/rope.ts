// Rotary embedding.

import type { Operand, Operation, OutputView } from "../backends/backend.js";
import { OPERATION, ROPE_CALL } from "../backends/wasm/generated/extra-call.js";

/** A checked call. */
export interface RopeProblem {
  readonly input: Operand;
  readonly output: OutputView;
  /** Each is [1 or batch, 1, rows, pairs]; given in place of frequencies. */
  readonly tables: { readonly cosines: Operand; readonly sines: Operand } | null;
  /** For each pair the angle by which it turns from one position to the next, in radians. */
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

/** The cost of a sine and a cosine, in multiplications. */
const SINCOS_COST = 64;

export const ROPE: Operation<RopeProblem> = {
  name: "rope",
  words: ROPE_CALL.words,
  pack(problem, builder) {
    builder.integer(ROPE_CALL.operation, OPERATION.rope);
    builder.input(ROPE_CALL.input, problem.input);
    builder.input(ROPE_CALL.cosines, problem.tables?.cosines ?? null);
    builder.input(ROPE_CALL.sines, problem.tables?.sines ?? null);
    builder.numbers(ROPE_CALL.frequencies, problem.frequencies);
    builder.numbers(ROPE_CALL.positions, problem.positions);
    builder.integer(ROPE_CALL.positionsByBatch, problem.positionsByBatch);
    builder.integer(ROPE_CALL.rotaryDim, problem.rotaryDim);
    builder.integer(ROPE_CALL.interleaved, problem.interleaved);
    builder.integer(ROPE_CALL.inverse, problem.inverse);
    builder.float(ROPE_CALL.magnitude, problem.magnitude);
    builder.dtype(ROPE_CALL.inputType, problem.input);
    builder.output(ROPE_CALL.output, problem.output, problem.keep);
  },
  work({ input }) {
    const [batch, heads, length, dim] = input.shape;
    return batch * length * dim * (heads + SINCOS_COST);
  },
};
