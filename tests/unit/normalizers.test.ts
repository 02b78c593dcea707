// Normalizers and top-k: examples that a person can check, random problems against the reference, the same bits
// everywhere.

import { afterAll, describe, expect, test } from "vitest";
import type { Normalizer, TensorLike } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import { boundsOf, type Case, cases, differentIndex, expectedOf } from "../support/cases.js";
import { ENGINE_KINDS, FEW_KINDS, openKind } from "../support/engines.js";

/** One query against keys whose scores are these, with values 1, 10, 100 ... */
const rowOf = (...scores: number[]): [TensorLike, TensorLike, TensorLike] => [
  { data: Float32Array.of(1), shape: [1, 1] },
  { data: Float32Array.from(scores), shape: [scores.length, 1] },
  { data: Float32Array.from(scores, (_, j) => 10 ** j), shape: [scores.length, 1] },
];

const EXAMPLES: readonly (readonly [string, number[], { normalize?: Normalizer; topK?: number }, number[]])[] = [
  ["sparsemax of scores within 1", [0.5, 0.25, 0], { normalize: "sparsemax" }, [0.5 + 1 / 12, 1 / 3, 1 / 12]],
  ["sparsemax of one ahead by 1", [3, 2, -5], { normalize: "sparsemax" }, [1, 0, 0]],
  ["sparsemax of equal scores", [7, 7, 7, 7], { normalize: "sparsemax" }, [0.25, 0.25, 0.25, 0.25]],
  ["sigmoid", [0, Math.log(3), -Math.log(3)], { normalize: "sigmoid" }, [0.5, 0.75, 0.25]],
  ["hard", [1, 4, 2, 4], { normalize: "hard" }, [0, 1, 0, 0]],
  ["none", [1, -4, 0.5], { normalize: "none" }, [1, -4, 0.5]],
  ["the best two", [Math.log(3), 9 - 1e9, 0, -2], { topK: 2 }, [0.75, 0, 0.25, 0]],
  ["the best two of equals", [1, 1, 1, 0], { topK: 2 }, [0.5, 0.5, 0, 0]],
  ["the best one without a normalizer", [2, 5, 3], { topK: 1, normalize: "none" }, [0, 5, 0]],
];

test.each(EXAMPLES)("the reference's %s", (_name, scores, options, wanted) => {
  const { weights } = reference(...rowOf(...scores), { score: "dot", ...options });
  for (const [j, weight] of wanted.entries()) expect(weights.data[j]).toBeCloseTo(weight, 7);
});

const NORMALIZERS = ["softmax", "sparsemax", "sigmoid", "hard", "none"] as const;

/** Problems without sinks, which only a softmax has; every other one keeps its best keys alone. */
const PROBLEMS: readonly Case[] = cases(61, 100)
  .filter(({ options }) => options.sinks === undefined)
  .map((one, index) => {
    const normalize = NORMALIZERS[index % NORMALIZERS.length];
    const topK = index % 2 === 0 ? undefined : 1 + ((7 * index) % 40);
    return { ...one, name: `${one.name}, ${normalize}, best ${topK}`, options: { ...one.options, normalize, topK } };
  });

const WANTED = { keep: false, return: { weights: true, scores: "masked" } } as const;

describe.each(FEW_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test.each(EXAMPLES)("%s", async (_name, scores, options, wanted) => {
    const { output, weights } = await heed.attention(...rowOf(...scores), {
      score: "dot",
      ...options,
      return: { weights: true },
    });
    for (const [j, weight] of wanted.entries()) expect(weights.data[j]).toBeCloseTo(weight, 5);
    const sum = wanted.reduce((total, weight, j) => total + weight * 10 ** j, 0);
    expect((output.data[0] ?? Number.NaN) / sum).toBeCloseTo(1, 5);
  });

  test("sigmoids count down to 2^-126, and so does a NaN under one", async () => {
    const far = (value: number): [TensorLike, TensorLike, TensorLike] => {
      const [query, key] = rowOf(-80);
      return [query, key, { data: Float32Array.of(value), shape: [1, 1] }];
    };
    const options = { score: "dot", normalize: "sigmoid" } as const;
    const { output } = await heed.attention(...far(1e30), options);
    expect((output.data[0] ?? Number.NaN) / (1e30 * Math.exp(-80))).toBeCloseTo(1, 5);
    expect((await heed.attention(...far(Number.NaN), options)).output.data[0]).toBeNaN();
  });

  test(`${PROBLEMS.length} problems are within the error of their scores`, async () => {
    for (const one of PROBLEMS) {
      const { query, key, value, options } = one;
      const got = await heed.attention(query, key, value, { ...options, ...WANTED });
      const sync = heed.attentionSync(query, key, value, { ...options, ...WANTED });
      expect(differentIndex(sync.output.data, got.output.data), one.name).toBe(-1);
      expect(firstError(one, got.weights.data, got.output.data), one.name).toBeNull();
    }
  });

  test("scores are returned as they were before the best were chosen", async () => {
    const { scores } = await heed.attention(...rowOf(1, 3, 2), { score: "dot", topK: 1, ...WANTED });
    for (const [j, score] of [1, 3, 2].entries()) expect(scores.data[j]).toBeCloseTo(score, 6);
  });

  test("the entropy of a sparsemax is that of its weights, of a hard maximum 0", async () => {
    const wanted = { return: { entropy: true } } as const;
    const sparse = await heed.attention(...rowOf(5, 5, 0), { score: "dot", normalize: "sparsemax", ...wanted });
    expect(sparse.entropy.data[0]).toBeCloseTo(Math.LN2, 6);
    const hard = await heed.attention(...rowOf(5, 5, 0), { score: "dot", normalize: "hard", ...wanted });
    expect(hard.entropy.data[0]).toBe(0);
  });

  test("a query without a key gives zeros, whatever the normalizer", async () => {
    const [q, k, v] = rowOf(1, 2, 3);
    for (const normalize of NORMALIZERS) {
      const mask = { data: new Uint8Array(3), shape: [3] };
      const { output, weights } = await heed.attention(q, k, v, { normalize, topK: 2, mask, ...WANTED });
      expect([...output.data, ...weights.data]).toEqual([0, 0, 0, 0]);
    }
  });
});

