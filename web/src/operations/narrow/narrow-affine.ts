// x W^T of stored weights, with an epilogue.

import type { Operation } from "../../backends/backend.js";
import type { CutAxis } from "../../backends/cut.js";
import { NARROW_AFFINE_CALL as CALL, NARROW_PANEL, OPERATION } from "../../backends/wasm/generated/operation-calls.js";
import { type PointwiseRule, packRule, panelsOfRule, rowsOfRule } from "../pointwise.js";
import { COLUMNS, operandOf, type Rows, rowsView } from "../rows.js";
import { type NarrowWeights, packWeights, panelsOf } from "./weights.js";

export interface NarrowAffineProblem {
  readonly input: Rows;
  readonly weights: NarrowWeights;
  readonly outputs: number;
  readonly rule: PointwiseRule;
}

/** Rows that C++ multiplies before the weights pass again. */
const BLOCK_ROWS = 96;

/** Fewer rows wait for the weights to be read, which takes as long as the products of so many. */
const FEW_ROWS = 2;

/** Its results have the same bits for any number of rows, however it is cut. */
export const NARROW_AFFINE: Operation<NarrowAffineProblem> = {
  name: "linear",
  module: "narrow",
  call: CALL,
  pack({ input, weights, outputs, rule }, builder) {
    builder.integer(CALL.operation, OPERATION.narrowAffine);
    builder.input(CALL.input, operandOf(input));
    packWeights(builder, CALL, weights);
    packRule(builder, CALL, rule);
    builder.output(CALL.output, rowsView(input.count, outputs), true);
  },
  work: ({ input, outputs }) => input.count * input.length * outputs,
  cut({ input, weights, outputs, rule }) {
    const { step, ...rows } = rowsOfRule(input.count, [CALL.input, CALL.output], CALL, rule);
    const panels = panelsOfRule(outputs, [CALL.output], CALL, NARROW_PANEL);
    const byRow: CutAxis = { ...rows, step: step > 1 ? step : BLOCK_ROWS, shares: true };
    const byPanel: CutAxis = {
      ...panels,
      views: [...panels.views, [CALL.weights, COLUMNS, weights.resident.elements / panelsOf(outputs)]],
    };
    return { axes: [byRow, byPanel], memoryBound: Math.max(1, FEW_ROWS / input.count) };
  },
};
