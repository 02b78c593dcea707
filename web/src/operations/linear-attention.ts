// Linear attention.

import type { CallBuilder, Dims4, Operand, Operation, OutputView } from "../backends/backend.js";
import type { CutAxis } from "../backends/cut.js";
import { LINEAR_CALL as CALL, LINEAR_RULE, OPERATION, PANEL } from "../backends/wasm/generated/operation-calls.js";

/** How a token changes the state: it adds to it; after a decay ("gated"); it corrects what the key finds there ("delta"); both; or it adds with features 1 + elu ("elu"). */
export type LinearRule = "linear" | "gated" | "delta" | "gated-delta" | "elu";

/** A checked call. */
export interface LinearProblem {
  readonly query: Operand;
  readonly key: Operand;
  readonly value: Operand;
  /** [batch, value heads, length, head_dim or 1] */
  readonly decay: Operand | null;
  /** [batch, value heads or 1, length, 1] */
  readonly beta: Operand | null;
  /** [batch, value heads, head_dim, value_dim]; for elu value_dim + 1, the last for the denominator. */
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

/** Tokens that C++ computes together. */
const CHUNK = 12;

/** Its results are the output and the new state. */
export const LINEAR_ATTENTION: Operation<LinearProblem> = {
  name: "linearAttention",
  call: CALL,
  pack(problem, builder) {
    builder.integer(CALL.operation, OPERATION.linear);
    packLinear(problem, builder);
    builder.output(CALL.output, problem.output, problem.keep);
    builder.output(CALL.newState, problem.newState, problem.keep);
  },
  work({ query, value }) {
    const [batch, heads, queries, headDim] = query.shape;
    const [, groups, keys, valueDim] = value.shape;
    const reads = Math.max(heads, groups) * queries + 2 * groups * keys;
    return batch * (reads + groups) * headDim * (valueDim + 1);
  },
  cut(problem, workers) {
    const [batch, , queries] = problem.query.shape;
    const [, , keys, valueDim] = problem.value.shape;
    const byKey = [CALL.key, CALL.value, CALL.decay, CALL.beta] as const;
    const states = [CALL.state, CALL.newState] as const;
    const all = [CALL.query, CALL.output, ...byKey, ...states];
    const byBatch: CutAxis = { count: batch, views: all.map((word) => [word, 0, 1]) };
    const parts = headParts(problem);
    const { query, key, beta, output } = problem;
    const isShared = (word: number): boolean => word === CALL.beta && beta?.shape[1] === 1;
    const byHead: CutAxis = {
      count: parts.count,
      views: [
        [CALL.query, 1, parts.of(query)],
        [CALL.key, 1, parts.of(key)],
        [CALL.output, 1, parts.of(output)],
        ...[CALL.value, CALL.decay, CALL.beta, ...states]
          .filter((word) => !isShared(word))
          .map((word) => [word, 1, parts.of(problem.value)] as const),
      ],
    };
    // Without a causal mask all keys come before the first query.
    const first = problem.causal ? 0 : keys;
    const byToken: CutAxis = {
      count: first + queries,
      step: CHUNK,
      views: [
        ...[CALL.query, CALL.output].map((word) => [word, 2, 1, first] as const),
        ...byKey.map((word) => [word, 2, 1] as const),
      ],
      carry: { from: CALL.newState, to: CALL.state },
    };
    const byColumn: CutAxis = {
      count: Math.ceil(valueDim / PANEL),
      views: [CALL.value, CALL.output, ...states].map((word) => [word, 3, PANEL]),
    };
    // The sum of the keys is a column that all others need.
    const columns = problem.rule === "elu" ? [] : [byColumn];
    return { axes: [byBatch, byHead, ...(workers > 0 ? [] : [byToken]), ...columns] };
  },
};

/** Parts of a call that share no head, and how many heads of a tensor each has. */
export function headParts({ query, key, value }: Pick<LinearProblem, "query" | "key" | "value">) {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const count = [query, key, value].reduce((found, { shape }) => divisor(found, shape[1]), 0);
  return { count, of: ({ shape }: { readonly shape: Dims4 }): number => shape[1] / count };
}

/** Writes all of a call but its operation and results. */
export function packLinear(problem: LinearProblem, builder: CallBuilder): void {
  builder.input(CALL.query, problem.query);
  builder.input(CALL.key, problem.key);
  builder.input(CALL.value, problem.value);
  builder.input(CALL.decay, problem.decay);
  builder.input(CALL.beta, problem.beta);
  builder.input(CALL.state, problem.state);
  builder.integer(CALL.rule, LINEAR_RULE[problem.rule]);
  builder.integer(CALL.causal, problem.causal);
  builder.float(CALL.scale, problem.scale ?? Number.NaN);
  builder.dtype(CALL.queryType, problem.query);
  builder.dtype(CALL.keyType, problem.key);
  builder.dtype(CALL.valueType, problem.value);
}
