// A gated recurrent unit over all steps.

import type { Operation, Resident } from "../backends/backend.js";
import { GRU_CALL, OPERATION } from "../backends/wasm/generated/layer-call.js";
import { operandIf, operandOf, POINTWISE_COST, type Rows, rowsView, wholeOf } from "./rows.js";

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

/** Its results are the states of every step, and the last ones. */
export const GRU: Operation<GruProblem> = {
  name: "gru",
  words: GRU_CALL.words,
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
};
