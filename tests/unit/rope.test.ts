// rope on every kind of engine against heed/reference, its scalings against their formulae, and every call that it must refuse.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type RopeOptions, rope, type Tensor } from "../../web/src/index.js";
import { rope as reference } from "../../web/src/reference/index.js";
import { errorOf } from "../support/cases.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { Random } from "../support/random.js";
import { firstWrongTurn, REFUSED_ROPES, ROPE_CALLS } from "../support/rope-cases.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(400);

const tensor = drawnBy(random);

describe.each(ENGINE_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test.each(ROPE_CALLS)("rotates %s", async (_, x, options) => {
    expect(firstWrongTurn(await heed.rope(x, { ...options, keep: false }), reference(x, options as never))).toBe(-1);
  });

  test("takes tables, f16 and tensors, and keeps results on request", async () => {
    const x = tensor(2, 2, 3, 8);
    const [cos, sin] = [tensor(9, 3), tensor(9, 3)];
    const options = { cos, sin, positions: [8, 0, 4] };
    const wanted = reference(x, options as never);
    expect(firstWrongTurn(await heed.rope(x, options), wanted, 32)).toBe(-1);
    const kept = await heed.rope(heed.tensor(x.data, x.shape), {
      ...options,
      cos: heed.tensor(cos.data, cos.shape),
      keep: true,
    });
    expect(firstWrongTurn({ data: await kept.read(), shape: kept.shape }, wanted, 32)).toBe(-1);
    const byBatch = { cos: tensor(2, 3, 4), sin: tensor(2, 3, 4) };
    expect(firstWrongTurn(await heed.rope(x, byBatch), reference(x, byBatch as never), 32)).toBe(-1);
    const bits = Uint16Array.of(0x3c00, 0x4000, 0, 0xbc00);
    const f16 = await heed.rope({ data: bits, shape: [1, 4], dtype: "f16" }, { positions: 2 });
    expect(
      firstWrongTurn(f16, reference({ data: Float32Array.of(1, 2, 0, -1), shape: [1, 4] }, { positions: 2 })),
    ).toBe(-1);
  });

  test("holds what its first call is given: tensors may be disposed of, and arrays written to", async () => {
    using engine = await openKind(kind);
    const [x, cos, sin] = [tensor(2, 2, 3, 8), tensor(3, 4), tensor(3, 4)];
    const wanted = reference(x, { cos, sin });
    const [given, table] = [x, cos].map(({ data, shape }) => engine.tensor(data, shape)) as [Tensor, Tensor];
    const sines = { data: sin.data.slice(), shape: sin.shape };
    const first = engine.rope(given, { cos: table, sin: sines });
    for (const one of [given, table, given]) one.dispose();
    sines.data.fill(7);
    expect(await errorOf(() => engine.rope(given))).toMatchObject({ code: "disposed" });
    expect(firstWrongTurn(await first, wanted, 32)).toBe(-1);
    expect(engine.memory().tensors).toBe(0);
  });

  test("takes f16 tables, and positions as a tensor", async () => {
    const x = tensor(1, 2, 2, 4);
    // 1, -0.5, 0 and 2 by their bits.
    const table = { data: Uint16Array.of(0x3c00, 0xb800, 0, 0x4000), shape: [2, 2], dtype: "f16" } as const;
    const positions = { data: Float32Array.of(1, 0), shape: [2] };
    const [first, second] = [Float32Array.of(0, 2), Float32Array.of(1, -0.5)];
    const plain = { data: Float32Array.of(...first, ...second), shape: [2, 2] };
    const wanted = reference(x, { cos: plain, sin: plain });
    expect(firstWrongTurn(await heed.rope(x, { cos: table, sin: table, positions }), wanted, 32)).toBe(-1);
    expect(reference(x, { cos: table, sin: table, positions })).toEqual(wanted);
    expect(() => reference(x, { scaling: 2 })).toThrow(RangeError);
  });

  test("reads its arrays before it returns", async () => {
    const x = tensor(1, 2, 3, 8);
    const wanted = reference({ data: x.data.slice(), shape: x.shape });
    const promise = heed.rope(x);
    x.data.fill(Number.NaN);
    expect(firstWrongTurn(await promise, wanted)).toBe(-1);
  });

  test("the inverse rotation gives the numbers back, and equal shifts do not change products of queries and keys", async () => {
    const [q, k] = [tensor(1, 1, 4, 32), tensor(1, 1, 4, 32)];
    const turned = await heed.rope(q, { positions: 50 });
    const back = await heed.rope(turned, { positions: 50, inverse: true });
    expect(back.data.findIndex((number, at) => Math.abs(number - (q.data[at] ?? 0)) > 16 * 4 * 2 ** -24)).toBe(-1);
    const raw = async (positions: number): Promise<Float32Array> => {
      const [a, b] = [await heed.rope(q, { positions }), await heed.rope(k, { positions })];
      return (await heed.attention(a, b, b, { return: { scores: "raw" } })).scores.data;
    };
    const [here, there] = [await raw(0), await raw(321)];
    expect(here.findIndex((number, at) => Math.abs(number - (there[at] ?? 0)) > 1e-5)).toBe(-1);
  });
});

