// The inputs of every participant: normally distributed, as activations are, and the same in every page.

import type { Inputs, Problem } from "./peer.js";

export function inputsOf(problem: Problem): Inputs {
  const { heads, kvHeads, queries, keys, dim } = problem;
  return {
    query: normalNumbers(heads * queries * dim, 1),
    key: normalNumbers(kvHeads * keys * dim, 2),
    value: normalNumbers(kvHeads * keys * dim, 3),
    gradient: normalNumbers(heads * queries * dim, 6),
  };
}

/** Normal numbers by Box and Muller's method, from mulberry32. */
export function normalNumbers(count: number, seed: number): Float32Array {
  const next = uniform(seed);
  const numbers = new Float32Array(count);
  for (let i = 0; i < count; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    const angle = 2 * Math.PI * next();
    numbers[i] = radius * Math.cos(angle);
    if (i + 1 < count) numbers[i + 1] = radius * Math.sin(angle);
  }
  return numbers;
}

/** A mask of 0 and 1, nine of ten of them 1. */
export function maskBytes(count: number, seed: number): Uint8Array {
  const next = uniform(seed);
  return Uint8Array.from({ length: count }, () => (next() < 0.9 ? 1 : 0));
}

export function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** [heads, length, dim] -> [length, heads, dim]. */
export function headsInside(numbers: Float32Array, heads: number, length: number, dim: number): Float32Array {
  const moved = new Float32Array(numbers.length);
  for (let h = 0; h < heads; h++) {
    for (let i = 0; i < length; i++) {
      const from = (h * length + i) * dim;
      moved.set(numbers.subarray(from, from + dim), (i * heads + h) * dim);
    }
  }
  return moved;
}

/** Repeats every head `times` times, for peers without grouped-query attention. */
export function repeatHeads(numbers: Float32Array, heads: number, times: number): Float32Array {
  const size = numbers.length / heads;
  const repeated = new Float32Array(numbers.length * times);
  for (let h = 0; h < heads * times; h++) {
    const from = Math.floor(h / times) * size;
    repeated.set(numbers.subarray(from, from + size), h * size);
  }
  return repeated;
}

/** [queries, keys]: 0 where a query sees a key, the lowest float elsewhere. */
export function causalBias(queries: number, keys: number): Float32Array {
  const lowest = -3.4028234663852886e38;
  const bias = new Float32Array(queries * keys);
  for (let i = 0; i < queries; i++) bias.fill(lowest, i * keys + i + 1 + keys - queries, (i + 1) * keys);
  return bias;
}
