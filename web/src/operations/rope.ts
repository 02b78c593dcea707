// Rotary embedding.

import type { Operand, Operation, OutputView } from "../backends/backend.js";
import type { CutAxis } from "../backends/cut.js";
import { OPERATION, ROPE_CALL } from "../backends/wasm/generated/operation-calls.js";

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

/** How many times as long as its multiplications a memory-bound call takes: see Cut. */
const MEMORY_BOUND = 8;

/** Tokens of which C++ computes the angles from each other. */
const TOKENS = 64;

const DOUBLE = Float64Array.BYTES_PER_ELEMENT;

export const ROPE: Operation<RopeProblem> = {
  name: "rope",
  call: ROPE_CALL,
  pack(problem, builder) {
    builder.integer(ROPE_CALL.operation, OPERATION.rope);
    builder.input(ROPE_CALL.input, problem.input);
    builder.input(ROPE_CALL.cosines, problem.tables?.cosines ?? null);
    builder.input(ROPE_CALL.sines, problem.tables?.sines ?? null);
    builder.numbers(ROPE_CALL.frequencies, problem.frequencies);
    builder.numbers(ROPE_CALL.positions, problem.positions ?? firstPositions(problem));
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
  cut({ input, tables, positionsByBatch }) {
    const [batch, heads, length] = input.shape;
    const both = [ROPE_CALL.input, ROPE_CALL.output];
    const ofBatch = tables?.cosines.shape[0] === batch ? [ROPE_CALL.cosines, ROPE_CALL.sines] : [];
    const byBatch: CutAxis = {
      count: batch,
      views: [...both, ...ofBatch].map((word) => [word, 0, 1]),
      starts: positionsByBatch ? [[ROPE_CALL.positions, length * DOUBLE]] : [],
    };
    const byToken: CutAxis = {
      count: length,
      step: TOKENS,
      views: both.map((word) => [word, 2, 1]),
      starts: [[ROPE_CALL.positions, DOUBLE]],
    };
    const byHead: CutAxis = { count: heads, views: both.map((word) => [word, 1, 1]) };
    // C++ finds the positions of a batch entry by the number of tokens.
    return { axes: [byBatch, positionsByBatch ? byHead : byToken], memoryBound: MEMORY_BOUND };
  },
};

function firstPositions({ input }: RopeProblem): Float64Array {
  return Float64Array.from({ length: input.shape[2] }, (_, token) => token);
}
