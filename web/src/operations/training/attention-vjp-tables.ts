// The backward pass of attention with the gradients of tables, all in one row that stays in the engine.

import type { Operation } from "../../backends/backend.js";
import { ATTENTION_VJP_CALL } from "../../backends/wasm/generated/operation-calls.js";
import { ATTENTION_VJP, type AttentionVjpProblem } from "../attention-vjp.js";
import { rowsView } from "../rows.js";

/** Its results are the gradients that are wanted, and those of tables after them. */
export const ATTENTION_VJP_TABLES: Operation<AttentionVjpProblem> = {
  ...ATTENTION_VJP,
  pack(problem, builder) {
    ATTENTION_VJP.pack(problem, builder);
    builder.output(ATTENTION_VJP_CALL.tablesGradient, rowsView(1, problem.slopes?.tableGradientNumbers ?? 0), true);
  },
  cut: () => ({ axes: [] }),
};
