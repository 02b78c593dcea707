// Random problems with every option that the matrix knows, on the GPU, against the reference in double precision.

import { afterAll, describe, expect, inject, test } from "vitest";
import { type Case, caseOf, cases, compute, firstError, type Sizes } from "../support/cases.js";
import { WGSL } from "../support/error-model.js";
import { openTested } from "../support/gpu-engine.js";
import { Random } from "../support/random.js";

const SEED = 20261122;
const drawn = inject("drawn");
const { heed, close } = await openTested();
afterAll(close);

/** Sizes for which plans differ: few rows, whose keys threads share; keys enough for KV splits; long rows; many rows. */
const SHAPES: readonly Sizes[] = [
  { batch: 1, heads: 4, kvHeads: 2, queryLength: 1, keyLength: 700, headDim: 8, valueDim: 8 },
  { batch: 1, heads: 1, kvHeads: 1, queryLength: 3, keyLength: 1030, headDim: 4, valueDim: 6 },
  { batch: 1, heads: 1, kvHeads: 1, queryLength: 5, keyLength: 9, headDim: 136, valueDim: 132 },
  { batch: 2, heads: 2, kvHeads: 1, queryLength: 70, keyLength: 65, headDim: 16, valueDim: 12 },
];

function shaped(): readonly Case[] {
  const random = new Random(SEED);
  return SHAPES.map((sizes, index) => caseOf(random, `seed ${SEED} shape ${index}`, sizes));
}

describe("agrees with the reference", () => {
  test.each([...cases(SEED, 16), ...shaped(), ...cases(drawn.seed, drawn.cases)])("$name", async (one) => {
    expect(firstError(one, await compute(heed, one), WGSL)).toBeNull();
    const backend = one.options.blocks === undefined ? "webgpu" : "wasm";
    expect(heed.explain(one.query, one.key, one.value, one.options)).toMatchObject({ backend });
  });
});
