// a x + b y of tensors as long vectors, and the sum of squares.

import type { Operation } from "../../backends/backend.js";
import { COMBINE_CALL, OPERATION, SQUARE_SUM_CALL } from "../../backends/wasm/generated/operation-calls.js";
import { MEMORY_BOUND, operandIf, operandOf, type Rows, rowsView } from "../rows.js";
import { byPart } from "./vectors.js";

/** Each is one row. */
export interface CombineProblem {
  readonly x: Rows;
  readonly y: Rows | null;
  readonly a: number;
  readonly b: number;
}

export const COMBINE: Operation<CombineProblem> = {
  name: "combine",
  module: "training",
  call: COMBINE_CALL,
  pack({ x, y, a, b }, builder) {
    builder.integer(COMBINE_CALL.operation, OPERATION.combine);
    builder.input(COMBINE_CALL.x, operandOf(x));
    builder.input(COMBINE_CALL.y, operandIf(y));
    builder.float(COMBINE_CALL.a, a);
    builder.float(COMBINE_CALL.b, b);
    builder.output(COMBINE_CALL.output, rowsView(1, x.length), true);
  },
  work: ({ x }) => x.length,
  cut: ({ x }) => byPart(x.length, [COMBINE_CALL.x, COMBINE_CALL.y, COMBINE_CALL.output]),
};

/** Its result is one number. */
export const SQUARE_SUM: Operation<{ readonly rows: Rows }> = {
  name: "squareSum",
  module: "training",
  call: SQUARE_SUM_CALL,
  pack({ rows }, builder) {
    builder.integer(SQUARE_SUM_CALL.operation, OPERATION.squareSum);
    builder.input(SQUARE_SUM_CALL.rows, operandOf(rows));
    builder.output(SQUARE_SUM_CALL.output, rowsView(1, 1), true);
  },
  work: ({ rows }) => rows.length,
  cut: () => ({ axes: [], memoryBound: MEMORY_BOUND }),
};
