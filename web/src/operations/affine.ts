// x W^T with an epilogue, and the packing of W.

import type { Operand, Operation, Resident } from "../backends/backend.js";
import type { CutAxis } from "../backends/cut.js";
import { AFFINE_CALL, OPERATION, PACK_CALL, PANEL } from "../backends/wasm/generated/operation-calls.js";
import { type PointwiseRule, packRule, panelsOfRule, rowsOfRule } from "./pointwise.js";
import { COLUMNS, MEMORY_BOUND, operandOf, POINTWISE_COST, ROWS, type Rows, rowsView, wholeOf } from "./rows.js";

/** Rows that C++ multiplies before the weights pass again. */
const BLOCK_ROWS = 96;

/** One row alone waits for the weights as long as two. */
const LEAST_ROWS = 2;

/** Fewer rows wait for the weights to be read, which takes as long as the products of so many. */
const FEW_ROWS = 8;

/** Packs matrices [1, matrices, outputs, inputs] into the panels that AFFINE reads. */
export const PACK: Operation<Operand> = {
  name: "pack",
  call: PACK_CALL,
  pack(matrices, builder) {
    const [, count, outputs, inputs] = matrices.shape;
    builder.integer(PACK_CALL.operation, OPERATION.pack);
    builder.input(PACK_CALL.matrix, matrices);
    builder.output(PACK_CALL.packed, rowsView(1, count * Math.ceil(outputs / PANEL) * PANEL * inputs), true);
  },
  work: ({ elements }) => POINTWISE_COST * elements,
  cut: ({ shape: [, count, outputs, inputs] }) => {
    const floats = PANEL * inputs;
    const matrices: CutAxis = {
      count,
      views: [
        [PACK_CALL.matrix, 1, 1],
        [PACK_CALL.packed, COLUMNS, Math.ceil(outputs / PANEL) * floats],
      ],
    };
    const panels: CutAxis = {
      count: Math.ceil(outputs / PANEL),
      views: [
        [PACK_CALL.matrix, ROWS, PANEL],
        [PACK_CALL.packed, COLUMNS, floats],
      ],
    };
    // The panels of several matrices do not lie together.
    return { axes: [count > 1 ? matrices : panels], memoryBound: MEMORY_BOUND };
  },
};

export interface MatrixSizes {
  readonly count: number;
  readonly outputs: number;
  readonly inputs: number;
}

/** The matrices that PACK packed, as they were. Their bits are read as whole numbers, because JavaScript may change those of a NaN. */
export function unpacked(packed: Int32Array, { count, outputs, inputs }: MatrixSizes): Float32Array {
  const matrices = new Float32Array(count * outputs * inputs);
  const bits = new Int32Array(matrices.buffer);
  const length = packed.length / count;
  let at = 0;
  for (let matrix = 0; matrix < count; matrix++) {
    for (let output = 0; output < outputs; output++) {
      const lane = output % PANEL;
      const first = matrix * length + (output - lane) * inputs + lane;
      for (let i = 0; i < inputs; i++) bits[at++] = packed[first + i * PANEL] ?? 0;
    }
  }
  return matrices;
}

export interface AffineProblem {
  readonly input: Rows;
  /** The result of PACK. */
  readonly weights: Resident;
  readonly outputs: number;
  readonly rule: PointwiseRule;
}

export const AFFINE: Operation<AffineProblem> = {
  name: "linear",
  call: AFFINE_CALL,
  pack({ input, weights, outputs, rule }, builder) {
    builder.integer(AFFINE_CALL.operation, OPERATION.affine);
    builder.input(AFFINE_CALL.input, operandOf(input));
    builder.input(AFFINE_CALL.weights, wholeOf(weights));
    packRule(builder, AFFINE_CALL, rule);
    builder.output(AFFINE_CALL.output, rowsView(input.count, outputs), true);
  },
  work: ({ input, outputs }) => input.count * input.length * outputs,
  cut({ input, outputs, rule }) {
    const { step, ...rows } = rowsOfRule(input.count, [AFFINE_CALL.input, AFFINE_CALL.output], AFFINE_CALL, rule);
    const panels = panelsOfRule(outputs, [AFFINE_CALL.output], AFFINE_CALL);
    const byRow: CutAxis = { ...rows, step: step > 1 ? step : BLOCK_ROWS, least: LEAST_ROWS, shares: true };
    const byPanel: CutAxis = {
      ...panels,
      views: [...panels.views, [AFFINE_CALL.weights, COLUMNS, PANEL * input.length]],
    };
    return { axes: [byRow, byPanel], memoryBound: Math.max(1, FEW_ROWS / input.count) };
  },
};
