// Shaw's relative keys and values against their definition, written out in double precision.

import { afterAll, expect, test } from "vitest";
import { createHeed, type TensorLike } from "../../web/src/index.js";
import { errorOf } from "../support/cases.js";
import { Random } from "../support/random.js";
import { drawnBy } from "../support/tensors.js";

const heed = await createHeed();
afterAll(() => heed.dispose());

const random = new Random(440);
const tensor = drawnBy(random);

const MOST = 2;
const rowOf = (i: number, j: number, offset: number): number => MOST + Math.min(Math.max(j - i - offset, -MOST), MOST);

/** Sixteen products of numbers up to 4 and their sums. */
const BOUND = 16 * 16 * 2 ** -22;

function worst(got: TensorLike, wanted: (at: number) => number): number {
  return got.data.reduce((most, number, at) => Math.max(most, Math.abs(number - wanted(at)) / BOUND), 0);
}

test.each([undefined, 9])(
  "relative keys are products with the vector of each distance, for %s keys",
  async (length) => {
    const [B, H, L, D] = [2, 3, 5, 8];
    const [q, table] = [tensor(B, H, L, D), tensor(2 * MOST + 1, D)];
    const S = length ?? L;
    const bias = await heed.relativeKeys(q, table, length === undefined ? {} : { length });
    expect(bias.shape).toEqual([B, H, L, S]);
    const wanted = (at: number): number => {
      const [j, row] = [at % S, Math.floor(at / S)];
      let sum = 0;
      for (let d = 0; d < D; d++) {
        sum += (q.data[row * D + d] ?? 0) * (table.data[rowOf(row % L, j, S - L) * D + d] ?? 0);
      }
      return sum / Math.sqrt(D);
    };
    expect(worst(bias, wanted)).toBeLessThan(1);
  },
);

test("relative keys take every layout, and a scale", async () => {
  const [B, H, L, D] = [2, 3, 4, 8];
  const [q, table] = [tensor(B, L, H, D), tensor(2 * MOST + 1, D)];
  const bnhd = await heed.relativeKeys(q, table, { layout: "bnhd", scale: 1 });
  const packed = { data: q.data, shape: [B, L, H * D] };
  expect(await heed.relativeKeys(packed, table, { layout: "packed", heads: H, scale: 1 })).toEqual(bnhd);
  const heads = await heed.relativeKeys({ data: q.data.slice(0, L * H * D), shape: [L, H, D] }, table, {
    layout: "bnhd",
    scale: 1,
  });
  expect(heads.shape).toEqual([H, L, L]);
  expect(heads.data).toEqual(bnhd.data.slice(0, H * L * L));
});

test("relative values are sums of the vectors of each distance, by weight", async () => {
  const [B, H, L, S, E] = [2, 2, 4, 6, 3];
  const [weights, table] = [tensor(B, H, L, S), tensor(2 * MOST + 1, E)];
  const added = await heed.relativeValues(weights, table);
  expect(added.shape).toEqual([B, H, L, E]);
  const wanted = (at: number): number => {
    const [e, row] = [at % E, Math.floor(at / E)];
    let sum = 0;
    for (let j = 0; j < S; j++) {
      sum += (weights.data[row * S + j] ?? 0) * (table.data[rowOf(row % L, j, S - L) * E + e] ?? 0);
    }
    return sum;
  };
  expect(worst(added, wanted)).toBeLessThan(1);
});

test("together they are attention with keys and values of their own for every distance", async () => {
  const [L, D] = [5, 8];
  const [q, k, v] = [tensor(L, D), tensor(L, D), tensor(L, D)];
  const [ofKeys, ofValues] = [tensor(2 * MOST + 1, D), tensor(2 * MOST + 1, D)];
  const bias = await heed.relativeKeys(q, ofKeys);
  const { output, weights } = await heed.attention(q, k, v, { bias, return: { weights: true } });
  const added = await heed.relativeValues(weights, ofValues);
  for (let i = 0; i < L; i++) {
    // Each query by itself, with the keys and values that it has.
    const shifted = (of: TensorLike, table: TensorLike): TensorLike => ({
      data: of.data.map((number, at) => number + (table.data[rowOf(i, Math.floor(at / D), 0) * D + (at % D)] ?? 0)),
      shape: of.shape,
    });
    const query = { data: q.data.slice(i * D, (i + 1) * D), shape: [1, D] };
    const alone = await heed.attention(query, shifted(k, ofKeys), shifted(v, ofValues));
    for (let d = 0; d < D; d++) {
      const sum = (output.data[i * D + d] ?? 0) + (added.data[i * D + d] ?? 0);
      expect(Math.abs(sum - (alone.output.data[d] ?? 0))).toBeLessThan(BOUND);
    }
  }
});

test("tables of another form are refused", async () => {
  const [q, even] = [tensor(3, 4), tensor(4, 4)];
  for (const [name, act] of [
    ["relativeKeys", () => heed.relativeKeys(q, even)],
    ["relativeValues", () => heed.relativeValues(q, even)],
  ] as const) {
    const error = await errorOf(act);
    expect(error).toMatchObject({ code: "shape" });
    expect(error.message).toBe(`${name}: table must be [2 k + 1, dim], an odd number of rows, got [4, 4]`);
  }
  const narrow = await errorOf(() => heed.relativeKeys(q, tensor(5, 3)));
  expect(narrow).toMatchObject({ code: "shape" });
});

test("offsets are whole, and what has no room is refused as such", async () => {
  const [q, table] = [tensor(3, 4), tensor(5, 4)];
  for (const [name, act] of [
    ["relativeKeys", () => heed.relativeKeys(q, table, { offset: 0.5 })],
    ["relativeValues", () => heed.relativeValues(q, table, { offset: 0.5 })],
  ] as const) {
    const error = await errorOf(act);
    expect(error).toMatchObject({ code: "option" });
    expect(error.message).toContain(`${name}: offset must be a whole number`);
  }
  const wide = await errorOf(() => heed.relativeKeys(heed.zeros([2 ** 16, 1]), tensor(1, 1), { length: 2 ** 24 }));
  expect(wide).toMatchObject({ code: "memory" });
  expect(wide.message).toMatch(/^relativeKeys: /);
});
