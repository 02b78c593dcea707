// Keys and values cut along their length, as they arrive at a cache.

import type { Layout, TensorLike } from "../../web/src/index.js";
import type { Random } from "./random.js";

function lengthAxis(shape: readonly number[], layout: Layout): number {
  if (layout === "bhnd" || shape.length === 2) return shape.length - 2;
  return shape.length === 3 && layout === "bnhd" ? 0 : 1;
}

/** Tokens [from, to) of a tensor, copied. */
export function tokens({ data, shape }: TensorLike, layout: Layout, from: number, to: number): TensorLike {
  const axis = lengthAxis(shape, layout);
  const product = (sizes: readonly number[]): number => sizes.reduce((total, size) => total * size, 1);
  const outer = product(shape.slice(0, axis));
  const inner = product(shape.slice(axis + 1));
  const length = shape[axis] ?? 0;
  const cut = new Float32Array(outer * (to - from) * inner);
  for (let index = 0; index < outer; index++) {
    const start = (index * length + from) * inner;
    cut.set(data.subarray(start, start + (to - from) * inner), index * (to - from) * inner);
  }
  return { data: cut, shape: shape.map((size, at) => (at === axis ? to - from : size)) };
}

/** Where runs of tokens end: some numbers up to `length`, which is the last. */
export function randomCuts(random: Random, length: number): readonly number[] {
  const cuts = Array.from({ length: random.whole(0, 3) }, () => random.whole(0, length));
  return [...cuts.sort((a, b) => a - b), length];
}

/** Numbers that eight bits with a scale a row keep exactly: the largest of each row of `dim` is 127 times a power of two. */
export function exactInBytes(random: Random, { data, shape }: TensorLike, dim: number): TensorLike {
  const exact = Float32Array.from(data, (_, index) => (index % dim === 0 ? 127 : random.whole(-127, 127)) / 64);
  return { data: exact, shape };
}
