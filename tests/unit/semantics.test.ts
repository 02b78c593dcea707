// The rules of docs/semantics/attention.md on every kind of engine: masks, empty axes, layouts, ranks, where inputs and outputs may be.

import { afterAll, describe, expect, test } from "vitest";
import type { TensorLike } from "../../web/src/index.js";
import { EVERYTHING } from "../support/cases.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { Random } from "../support/random.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(7);

const tensor = drawnBy(random);

describe.each(ENGINE_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test("computes a case that a person can check", async () => {
    // One query [ln 2, 0] with scale 1 against keys [1, 0] and [0, 1]: scores ln 2 and 0, weights 2/3 and 1/3, lse ln 3.
    const { output, weights, lse } = await heed.attention(
      { data: Float32Array.of(Math.LN2, 0), shape: [1, 2] },
      { data: Float32Array.of(1, 0, 0, 1), shape: [2, 2] },
      { data: Float32Array.of(3, 30, 6, 60), shape: [2, 2] },
      { scale: 1, ...EVERYTHING },
    );
    expect(output.data[0]).toBeCloseTo(4, 5);
    expect(output.data[1]).toBeCloseTo(40, 4);
    expect(weights.data[0]).toBeCloseTo(2 / 3, 6);
    expect(lse.data[0]).toBeCloseTo(Math.log(3), 6);
    expect([output.shape, weights.shape, lse.shape]).toEqual([[1, 2], [1, 2], [1]]);
  });

  test("rows with no key left are zeros with lse -Infinity, whatever masks them", async () => {
    const [q, k, v] = [tensor(1, 1, 2, 4), tensor(1, 1, 3, 4), tensor(1, 1, 3, 4)];
    const ways = [
      { mask: { data: new Uint8Array(3), shape: [3] } },
      { mask: { data: [false, false, false], shape: [1, 3] } },
      { bias: { data: new Float32Array(3).fill(-Infinity), shape: [1, 1, 1, 3] } },
    ];
    for (const way of ways) {
      const { output, weights, lse } = await heed.attention(q, k, v, { ...way, ...EVERYTHING });
      expect(output.data).toEqual(new Float32Array(8));
      expect(weights.data).toEqual(new Float32Array(6));
      expect(lse.data).toEqual(new Float32Array(2).fill(-Infinity));
    }
  });

  test("causal lower-right leaves the first queries without keys when there are more queries than keys", async () => {
    const { weights, lse } = await heed.attention(tensor(4, 2), tensor(2, 2), tensor(2, 2), {
      causal: true,
      ...EVERYTHING,
    });
    expect([...lse.data].map(Number.isFinite)).toEqual([false, false, true, true]);
    expect([...weights.data].map((p) => p > 0)).toEqual([false, false, false, false, true, false, true, true]);
  });

  test("causal upper-left shows query i the keys up to i", async () => {
    const options = { causal: "upper-left", return: { weights: true } } as const;
    const { weights } = await heed.attention(tensor(2, 2), tensor(3, 2), tensor(3, 2), options);
    expect([...weights.data].map((p) => p > 0)).toEqual([true, false, false, true, true, false]);
  });

  test("masked keys and values are never read into the result, NaN or not", async () => {
    const [q, k, v] = [tensor(1, 1, 9, 8), tensor(1, 1, 33, 8), tensor(1, 1, 33, 8)];
    const mask = { data: Uint8Array.from({ length: 33 }, (_, j) => (j % 3 === 0 ? 0 : 1)), shape: [33] };
    const clean = await heed.attention(q, k, v, { mask, ...EVERYTHING });
    for (const poison of [Number.NaN, Number.POSITIVE_INFINITY, -1e38]) {
      const spoil = ({ data, shape }: TensorLike): TensorLike => ({
        data: data.map((value, index) => (Math.floor(index / 8) % 3 === 0 ? poison : value)),
        shape,
      });
      expect(await heed.attention(q, spoil(k), spoil(v), { mask, ...EVERYTHING })).toEqual(clean);
    }
  });

  test("a mask shorter than the keys masks the rest", async () => {
    const [q, k, v] = [tensor(1, 2, 3, 4), tensor(1, 2, 6, 4), tensor(1, 2, 6, 4)];
    const short = { data: Uint8Array.of(1, 0, 1), shape: [3] };
    const long = { data: Uint8Array.of(1, 0, 1, 0, 0, 0), shape: [6] };
    const got = await heed.attention(q, k, v, { mask: short, ...EVERYTHING });
    expect(got).toEqual(await heed.attention(q, k, v, { mask: long, ...EVERYTHING }));
  });

  test("a mask, a bias and causal combine", async () => {
    const [q, k, v] = [tensor(1, 1, 3, 4), tensor(1, 1, 3, 4), tensor(1, 1, 3, 4)];
    const { weights } = await heed.attention(q, k, v, {
      causal: true,
      mask: [true, true, true, false, true, true, true, true, true],
      bias: Float32Array.of(0, 0, 0, 0, 0, 0, 0, -Infinity, 0),
      return: { weights: true },
    });
    expect([...weights.data].map((p) => p > 0)).toEqual([true, false, false, false, true, false, true, false, true]);
  });

  test("no keys give zeros and lse -Infinity", async () => {
    const { output, weights, lse } = await heed.attention(
      tensor(1, 2, 3, 4),
      tensor(1, 2, 0, 4),
      tensor(1, 2, 0, 5),
      EVERYTHING,
    );
    expect(output).toEqual({ data: new Float32Array(30), shape: [1, 2, 3, 5], dtype: "f32" });
    expect(weights).toEqual({ data: new Float32Array(0), shape: [1, 2, 3, 0], dtype: "f32" });
    expect(lse.data).toEqual(new Float32Array(6).fill(-Infinity));
  });

  test.each([
    ["no queries", [1, 2, 0, 4], [1, 2, 5, 4], [1, 2, 0, 4]],
    ["no batch", [0, 2, 3, 4], [0, 2, 5, 4], [0, 2, 3, 4]],
    ["nothing but heads", [0, 2, 0, 4], [0, 2, 0, 4], [0, 2, 0, 4]],
    ["no queries of rank 2", [0, 4], [5, 4], [0, 4]],
  ])("%s give an empty result", async (_name, q, kv, wanted) => {
    const { output, lse } = await heed.attention(tensor(...q), tensor(...kv), tensor(...kv), EVERYTHING);
    expect(output).toEqual({ data: new Float32Array(0), shape: wanted, dtype: "f32" });
    expect(lse.data.length).toBe(0);
  });

  test("query heads share key heads in contiguous groups", async () => {
    const [q, k, v] = [tensor(1, 6, 5, 4), tensor(1, 2, 7, 4), tensor(1, 2, 7, 4)];
    const repeat = ({ data }: TensorLike): TensorLike => {
      const [a, b] = [data.subarray(0, 28), data.subarray(28)];
      return { data: Float32Array.from([...a, ...a, ...a, ...b, ...b, ...b]), shape: [1, 6, 7, 4] };
    };
    const grouped = await heed.attention(q, k, v);
    const repeated = await heed.attention(q, repeat(k), repeat(v));
    // Groups share tiles, so rows meet other rows there, but their sums keep their order.
    for (const [index, value] of repeated.output.data.entries())
      expect(grouped.output.data[index]).toBeCloseTo(value, 5);
  });

  test("every layout and rank of the same numbers gives the same numbers", async () => {
    const [h, l, s, d] = [2, 3, 5, 4];
    const [q, k, v] = [tensor(1, h, l, d), tensor(1, h, s, d), tensor(1, h, s, d)];
    const swap = ({ data }: TensorLike, length: number, ...shape: number[]): TensorLike => {
      const swapped = data.map((_, index) => {
        const [row, head, dim] = [Math.floor(index / (h * d)), Math.floor(index / d) % h, index % d];
        return data[(head * length + row) * d + dim] ?? Number.NaN;
      });
      return { data: swapped, shape };
    };
    const base = await heed.attention(q, k, v, EVERYTHING);
    const as = async (shapes: [number[], number[]], options: object): Promise<typeof base> => {
      const [qs, ks] = shapes;
      return heed.attention(swap(q, l, ...qs), swap(k, s, ...ks), swap(v, s, ...ks), { ...options, ...EVERYTHING });
    };
    const bnhd = await as(
      [
        [1, l, h, d],
        [1, s, h, d],
      ],
      { layout: "bnhd" },
    );
    const lhd = await as(
      [
        [l, h, d],
        [s, h, d],
      ],
      { layout: "bnhd" },
    );
    const packed = await as(
      [
        [1, l, h * d],
        [1, s, h * d],
      ],
      { layout: "packed", heads: h },
    );
    const expected = swap({ data: base.output.data, shape: [] }, l).data;
    for (const got of [bnhd, lhd, packed]) {
      expect(got.output.data).toEqual(expected);
      expect(got.weights.data).toEqual(base.weights.data);
      expect(got.lse.data).toEqual(base.lse.data);
    }
    const shapesOf = (got: typeof base): unknown => [got.output.shape, got.weights.shape, got.lse.shape];
    expect(shapesOf(bnhd)).toEqual([
      [1, l, h, d],
      [1, h, l, s],
      [1, h, l],
    ]);
    expect(shapesOf(lhd)).toEqual([
      [l, h, d],
      [h, l, s],
      [h, l],
    ]);
    expect(shapesOf(packed)).toEqual([
      [1, l, h * d],
      [1, h, l, s],
      [1, h, l],
    ]);
    const rank3 = await heed.attention(
      { ...q, shape: [h, l, d] },
      { ...k, shape: [h, s, d] },
      { ...v, shape: [h, s, d] },
    );
    expect(rank3.output).toEqual({ data: base.output.data, shape: [h, l, d], dtype: "f32" });
  });

  test("score dot is scale 1, and temperature divides", async () => {
    const [q, k, v] = [tensor(3, 16), tensor(5, 16), tensor(5, 16)];
    const one = await heed.attention(q, k, v, { scale: 1 });
    expect(await heed.attention(q, k, v, { score: "dot" })).toEqual(one);
    expect(await heed.attention(q, k, v, { scale: 4, temperature: 4 })).toEqual(one);
    expect(await heed.attention(q, k, v, { temperature: 0.25 })).toEqual(one);
  });

  test("large scores stay finite", async () => {
    const big = (rows: number): TensorLike => ({ data: random.floats(rows * 8, 1e4), shape: [rows, 8] });
    const { output, lse } = await heed.attention(big(9), big(40), tensor(40, 8), EVERYTHING);
    expect([...output.data, ...lse.data].every(Number.isFinite)).toBe(true);
  });

  test("inputs may be overwritten as soon as the call was made", async () => {
    const [q, k, v] = [tensor(1, 2, 33, 16), tensor(1, 2, 33, 16), tensor(1, 2, 33, 16)];
    const expected = await heed.attention(q, k, v);
    const first = heed.attention(q, k, v);
    const second = heed.attention(q, k, v);
    for (const { data } of [q, k, v]) data.fill(Number.NaN);
    expect(await first).toEqual(expected);
    expect(await second).toEqual(expected);
  });

  test("views on shared memory and views with an offset are read and filled", async () => {
    const shared = (source: TensorLike): TensorLike => {
      const data = new Float32Array(new SharedArrayBuffer(source.data.byteLength + 8), 4, source.data.length);
      data.set(source.data);
      return { data, shape: source.shape };
    };
    const [q, k, v] = [tensor(3, 4), tensor(5, 4), tensor(5, 4)];
    const mask = { data: new Uint8Array(new SharedArrayBuffer(6), 1, 5).fill(1), shape: [5] };
    const expected = await heed.attention(q, k, v);
    const out = new Float32Array(new SharedArrayBuffer(48));
    const got = await heed.attention(shared(q), shared(k), shared(v), { mask, out });
    expect(got.output.data).toBe(out);
    expect([...out]).toEqual([...expected.output.data]);
  });

  test("out is filled from its start and may be longer", async () => {
    const [q, k, v] = [tensor(3, 4), tensor(5, 4), tensor(5, 4)];
    const expected = await heed.attention(q, k, v);
    const out = new Float32Array(20).fill(-1);
    const { output } = await heed.attention(q, k, v, { out });
    expect(output.data.buffer).toBe(out.buffer);
    expect(output).toEqual({ ...expected.output, data: out.subarray(0, 12) });
    expect(out.subarray(12)).toEqual(new Float32Array(8).fill(-1));
    expect(heed.attentionSync(q, k, v, { out: new Float32Array(12) }).output).toEqual(expected.output);
  });

  test("results can be left out, and are returned as separate arrays", async () => {
    const [q, k, v] = [tensor(3, 4), tensor(5, 4), tensor(5, 4)];
    const bare = await heed.attention(q, k, v);
    expect([bare.weights, bare.lse]).toEqual([undefined, undefined]);
    const { output, lse, weights } = await heed.attention(q, k, v, { return: { output: false, lse: true } });
    expect([output, weights]).toEqual([undefined, undefined]);
    expect(lse.data.buffer.byteLength).toBe(12);
  });

  test("tensors in the engine serve many calls and give what arrays give", async () => {
    const [q, k, v] = [tensor(1, 2, 9, 8), tensor(1, 2, 17, 8), tensor(1, 2, 17, 8)];
    const [kt, vt] = [heed.tensor(k.data, k.shape), heed.tensor(v.data, v.shape)];
    const bias = heed.zeros([9, 17]);
    const expected = await heed.attention(q, k, v);
    for (let i = 0; i < 3; i++) expect(await heed.attention(q, kt, vt, { bias })).toEqual(expected);
    expect(heed.attentionSync(q, kt, vt).output).toEqual(expected.output);
    expect(await kt.read()).toEqual(k.data);
    for (const one of [kt, vt, bias]) one.dispose();
  });

  test("one tensor can be query, key and value of a call", async () => {
    const x = tensor(1, 2, 9, 8);
    const expected = await heed.attention(x, x, x);
    const resident = heed.tensor(x.data, x.shape);
    expect(await heed.attention(resident, resident, resident)).toEqual(expected);
    expect(await heed.attention(resident, x, resident)).toEqual(expected);
    resident.dispose();
  });

  test("kept results feed the next call", async () => {
    const [q, k, v] = [tensor(4, 8), tensor(6, 8), tensor(6, 8)];
    const kept = await heed.attention(q, k, v, { keep: true, ...EVERYTHING });
    const plain = await heed.attention(q, k, v, EVERYTHING);
    expect(await kept.output.read()).toEqual(plain.output.data);
    expect(await kept.weights.read()).toEqual(plain.weights.data);
    expect(await kept.lse.read()).toEqual(plain.lse.data);
    expect(kept.output).toMatchObject({ shape: [4, 8], dtype: "f32", location: "wasm" });
    const next = await heed.attention(kept.output, k, v);
    expect(next).toEqual(await heed.attention(plain.output, k, v));
    for (const one of [kept.output, kept.weights, kept.lse]) one.dispose();
  });

  test("a tensor disposed after the call was made still serves it", async () => {
    const [q, k, v] = [tensor(4, 8), tensor(6, 8), tensor(6, 8)];
    const expected = await heed.attention(q, k, v);
    const kt = heed.tensor(k.data, k.shape);
    const calls = [heed.attention(q, kt, v), heed.attention(q, kt, v)];
    kt.dispose();
    kt.dispose();
    const other = heed.tensor(new Float32Array(48).fill(9), [6, 8]);
    expect(await Promise.all(calls)).toEqual([expected, expected]);
    other.dispose();
  });
});
