// The sum of rows, which is the gradient of what all of them have in common, or the largest number of each column.

import type { Operation } from "../../backends/backend.js";
import { OPERATION, PANEL, ROW_SUMS_CALL } from "../../backends/wasm/generated/operation-calls.js";
import { COLUMNS, MEMORY_BOUND, operandIf, operandOf, type Rows, rowsView } from "../rows.js";

export interface RowSumsProblem {
  readonly rows: Rows;
  /** One row; null: zeros. */
  readonly addend: Rows | null;
  /** Whether the largest numbers are wanted in place of sums. Absent: sums. */
  readonly isMaximum?: boolean;
}

/** Its result is one row. */
export const ROW_SUMS: Operation<RowSumsProblem> = {
  name: "rowSums",
  module: "training",
  call: ROW_SUMS_CALL,
  pack({ rows, addend, isMaximum = false }, builder) {
    builder.integer(ROW_SUMS_CALL.operation, OPERATION.rowSums);
    builder.input(ROW_SUMS_CALL.rows, operandOf(rows));
    builder.input(ROW_SUMS_CALL.addend, operandIf(addend));
    builder.integer(ROW_SUMS_CALL.isMaximum, isMaximum);
    builder.output(ROW_SUMS_CALL.output, rowsView(1, rows.length), true);
  },
  work: ({ rows }) => rows.count * rows.length,
  cut: ({ rows }) => ({
    axes: [
      {
        count: Math.ceil(rows.length / PANEL),
        views: [ROW_SUMS_CALL.rows, ROW_SUMS_CALL.addend, ROW_SUMS_CALL.output].map((word) => [word, COLUMNS, PANEL]),
      },
    ],
    memoryBound: MEMORY_BOUND,
  }),
};
