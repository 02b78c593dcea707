// The gradient of an embedding's table: rows are added to those that they came from, in their order.

import type { Operation } from "../../backends/backend.js";
import { OPERATION, PANEL, SCATTER_ADD_CALL } from "../../backends/wasm/generated/operation-calls.js";
import { COLUMNS, MEMORY_BOUND, operandIf, operandOf, type Rows, rowsView } from "../rows.js";

export interface ScatterAddProblem {
  readonly rows: Rows;
  readonly indices: Int32Array<ArrayBuffer>;
  /** The number of rows of the table. */
  readonly count: number;
  /** The table before; null: zeros. */
  readonly addend: Rows | null;
}

const CALL = SCATTER_ADD_CALL;

export const SCATTER_ADD: Operation<ScatterAddProblem> = {
  name: "scatterAdd",
  module: "training",
  call: CALL,
  pack({ rows, indices, count, addend }, builder) {
    builder.integer(CALL.operation, OPERATION.scatterAdd);
    builder.input(CALL.rows, operandOf(rows));
    builder.numbers(CALL.indices, indices);
    builder.input(CALL.addend, operandIf(addend));
    builder.output(CALL.output, rowsView(count, rows.length), true);
  },
  work: ({ rows, count }) => (rows.count + count) * rows.length,
  cut: ({ rows }) => ({
    axes: [
      {
        count: Math.ceil(rows.length / PANEL),
        views: [CALL.rows, CALL.addend, CALL.output].map((word) => [word, COLUMNS, PANEL]),
      },
    ],
    memoryBound: MEMORY_BOUND,
  }),
};
