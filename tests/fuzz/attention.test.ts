// Attention of any options, shapes and numbers: within the error model, the same bits wherever it is computed, and nothing where it is not seen.

import { afterAll, expect, test } from "vitest";
import type { TensorLike } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import {
  type Case,
  caseOf,
  compute,
  computeSync,
  differentIndex,
  firstDifferentBit,
  firstError,
} from "../support/cases.js";
import { type Drawn, PATIENCE, tried } from "../support/drawn.js";
import { openKinds } from "../support/engines.js";
import { sizesOf } from "../support/sizes.js";

const engines = await openKinds();
afterAll(() => {
  for (const { heed } of engines) heed.dispose();
});

const ofVariants = (["simd", "relaxed"] as const).map((variant) => {
  const [first, ...others] = engines.filter((engine) => engine.variant === variant);
  if (first === undefined) throw new Error("every variant has engines");
  return { first: first.heed, others };
});

/** Checks the bits of one variant, and gives its results. */
async function sameBits({ first, others }: (typeof ofVariants)[number], one: Case) {
  const result = computeSync(first, one);
  for (const { heed, name } of others) {
    expect(firstDifferentBit(await compute(heed, one), result), `${name}: ${one.name}`).toBeNull();
  }
  return result;
}

test(
  "any problem is within the error model, with the bits of its variant on every kind of worker",
  async () => {
    await tried("attention", 250, async (random) => {
      const one = caseOf(random, "", sizesOf(random));
      for (const engines of ofVariants) expect(firstError(one, await sameBits(engines, one))).toBeNull();
    });
  },
  PATIENCE,
);

const SPECIAL = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -0,
  1e-42,
  2 ** -149,
  1e-30,
  3.4e38,
  -3.4e38,
  2 ** 64,
  1e19,
] as const;

/** A tensor with some numbers of the kinds at which arithmetic has corners. */
function withSpecial(random: Drawn, { data, shape }: TensorLike): TensorLike {
  const spoilt = Float32Array.from(data);
  for (let n = random.whole(0, 4); n > 0 && spoilt.length > 0; n--) {
    spoilt[random.whole(0, spoilt.length - 1)] = random.pick(SPECIAL);
  }
  return { data: random.chance(0.1) ? spoilt.map((number) => number * 1e-41) : spoilt, shape };
}

const NORMALIZERS = ["softmax", "sparsemax", "sigmoid", "hard", "none"] as const;
const WANTED = { return: { weights: true, scores: "masked" } } as const;

test(
  "numbers of any kind, under any normalizer, give the bits of the variant on every kind of worker",
  async () => {
    await tried("kinds of numbers", 250, async (random) => {
      const { sizes, name, ...drawn } = caseOf(random, "", sizesOf(random));
      const { sinks, ...others } = drawn.options;
      const normalize = random.pick(NORMALIZERS);
      const topK = random.chance(0.3) ? random.whole(1, 40) : undefined;
      const options = {
        ...(normalize === "softmax" ? drawn.options : others),
        normalize,
        topK,
        ...WANTED,
        keep: false,
      } as const;
      const [query, key, value] = [drawn.query, drawn.key, drawn.value].map((one) => withSpecial(random, one));
      if (query === undefined || key === undefined || value === undefined) throw new Error("there are three");
      for (const { first, others } of ofVariants) {
        const wanted = first.attentionSync(query, key, value, options);
        for (const { heed, name: kind } of others) {
          const got = await heed.attention(query, key, value, options);
          const where = `${kind}: ${name} ${normalize}, best ${topK}`;
          for (const of of ["output", "weights", "scores"] as const) {
            expect(differentIndex(got[of].data, wanted[of].data), `${of}, ${where}`).toBe(-1);
          }
        }
      }
    });
  },
  PATIENCE,
);

test(
  "NaN in a key and its value reaches the queries that see the key, and leaves every other bit alone",
  async () => {
    let [touched, untouched] = [0, 0];
    await tried("NaN", 200, async (random) => {
      const drawn = caseOf(random, "", { ...sizesOf(random), keyLength: random.whole(1, 60) });
      const { cuSeqlensQ, cuSeqlensK, qOffset, dropout, scoreMod, layout, heads, kvHeads, ...others } = drawn.options;
      const options = cuSeqlensQ === undefined ? { ...others, ...(qOffset === undefined ? {} : { qOffset }) } : others;
      const { batch, kvHeads: groups, keyLength, queryLength, headDim, valueDim, heads: count } = drawn.sizes;
      const shaped = (of: TensorLike, heads: number, length: number, dim: number): TensorLike => ({
        data: of.data as Float32Array,
        shape: [batch, heads, length, dim],
      });
      const query = shaped(drawn.query, count, queryLength, drawn.sizes.queryDim ?? headDim);
      const key = shaped(drawn.key, groups, keyLength, headDim);
      const value = shaped(drawn.value, groups, keyLength, valueDim);
      const one: Case = { ...drawn, query, key, value, options };
      const { masked } = reference(query, key, value, options).scores;
      const [group, at] = [random.whole(0, batch * groups - 1), random.whole(0, keyLength - 1)];
      const spoilt = ({ data, shape }: TensorLike, dim: number): TensorLike => ({
        data: Float32Array.from(data).fill(
          Number.NaN,
          (group * keyLength + at) * dim,
          (group * keyLength + at + 1) * dim,
        ),
        shape,
      });
      const poisoned: Case = { ...one, key: spoilt(key, headDim), value: spoilt(value, valueDim) };
      for (const { first } of ofVariants) {
        const [clean, got] = [computeSync(first, one).output.data, computeSync(first, poisoned).output.data];
        for (let row = 0; row * valueDim < clean.length; row++) {
          const isOfGroup = Math.floor(row / queryLength / (count / groups)) === group;
          const sees = isOfGroup && masked.data[row * keyLength + at] !== Number.NEGATIVE_INFINITY;
          const [wanted, is] = [clean, got].map((all) => all.subarray(row * valueDim, (row + 1) * valueDim));
          if (sees) touched += 1;
          else untouched += 1;
          const where = `row ${row}, key ${at} of ${group}: ${one.name}`;
          if (sees) expect(is?.every(Number.isNaN), where).toBe(true);
          else expect(is, where).toEqual(wanted);
        }
      }
    });
    expect(touched).toBeGreaterThan(100);
    expect(untouched).toBeGreaterThan(100);
  },
  PATIENCE,
);
