// The backward pass of LayerNorm and RMSNorm.

import type { Operation } from "../../backends/backend.js";
import { NORM_BACKWARD_CALL, OPERATION } from "../../backends/wasm/generated/operation-calls.js";
import { MEMORY_BOUND, operandIf, operandOf, POINTWISE_COST, type Rows, rowsView } from "../rows.js";

export interface NormBackwardProblem {
  readonly input: Rows;
  readonly weight: Rows | null;
  readonly gradient: Rows;
  readonly isCentred: boolean;
  readonly epsilon: number;
}

const CALL = NORM_BACKWARD_CALL;

/** Its results are the gradients of the input, the weight and the bias, also where the norm has neither. */
export const NORM_BACKWARD: Operation<NormBackwardProblem> = {
  name: "normBackward",
  module: "training",
  call: CALL,
  pack({ input, weight, gradient, isCentred, epsilon }, builder) {
    builder.integer(CALL.operation, OPERATION.normBackward);
    builder.input(CALL.input, operandOf(input));
    builder.input(CALL.weight, operandIf(weight));
    builder.input(CALL.gradient, operandOf(gradient));
    builder.integer(CALL.isCentred, isCentred);
    builder.float(CALL.epsilon, epsilon);
    builder.output(CALL.inputGradient, rowsView(input.count, input.length), true);
    builder.output(CALL.weightGradient, rowsView(1, input.length), true);
    builder.output(CALL.biasGradient, rowsView(1, input.length), true);
  },
  work: ({ input }) => 2 * POINTWISE_COST * input.count * input.length,
  // The sums over rows are whole.
  cut: () => ({ axes: [], memoryBound: MEMORY_BOUND }),
};
