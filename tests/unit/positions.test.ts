// Position tables: against values worked out by hand, and the formulae of the papers that they come from.

import { describe, expect, test } from "vitest";
import { alibiSlopes, learnedPositions, relativeBias, sinusoidal } from "../../web/src/index.js";
import { errorOf } from "../support/cases.js";

describe("sinusoidal", () => {
  test("has sines and cosines of position / 10000^(2i / dim) side by side", async () => {
    const { data, shape, dtype } = await sinusoidal(3, 4);
    expect([shape, dtype]).toEqual([[3, 4], "f32"]);
    const row = (position: number): number[] =>
      [Math.sin(position), Math.cos(position), Math.sin(position / 100), Math.cos(position / 100)].map(Math.fround);
    expect([...data]).toEqual([0, 1, 2].flatMap(row));
  });

  test("starts at an offset, takes another base and odd widths", () => {
    const { data } = sinusoidal(1, 3, { base: 16, offset: 7 });
    const angles = [7, 7, 7 * 16 ** (-2 / 3)];
    expect([...data]).toEqual([Math.sin(7), Math.cos(7), Math.sin(angles[2] ?? 0)].map(Math.fround));
  });

  test("the product of two rows depends on their distance alone", () => {
    const dim = 32;
    const { data } = sinusoidal(100, dim);
    const product = (i: number, j: number): number => {
      let sum = 0;
      for (let d = 0; d < dim; d++) sum += (data[i * dim + d] ?? 0) * (data[j * dim + d] ?? 0);
      return sum;
    };
    for (const [i, j] of [
      [0, 5],
      [40, 45],
      [94, 99],
    ] as const) {
      expect(Math.abs(product(i, j) - product(1, 6))).toBeLessThan(dim * 2 ** -22);
    }
  });
});

describe("alibiSlopes", () => {
  test("are powers of 2^(-8 / heads), and between powers of two every other slope of the next", () => {
    expect([...alibiSlopes(8).data]).toEqual([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]);
    expect([...alibiSlopes(1).data]).toEqual([1 / 256]);
    const six = [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8];
    expect([...alibiSlopes(6).data]).toEqual(six);
    const twelve = [...alibiSlopes(12).data];
    expect(twelve.slice(0, 8)).toEqual([...alibiSlopes(8).data]);
    expect(twelve.slice(8)).toEqual([0.5, 1.5, 2.5, 3.5].map((power) => Math.fround(2 ** -power)));
    expect(alibiSlopes(12).shape).toEqual([12]);
  });
});

describe("relativeBias", () => {
  /** A table whose numbers tell bucket and head apart. */
  const table = (buckets: number, heads: number): { data: Float32Array; shape: number[] } => ({
    data: Float32Array.from({ length: buckets * heads }, (_, at) => Math.floor(at / heads) + (at % heads) * 1000),
    shape: [buckets, heads],
  });
  const bucketOf = (options: { bidirectional?: boolean; buckets?: number }, distance: number): number => {
    const keyLength = 600;
    const { data } = relativeBias(table(options.buckets ?? 32, 1), {
      length: 1,
      keyLength,
      offset: 300,
      ...options,
    });
    return data[300 + distance] ?? Number.NaN;
  };

  test("buckets distances as T5's encoder does", () => {
    const expected = new Map([
      [0, 0],
      [-1, 1],
      [-7, 7],
      [-8, 8],
      [-11, 8],
      [-12, 9],
      [-15, 9],
      [-16, 10],
      [-22, 10],
      [-23, 11],
      [-31, 11],
      [-32, 12],
      [-64, 14],
      [-90, 14],
      [-91, 15],
      [-127, 15],
      [-300, 15],
      [1, 17],
      [7, 23],
      [8, 24],
      [16, 26],
      [128, 31],
      [299, 31],
    ]);
    for (const [distance, bucket] of expected) expect([distance, bucketOf({}, distance)]).toEqual([distance, bucket]);
  });

  test("buckets distances as T5's decoder does: what lies ahead is at distance 0", () => {
    const expected = new Map([
      [5, 0],
      [0, 0],
      [-15, 15],
      [-16, 16],
      [-18, 16],
      [-19, 17],
      [-20, 17],
      [-21, 18],
      [-127, 31],
      [-113, 31],
      [-112, 30],
      [-300, 31],
    ]);
    for (const [distance, bucket] of expected) {
      expect([distance, bucketOf({ bidirectional: false }, distance)]).toEqual([distance, bucket]);
    }
  });

  test("is [heads, queries, keys], aligned by the last query and key unless there is an offset", () => {
    const { data, shape } = relativeBias(table(4, 2), { length: 2, keyLength: 3, maxDistance: 4 });
    expect(shape).toEqual([2, 2, 3]);
    // Distances -1 0 1 and -2 -1 0.
    const first = [1, 0, 3, 1, 1, 0];
    expect([...data]).toEqual([...first, ...first.map((bucket) => bucket + 1000)]);
    const { data: shifted } = relativeBias(table(4, 1), { length: 2, keyLength: 3, offset: 0, maxDistance: 4 });
    expect([...shifted]).toEqual([0, 3, 3, 1, 0, 3]);
  });

  test("has no ranges but the last where maxDistance is one more than the distances of their own", () => {
    // 8 buckets, 4 a side: 0 and 1 of their own, then ln(2 / 2) / ln(3 / 2) * 2 = 0 and, from 3 on, at least 2, which is the last.
    const { data } = relativeBias(table(8, 1), { length: 1, keyLength: 11, offset: 5, maxDistance: 3 });
    expect([...data]).toEqual([3, 3, 3, 2, 1, 0, 5, 6, 7, 7, 7]);
  });

  test("takes tables of more buckets than the default of maxDistance allows for", () => {
    // 512 buckets, 256 a side: the first 128 are distances of their own, which is all of these.
    const { data } = relativeBias(table(512, 1), { length: 1, keyLength: 5, offset: 2 });
    expect([...data]).toEqual([2, 1, 0, 257, 258]);
  });
});

