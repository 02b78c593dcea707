// The backward pass of linear attention.

import type { Operand, Operation } from "../backends/backend.js";
import type { CutAxis } from "../backends/cut.js";
import { LINEAR_VJP_CALL as CALL, LINEAR_CALL, OPERATION } from "../backends/wasm/generated/operation-calls.js";
import { denseLike } from "./dense-like.js";
import { headParts, LINEAR_ATTENTION, type LinearProblem, packLinear } from "./linear-attention.js";

/** What gradients may be of, in the order of the results. */
export type LinearGradient = "query" | "key" | "value" | "decay" | "beta" | "state";

export interface LinearVjpProblem {
  /** Its outputs are not made. */
  readonly forward: LinearProblem;
  readonly outputGradient: Operand;
  /** Of the state that the forward call leaves; null: zeros. */
  readonly newStateGradient: Operand | null;
  /** Of what the forward call was given. */
  readonly wanted: readonly LinearGradient[];
}

const WORDS: Readonly<Record<LinearGradient, number>> = {
  query: CALL.queryGradient,
  key: CALL.keyGradient,
  value: CALL.valueGradient,
  decay: CALL.decayGradient,
  beta: CALL.betaGradient,
  state: CALL.stateGradient,
};

/** About how many times the multiplications of the forward pass. */
const COST = 4;

/** Its results are the gradients that are wanted, in that order. */
export const LINEAR_VJP: Operation<LinearVjpProblem> = {
  name: "linearAttentionVjp",
  module: "training",
  call: CALL,
  pack({ forward, outputGradient, newStateGradient, wanted }, builder) {
    packLinear(forward, builder);
    builder.integer(LINEAR_CALL.operation, OPERATION.linearVjp);
    builder.input(CALL.outputGradient, outputGradient);
    builder.input(CALL.newStateGradient, newStateGradient);
    for (const name of wanted) {
      const operand = forward[name];
      if (operand === null) throw new TypeError(`there is no ${name} to have a gradient`);
      builder.output(WORDS[name], denseLike(operand), forward.keep);
    }
  },
  work: ({ forward }) => COST * LINEAR_ATTENTION.work(forward),
  cut({ forward, wanted }) {
    const [batch] = forward.query.shape;
    const ofQueries = [LINEAR_CALL.query, CALL.queryGradient];
    const ofKeys = [LINEAR_CALL.key, CALL.keyGradient];
    const ofStates = [
      LINEAR_CALL.value,
      LINEAR_CALL.decay,
      LINEAR_CALL.state,
      CALL.newStateGradient,
      CALL.valueGradient,
      CALL.decayGradient,
      CALL.stateGradient,
    ];
    const ofBeta = [LINEAR_CALL.beta, CALL.betaGradient];
    const isShared = forward.beta !== null && forward.beta.shape[1] < forward.value.shape[1];
    const byBatch: CutAxis = {
      count: batch,
      views: [...ofQueries, CALL.outputGradient, ...ofKeys, ...ofStates, ...ofBeta].map((word) => [word, 0, 1]),
    };
    const parts = headParts(forward);
    const byHead: CutAxis = {
      count: parts.count,
      views: [
        ...ofQueries.map((word) => [word, 1, parts.of(forward.query)] as const),
        ...ofKeys.map((word) => [word, 1, parts.of(forward.key)] as const),
        [CALL.outputGradient, 1, parts.of(forward.output)],
        ...[...ofStates, ...(isShared ? [] : ofBeta)].map((word) => [word, 1, parts.of(forward.value)] as const),
      ],
    };
    // The gradient of a beta that heads share is a sum over all of them.
    return { axes: isShared && wanted.includes("beta") ? [byBatch] : [byBatch, byHead] };
  },
};
