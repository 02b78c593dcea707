// Packs an attention problem into a job.

import { OPEN, packAttention } from "../../operations/attention.js";
import type { AttentionProblem } from "../backend.js";
import { ATTENTION_CALL } from "./generated/attention-call.js";
import { type Job, JobBuilder, type OutputPart } from "./job.js";

export interface AttentionJob extends Job {
  readonly output: OutputPart;
  readonly weights: OutputPart | null;
  readonly lse: OutputPart | null;
  readonly scores: OutputPart | null;
  readonly entropy: OutputPart | null;
}

/** The job's call is written into `scratch`, which may be reused once the job is over or copied by `lasting`. */
export function attentionJob(problem: AttentionProblem, scratch = new Int32Array(ATTENTION_CALL.words)): AttentionJob {
  const { pages } = problem;
  const call = pages === null ? scratch : new Int32Array(ATTENTION_CALL.words + pages.pages.length);
  const builder = new JobBuilder("attention", call);
  packAttention(problem, builder);
  if (pages !== null) {
    builder.pages(ATTENTION_CALL.pages, ATTENTION_CALL.words, pages.pages);
    call[ATTENTION_CALL.pagesPerBatch] = pages.perBatch;
    call[ATTENTION_CALL.pageRows] = pages.rows;
    call[ATTENTION_CALL.firstRow] = pages.first;
    call[ATTENTION_CALL.keyScales] = pages.keyScales;
    call[ATTENTION_CALL.valueScales] = pages.valueScales;
  }
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
