// The product of two matrices as they lie, which the backward passes of linear layers are made of.

import type { Operation } from "../../backends/backend.js";
import type { CutAxis } from "../../backends/cut.js";
import { OPERATION, PANEL, PRODUCT_CALL } from "../../backends/wasm/generated/operation-calls.js";
import { COLUMNS, MEMORY_BOUND, operandIf, operandOf, ROWS, type Rows, rowsView } from "../rows.js";

export interface ProductProblem {
  /** [rows, depth] or, transposed, [depth, rows]. */
  readonly left: Rows;
  readonly isTransposed: boolean;
  /** [depth, columns] */
  readonly right: Rows;
  /** [rows, columns]; null: zeros. */
  readonly addend: Rows | null;
}

/** Its result is left right + addend. */
export const PRODUCT: Operation<ProductProblem> = {
  name: "product",
  module: "training",
  call: PRODUCT_CALL,
  pack({ left, isTransposed, right, addend }, builder) {
    builder.integer(PRODUCT_CALL.operation, OPERATION.product);
    builder.input(PRODUCT_CALL.left, operandOf(left));
    builder.input(PRODUCT_CALL.right, operandOf(right));
    builder.input(PRODUCT_CALL.addend, operandIf(addend));
    builder.integer(PRODUCT_CALL.isTransposed, isTransposed);
    builder.output(PRODUCT_CALL.output, rowsView(isTransposed ? left.length : left.count, right.length), true);
  },
  work: ({ left, right }) => left.count * left.length * right.length,
  cut({ left, isTransposed, right }, workers) {
    const byRow: CutAxis = {
      count: isTransposed ? left.length : left.count,
      step: 4,
      views: [
        [PRODUCT_CALL.left, isTransposed ? COLUMNS : ROWS, 1],
        [PRODUCT_CALL.addend, ROWS, 1],
        [PRODUCT_CALL.output, ROWS, 1],
      ],
    };
    const byPanel: CutAxis = {
      count: Math.ceil(right.length / PANEL),
      views: [PRODUCT_CALL.right, PRODUCT_CALL.addend, PRODUCT_CALL.output].map((word) => [word, COLUMNS, PANEL]),
    };
    const memoryBound = Math.max(1, MEMORY_BOUND / Math.min(left.count, left.length));
    return { axes: [byRow, byPanel], ...((workers === 0 || memoryBound > 1) && { memoryBound }) };
  },
};
