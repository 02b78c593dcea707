// Rows of stored weights by their indices, in f32: exactly what was stored.

import type { Operation } from "../../backends/backend.js";
import { NARROW_GATHER_CALL as CALL, OPERATION } from "../../backends/wasm/generated/operation-calls.js";
import { byRow, MEMORY_BOUND, POINTWISE_COST, rowsView } from "../rows.js";
import { type NarrowWeights, packWeights } from "./weights.js";

export interface NarrowGatherProblem {
  readonly table: NarrowWeights;
  /** The number of rows of the table. */
  readonly count: number;
  /** The length of a row. */
  readonly length: number;
  readonly indices: Int32Array<ArrayBuffer>;
  /** Whether the rows stay in the engine's memory. */
  readonly keep: boolean;
}

export const NARROW_GATHER: Operation<NarrowGatherProblem> = {
  name: "embedding",
  module: "narrow",
  call: CALL,
  pack({ table, count, length, indices, keep }, builder) {
    builder.integer(CALL.operation, OPERATION.narrowGather);
    packWeights(builder, { format: CALL.format, weights: CALL.table }, table);
    builder.integer(CALL.count, count);
    builder.numbers(CALL.indices, indices);
    builder.output(CALL.output, rowsView(indices.length, length), keep);
  },
  work: ({ length, indices }) => indices.length * length,
  cut: ({ indices }) => ({
    axes: [{ ...byRow(indices.length, [CALL.output]), starts: [[CALL.indices, indices.BYTES_PER_ELEMENT]] }],
    memoryBound: MEMORY_BOUND * POINTWISE_COST,
  }),
};
