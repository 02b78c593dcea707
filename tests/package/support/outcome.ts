// What consumer/page/compute.js found, and whether it is right: against the reference in this process, which other tests check.

import { expect } from "vitest";
import { attention as reference } from "../../../web/src/reference/index.js";
import { boundsFor } from "../../support/error-model.js";
import { scoreBound } from "../../support/score-error.js";

export interface Outcome {
  readonly failure?: string;
  readonly output: readonly number[];
  readonly sync: readonly number[];
  readonly shared: readonly number[];
  readonly reference: readonly number[];
  readonly refused: unknown;
  readonly worker: string | null;
  readonly variant: string;
  readonly isolated: boolean;
  readonly reasons: readonly string[];
}

const values = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => ((i * 37 + seed * 11) % 64) / 32 - 1);

const [query, key, value] = [
  { data: values(2 * 5 * 8, 1), shape: [1, 2, 5, 8] },
  { data: values(2 * 7 * 8, 2), shape: [1, 2, 7, 8] },
  { data: values(2 * 7 * 8, 3), shape: [1, 2, 7, 8] },
];

const expected = reference(query, key, value, { causal: true }).output.data;
const ofScore = scoreBound("scaled-dot", 1 / Math.sqrt(8), { query, key, queryDim: 8, headDim: 8 });
const bound = boundsFor(7, { value }, ofScore).output;

export function expectRight(outcome: Outcome): void {
  expect(outcome.failure).toBeUndefined();
  for (const way of ["output", "sync", "shared"] as const) expectNear(outcome[way], bound, way);
  // The same arithmetic, but for the last bits of another engine's exponential.
  expectNear(outcome.reference, 1e-14, "reference");
  expect(outcome.refused).toBe("shape");
}

function expectNear(got: readonly number[], tolerance: number, what: string): void {
  expect(got.length, what).toBe(expected.length);
  const error = Math.max(...got.map((number, i) => Math.abs(number - (expected[i] ?? Number.NaN))));
  expect(error, `the largest error of ${what}`).toBeLessThanOrEqual(tolerance);
}
