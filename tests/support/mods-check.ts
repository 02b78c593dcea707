// Calls with expressions against the reference with options of the same meaning that hold none.

import { expect } from "vitest";
import type { AttentionOptions, Heed, TensorLike } from "../../web/src/index.js";
import { type ReferenceOptions, attention as reference } from "../../web/src/reference/index.js";
import { EVERYTHING } from "./cases.js";
import {
  type Arithmetic,
  type Bounds,
  boundsFor,
  EXACT,
  withinLse,
  withinOutput,
  withinWeight,
} from "./error-model.js";
import { scoreBound } from "./score-error.js";

export interface Inputs {
  readonly query: TensorLike;
  readonly key: TensorLike;
  readonly value: TensorLike;
}

/** On every engine, for the reference is slow. `most` is the largest number that joins a score on the way. */
export async function checkMods(
  engines: readonly Heed[],
  { query, key, value }: Inputs,
  options: AttentionOptions,
  plain: ReferenceOptions,
  { most = 0, arithmetic = EXACT }: { readonly most?: number; readonly arithmetic?: Arithmetic } = {},
): Promise<void> {
  const [keys = 0, dim = 0] = key.shape.slice(-2);
  const wanted = reference(query, key, value, plain);
  const score = scoreBound("scaled-dot", 1 / Math.sqrt(dim), { query, key, queryDim: dim, headDim: dim });
  const bounds = boundsFor(keys, { value }, score, most, 0, arithmetic);
  const differs = (
    a: Float32Array,
    b: Float64Array,
    within: (got: number, expected: number, of: Bounds) => boolean,
  ): number => a.findIndex((number, index) => !within(number, b[index] ?? Number.NaN, bounds));
  for (const heed of engines) {
    const got = await heed.attention(query, key, value, { ...options, ...EVERYTHING, keep: false });
    const { variant, worker } = heed.capabilities;
    const where = `${variant}, ${worker ?? "no"} worker`;
    expect(differs(got.output.data, wanted.output.data, withinOutput), where).toBe(-1);
    expect(differs(got.weights.data, wanted.weights.data, withinWeight), where).toBe(-1);
    expect(differs(got.lse.data, wanted.lse.data, withinLse), where).toBe(-1);
  }
}
