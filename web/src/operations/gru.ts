// A gated recurrent unit over all steps.

import type { CallBuilder, Operation, Resident } from "../backends/backend.js";
import type { Cut, CutAxis } from "../backends/cut.js";
import { GRU_CALL, OPERATION } from "../backends/wasm/generated/operation-calls.js";
import { byRow, operandIf, operandOf, POINTWISE_COST, ROWS, type Rows, rowsView, wholeOf } from "./rows.js";

/** What a GRU takes beside its recurrent matrices. */
export interface GruInputs {
  /** The inputs' part of the three gates at every step: [batch * steps, 3 * hidden]. */
  readonly gates: Rows;
  readonly bias: Rows | null;
  /** [batch, hidden]; null: zeros. */
  readonly state: Rows | null;
  readonly batch: number;
  readonly isReversed: boolean;
}

export interface GruProblem extends GruInputs {
  /** The result of PACK for three matrices. */
  readonly weights: Resident;
}

type GruWords = Readonly<Record<"gates" | "bias" | "state" | "batch" | "isReversed" | "states" | "last", number>>;

/** One entry alone is multiplied in another order. */
const LEAST_ENTRIES = 2;

/** Its results are the states of every step, and the last ones. */
export const GRU: Operation<GruProblem> = {
  name: "gru",
  call: GRU_CALL,
  pack(problem, builder) {
    builder.integer(GRU_CALL.operation, OPERATION.gru);
    builder.input(GRU_CALL.weights, wholeOf(problem.weights));
    packGru(builder, GRU_CALL, problem);
  },
  work: gruWork,
  cut: (problem, workers) => gruCut(GRU_CALL, problem, workers),
};

/** Packs what all GRUs take, and room for their results. */
export function packGru(builder: CallBuilder, words: GruWords, problem: GruInputs): void {
  const { gates, bias, state, batch, isReversed } = problem;
  const hidden = gates.length / 3;
  builder.input(words.gates, operandOf(gates));
  builder.input(words.bias, operandIf(bias));
  builder.input(words.state, operandIf(state));
  builder.integer(words.batch, batch);
  builder.integer(words.isReversed, isReversed);
  builder.output(words.states, rowsView(gates.count, hidden), true);
  builder.output(words.last, rowsView(batch, hidden), true);
}

export function gruWork({ gates }: GruInputs): number {
  return gates.count * gates.length * (gates.length / 3 + POINTWISE_COST);
}

export function gruCut(words: GruWords, { gates, batch, isReversed }: GruInputs, workers: number): Cut {
  const steps = gates.count / batch;
  const byEntry: CutAxis = {
    count: batch,
    step: LEAST_ENTRIES,
    least: LEAST_ENTRIES,
    views: [
      ...[words.gates, words.states].map((word) => [word, ROWS, steps] as const),
      ...[words.state, words.last].map((word) => [word, ROWS, 1] as const),
    ],
  };
  const byStep: CutAxis = {
    ...byRow(gates.count, [words.gates, words.states]),
    fromEnd: isReversed,
    carry: { from: words.last, to: words.state },
  };
  const countEntries = (call: Int32Array): void => {
    call[words.batch] = call[words.last + 1 + ROWS] ?? 0;
  };
  return { axes: batch > 1 ? [byEntry] : workers > 0 ? [] : [byStep], finish: countEntries };
}
