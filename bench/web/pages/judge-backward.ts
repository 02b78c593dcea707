// Judges the backward pass of attention: some rows of each gradient of the last head, in double precision. As many keys as queries.

import { inputsOf } from "./inputs.js";
import type { Verdict } from "./judge.js";
import type { Problem } from "./peer.js";

/** Rows of each gradient. */
const ROWS = 8;

export function judgeBackward(problem: Problem): Verdict {
  const { heads, queries, keys, dim, causal } = problem;
  const inputs = inputsOf(problem);
  const head = heads - 1;
  const [query, key, value, gradient] = [inputs.query, inputs.key, inputs.value, inputs.gradient].map((numbers) =>
    numbers.subarray(head * keys * dim),
  ) as [Float32Array, Float32Array, Float32Array, Float32Array];
  const row = (numbers: Float32Array, at: number) => numbers.subarray(at * dim, (at + 1) * dim);
  const chosen = Array.from({ length: ROWS }, (_, n) => Math.round((n * (queries - 1)) / (ROWS - 1)));
  const zeros = () => chosen.map(() => new Array<number>(dim).fill(0));
  const [ofQuery, ofKey, ofValue] = [zeros(), zeros(), zeros()];
  const scale = 1 / Math.sqrt(dim);
  const weights = new Float64Array(keys);
  const slopes = new Float64Array(keys);
  for (let i = 0; i < queries; i++) {
    const visible = causal ? i + 1 : keys;
    let [sum, delta] = [0, 0];
    for (let j = 0; j < visible; j++) {
      // Scores of normal numbers are small enough for an exponential as they are.
      const weight = Math.exp(scale * dot(query, i * dim, key, j * dim, dim));
      const slope = dot(gradient, i * dim, value, j * dim, dim);
      weights[j] = weight;
      slopes[j] = slope;
      sum += weight;
      delta += weight * slope;
    }
    const place = chosen.indexOf(i);
    // A chosen query needs all keys, and any query needs the chosen ones.
    for (const j of place < 0 ? chosen : Array(keys).keys()) {
      if (j >= visible) continue;
      const weight = (weights[j] ?? Number.NaN) / sum;
      const ofScore = scale * weight * ((slopes[j] ?? Number.NaN) - delta / sum);
      const column = chosen.indexOf(j);
      addScaled(ofQuery[place], ofScore, row(key, j));
      addScaled(ofKey[column], ofScore, row(query, i));
      addScaled(ofValue[column], weight, row(gradient, i));
    }
  }
  const rows = [ofQuery, ofKey, ofValue].flatMap((sums, output) =>
    sums.map((exact, at) => ({ output, head, query: chosen[at] ?? 0, exact })),
  );
  return { rows };
}

function dot(a: Float32Array, fromA: number, b: Float32Array, fromB: number, length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += (a[fromA + i] as number) * (b[fromB + i] as number);
  return sum;
}

/** Adds to a row, where it is one that is asked for. */
function addScaled(sums: number[] | undefined, factor: number, numbers: Float32Array): void {
  if (sums === undefined) return;
  for (const [at, number] of numbers.entries()) sums[at] = (sums[at] ?? 0) + factor * number;
}
