// Judges the backward pass of attention: some rows of each gradient of the last head, in double precision. As many keys as queries.

import { attention } from "heed/reference";
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
  for (let i = 0; i < queries; i++) {
    const { output, lse } = attention(
      { data: row(query, i), shape: [1, dim] },
      { data: key, shape: [keys, dim] },
      { data: value, shape: [keys, dim] },
      { causal, qOffset: i },
    );
    const ofOutput = row(gradient, i);
    const delta = dot(ofOutput, output.data);
    const place = chosen.indexOf(i);
    // A chosen query needs all keys, and any query needs the chosen ones.
    for (const j of place < 0 ? chosen : Array(keys).keys()) {
      if (causal && j > i) continue;
      const weight = Math.exp(scale * dot(row(query, i), row(key, j)) - (lse.data[0] ?? Number.NaN));
      const ofScore = scale * weight * (dot(ofOutput, row(value, j)) - delta);
      addScaled(ofQuery[place], ofScore, row(key, j));
      const column = chosen.indexOf(j);
      addScaled(ofKey[column], ofScore, row(query, i));
      addScaled(ofValue[column], weight, ofOutput);
    }
  }
  const rows = [ofQuery, ofKey, ofValue].flatMap((sums, output) =>
    sums.map((exact, at) => ({ output, head, query: chosen[at] ?? 0, exact })),
  );
  return { rows };
}

function dot(a: Float32Array, b: ArrayLike<number>): number {
  let sum = 0;
  for (const [at, number] of a.entries()) sum += number * (b[at] ?? Number.NaN);
  return sum;
}

/** Adds to a row, where it is one that is asked for. */
function addScaled(sums: number[] | undefined, factor: number, numbers: Float32Array): void {
  if (sums === undefined) return;
  for (const [at, number] of numbers.entries()) sums[at] = (sums[at] ?? 0) + factor * number;
}
