// The backward pass of a gated recurrent unit, through time.

import type { Operation, Resident } from "../../backends/backend.js";
import { GRU_BACKWARD_CALL, OPERATION } from "../../backends/wasm/generated/operation-calls.js";
import type { GruProblem } from "../gru.js";
import { operandIf, operandOf, ROWS, type Rows, rowsView, wholeOf } from "../rows.js";

export interface GruBackwardProblem {
  readonly forward: GruProblem;
  /** What the forward pass made: the states of every step. */
  readonly states: Rows;
  /** The result of PACK for the transpose of all three matrices as one, [hidden, 3 * hidden]. */
  readonly transposed: Resident;
  /** The gradients of the states and of the last ones; null: zeros. */
  readonly stateGradients: Rows | null;
  readonly lastGradient: Rows | null;
}

const CALL = GRU_BACKWARD_CALL;

/** Its results: the gradients of the gates, of the state's part of the gates, the state before every step, the gradient of the first. */
export const GRU_BACKWARD: Operation<GruBackwardProblem> = {
  name: "gruBackward",
  module: "training",
  call: CALL,
  pack({ forward, states, transposed, stateGradients, lastGradient }, builder) {
    const { gates, weights, bias, state, batch, isReversed } = forward;
    const hidden = gates.length / 3;
    builder.integer(CALL.operation, OPERATION.gruBackward);
    builder.input(CALL.gates, operandOf(gates));
    builder.input(CALL.weights, wholeOf(weights));
    builder.input(CALL.bias, operandIf(bias));
    builder.input(CALL.state, operandIf(state));
    builder.integer(CALL.batch, batch);
    builder.integer(CALL.isReversed, isReversed);
    builder.input(CALL.states, operandOf(states));
    builder.input(CALL.transposedWeights, wholeOf(transposed));
    builder.input(CALL.stateGradients, operandIf(stateGradients));
    builder.input(CALL.lastGradient, operandIf(lastGradient));
    builder.output(CALL.gatesGradient, rowsView(gates.count, gates.length), true);
    builder.output(CALL.hiddenGradient, rowsView(gates.count, gates.length), true);
    builder.output(CALL.previous, rowsView(gates.count, hidden), true);
    builder.output(CALL.stateGradient, rowsView(batch, hidden), true);
  },
  work: ({ forward: { gates } }) => (2 * gates.count * gates.length * gates.length) / 3,
  cut({ forward: { gates, batch } }) {
    const steps = gates.count / batch;
    const ofSteps = [
      CALL.gates,
      CALL.states,
      CALL.stateGradients,
      CALL.gatesGradient,
      CALL.hiddenGradient,
      CALL.previous,
    ];
    return {
      axes: [
        {
          count: batch,
          views: [
            ...ofSteps.map((word) => [word, ROWS, steps] as const),
            ...[CALL.state, CALL.lastGradient, CALL.stateGradient].map((word) => [word, ROWS, 1] as const),
          ],
        },
      ],
      finish(slice) {
        slice[CALL.batch] = slice[CALL.stateGradient + 1 + ROWS] ?? 0;
      },
    };
  },
};
