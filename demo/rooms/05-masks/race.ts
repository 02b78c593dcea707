// The same structures timed on this device, one call after the other; can be stopped between and within calls.

import type { AttentionOptions, Heed } from "heed";
import { normal } from "../../src/model/random.js";

export const RACE_HEADS = 2;
const WIDTH = 64;
const ROUNDS = 3;

export interface Runner {
  readonly name: string;
  readonly options: (tokens: number) => AttentionOptions;
}

export const RUNNERS: readonly Runner[] = [
  { name: "everything", options: () => ({}) },
  { name: "everything, scores kept", options: () => ({ return: { weights: true } }) },
  { name: "causal", options: () => ({ causal: true }) },
  { name: "causal, 8 documents", options: (tokens) => ({ causal: true, cuSeqlensQ: eighths(tokens) }) },
  { name: "causal, window of 128", options: () => ({ causal: true, window: [127, 0] }) },
];

export interface Lap {
  readonly name: string;
  readonly milliseconds: number;
}

/** The best of a few rounds each, in turns: what else the device does then hits all alike. */
export async function race(
  heed: Heed,
  tokens: number,
  signal: AbortSignal,
  progress: (done: number, of: number, laps: readonly Lap[]) => void,
): Promise<readonly Lap[]> {
  const next = normal(1);
  const shape = [1, RACE_HEADS, tokens, WIDTH];
  const random = () => Float32Array.from({ length: RACE_HEADS * tokens * WIDTH }, next);
  const [q, k, v] = [
    { data: random(), shape },
    { data: random(), shape },
    { data: random(), shape },
  ];
  const best = RUNNERS.map(() => Number.POSITIVE_INFINITY);
  const laps = (): readonly Lap[] =>
    RUNNERS.map(({ name }, index) => ({ name, milliseconds: best[index] ?? Infinity }));
  for (let turn = 0; turn < ROUNDS * RUNNERS.length; turn++) {
    const index = turn % RUNNERS.length;
    progress(turn, ROUNDS * RUNNERS.length, laps());
    const options = RUNNERS[index]?.options(tokens) ?? {};
    const start = performance.now();
    await heed.attention(q, k, v, { ...options, signal });
    best[index] = Math.min(best[index] ?? Infinity, performance.now() - start);
  }
  return laps();
}

function eighths(tokens: number): readonly number[] {
  return Array.from({ length: 9 }, (_, index) => Math.round((index * tokens) / 8));
}