describe("learnedPositions", () => {
  const table = { data: Float32Array.of(0, 1, 10, 11, 20, 21, 30, 31), shape: [4, 2] };

  test("are rows of the table", () => {
    expect(learnedPositions(table)).toEqual({ data: table.data, shape: [4, 2], dtype: "f32" });
    expect([...learnedPositions(table, { offset: 1, length: 2 }).data]).toEqual([10, 11, 20, 21]);
    expect([...learnedPositions(table, { positions: [3, 0, 3] }).data]).toEqual([30, 31, 0, 1, 30, 31]);
  });
});

test("tables may be f16, and positions a tensor", () => {
  // 0, 1, 2 and -3 by their bits.
  const table = { data: Uint16Array.of(0, 0x3c00, 0x4000, 0xc200), shape: [2, 2], dtype: "f16" } as const;
  const positions = { data: Float32Array.of(1, 0, 1), shape: [3] };
  expect([...learnedPositions(table, { positions }).data]).toEqual([2, -3, 0, 1, 2, -3]);
  const { data } = relativeBias(table, { length: 1, keyLength: 3, offset: 1 });
  expect([...data]).toEqual([0, 0, 2, 1, 1, -3]);
});

test("tables without a number are made at once, however many rows they have", () => {
  const most = 2 ** 24;
  const none = { data: new Float32Array(0), shape: [most, 0] };
  expect(learnedPositions(none).shape).toEqual([most, 0]);
  expect(sinusoidal(0, most).shape).toEqual([0, most]);
  const wide = { data: new Float32Array(2 ** 21), shape: [2, 2 ** 20] };
  expect(relativeBias(wide, { length: most, keyLength: 0 }).shape).toEqual([2 ** 20, most, 0]);
});

test("what makes no sense is refused by name", async () => {
  const table = { data: new Float32Array(6), shape: [3, 2] };
  const even = { data: new Float32Array(16), shape: [8, 2] };
  const many = { data: new Float32Array(512), shape: [512, 1] };
  const refusals: readonly [() => unknown, string, string][] = [
    [() => sinusoidal(-1, 4), "option", "sinusoidal: length must be a whole number"],
    [() => sinusoidal(2, 0), "option", "sinusoidal: dim must be a whole number, 1 or more"],
    [() => sinusoidal(2, 4, { base: 0 }), "option", "sinusoidal: base must be greater than 0"],
    [() => alibiSlopes(0), "option", "alibiSlopes: heads must be a whole number, 1 or more"],
    [
      () => relativeBias(table, { length: 2 }),
      "shape",
      "relativeBias: table must have 3 rows, an even number, got [3, 2]",
    ],
    [() => relativeBias(table, { length: 2, buckets: 4 }), "shape", "table must have 4 rows, an even number"],
    [() => relativeBias(table, { length: 0.5 }), "option", "relativeBias: length must be a whole number"],
    [() => learnedPositions(table, { positions: [3] }), "option", "learnedPositions: takes rows 0 to "],
    [() => learnedPositions(table, { positions: [0], length: 1 }), "option", "by positions or length, got"],
    [() => learnedPositions(table, { length: 4 }), "option", "takes rows 0 to 2, by positions or length, got 3"],
    [() => learnedPositions(table, { offset: 4 }), "option", "takes rows 0 to 2, by positions or length, got 3"],
    [() => learnedPositions(table, { length: 1.5 }), "option", "learnedPositions: length must be a whole number"],
    [() => learnedPositions(table, { length: -1 }), "option", "learnedPositions: length must be a whole number"],
    [() => learnedPositions(table, { offset: 0.5 }), "option", "learnedPositions: offset must be a whole number"],
    [
      () => Reflect.apply(learnedPositions, null, [table, { length: "2" }]),
      "option",
      'whole number, 0 or more, up to 16777216, got "2"',
    ],
    [() => Reflect.apply(learnedPositions, null, [table, { length: null }]), "option", "got null"],
    [() => relativeBias(even, { length: 2, offset: 0.5 }), "option", "relativeBias: offset must be a whole number"],
    [
      () => relativeBias(even, { length: 2, maxDistance: 2 }),
      "option",
      "maxDistance must be a whole number, 3 or more",
    ],
    [() => Reflect.apply(relativeBias, null, [even, { length: 2, keyLength: null }]), "option", "got null"],
    [
      () => relativeBias(many, { length: 2, maxDistance: 128 }),
      "option",
      "maxDistance must be a whole number, 129 or more, up to 16777216, got 128",
    ],
    [() => sinusoidal(2 ** 24, 2 ** 24), "memory", "sinusoidal: the result must fit into the engine's memory"],
    [() => relativeBias(even, { length: 2 ** 24 }), "memory", "numbers, got [2, 16777216, 16777216]"],
    [
      () => relativeBias(even, { length: 60_000 }),
      "memory",
      "relativeBias: the result must fit into the engine's memory, 536854528 numbers, got [2, 60000, 60000]",
    ],
  ];
  for (const [act, code, message] of refusals) {
    const error = await errorOf(act);
    expect(error).toMatchObject({ name: "HeedError", code });
    expect(error.message).toContain(message);
  }
});
