// Score functions by examples that a person can check, and what their parameters may be given as, on every kind of engine.

import { afterAll, describe, expect, test } from "vitest";
import type { Score, TensorLike } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import { distanceErrors } from "../support/distances.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { Random } from "../support/random.js";
import type { PlainDataScore } from "../support/score-cases.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(31);

const tensor = drawnBy(random);

const QUERY = { data: Float32Array.of(3, 4), shape: [1, 2] };
const KEYS = { data: Float32Array.of(4, 3, 3, 4), shape: [2, 2] };

/** Scores of [3, 4] with [4, 3] and [3, 4], as they follow from the formulae. */
const EXAMPLES: readonly (readonly [string, PlainDataScore, readonly [number, number]])[] = [
  ["scaled-dot", "scaled-dot", [24 / Math.SQRT2, 25 / Math.SQRT2]],
  ["dot", "dot", [24, 25]],
  ["cosine", "cosine", [0.96, 1]],
  ["distance", "distance", [-Math.SQRT2, 0]],
  ["rbf", { type: "rbf", bandwidth: 1 }, [-1, 0]],
  ["rbf of bandwidth 1/2", { type: "rbf", bandwidth: 0.5 }, [-4, 0]],
  // w swaps the key's numbers.
  ["general", { type: "general", w: { data: Float32Array.of(0, 1, 1, 0), shape: [2, 2] } }, [25, 24]],
  // w of [q; k] is the key's first number less 3.5.
  [
    "gated",
    { type: "gated", w: Float32Array.of(0, 0, 1, 0), b: -3.5 },
    [24 / (1 + Math.exp(-0.5)), 25 / (1 + Math.exp(0.5))],
  ],
  ["additive", "additive", [Math.tanh(7) * 2, Math.tanh(6) + Math.tanh(8)]],
  [
    "additive with parameters",
    {
      type: "additive",
      wq: { data: Float32Array.of(0.5, 0), shape: [1, 2] },
      wk: { data: Float32Array.of(-1, 0), shape: [1, 2] },
      b: Float32Array.of(2),
      v: { data: Float32Array.of(10), shape: [1] },
    },
    [10 * Math.tanh(-0.5), 10 * Math.tanh(0.5)],
  ],
];

test.each(EXAMPLES)("the reference's %s", (_name, score, [first, second]) => {
  const { raw } = reference(QUERY, KEYS, KEYS, { score }).scores;
  expect(raw.data[0]).toBeCloseTo(first, 12);
  expect(raw.data[1]).toBeCloseTo(second, 12);
});

describe.each(ENGINE_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  const rawScores = async (q: TensorLike, k: TensorLike, score: Score): Promise<Float32Array> =>
    (await heed.attention(q, k, k, { score, return: { scores: "raw" } })).scores.data;

  test.each(EXAMPLES)("%s", async (_name, score, wanted) => {
    const got = await rawScores(QUERY, KEYS, score);
    for (const [j, exact] of wanted.entries()) expect(got[j]).toBeCloseTo(exact, 5);
  });

  test("a name and an object with that type are the same", async () => {
    const [q, k] = [tensor(3, 8), tensor(5, 8)];
    for (const type of ["scaled-dot", "dot", "cosine", "distance"] as const) {
      expect(await rawScores(q, k, { type })).toEqual(await rawScores(q, k, type));
    }
    expect(await rawScores(q, k, { type: "additive" })).toEqual(await rawScores(q, k, "additive"));
  });

  test("temperature and scale apply to any score", async () => {
    const [q, k] = [tensor(3, 8), tensor(5, 8)];
    for (const score of ["cosine", "distance", "additive"] as const) {
      const plain = await rawScores(q, k, score);
      const options = { score, scale: 4, temperature: 0.5, return: { scores: "raw" } } as const;
      const { scores } = await heed.attention(q, k, k, options);
      for (const [j, raw] of plain.entries()) expect(scores.data[j]).toBeCloseTo(8 * raw, 4);
    }
  });

  test("parameters that live in the engine give what arrays give", async () => {
    const [q, k] = [tensor(2, 3, 8), tensor(2, 5, 6)];
    const [w, wq, wk] = [tensor(2, 8, 6), tensor(4, 8), tensor(2, 4, 6)];
    const kept = [w, wq, wk].map(({ data, shape }) => heed.tensor(data, shape));
    const [ofW, ofWq, ofWk] = [kept[0] ?? w, kept[1] ?? wq, kept[2] ?? wk];
    expect(await rawScores(q, k, { type: "general", w: ofW })).toEqual(await rawScores(q, k, { type: "general", w }));
    expect(await rawScores(q, k, { type: "additive", wq: ofWq, wk: ofWk })).toEqual(
      await rawScores(q, k, { type: "additive", wq, wk }),
    );
    for (const one of kept) one.dispose();
  });

  test("f16 inputs give what the same numbers give in f32", async () => {
    const f16Like = (...shape: number[]): TensorLike => ({
      data: tensor(...shape).data.map((value) => Math.round(value * 64) / 64),
      shape,
    });
    const [q, k] = [f16Like(3, 8), f16Like(21, 8)];
    const [hq, hk] = [q, k].map(({ data, shape }) => heed.tensor(data, shape, { dtype: "f16" }));
    const w = tensor(16);
    for (const score of ["cosine", "distance", "additive", { type: "gated", w: w.data }] as const) {
      const expected = await heed.attention(q, k, k, { score });
      const got = await heed.attention(hq ?? q, hk ?? k, k, { score });
      expect(got.output.data).toEqual(expected.output.data);
    }
  });

  test("distances keep the range of f32, and are infinite beyond it", async () => {
    expect(await distanceErrors(heed)).toEqual([]);
  });

  test("the soft dictionary: cold it looks up the nearest key, hot it gives the mean", async () => {
    const [k, v] = [tensor(9, 4), tensor(9, 3)];
    const q = { data: k.data.map((value) => value + 0.01), shape: k.shape };
    for (const score of ["distance", { type: "rbf", bandwidth: 1 }, "cosine"] as const) {
      const cold = await heed.attention(q, k, v, { score, temperature: 1e-6 });
      expect(cold.output.data, String(score)).toEqual(v.data);
      const hot = await heed.attention(q, k, v, { score, temperature: 1e9 });
      const mean = (e: number): number => [...v.data].filter((_, at) => at % 3 === e).reduce((a, b) => a + b, 0) / 9;
      for (const [at, value] of hot.output.data.entries()) expect(value).toBeCloseTo(mean(at % 3), 5);
    }
  });
});
