// The softmax of rows, and its backward pass.

import type { Operation } from "../../backends/backend.js";
import { OPERATION, SOFTMAX_CALL } from "../../backends/wasm/generated/operation-calls.js";
import { byRow, MEMORY_BOUND, operandIf, operandOf, POINTWISE_COST, type Rows, rowsView } from "../rows.js";

export interface SoftmaxProblem {
  /** With a gradient: the softmax that it is of. */
  readonly rows: Rows;
  /** Null: the softmax is to be made. */
  readonly gradient: Rows | null;
}

export const SOFTMAX: Operation<SoftmaxProblem> = {
  name: "softmax",
  module: "training",
  call: SOFTMAX_CALL,
  pack({ rows, gradient }, builder) {
    builder.integer(SOFTMAX_CALL.operation, OPERATION.softmax);
    builder.input(SOFTMAX_CALL.rows, operandOf(rows));
    builder.input(SOFTMAX_CALL.gradient, operandIf(gradient));
    builder.output(SOFTMAX_CALL.output, rowsView(rows.count, rows.length), true);
  },
  work: ({ rows }) => 2 * POINTWISE_COST * rows.count * rows.length,
  cut: ({ rows, gradient }) => ({
    axes: [byRow(rows.count, [SOFTMAX_CALL.rows, SOFTMAX_CALL.output, ...(gradient ? [SOFTMAX_CALL.gradient] : [])])],
    memoryBound: MEMORY_BOUND,
  }),
};
