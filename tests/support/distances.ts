// Distances at the ends of the range in which their squares are f32 numbers, and beyond.

import type { Heed, Score, TensorLike } from "../../web/src/index.js";
import { zeros } from "./tensors.js";

/** Within it distances are right to their own last bits. */
const RANGE = [1e-15, 1e-7, 1, 1e9, 1e19] as const;

const TOO_SHORT = 1e-25;
const TOO_LONG = 2e19;

const DIM = 4;

/** One and few queries, and many, all of them zeros, against keys of these lengths over and over. */
const SIZES = [
  [1, 1],
  [1, 40],
  [9, 25],
  [40, 2],
] as const;

function keysOf(lengths: readonly number[], times: number): TensorLike {
  const data = Float32Array.from({ length: lengths.length * times * DIM }, (_, at) => {
    const length = lengths[Math.floor(at / DIM) % lengths.length] ?? 0;
    return ([0.6, 0, -0.8, 0][at % DIM] ?? 0) * length;
  });
  return { data, shape: [lengths.length * times, DIM] };
}

/** Scores that are not what they should be, in words. */
export async function distanceErrors(heed: Heed): Promise<readonly string[]> {
  const errors: string[] = [];
  for (const [queries, times] of SIZES) {
    const scoresOf = async (lengths: readonly number[], score: Score, scale = 1): Promise<Float32Array> => {
      const [query, key] = [zeros(queries, DIM), keysOf(lengths, times)];
      return (await heed.attention(query, key, key, { score, scale, return: { scores: "masked" } })).scores.data;
    };
    const hold = (name: string, scores: Float32Array, isRight: (score: number, n: number) => boolean): void => {
      const wrong = scores.findIndex((score, n) => !isRight(score, n));
      if (wrong !== -1) errors.push(`${name}, ${queries} queries: score ${wrong} is ${scores[wrong]}`);
    };
    const lengthOf = (n: number): number => RANGE[n % RANGE.length] ?? Number.NaN;
    hold("distance", await scoresOf(RANGE, "distance"), (score, n) => Math.abs(score / -lengthOf(n) - 1) < 1e-6);
    // A bandwidth of 1e15 makes of the longest -5e7, and a scale of the shortest, of 1e-15, -1/2.
    const wide = await scoresOf(RANGE, { type: "rbf", bandwidth: 1e15 });
    hold("rbf", wide, (score, n) => Math.abs(score + (lengthOf(n) / 1e15) ** 2 / 2) <= 1e-6 * -score + 1e-15);
    const narrow = await scoresOf([1e-15], { type: "rbf", bandwidth: 1e-15 });
    hold("narrow rbf", narrow, (score) => Math.abs(score + 0.5) < 1e-6);
    hold("too short", await scoresOf([TOO_SHORT], "distance"), (score) => Math.abs(score) <= 1e-15);
    hold("too long", await scoresOf([TOO_LONG], "distance"), (score) => score === Number.NEGATIVE_INFINITY);
    hold("too long, rbf", await scoresOf([TOO_LONG], { type: "rbf", bandwidth: 1e15 }), (score) => {
      return score === Number.NEGATIVE_INFINITY;
    });
    const key = keysOf([1, TOO_LONG], times);
    const { weights } = await heed.attention(zeros(queries, DIM), key, key, {
      score: "distance",
      return: { weights: true },
    });
    hold("weights beside one too long", weights.data, (weight, n) =>
      n % 2 === 1 ? weight === 0 : Math.abs(weight * times - 1) < 1e-5,
    );
  }
  return errors;
}
