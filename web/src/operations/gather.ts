// Rows of a table by their indices.

import type { Operation } from "../backends/backend.js";
import { GATHER_CALL, OPERATION } from "../backends/wasm/generated/operation-calls.js";
import { byRow, MEMORY_BOUND, operandOf, POINTWISE_COST, type Rows, rowsView } from "./rows.js";

export interface GatherProblem {
  readonly table: Rows;
  readonly indices: Int32Array<ArrayBuffer>;
}

export const GATHER: Operation<GatherProblem> = {
  name: "embedding",
  call: GATHER_CALL,
  pack({ table, indices }, builder) {
    builder.integer(GATHER_CALL.operation, OPERATION.gather);
    builder.input(GATHER_CALL.table, operandOf(table));
    builder.numbers(GATHER_CALL.indices, indices);
    builder.output(GATHER_CALL.output, rowsView(indices.length, table.length), true);
  },
  work: ({ table, indices }) => indices.length * table.length,
  cut: ({ indices }) => ({
    axes: [
      { ...byRow(indices.length, [GATHER_CALL.output]), starts: [[GATHER_CALL.indices, indices.BYTES_PER_ELEMENT]] },
    ],
    memoryBound: MEMORY_BOUND * POINTWISE_COST,
  }),
};
