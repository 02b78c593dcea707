// How the problem of attention becomes a packed call, but for its results and the pages of a cache.

import type { AttentionProblem, CallBuilder } from "../backends/backend.js";
import {
  ATTENTION_CALL,
  CAUSAL,
  NORMALIZER,
  SCORE_KIND,
  SCORE_STAGE,
} from "../backends/wasm/generated/attention-call.js";

/** Means that a side of the window, or a range of weight rows, has no end. */
export const OPEN = -1;

/** Attention, as a step of a pass knows it. */
export const ATTENTION = { name: "attention", pack: packAttention };

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
  builder.integer(ATTENTION_CALL.score, SCORE_KIND[score.kind]);
  builder.integer(ATTENTION_CALL.normalizer, NORMALIZER[problem.normalizer]);
  builder.integer(ATTENTION_CALL.topK, problem.topK ?? 0);
  builder.integer(ATTENTION_CALL.causal, CAUSAL[problem.causal]);
}
