// The backward pass of attention.

import type { AttentionProblem, Operand, Operation, OutputView } from "../backends/backend.js";
import type { CutAxis, NarrowedView } from "../backends/cut.js";
import { ATTENTION_CALL } from "../backends/wasm/generated/attention-call.js";
import { ATTENTION_VJP_CALL as CALL, OPERATION } from "../backends/wasm/generated/operation-calls.js";
import { packAttention } from "./attention.js";
import { denseLike } from "./dense-like.js";

/** The parameters of score functions, by their names in a problem. */
export const SCORE_GRADIENTS = ["w", "wq", "wk", "b", "v", "bandwidth"] as const;

export type ScoreGradient = (typeof SCORE_GRADIENTS)[number];

/** What gradients may be of, in the order of the results. */
export type WantedGradient = "query" | "key" | "value" | "bias" | ScoreGradient | "sinks" | "logScale" | "tables";

/** Where derivatives of the functions start among the words of the forward problem's programs. */
export interface Slopes {
  readonly scoreSlope: number;
  readonly weightSlope: number;
  /** What the functions read from tables, in structs of so many words. */
  readonly tableReads: Int32Array<ArrayBuffer>;
  readonly readWords: number;
  readonly tableGradientNumbers: number;
}

export interface AttentionVjpProblem {
  readonly forward: AttentionProblem;
  /** What the forward pass gave; the lse of a softmax alone. */
  readonly output: Operand;
  readonly lse: Operand | null;
  readonly outputGradient: Operand;
  /** Of the weights that multiply the values, [B, H, L, S]; null: zeros. */
  readonly weightsGradient: Operand | null;
  /** Null where there are no functions of scores or weights. */
  readonly slopes: Slopes | null;
  readonly wanted: readonly WantedGradient[];
  readonly keep: boolean;
}

const WORDS: Readonly<Record<WantedGradient, number>> = {
  query: CALL.queryGradient,
  key: CALL.keyGradient,
  value: CALL.valueGradient,
  bias: CALL.biasGradient,
  w: CALL.scoreGradientW,
  wq: CALL.scoreGradientWq,
  wk: CALL.scoreGradientWk,
  b: CALL.scoreGradientB,
  v: CALL.scoreGradientV,
  bandwidth: CALL.scoreGradientBandwidth,
  sinks: CALL.sinksGradient,
  logScale: CALL.logScaleGradient,
  tables: CALL.tablesGradient,
};

/** About how many times the multiplications of the forward pass. */
const COST = 2.5;

/** Its results are the gradients that are wanted, in that order. */
export const ATTENTION_VJP: Operation<AttentionVjpProblem> = {
  name: "attentionVjp",
  module: "training",
  call: CALL,
  pack({ forward, output, lse, outputGradient, weightsGradient, slopes, wanted, keep }, builder) {
    builder.integer(ATTENTION_CALL.operation, OPERATION.attentionVjp);
    packAttention(forward, builder);
    builder.input(ATTENTION_CALL.output, output);
    builder.input(ATTENTION_CALL.lse, lse);
    builder.input(CALL.outputGradient, outputGradient);
    builder.input(CALL.weightsGradient, weightsGradient);
    if (slopes !== null) {
      builder.integer(CALL.scoreSlope, slopes.scoreSlope);
      builder.integer(CALL.weightSlope, slopes.weightSlope);
      builder.numbers(CALL.tableReads, slopes.tableReads);
      builder.integer(CALL.tableReadCount, slopes.tableReads.length / slopes.readWords);
    }
    for (const name of wanted) {
      // Those of all tables are one row, of which nobody keeps the whole.
      if (name === "tables") builder.output(WORDS[name], line(slopes?.tableGradientNumbers ?? 0), false);
      else builder.output(WORDS[name], roomOf(forward, name), keep);
    }
  },
  work: ({ forward: { query, key, value } }) => {
    const [batch, heads, queries, dim] = query.shape;
    return COST * batch * heads * queries * key.shape[2] * (dim + value.shape[3]);
  },
  cut({ forward, wanted }) {
    const { query, key, bias } = forward;
    // A gradient that several heads add to is a sum over all of them, and a bias decides where the keys are split.
    const isWhole = bias !== null || wanted.some((name) => !["query", "key", "value"].includes(name));
    if (isWhole) return { axes: [] };
    const perGroup = query.shape[1] / key.shape[1];
    const ofQueries = [
      ATTENTION_CALL.query,
      ATTENTION_CALL.mask,
      ATTENTION_CALL.output,
      ATTENTION_CALL.lse,
      CALL.outputGradient,
      CALL.weightsGradient,
      CALL.queryGradient,
    ];
    const ofKeys = [ATTENTION_CALL.key, ATTENTION_CALL.value, CALL.keyGradient, CALL.valueGradient];
    const narrowed = (words: readonly number[], axis: 0 | 1, per: number): NarrowedView[] =>
      words.map((word) => [word, axis, per]);
    const byBatch: CutAxis = {
      count: query.shape[0],
      views: narrowed([...ofQueries, ...ofKeys], 0, 1),
      starts: [[ATTENTION_CALL.sliceOf, 1]],
    };
    const byHead: CutAxis = {
      count: key.shape[1],
      views: [...narrowed(ofQueries, 1, perGroup), ...narrowed(ofKeys, 1, 1)],
      starts: [[ATTENTION_CALL.sliceOf + 1, perGroup]],
    };
    return { axes: [byBatch, byHead] };
  },
};

/** Each has the shape of what it is the gradient of. */
function roomOf(
  { query, key, value, bias, score, structure }: AttentionProblem,
  name: Exclude<WantedGradient, "tables">,
): OutputView {
  if (name === "sinks") return line(structure.sinks?.length ?? 0);
  if (name === "logScale") return line(1);
  const operand = { query, key, value, bias, ...score }[name];
  if (operand === null) throw new TypeError(`there is no ${name} to have a gradient`);
  return denseLike(operand);
}

function line(length: number): OutputView {
  return { elements: length, shape: [1, 1, 1, length], strides: [0, 0, 0, 1] };
}
