// Attention.

import type { AttentionProblem, CallBuilder, CoreOperation, OutputView, ScoreFunction } from "../backends/backend.js";
import {
  ATTENTION_CALL,
  CAUSAL,
  NORMALIZER,
  SCORE_KIND,
  SCORE_STAGE,
} from "../backends/wasm/generated/attention-call.js";
import { attentionCut, OPEN, weightsOf } from "./attention-cut.js";

/** The least cost of a score, however short its dot product: exponential, softcap, dropout. */
const MIN_SCORE_COST = 64;

/** The cost of a query besides its scores. */
const ROW_OVERHEAD = 1024;

/** The cost of a hyperbolic tangent. */
const TANH_COST = 16;

/** Passes over the scores of normalizers that search a threshold before they make weights. */
const SCORE_PASSES = 6;

/** Its results are those that `attentionResults` names. */
export const ATTENTION: CoreOperation<AttentionProblem> = {
  name: "attention",
  module: "core",
  call: ATTENTION_CALL,
  pack(problem, builder) {
    const { output, weights, lse, scores, entropy, keep } = problem;
    packAttention(problem, builder);
    const { word, from, to } = weightsOf(problem);
    builder.integer(ATTENTION_CALL.weightRowsBegin, from);
    builder.integer(ATTENTION_CALL.weightRowsEnd, to);
    builder.output(ATTENTION_CALL.output, output, keep, problem.into);
    if (weights !== null) builder.output(word, weights, keep);
    if (lse !== null) builder.output(ATTENTION_CALL.lse, lse, keep);
    if (scores !== null) builder.output(ATTENTION_CALL.scores, scores, keep);
    if (entropy !== null) builder.output(ATTENTION_CALL.entropy, entropy, keep);
  },
  work: multiplicationsOf,
  cut: (problem, _workers, most) => attentionCut(problem, multiplicationsOf(problem), most),
};

/** The results of a call; null: not asked for. */
export interface AttentionResults<C> {
  readonly output: C;
  readonly weights: C | null;
  readonly lse: C | null;
  readonly scores: C | null;
  readonly entropy: C | null;
}

/** Names what a backend computed, which comes in the order in which `pack` lists it. */
export function attentionResults<C>(
  { weights, lse, scores, entropy }: AttentionProblem,
  [output, ...others]: readonly C[],
): AttentionResults<C> {
  const next = (view: OutputView | null): C | null => view && (others.shift() ?? null);
  // Every call has an output.
  return { output: output as C, weights: next(weights), lse: next(lse), scores: next(scores), entropy: next(entropy) };
}

function multiplicationsOf({ query, key, value, score, normalizer, topK, programs }: AttentionProblem): number {
  const passes = topK !== null || normalizer === "hard" || normalizer === "sparsemax" ? SCORE_PASSES : 1;
  const [batch, heads, queries] = query.shape;
  const keys = key.shape[2];
  const perScore = score.kind === "additive" ? TANH_COST * score.hidden : score.hidden;
  // An instruction costs about one multiplication.
  const perProgram = programs?.words.length ?? 0;
  const perQuery = ROW_OVERHEAD + keys * Math.max(MIN_SCORE_COST, passes * (perScore + perProgram) + value.shape[3]);
  return batch * heads * (queries * perQuery + projectionCost(score) * (queries + keys));
}

/** An upper bound of what the score function's matrices cost each query and each key. */
function projectionCost({ w, wq, wk }: ScoreFunction): number {
  const sizes = [w, wq, wk].map((matrix) => (matrix === null ? 0 : matrix.shape[2] * matrix.shape[3]));
  return Math.max(...sizes);
}

/** Writes the operands and options of a call, but not its results and the pages of a cache. */
export function packAttention(problem: AttentionProblem, builder: CallBuilder): void {
  builder.input(ATTENTION_CALL.query, problem.query);
  builder.input(ATTENTION_CALL.key, problem.key);
  builder.input(ATTENTION_CALL.value, problem.value);
  builder.input(ATTENTION_CALL.mask, problem.mask);
  builder.input(ATTENTION_CALL.bias, problem.bias);
  const { score, structure, blocks, programs } = problem;
  builder.input(ATTENTION_CALL.keep, blocks?.keep ?? null);
  builder.input(ATTENTION_CALL.scoreW, score.w);
  builder.input(ATTENTION_CALL.scoreWq, score.wq);
  builder.input(ATTENTION_CALL.scoreWk, score.wk);
  builder.input(ATTENTION_CALL.scoreB, score.b);
  builder.input(ATTENTION_CALL.scoreV, score.v);
  builder.input(ATTENTION_CALL.scoreBandwidth, score.bandwidth);
  builder.numbers(ATTENTION_CALL.queryLengths, structure.qLengths);
  builder.numbers(ATTENTION_CALL.keyLengths, structure.kvLengths);
  builder.numbers(ATTENTION_CALL.queryOffsets, structure.qOffsets);
  builder.numbers(ATTENTION_CALL.sequencesQueryStarts, structure.sequences?.queryStarts ?? null);
  builder.numbers(ATTENTION_CALL.sequencesKeyStarts, structure.sequences?.keyStarts ?? null);
  builder.numbers(ATTENTION_CALL.alibiSlopes, structure.alibiSlopes);
  builder.numbers(ATTENTION_CALL.sinks, structure.sinks);
  builder.numbers(ATTENTION_CALL.expressionsWords, programs?.words ?? null);
  builder.numbers(ATTENTION_CALL.expressionsNumbers, programs?.tables ?? null);
  builder.integer(ATTENTION_CALL.expressionsWordCount, programs?.words.length ?? 0);
  builder.integer(ATTENTION_CALL.expressionsNumberCount, programs?.tables.length ?? 0);
  builder.float(ATTENTION_CALL.scale, problem.scale);
  builder.float(ATTENTION_CALL.softcap, problem.softcap ?? 0);
  builder.float(ATTENTION_CALL.dropoutP, problem.dropout?.p ?? 0);
  builder.integer(ATTENTION_CALL.dropoutSeed, problem.dropout?.seed ?? 0);
  builder.dtype(ATTENTION_CALL.queryType, problem.query);
  builder.dtype(ATTENTION_CALL.keyType, problem.key);
  builder.dtype(ATTENTION_CALL.valueType, problem.value);
  builder.integer(ATTENTION_CALL.sequencesCount, (structure.sequences?.queryStarts.length ?? 1) - 1);
  builder.integer(ATTENTION_CALL.windowLeft, structure.windowLeft ?? OPEN);
  builder.integer(ATTENTION_CALL.windowRight, structure.windowRight ?? OPEN);
  builder.integer(ATTENTION_CALL.blockQueries, blocks?.queries ?? 0);
  builder.integer(ATTENTION_CALL.blockKeys, blocks?.keys ?? 0);
  builder.integer(ATTENTION_CALL.scoreStage, SCORE_STAGE[problem.scoreStage]);
  builder.integer(ATTENTION_CALL.scoreKind, SCORE_KIND[score.kind]);
  builder.integer(ATTENTION_CALL.normalizer, NORMALIZER[problem.normalizer]);
  builder.integer(ATTENTION_CALL.topK, problem.topK ?? 0);
  builder.integer(ATTENTION_CALL.causal, CAUSAL[problem.causal]);
  // Of a slice these words still have the sizes of the whole call.
  const [batch, heads, queries] = problem.query.shape;
  builder.integer(ATTENTION_CALL.sliceOf + 3, batch);
  builder.integer(ATTENTION_CALL.sliceOf + 4, heads);
  builder.integer(ATTENTION_CALL.sliceOf + 5, queries);
}
