// The oracle itself, against numbers worked out by hand and identities that any attention obeys.

import { describe, expect, test } from "vitest";
import { alibiSlopes } from "../../web/src/index.js";
import { attention, type ReferenceOptions, type ReferenceTensor } from "../../web/src/reference/index.js";
import { Random } from "../support/random.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(3);
const tensor = drawnBy(random);

const QUERY = { data: Float64Array.of(Math.LN2, 0), shape: [1, 2] };
const KEYS = { data: Float32Array.of(1, 0, 0, 1), shape: [2, 2] };
const VALUES = { data: Float32Array.of(3, 30, 6, 60), shape: [2, 2] };

describe("by hand", () => {
  test("scores ln 2 and 0 make weights 2/3 and 1/3", () => {
    const { output, weights, lse } = attention(QUERY, KEYS, VALUES, { scale: 1 });
    expect([...weights.data]).toEqual([expect.closeTo(2 / 3, 15), expect.closeTo(1 / 3, 15)]);
    expect([...output.data]).toEqual([expect.closeTo(4, 14), expect.closeTo(40, 13)]);
    expect(lse.data[0]).toBeCloseTo(Math.log(3), 15);
  });

  test("the default scale is 1 / sqrt(head_dim); dot has none; temperature divides", () => {
    const first = (options: Parameters<typeof attention>[3]): number =>
      attention(QUERY, KEYS, VALUES, options).lse.data[0] ?? 0;
    const lse = (scale: number): number => Math.log(2 ** scale + 1);
    expect(first({})).toBeCloseTo(lse(Math.SQRT1_2), 14);
    expect(first({ score: "dot" })).toBeCloseTo(lse(1), 14);
    expect(first({ score: "dot", temperature: 2 })).toBeCloseTo(lse(0.5), 14);
    expect(first({ scale: 3, temperature: 2 })).toBeCloseTo(lse(1.5), 14);
  });

  test("a bias adds to the scores, and -Infinity removes", () => {
    const { weights } = attention(QUERY, KEYS, VALUES, {
      scale: 1,
      bias: { data: Float64Array.of(0, Math.LN2), shape: [2] },
    });
    expect([...weights.data]).toEqual([0.5, 0.5]);
    const bias = { data: Float64Array.of(-Infinity, 5), shape: [1, 2] };
    expect([...attention(QUERY, KEYS, VALUES, { bias }).weights.data]).toEqual([0, 1]);
  });

  test("causal rules show these keys", () => {
    const seen = (causal: boolean | "lower-right" | "upper-left", l: number, s: number): string =>
      [...attention(tensor(l, 2), tensor(s, 2), tensor(s, 2), { causal }).weights.data]
        .map((p) => (p > 0 ? 1 : 0))
        .join("");
    expect(seen(false, 2, 3)).toBe("111111");
    expect(seen(true, 2, 3)).toBe("110111");
    expect(seen("lower-right", 2, 3)).toBe("110111");
    expect(seen("upper-left", 2, 3)).toBe("100110");
    expect(seen(true, 3, 2)).toBe("001011");
    expect(seen("upper-left", 3, 2)).toBe("101111");
  });

  test("a row without keys is zeros with lse -Infinity, and NaN behind a mask stays there", () => {
    const spoilt = { data: Float32Array.of(Number.NaN, 1, 2, 3), shape: [2, 2] };
    const none = attention(QUERY, spoilt, spoilt, { mask: { data: [false, false], shape: [2] } });
    expect([...none.output.data, ...none.weights.data, ...none.lse.data]).toEqual([0, 0, 0, 0, -Infinity]);
    const one = attention(QUERY, spoilt, spoilt, { mask: { data: Uint8Array.of(0, 1), shape: [1, 2] } });
    expect([...one.output.data]).toEqual([2, 3]);
  });

  test("a mask shorter than the keys masks the rest, one of size 1 repeats", () => {
    const [q, k] = [tensor(1, 2), tensor(4, 2)];
    const seen = (data: boolean[]): boolean[] =>
      [...attention(q, k, k, { mask: { data, shape: [data.length] } }).weights.data].map((p) => p > 0);
    expect(seen([true, true])).toEqual([true, true, false, false]);
    expect(seen([true])).toEqual([true, true, true, true]);
    expect(seen([false])).toEqual([false, false, false, false]);
  });
});

