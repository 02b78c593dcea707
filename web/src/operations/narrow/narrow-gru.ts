// A gated recurrent unit over all steps, of which the recurrent matrices are stored weights.

import type { Operation } from "../../backends/backend.js";
import { NARROW_GRU_CALL as CALL, OPERATION } from "../../backends/wasm/generated/operation-calls.js";
import { type GruInputs, gruCut, gruWork, packGru } from "../gru.js";
import { type NarrowWeights, packWeights } from "./weights.js";

export interface NarrowGruProblem extends GruInputs {
  /** Three matrices. */
  readonly weights: NarrowWeights;
}

/** Its results are those of GRU. */
export const NARROW_GRU: Operation<NarrowGruProblem> = {
  name: "gru of stored weights",
  module: "narrow",
  call: CALL,
  pack(problem, builder) {
    builder.integer(CALL.operation, OPERATION.narrowGru);
    packWeights(builder, CALL, problem.weights);
    packGru(builder, CALL, problem);
  },
  work: gruWork,
  cut: (problem, workers) => gruCut(CALL, problem, workers),
};
