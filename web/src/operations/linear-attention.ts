// Linear attention.

import type { Operand, Operation, OutputView } from "../backends/backend.js";
import { LINEAR_CALL, OPERATION, RULE } from "../backends/wasm/generated/extra-call.js";

export type LinearRule = "linear" | "gated" | "delta" | "gated-delta" | "elu";

/** A checked call. */
export interface LinearProblem {
  readonly query: Operand;
  readonly key: Operand;
  readonly value: Operand;
  /** [batch, key heads, length, head_dim or 1] */
  readonly decay: Operand | null;
  /** [batch, key heads or 1, length, 1] */
  readonly beta: Operand | null;
  /** [batch, key heads, head_dim, value_dim]; for elu value_dim + 1, the last for the denominator. */
  readonly state: Operand | null;
  readonly rule: LinearRule;
  readonly causal: boolean;
  /** Null: 1 / sqrt(head_dim), or 1 for elu. */
  readonly scale: number | null;
  readonly output: OutputView;
  readonly newState: OutputView;
  /** Whether the results stay in the backend's memory, as residents. */
  readonly keep: boolean;
}

/** Its results are the output and the new state. */
export const LINEAR_ATTENTION: Operation<LinearProblem> = {
  name: "linearAttention",
  words: LINEAR_CALL.words,
  pack(problem, builder) {
    builder.integer(LINEAR_CALL.operation, OPERATION.linearAttention);
    builder.input(LINEAR_CALL.query, problem.query);
    builder.input(LINEAR_CALL.key, problem.key);
    builder.input(LINEAR_CALL.value, problem.value);
    builder.input(LINEAR_CALL.decay, problem.decay);
    builder.input(LINEAR_CALL.beta, problem.beta);
    builder.input(LINEAR_CALL.state, problem.state);
    builder.integer(LINEAR_CALL.rule, RULE[problem.rule]);
    builder.integer(LINEAR_CALL.causal, problem.causal);
    builder.float(LINEAR_CALL.scale, problem.scale ?? Number.NaN);
    builder.dtype(LINEAR_CALL.queryType, problem.query);
    builder.dtype(LINEAR_CALL.keyType, problem.key);
    builder.dtype(LINEAR_CALL.valueType, problem.value);
    builder.output(LINEAR_CALL.output, problem.output, problem.keep);
    builder.output(LINEAR_CALL.newState, problem.newState, problem.keep);
  },
  work({ query, value }) {
    const [batch, heads, queries, headDim] = query.shape;
    const [, groups, keys, valueDim] = value.shape;
    const reads = heads * queries + 2 * groups * keys;
    return batch * (reads + groups) * headDim * (valueDim + 1);
  },
};