describe("every form that the engine takes", () => {
  const none = { data: new Float32Array(4), shape: [2, 2] };
  const weightsOf = (options: ReferenceOptions, q = none, k = none): number[] => [
    ...attention(q, k, VALUES, options).weights.data,
  ];

  test("slopes as alibiSlopes gives them, and sinks as a tensor", () => {
    // Scores 0 and -ln 2 by distance, both ways; and with a sink of exp(0) beside them.
    const slopes = { data: Float64Array.of(Math.LN2), shape: [1] };
    for (const [i, weight] of [2 / 3, 1 / 3, 1 / 3, 2 / 3].entries()) {
      expect(weightsOf({ alibiSlopes: slopes })[i]).toBeCloseTo(weight, 15);
    }
    const sinks = { data: Uint16Array.of(0), shape: [1], dtype: "f16" } as const;
    expect(weightsOf({ sinks })).toEqual(weightsOf({ sinks: [0] }));
    expect(weightsOf({ sinks })[0]).toBeCloseTo(1 / 3, 15);
    // -8 i / heads: 1/256 for one head.
    expect(weightsOf({ alibiSlopes: alibiSlopes(1) })[1]).toBeCloseTo(1 / (1 + Math.exp(1 / 256)), 15);
  });

  test("masks, biases and blocks without a shape", () => {
    expect(weightsOf({ mask: Uint8Array.of(1, 0, 1, 1) })).toEqual([1, 0, 0.5, 0.5]);
    expect(weightsOf({ mask: [false, true, true, false] })).toEqual([0, 1, 1, 0]);
    expect(weightsOf({ bias: Float32Array.of(-Infinity, 0, 0, 0) })).toEqual([0, 1, 0.5, 0.5]);
    expect(weightsOf({ blocks: { size: [1, 2], keep: [false, true] } })).toEqual([0, 0, 0.5, 0.5]);
    expect(() => weightsOf({ mask: new Uint8Array(3) })).toThrow(RangeError);
    const [heads, seen] = [tensor(2, 2, 2), Uint8Array.of(1, 0, 1, 1, 0, 1, 0, 0)];
    const { weights } = attention(heads, heads, heads, { mask: seen });
    expect([...weights.data].map((weight) => Number(weight > 0))).toEqual([...seen]);
  });

  test("lengths, offsets and sequences as tensors", () => {
    expect(weightsOf({ kvLengths: { data: Uint8Array.of(1), shape: [1] } })).toEqual([1, 0, 1, 0]);
    expect(weightsOf({ causal: true, qOffset: { data: Int32Array.of(-1), shape: [1] } })).toEqual([0, 0, 1, 0]);
    expect(weightsOf({ cuSeqlensQ: { data: [0, 1, 2], shape: [3] } })).toEqual([1, 0, 0, 1]);
  });

  test("f16 bits, for every argument", () => {
    // 1, -2, 0.5 and the smallest f16; infinity masks as a bias.
    const f16 = { data: Uint16Array.of(0x3c00, 0xc000, 0x3800, 1), shape: [2, 2], dtype: "f16" } as const;
    const plain = { data: Float32Array.of(1, -2, 0.5, 2 ** -24), shape: [2, 2] };
    const bits = { data: Uint16Array.of(0, 0xfc00), shape: [2], dtype: "f16" } as const;
    expect(attention(f16, f16, f16)).toEqual(attention(plain, plain, plain));
    expect(weightsOf({ bias: bits })).toEqual([1, 0, 1, 0]);
    const scores = (w: ReferenceTensor): unknown => attention(plain, plain, plain, { score: { type: "general", w } });
    expect(scores(f16)).toEqual(scores(plain));
    const widths = { data: Uint16Array.of(0x4000), shape: [1], dtype: "f16" } as const;
    const rbf = (bandwidth: number | ReferenceTensor): unknown =>
      attention(plain, plain, plain, { score: { type: "rbf", bandwidth } });
    expect(rbf(widths)).toEqual(rbf(2));
  });

  test("a cache, or a tensor that lives in an engine, is refused", () => {
    expect(() => weightsOf({ cache: {} })).toThrow(/takes no cache/);
    expect(() => Reflect.apply(attention, undefined, [{ shape: [2, 2] }, none, none])).toThrow(
      /read\(\) gives the data/,
    );
  });
});

