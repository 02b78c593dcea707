// The gradient of a linear layer's input where its weights are stored: dX = dY W.

import type { Operation } from "../../backends/backend.js";
import { NARROW_PRODUCT_CALL as CALL, OPERATION } from "../../backends/wasm/generated/operation-calls.js";
import { byRow, MEMORY_BOUND, operandIf, operandOf, type Rows, rowsView } from "../rows.js";
import { type NarrowWeights, packWeights } from "./weights.js";

export interface NarrowProductProblem {
  /** [rows, outputs] */
  readonly left: Rows;
  readonly weights: NarrowWeights;
  readonly inputs: number;
  /** [rows, inputs]; null: zeros. */
  readonly addend: Rows | null;
}

/** Its result is left W + addend, of weights exactly as they were stored. */
export const NARROW_PRODUCT: Operation<NarrowProductProblem> = {
  name: "product",
  module: "narrow",
  call: CALL,
  pack({ left, weights, inputs, addend }, builder) {
    builder.integer(CALL.operation, OPERATION.narrowProduct);
    builder.input(CALL.left, operandOf(left));
    packWeights(builder, CALL, weights);
    builder.input(CALL.addend, operandIf(addend));
    builder.output(CALL.output, rowsView(left.count, inputs), true);
  },
  work: ({ left, inputs }) => left.count * left.length * inputs,
  cut: ({ left }) => ({
    axes: [{ ...byRow(left.count, [CALL.left, CALL.addend, CALL.output]), step: 4 }],
    memoryBound: Math.max(1, MEMORY_BOUND / left.count),
  }),
};
