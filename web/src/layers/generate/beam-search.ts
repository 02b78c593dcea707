// Beam search.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import { askForLogits } from "./ask.js";
import { indicesOfLargest, logSumExp } from "./best.js";
import { type BeamOptions, readBeamOptions, readIds } from "./options.js";

/**
 * The logits of the next token of sequences of the same length: [beams, vocabulary]. The first `past` tokens of each were in the call
 * before. Sequence i continues sequence `origins[i]` of that call, and a cache must be reordered by `origins`. The first call has the prompt
 * once or, with `fullBatch`, `beams` times.
 */
export type NextBeamLogits = (
  sequences: readonly (readonly number[])[],
  past: number,
  origins: readonly number[],
) => Float32Array | Promise<Float32Array>;

/** A sequence that `beamSearch` found. */
export interface BeamResult {
  /** The new tokens, including the one that ended the sequence. */
  readonly ids: readonly number[];
  readonly logProbability: number;
  /** `logProbability / ids.length ** lengthPenalty`, by which results are ordered. */
  readonly score: number;
  /** Whether it ended; false where it was cut at `maxTokens`. */
  readonly ended: boolean;
}

interface Beam {
  readonly ids: readonly number[];
  readonly logProbability: number;
  readonly origin: number;
}

/** At most `beams` sequences, the best first. Throws a HeedError. */
export async function beamSearch(
  step: NextBeamLogits,
  prompt: ArrayLike<number>,
  options?: BeamOptions,
): Promise<BeamResult[]> {
  return guardAsync("option", "beamSearch", () => search("beamSearch", step, prompt, options));
}

async function search(where: string, step: NextBeamLogits, prompt: unknown, options: unknown): Promise<BeamResult[]> {
  if (typeof step !== "function") {
    throw new HeedError("option", `${where}: step must be a function, got ${showValue(step)}`);
  }
  const { beams, fullBatch, lengthPenalty, maxTokens, eos, signal } = readBeamOptions(where, options);
  const start = readIds(where, "prompt", prompt);
  const result = ({ ids, logProbability }: Beam, ended: boolean): BeamResult => ({
    ids,
    logProbability,
    score: logProbability / ids.length ** lengthPenalty,
    ended,
  });
  let done: BeamResult[] = [];
  let live: readonly Beam[] = [{ ids: [], logProbability: 0, origin: 0 }];
  let length = 0;
  while (length < maxTokens && canImprove(live[0], done, { length, beams, lengthPenalty, maxTokens })) {
    const past = length === 0 ? 0 : start.length + length - 1;
    const asked = fullBatch ? repeated(live, beams) : live;
    const logits = await askForLogits(where, signal, asked.length, () =>
      step(
        asked.map(({ ids }) => [...start, ...ids]),
        past,
        asked.map(({ origin }) => origin),
      ),
    );
    const vocabulary = logits.length / asked.length;
    length += 1;
    // Sequences that end are no beams any more, so enough candidates are taken that all beams can continue.
    const next = continuations(live, logits.subarray(0, vocabulary * live.length), beams * (1 + eos.size));
    const isEnd = ({ ids }: Beam): boolean => eos.has(ids.at(-1) ?? -1);
    const ended = next.slice(0, beams).filter(isEnd);
    done = best([...done, ...ended.map((beam) => result(beam, true))], beams);
    live = next.filter((beam) => !isEnd(beam)).slice(0, beams);
  }
  const cut = length === maxTokens ? live.map((beam) => result(beam, false)) : [];
  const all = best([...done, ...cut], beams);
  if (all.length > 0) return all;
  throw new HeedError("option", `${where}: some token must be possible, got -Infinity for all of all sequences`);
}

/** Fills up to `count` beams with the first one. */
function repeated(live: readonly Beam[], count: number): readonly Beam[] {
  const [first] = live;
  return first === undefined ? [] : Array.from({ length: count }, (_, at) => live[at] ?? first);
}

/** The likeliest continuations by one token; of equals, those of the first beams and tokens. */
function continuations(live: readonly Beam[], logits: Float32Array, count: number): Beam[] {
  const vocabulary = logits.length / live.length;
  const sums = new Float64Array(logits.length);
  for (const [row, { logProbability }] of live.entries()) {
    const own = logits.subarray(row * vocabulary, (row + 1) * vocabulary);
    const total = logSumExp(own);
    for (const [token, logit] of own.entries()) {
      sums[row * vocabulary + token] = total === -Infinity ? -Infinity : logProbability + logit - total;
    }
  }
  return indicesOfLargest(sums, count).map((index) => {
    const origin = Math.floor(index / vocabulary);
    const ids = [...(live[origin]?.ids ?? []), index % vocabulary];
    return { ids, logProbability: sums[index] ?? -Infinity, origin };
  });
}

function best(results: BeamResult[], count: number): BeamResult[] {
  return results.sort((a, b) => b.score - a.score).slice(0, count);
}

interface Progress {
  /** New tokens so far. */
  readonly length: number;
  readonly beams: number;
  readonly lengthPenalty: number;
  readonly maxTokens: number;
}

/** Whether the likeliest beam may still exceed the results. Its probability only falls, and a positive penalty favours long sequences. */
function canImprove(live: Beam | undefined, done: readonly BeamResult[], progress: Progress): boolean {
  if (live === undefined) return false;
  if (done.length < progress.beams) return true;
  const length = progress.lengthPenalty > 0 ? progress.maxTokens : progress.length + 1;
  return live.logProbability / length ** progress.lengthPenalty > (done.at(-1)?.score ?? -Infinity);
}