test("dropout drops what the documented hash says, in arithmetic of its own", () => {
  const bits = (x: bigint): bigint => BigInt.asUintN(32, x);
  const mix = (x: bigint): bigint => {
    let y = bits(x);
    y = bits((y ^ (y >> 16n)) * 0x7feb352dn);
    y = bits((y ^ (y >> 15n)) * 0x846ca68bn);
    return y ^ (y >> 16n);
  };
  const [b, h, l, s] = [2, 3, 4, 5];
  for (const [p, seed] of [
    [0.5, 0],
    [0.25, 4294967295],
    [0.9, 123456789],
  ] as const) {
    const [q, k] = [tensor(b, h, l, 2), tensor(b, h, s, 2)];
    const { weights } = attention(q, k, k, { dropout: { p, seed } });
    const plain = attention(q, k, k).weights;
    for (const [index, weight] of weights.data.entries()) {
      const [row, j] = [BigInt(Math.floor(index / s)), BigInt(index % s)];
      const random = mix(mix(mix(BigInt(seed) + 0x9e3779b9n) ^ row) ^ bits(j * 0x9e3779b9n));
      const isDropped = Number(random) / 2 ** 32 < p;
      expect(weight).toBeCloseTo(isDropped ? 0 : (plain.data[index] ?? 0) / (1 - Math.fround(p)), 14);
    }
  }
});

describe("identities", () => {
  test("the mean of the weights is their sum over the heads, divided by how many there are", () => {
    const { weights, meanWeights } = attention(tensor(2, 3, 2, 4), tensor(2, 1, 5, 4), tensor(2, 1, 5, 4));
    expect(meanWeights.shape).toEqual([2, 2, 5]);
    for (const [index, mean] of meanWeights.data.entries()) {
      const first = Math.floor(index / 10) * 30 + (index % 10);
      const [a = 0, b = 0, c = 0] = [first, first + 10, first + 20].map((at) => weights.data[at]);
      expect(mean).toBeCloseTo((a + b + c) / 3, 15);
    }
    expect(attention(tensor(3, 2, 4), tensor(3, 5, 4), tensor(3, 5, 4)).meanWeights.shape).toEqual([2, 5]);
    expect(attention(tensor(2, 4), tensor(5, 4), tensor(5, 4)).meanWeights.shape).toEqual([2, 5]);
  });

  test("weights of a row sum to one, and an equal value for every key comes out as it is", () => {
    const ones = { data: new Float32Array(2 * 7 * 3).fill(0.5), shape: [1, 2, 7, 3] };
    const { output, weights } = attention(tensor(1, 4, 5, 8), tensor(1, 2, 7, 8), ones);
    for (const value of output.data) expect(value).toBeCloseTo(0.5, 14);
    for (let row = 0; row < 20; row++) {
      const sum = weights.data.subarray(row * 7, row * 7 + 7).reduce((total, p) => total + p, 0);
      expect(sum).toBeCloseTo(1, 14);
    }
  });

  test("a constant added to every score moves lse and nothing else", () => {
    const [q, k, v] = [tensor(3, 4), tensor(5, 4), tensor(5, 4)];
    const plain = attention(q, k, v);
    const moved = attention(q, k, v, { bias: { data: Float64Array.of(10), shape: [1] } });
    for (const [i, p] of plain.weights.data.entries()) expect(moved.weights.data[i]).toBeCloseTo(p, 13);
    for (const [i, lse] of plain.lse.data.entries()) expect(moved.lse.data[i]).toBeCloseTo(lse + 10, 13);
  });

  // A query sees keys of both splits, of one, or of none. A sink belongs to the second split.
  test.each([
    ["without sinks", ["10111", "00011", "11000", "00000"], undefined],
    ["with sinks in one", ["10111", "00011", "11010", "00100"], [0.5, -2]],
  ])("two KV splits, combined by their lse, give the whole, %s", (_, seen, sinks) => {
    const [q, k, v] = [tensor(2, 4, 3), tensor(1, 5, 3), tensor(1, 5, 2)];
    const part = (from: number, to: number, options: { readonly sinks?: number[] | undefined }) => {
      const rows = ({ data }: typeof k, dim: number) => ({
        data: data.subarray(from * dim, to * dim),
        shape: [1, to - from, dim],
      });
      const mask = { data: Uint8Array.from(seen.map((keys) => keys.slice(from, to)).join("")), shape: [4, to - from] };
      return attention(q, rows(k, 3), rows(v, 2), { mask, ...options });
    };
    const [whole, first, second] = [part(0, 5, { sinks }), part(0, 2, {}), part(2, 5, { sinks })];
    for (const [row, lse] of whole.lse.data.entries()) {
      const [a, b] = [first, second].map((split) => Math.exp(split.lse.data[row] ?? Number.NaN)) as [number, number];
      expect(lse).toBeCloseTo(Math.log(a + b), 14);
      for (const at of [2 * row, 2 * row + 1]) {
        const merged = (a * (first.output.data[at] ?? 0) + b * (second.output.data[at] ?? 0)) / (a + b || 1);
        expect(whole.output.data[at]).toBeCloseTo(merged, 14);
      }
    }
  });
});
