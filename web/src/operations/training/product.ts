// Products of matrices as they lie, which the backward passes of linear layers are made of.

import type { Operand, Operation, OutputView } from "../../backends/backend.js";
import type { CutAxis } from "../../backends/cut.js";
import { OPERATION, PANEL, PRODUCT_CALL } from "../../backends/wasm/generated/operation-calls.js";
import { COLUMNS, MEMORY_BOUND, operandIf, placed, ROWS, type Rows, rowsView } from "../rows.js";

/** Matrices one behind the other, as many as the problem says. */
export interface Matrices extends Rows {
  /** Whether there is one for all products. Absent: as many as products. */
  readonly isOne?: boolean;
}

export interface ProductProblem {
  /** [rows, depth] or, transposed, [depth, rows]. */
  readonly left: Matrices;
  readonly isTransposed: boolean;
  /** [depth, columns] */
  readonly right: Matrices;
  /** [rows, columns], of one product; null: zeros. */
  readonly addend: Rows | null;
  /** How many products. Absent: one. */
  readonly products?: number;
}

const COUNT = 1;

/** Its result is left right + addend. */
export const PRODUCT: Operation<ProductProblem> = {
  name: "product",
  module: "training",
  call: PRODUCT_CALL,
  pack({ left, isTransposed, right, addend, products = 1 }, builder) {
    builder.integer(PRODUCT_CALL.operation, OPERATION.product);
    builder.input(PRODUCT_CALL.left, matricesOf(left, products));
    builder.input(PRODUCT_CALL.right, matricesOf(right, products));
    builder.input(PRODUCT_CALL.addend, operandIf(addend));
    builder.integer(PRODUCT_CALL.isTransposed, isTransposed);
    const rows = isTransposed ? left.length : left.count;
    builder.output(PRODUCT_CALL.output, viewOf(products, rowsView(rows, right.length)), true);
  },
  work: ({ left, right, products = 1 }) => products * left.count * left.length * right.length,
  cut({ left, isTransposed, right, products = 1 }) {
    const { left: l, right: r, addend, output } = PRODUCT_CALL;
    const byProduct: CutAxis = { count: products, views: [l, r, output].map((word) => [word, COUNT, 1]) };
    const byRow: CutAxis = {
      count: isTransposed ? left.length : left.count,
      step: 4,
      views: [
        [l, isTransposed ? COLUMNS : ROWS, 1],
        [addend, ROWS, 1],
        [output, ROWS, 1],
      ],
    };
    const byPanel: CutAxis = {
      count: Math.ceil(right.length / PANEL),
      views: [r, addend, output].map((word) => [word, COLUMNS, PANEL]),
    };
    return {
      axes: products > 1 ? [byProduct] : [byRow, byPanel],
      memoryBound: Math.max(1, MEMORY_BOUND / Math.min(left.count, left.length)),
    };
  },
};

function matricesOf({ resident, count, length, isOne = false }: Matrices, products: number): Operand {
  const one = rowsView(count, length);
  const all = viewOf(products, one);
  // One matrix that repeats has their number, and no step.
  return placed(isOne ? { ...all, elements: one.elements, strides: [0, 0, length, 1] } : all, resident);
}

function viewOf(products: number, { elements, shape: [, , rows, columns] }: OutputView): OutputView {
  const step = products > 1 ? elements : 0;
  return { elements: products * elements, shape: [1, products, rows, columns], strides: [0, step, columns, 1] };
}