describe("scaling", () => {
  const x = tensor(1, 1, 6, 8);
  const plain = [1, 0.1, 0.01, 0.001];
  const turnedBy = async (options: RopeOptions, frequencies: readonly number[], magnitude = 1): Promise<number> =>
    firstWrongTurn(await rope(x, { ...options, keep: false }), reference(x, { frequencies, magnitude }), 16);

  test("by a number divides every position", async () => {
    const slower = plain.map((frequency) => frequency / 4);
    expect(await turnedBy({ scaling: 4 }, slower)).toBe(-1);
    expect(await turnedBy({ scaling: { type: "linear", factor: 4 } }, slower)).toBe(-1);
  });

  test("ntk divides the slowest pair by the factor and leaves the fastest", async () => {
    const slower = plain.map((frequency, i) => frequency * 4 ** (-i / 3));
    expect(await turnedBy({ scaling: { type: "ntk", factor: 4 } }, slower)).toBe(-1);
  });

  test("llama3 divides pairs of long wavelength, keeps those of short, and interpolates between", async () => {
    // Wavelengths of 6.28, 62.8, 628 and 6283 positions, against 1000 / 4 = 250 and 1000 / 1.
    const share = (1000 / 628.3185307179587 - 1) / 3;
    const frequencies = [1, 0.1, ((1 - share) / 8 + share) * 0.01, 0.001 / 8];
    const scaling = { type: "llama3", factor: 8, originalLength: 1000 } as const;
    expect(await turnedBy({ scaling }, frequencies)).toBe(-1);
  });

  test("yarn interpolates between the pairs with 32 rotations and with one, and multiplies by its factor", async () => {
    // 4 ln(1000 / (32 * 2 pi)) / ln 10000 = 0.697 and 4 ln(1000 / (2 pi)) / ln 10000 = 2.2: pairs 0 to 3.
    const frequencies = plain.map((frequency, i) => frequency * (1 - i / 3 + i / 3 / 8));
    const scaling = { type: "yarn", factor: 8, originalLength: 1000 } as const;
    expect(await turnedBy({ scaling }, frequencies, 0.1 * Math.log(8) + 1)).toBe(-1);
    expect(await turnedBy({ scaling: { ...scaling, attentionFactor: 1 } }, frequencies)).toBe(-1);
    const there = await rope(x, { scaling, positions: 7 });
    const back = await rope(there, { scaling, positions: 7, inverse: true });
    expect(back.data.findIndex((number, at) => Math.abs(number - (x.data[at] ?? 0)) > 16 * 4 * 2 ** -24)).toBe(-1);
    const [from, to] = [32, 1].map((times) => (4 * Math.log(1000 / (times * 2 * Math.PI))) / Math.log(10000)) as [
      number,
      number,
    ];
    const between = plain.map((frequency, i) => {
      const share = Math.min(Math.max((i - from) / (to - from), 0), 1);
      return frequency * (1 - share + share / 8);
    });
    const parted = { ...scaling, attentionFactor: 1, truncate: false };
    expect(await turnedBy({ scaling: parted }, between)).toBe(-1);
  });
});

describe("tests/cases/rope-rejects.json", async () => {
  const heed = await createHeed();
  afterAll(() => heed.dispose());

  test.each(REFUSED_ROPES)("refuses: $name", async ({ refused, code, message }) => {
    const error = await errorOf(() => Reflect.apply(heed.rope, heed, [...refused]));
    expect(error).toMatchObject({ name: "HeedError", code });
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/^rope: /);
  });

  test("an engine that was disposed, and a signal that was aborted", async () => {
    const other = await createHeed();
    const aborted = await errorOf(() => other.rope(tensor(2, 4), { signal: AbortSignal.abort() }));
    expect(aborted).toMatchObject({ code: "aborted" });
    const foreign = heed.zeros([2, 4]);
    expect(await errorOf(() => other.rope(foreign))).toMatchObject({ code: "disposed" });
    other.dispose();
    expect(await errorOf(() => other.rope(tensor(2, 4)))).toMatchObject({ code: "disposed" });
  });
});