test("one variant gives the same bits on every kind of worker", async () => {
  for (const variant of ["simd", "relaxed"] as const) {
    const engines = await Promise.all(
      ENGINE_KINDS.filter((kind) => kind.variant === variant).map((kind) =>
        openKind(kind, kind.worker === "shared-memory" ? { threads: 2 } : {}),
      ),
    );
    for (const { name, query, key, value, options } of PROBLEMS) {
      const results = await Promise.all(
        engines.map((heed) => heed.attention(query, key, value, { ...options, keep: false })),
      );
      const [first, ...others] = results.map(({ output }) => output.data);
      for (const other of others) expect(differentIndex(other, first ?? other), name).toBe(-1);
    }
    for (const heed of engines) heed.dispose();
  }
});

const UNIT_ROUNDOFF = 2 ** -24;

/** As the kernels' error model has it, with one bound for all scores. */
function firstError(one: Case, weights: Float32Array, output: Float32Array): string | null {
  const { value, options, sizes } = one;
  const { normalize, topK } = options;
  const wanted = expectedOf(one);
  const bounds = boundsOf(one);
  const { keyLength, valueDim } = sizes;
  const p = Math.fround(options.dropout?.p ?? 0);
  const factor = p > 0 && p < 1 ? 1 / (1 - p) : 1;
  const largest = value.data.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const isSoft = normalize === "softmax" || normalize === "hard";
  for (let row = 0; row * keyLength < wanted.weights.data.length; row++) {
    const exact = wanted.weights.data.subarray(row * keyLength, (row + 1) * keyLength);
    const scores = wanted.scores.masked.data.subarray(row * keyLength, (row + 1) * keyLength);
    if (isOpen(scores, normalize === "hard" ? 1 : topK, bounds.scores)) continue;
    const errorOf = (weight: number): number =>
      isSoft
        ? bounds.weights * weight + 2 ** -80
        : factor * (2 * bounds.scores + 16 * UNIT_ROUNDOFF) + 4 * UNIT_ROUNDOFF * Math.abs(weight);
    for (const [j, weight] of exact.entries()) {
      const got = weights[row * keyLength + j] ?? Number.NaN;
      if (!(Math.abs(got - weight) <= errorOf(weight)))
        return `weights[${row}, ${j}] is ${got}, not ${weight}, bound ${errorOf(weight)}`;
    }
    if (options.layout === "packed" || options.layout === "bnhd") continue;
    const sum = exact.reduce((total, weight) => total + Math.abs(weight), 0);
    const errors = exact.reduce((total, weight) => total + errorOf(weight), 0);
    const allowed = largest * (errors + 4 * UNIT_ROUNDOFF * Math.sqrt(keyLength + 4) * sum + keyLength * 2 ** -79);
    for (let e = 0; e < valueDim; e++) {
      const [got, right] = [output[row * valueDim + e] ?? Number.NaN, wanted.output.data[row * valueDim + e] ?? 0];
      if (!(Math.abs(got - right) <= allowed)) return `output[${row}, ${e}] is ${got}, not ${right}, bound ${allowed}`;
    }
  }
  return null;
}

/** Whether scores that are off by `error` may have exchanged one of the best with another. */
function isOpen(scores: Float64Array, topK: number | undefined, error: number): boolean {
  const sorted = [...scores].filter((score) => score !== -Infinity).sort((a, b) => b - a);
  if (topK === undefined || topK >= sorted.length) return false;
  const slack = 2 * error + 2 ** -20 * Math.abs(sorted[topK] ?? 0);
  return (sorted[topK - 1] ?? 0) - (sorted[topK] ?? 0) <= slack;
}
