// LayerNorm and RMSNorm.

import type { Operation } from "../backends/backend.js";
import { NORM_CALL, OPERATION } from "../backends/wasm/generated/operation-calls.js";
import { byRow, MEMORY_BOUND, operandIf, operandOf, POINTWISE_COST, type Rows, rowsView } from "./rows.js";

export interface NormProblem {
  readonly input: Rows;
  readonly isCentred: boolean;
  readonly epsilon: number;
  readonly weight: Rows | null;
  readonly bias: Rows | null;
}

export const NORM: Operation<NormProblem> = {
  name: "norm",
  call: NORM_CALL,
  pack({ input, isCentred, epsilon, weight, bias }, builder) {
    builder.integer(NORM_CALL.operation, OPERATION.norm);
    builder.input(NORM_CALL.input, operandOf(input));
    builder.input(NORM_CALL.weight, operandIf(weight));
    builder.input(NORM_CALL.bias, operandIf(bias));
    builder.integer(NORM_CALL.isCentred, isCentred);
    builder.float(NORM_CALL.epsilon, epsilon);
    builder.output(NORM_CALL.output, rowsView(input.count, input.length), true);
  },
  work: ({ input }) => POINTWISE_COST * input.count * input.length,
  cut: ({ input }) => ({ axes: [byRow(input.count, [NORM_CALL.input, NORM_CALL.output])], memoryBound: MEMORY_BOUND }),
};
