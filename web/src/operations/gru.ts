// A gated recurrent unit over all steps.

import type { Operation, Resident } from "../backends/backend.js";
import type { CutAxis } from "../backends/cut.js";
import { GRU_CALL, OPERATION } from "../backends/wasm/generated/operation-calls.js";
import { byRow, operandIf, operandOf, POINTWISE_COST, ROWS, type Rows, rowsView, wholeOf } from "./rows.js";

export interface GruProblem {
  /** The inputs' part of the three gates at every step: [batch * steps, 3 * hidden]. */
  readonly gates: Rows;
  /** The result of PACK for three matrices. */
  readonly weights: Resident;
  readonly bias: Rows | null;
  /** [batch, hidden]; null: zeros. */
  readonly state: Rows | null;
  readonly batch: number;
  readonly isReversed: boolean;
}

/** One entry alone is multiplied in another order. */
const LEAST_ENTRIES = 2;

/** Its results are the states of every step, and the last ones. */
export const GRU: Operation<GruProblem> = {
  name: "gru",
  call: GRU_CALL,
  pack({ gates, weights, bias, state, batch, isReversed }, builder) {
    const hidden = gates.length / 3;
    builder.integer(GRU_CALL.operation, OPERATION.gru);
    builder.input(GRU_CALL.gates, operandOf(gates));
    builder.input(GRU_CALL.weights, wholeOf(weights));
    builder.input(GRU_CALL.bias, operandIf(bias));
    builder.input(GRU_CALL.state, operandIf(state));
    builder.integer(GRU_CALL.batch, batch);
    builder.integer(GRU_CALL.isReversed, isReversed);
    builder.output(GRU_CALL.states, rowsView(gates.count, hidden), true);
    builder.output(GRU_CALL.last, rowsView(batch, hidden), true);
  },
  work: ({ gates }) => gates.count * gates.length * (gates.length / 3 + POINTWISE_COST),
  cut({ gates, batch, isReversed }, workers) {
    const steps = gates.count / batch;
    const byEntry: CutAxis = {
      count: batch,
      step: LEAST_ENTRIES,
      least: LEAST_ENTRIES,
      views: [
        ...[GRU_CALL.gates, GRU_CALL.states].map((word) => [word, ROWS, steps] as const),
        ...[GRU_CALL.state, GRU_CALL.last].map((word) => [word, ROWS, 1] as const),
      ],
    };
    const byStep: CutAxis = {
      ...byRow(gates.count, [GRU_CALL.gates, GRU_CALL.states]),
      fromEnd: isReversed,
      carry: { from: GRU_CALL.last, to: GRU_CALL.state },
    };
    return { axes: batch > 1 ? [byEntry] : workers > 0 ? [] : [byStep], finish: countEntries };
  },
};

function countEntries(call: Int32Array): void {
  call[GRU_CALL.batch] = call[GRU_CALL.last + 1 + ROWS] ?? 0;
}
