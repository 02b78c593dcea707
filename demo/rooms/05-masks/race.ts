// The same structures timed on this device.

import type { AttentionOptions, Heed } from "heed";
import { fastest, randoms } from "../../src/engine/fastest.js";

export const RACE_HEADS = 2;
const WIDTH = 64;
const ROUNDS = 3;

const RUNNERS: Readonly<Record<string, (tokens: number) => AttentionOptions>> = {
  everything: () => ({}),
  "everything, scores kept": () => ({ return: { weights: true } }),
  causal: () => ({ causal: true }),
  "causal, 8 documents": (tokens) => ({ causal: true, cuSeqlensQ: eighths(tokens) }),
  "causal, window of 128": () => ({ causal: true, window: [127, 0] }),
};

/** In milliseconds. */
export type Laps = ReadonlyMap<string, number>;

export function race(
  heed: Heed,
  tokens: number,
  signal: AbortSignal,
  progress: (said: string, laps: Laps) => void,
): Promise<Laps> {
  const random = randoms();
  const vectors = () => random(1, RACE_HEADS, tokens, WIDTH);
  const [q, k, v] = [vectors(), vectors(), vectors()];
  return fastest(
    Object.entries(RUNNERS).map(([name, options]) => [
      name,
      () => heed.attention(q, k, v, { ...options(tokens), signal }),
    ]),
    ROUNDS,
    progress,
  );
}

function eighths(tokens: number): readonly number[] {
  return Array.from({ length: 9 }, (_, index) => Math.round((index * tokens) / 8));
}
