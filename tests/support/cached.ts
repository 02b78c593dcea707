// Keys and values cut along their length into the chunks that a cache is given.

import { fromF16, toF16 } from "../../web/src/base/f16.js";
import type { AttentionOptions, CacheOptions, Heed, KVCache, Layout, TensorLike } from "../../web/src/index.js";
import type { Case, EVERYTHING, EverythingResult } from "./cases.js";
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

/** Where chunks of tokens end: some numbers up to `length`, which is the last. */
export function randomCuts(random: Random, length: number): readonly number[] {
  const cuts = Array.from({ length: random.whole(0, 3) }, () => random.whole(0, length));
  return [...cuts.sort((a, b) => a - b), length];
}

/** Numbers that int8 with a scale for each row represents exactly: the largest of each row of `dim` is 127 times a power of two. */
export function exactInInt8(random: Random, { data, shape }: TensorLike, dim: number): TensorLike {
  const exact = Float32Array.from(data, (_, index) => (index % dim === 0 ? 127 : random.whole(-127, 127)) / 64);
  return { data: exact, shape };
}

export const TYPES = ["f32", "f16", "i8"] as const;

/** The case with keys and values that a cache of the type keeps exactly, so that its bounds are those of the arithmetic. */
export function kept(random: Random, one: Case, dtype: (typeof TYPES)[number]): Case {
  const { key, value, sizes } = one;
  const rounded = ({ data, shape }: TensorLike): TensorLike => ({ data: fromF16(toF16(data)), shape });
  if (dtype === "f16") return { ...one, key: rounded(key), value: rounded(value) };
  if (dtype === "f32") return one;
  const [exactKey, exactValue] = [exactInInt8(random, key, sizes.headDim), exactInInt8(random, value, sizes.valueDim)];
  return { ...one, key: exactKey, value: exactValue, isInt8: true };
}

export function cacheFor({ sizes }: Case, options: Partial<CacheOptions>): CacheOptions {
  const { batch, kvHeads, headDim, valueDim, keyLength } = sizes;
  return { batch, kvHeads, headDim, valueDim, maxLength: keyLength, ...options };
}

export type CachedOptions = Omit<AttentionOptions, "return" | "keep"> & typeof EVERYTHING;

/** Computes with a cache that is filled in chunks, the last of which comes with the query. */
export async function inChunks(
  heed: Heed,
  one: Case,
  cache: KVCache,
  cuts: readonly number[],
  call: (key: TensorLike, value: TensorLike) => Promise<EverythingResult>,
): Promise<EverythingResult> {
  const layout: Layout = one.options.layout ?? "bhnd";
  let from = 0;
  for (const to of cuts.slice(0, -1)) {
    const [key, value] = [one.key, one.value].map((tensor) => tokens(tensor, layout, from, to));
    if (key === undefined || value === undefined) throw new Error("no tokens");
    using kept = heed.tensor(key.data, key.shape);
    await cache.append(from % 2 === 1 ? kept : key, value, { layout });
    from = to;
  }
  const end = cuts.at(-1) ?? 0;
  return call(tokens(one.key, layout, from, end), tokens(one.value, layout, from, end));
}
