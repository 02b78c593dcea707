// Attention as a careful person writes it in JavaScript without libraries: one query at a time, with an online softmax and
// JavaScript's double precision.

import type { Inputs, Peer, Problem } from "../peer.js";

export async function open(): Promise<Peer> {
  let problem: Problem | null = null;
  let inputs: Inputs | null = null;
  return {
    about: { threads: 1 },
    layout: "bhnd",
    async prepare(given: Problem, numbers: Inputs) {
      problem = given;
      inputs = numbers;
    },
    async run() {
      if (problem === null || inputs === null) throw new Error("nothing was prepared");
      return attention(problem, inputs);
    },
    async release() {
      inputs = null;
    },
  };
}

function attention(problem: Problem, { query, key, value }: Inputs): Float32Array {
  const { heads, kvHeads, queries, keys, dim, causal } = problem;
  const output = new Float32Array(heads * queries * dim);
  const sums = new Float64Array(dim);
  for (let row = 0; row < heads * queries; row++) {
    const group = Math.floor(Math.floor(row / queries) / (heads / kvHeads));
    const visible = causal ? Math.min(keys, (row % queries) + 1 + keys - queries) : keys;
    const operands = { query: query.subarray(row * dim, (row + 1) * dim), key, value, from: group * keys * dim };
    attend(operands, visible, sums, output.subarray(row * dim, (row + 1) * dim));
  }
  return output;
}

interface Row {
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  /** Where this head's keys and values begin. */
  readonly from: number;
}

function attend({ query, key, value, from }: Row, keys: number, sums: Float64Array, output: Float32Array): void {
  const dim = query.length;
  const scale = 1 / Math.sqrt(dim);
  let rowMax = Number.NEGATIVE_INFINITY;
  let rowSum = 0;
  sums.fill(0);
  for (let j = 0, at = from; j < keys; j++, at += dim) {
    let score = 0;
    for (let d = 0; d < dim; d++) score += (query[d] as number) * (key[at + d] as number);
    score *= scale;
    if (score > rowMax) {
      const rescale = Math.exp(rowMax - score);
      rowSum *= rescale;
      for (let d = 0; d < dim; d++) sums[d] = (sums[d] as number) * rescale;
      rowMax = score;
    }
    const weight = Math.exp(score - rowMax);
    rowSum += weight;
    for (let d = 0; d < dim; d++) sums[d] = (sums[d] as number) + weight * (value[at + d] as number);
  }
  for (let d = 0; d < dim; d++) output[d] = (sums[d] as number) / rowSum;
}
