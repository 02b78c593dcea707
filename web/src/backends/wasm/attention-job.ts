// Packs an attention problem into a job.

import type { AttentionProblem } from "../backend.js";
import { ATTENTION_CALL, CAUSAL, NORMALIZER, SCORE_KIND, SCORE_STAGE } from "./generated/attention-call.js";
import { type Job, JobBuilder, type OutputPart } from "./job.js";

export interface AttentionJob extends Job {
  readonly output: OutputPart;
  readonly weights: OutputPart | null;
  readonly lse: OutputPart | null;
  readonly scores: OutputPart | null;
  readonly entropy: OutputPart | null;
}

/** Means that a side of the window, or a range of weight rows, has no end. */
const OPEN = -1;

/** The job's call is written into `scratch`, which may be reused once the job is over or copied by `lasting`. */
export function attentionJob(problem: AttentionProblem, scratch = new Int32Array(ATTENTION_CALL.words)): AttentionJob {
  const { pages } = problem;
  const call = pages === null ? scratch : new Int32Array(ATTENTION_CALL.words + pages.pages.length);
  const builder = new JobBuilder("attention", call);
  builder.input(ATTENTION_CALL.query, problem.query);
  builder.input(ATTENTION_CALL.key, problem.key);
  builder.input(ATTENTION_CALL.value, problem.value);
  if (pages !== null) {
    builder.pages(ATTENTION_CALL.pages, ATTENTION_CALL.words, pages.pages);
    call[ATTENTION_CALL.pagesPerBatch] = pages.perBatch;
    call[ATTENTION_CALL.pageRows] = pages.rows;
    call[ATTENTION_CALL.firstRow] = pages.first;
    call[ATTENTION_CALL.keyScales] = pages.keyScales;
    call[ATTENTION_CALL.valueScales] = pages.valueScales;
  }
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
  builder.numbers(ATTENTION_CALL.queryStarts, structure.sequences?.queryStarts ?? null);
  builder.numbers(ATTENTION_CALL.keyStarts, structure.sequences?.keyStarts ?? null);
  builder.numbers(ATTENTION_CALL.alibiSlopes, structure.alibiSlopes);
  builder.numbers(ATTENTION_CALL.sinks, structure.sinks);
  builder.numbers(ATTENTION_CALL.expressions, programs?.words ?? null);
  builder.numbers(ATTENTION_CALL.expressionTables, programs?.tables ?? null);
  call[ATTENTION_CALL.expressionWords] = programs?.words.length ?? 0;
  call[ATTENTION_CALL.expressionNumbers] = programs?.tables.length ?? 0;
  builder.float(ATTENTION_CALL.scale, problem.scale);
  builder.float(ATTENTION_CALL.softcap, problem.softcap ?? 0);
  builder.float(ATTENTION_CALL.dropoutP, problem.dropout?.p ?? 0);
  call[ATTENTION_CALL.dropoutSeed] = problem.dropout?.seed ?? 0;
  builder.dtype(ATTENTION_CALL.queryType, problem.query);
  builder.dtype(ATTENTION_CALL.keyType, problem.key);
  builder.dtype(ATTENTION_CALL.valueType, problem.value);
  call[ATTENTION_CALL.sequences] = (structure.sequences?.queryStarts.length ?? 1) - 1;
  call[ATTENTION_CALL.windowLeft] = structure.windowLeft ?? OPEN;
  call[ATTENTION_CALL.windowRight] = structure.windowRight ?? OPEN;
  call[ATTENTION_CALL.blockQueries] = blocks?.queries ?? 0;
  call[ATTENTION_CALL.blockKeys] = blocks?.keys ?? 0;
  call[ATTENTION_CALL.scoreStage] = SCORE_STAGE[problem.scoreStage];
  call[ATTENTION_CALL.score] = SCORE_KIND[score.kind];
  call[ATTENTION_CALL.normalizer] = NORMALIZER[problem.normalizer];
  call[ATTENTION_CALL.topK] = problem.topK ?? 0;
  call[ATTENTION_CALL.causal] = CAUSAL[problem.causal];
  const form = problem.weights?.form ?? null;
  call[ATTENTION_CALL.weightRowsBegin] = form?.of === "rows" ? form.from : 0;
  call[ATTENTION_CALL.weightRowsEnd] = form?.of === "rows" ? form.to : OPEN;
  const weights = form?.of === "mean" ? ATTENTION_CALL.meanWeights : ATTENTION_CALL.weights;
  const { keep } = problem;
  const output = problem.into === null ? undefined : "given";
  const parts = {
    output: builder.output(ATTENTION_CALL.output, problem.output, keep, output),
    weights: problem.weights && builder.output(weights, problem.weights, keep),
    lse: problem.lse && builder.output(ATTENTION_CALL.lse, problem.lse, keep),
    scores: problem.scores && builder.output(ATTENTION_CALL.scores, problem.scores, keep),
    entropy: problem.entropy && builder.output(ATTENTION_CALL.entropy, problem.entropy, keep),
  };
  return { ...builder.build(), ...parts };
}
