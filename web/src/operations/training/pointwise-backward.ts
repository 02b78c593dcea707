// The gradients of source and factor, of target = activation(source) * factor.

import type { Operation } from "../../backends/backend.js";
import { ACTIVATION, OPERATION, POINTWISE_BACKWARD_CALL } from "../../backends/wasm/generated/operation-calls.js";
import type { Activation } from "../pointwise.js";
import { byRow, MEMORY_BOUND, operandIf, operandOf, POINTWISE_COST, type Rows, rowsView } from "../rows.js";

export interface PointwiseBackwardProblem {
  /** Of the target. All have its shape. */
  readonly gradient: Rows;
  readonly source: Rows;
  readonly factor: Rows | null;
  readonly activation: Activation;
}

const CALL = POINTWISE_BACKWARD_CALL;

/** Its results are the gradient of the source and, with a factor, that of the factor. */
export const POINTWISE_BACKWARD: Operation<PointwiseBackwardProblem> = {
  name: "pointwiseBackward",
  module: "training",
  call: CALL,
  pack({ gradient, source, factor, activation }, builder) {
    builder.integer(CALL.operation, OPERATION.pointwiseBackward);
    builder.input(CALL.gradient, operandOf(gradient));
    builder.input(CALL.source, operandOf(source));
    builder.input(CALL.factor, operandIf(factor));
    builder.integer(CALL.activation, ACTIVATION[activation]);
    builder.output(CALL.sourceGradient, rowsView(source.count, source.length), true);
    if (factor !== null) builder.output(CALL.factorGradient, rowsView(factor.count, factor.length), true);
  },
  work: ({ source }) => 2 * POINTWISE_COST * source.count * source.length,
  cut: ({ source, factor }) => {
    const ofFactor = factor === null ? [] : [CALL.factor, CALL.factorGradient];
    return {
      axes: [byRow(source.count, [CALL.gradient, CALL.source, CALL.sourceGradient, ...ofFactor])],
      memoryBound: MEMORY_BOUND,
    };
  },
};
