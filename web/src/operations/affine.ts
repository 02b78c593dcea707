// x W^T with an epilogue, and the packing of W.

import type { Operand, Operation, Resident } from "../backends/backend.js";
import { AFFINE_CALL, OPERATION, PACK_CALL } from "../backends/wasm/generated/layer-call.js";
import { type PointwiseRule, packRule } from "./pointwise.js";
import { operandOf, type Rows, rowsView, wholeOf } from "./rows.js";

/** Columns in a packed panel: two vectors. C++ refuses any other number. */
const PANEL = 8;

/** Packs matrices [1, matrices, outputs, inputs] into the panels that AFFINE reads. */
export const PACK: Operation<Operand> = {
  name: "pack",
  words: PACK_CALL.words,
  pack(matrices, builder) {
    const [, count, outputs, inputs] = matrices.shape;
    builder.integer(PACK_CALL.operation, OPERATION.pack);
    builder.input(PACK_CALL.matrix, matrices);
    builder.output(PACK_CALL.packed, rowsView(1, count * Math.ceil(outputs / PANEL) * PANEL * inputs), true);
  },
  work: ({ elements }) => elements,
};

export interface AffineProblem {
  readonly input: Rows;
  /** The result of PACK. */
  readonly weights: Resident;
  readonly outputs: number;
  readonly rule: PointwiseRule;
}

export const AFFINE: Operation<AffineProblem> = {
  name: "linear",
  words: AFFINE_CALL.words,
  pack({ input, weights, outputs, rule }, builder) {
    builder.integer(AFFINE_CALL.operation, OPERATION.affine);
    builder.input(AFFINE_CALL.input, operandOf(input));
    builder.input(AFFINE_CALL.weights, wholeOf(weights));
    packRule(builder, AFFINE_CALL, rule);
    builder.output(AFFINE_CALL.output, rowsView(input.count, outputs), true);
  },
  work: ({ input, outputs }) => input.count * input.length * outputs,
};
