// f16: rounding and widening by the format's definition, and calls that give what the same numbers give in f32.

import { afterAll, describe, expect, test } from "vitest";
import { fromF16, toF16 } from "../../web/src/base/f16.js";
import type {
  AttentionOptions,
  AttentionResult,
  HalfTensorLike,
  TensorInput,
  TensorLike,
} from "../../web/src/index.js";
import { cases, EVERYTHING, type EverythingResult, firstDifferentBit } from "../support/cases.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { Random } from "../support/random.js";

const ALL = Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits);

/** IEEE 754: sign, 5 bits of exponent with bias 15, 10 bits of fraction. */
function numberOf(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

describe("f16 as bits", () => {
  test("every f16 number widens to its value, zeros with their sign", () => {
    const wide = fromF16(ALL);
    expect(ALL.findIndex((bits) => !Object.is(wide[bits], numberOf(bits)))).toBe(-1);
  });

  test("every f16 number rounds to itself, and NaN to a NaN", () => {
    const round = toF16(fromF16(ALL));
    expect(ALL.findIndex((bits) => !Number.isNaN(numberOf(bits)) && round[bits] !== bits)).toBe(-1);
    expect(ALL.every((bits) => !Number.isNaN(numberOf(bits)) || Number.isNaN(numberOf(round[bits] ?? 0)))).toBe(true);
  });

  test("numbers halfway between two round to the even one, others to the nearer", () => {
    const largest = 0x7bff;
    for (let bits = 0; bits < largest; bits++) {
      const [below, above] = [numberOf(bits), numberOf(bits + 1)];
      const middle = (below + above) / 2;
      const even = bits % 2 === 0 ? bits : bits + 1;
      const single = Float32Array.of(middle, -middle, middle + (above - middle) / 512, middle - (middle - below) / 512);
      const wanted = [even, even | 0x8000, bits + 1, bits];
      if (String(toF16(single)) !== String(wanted)) expect([bits, ...toF16(single)]).toEqual(wanted);
    }
    expect([...toF16(Float32Array.of(65519.99, 65520, -1e38, 2 ** -25, 2 ** -26))]).toEqual([
      largest,
      0x7c00,
      0xfc00,
      0,
      0,
    ]);
  });
});

const problems = cases(31, 24);
const inHalf = ({ data, shape }: TensorLike): { bits: Uint16Array; single: TensorLike } => {
  const bits = toF16(data);
  return { bits, single: { data: fromF16(bits), shape } };
};

describe.each(ENGINE_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test("f16 inputs give the bits of the same numbers in f32, as arrays and as tensors", async () => {
    const random = new Random(32);
    for (const one of problems) {
      const options = { ...one.options, ...EVERYTHING };
      const tensors = [one.query, one.key, one.value].map((tensor): [TensorLike, TensorInput] => {
        const { bits, single } = inHalf(tensor);
        const { shape } = tensor;
        const made = (): TensorInput => heed.tensor(random.chance(0.5) ? tensor.data : bits, shape, { dtype: "f16" });
        if (random.chance(0.3)) return [tensor, tensor];
        return [single, random.chance(0.5) ? { data: bits, shape, dtype: "f16" } : made()];
      });
      const [[q, hq] = fail(), [k, hk] = fail(), [v, hv] = fail()] = tensors;
      const wanted: EverythingResult = heed.attentionSync(q, k, v, options);
      const results: EverythingResult[] = [
        await heed.attention(hq, hk, hv, options),
        heed.attentionSync(hq, hk, hv, options),
      ];
      for (const got of results) {
        expect(firstDifferentBit(got, wanted), one.name).toBeNull();
        expect(got.output.dtype).toBe("f32");
      }
      for (const [, tensor] of tensors) if ("dispose" in tensor) tensor.dispose();
    }
  });

  test("an f16 tensor is read as f32, and takes two bytes a number", async () => {
    const floats = Float32Array.of(1, -2.5, 65504, 1 / 3, 1e9, 2 ** -24);
    using rounded = heed.tensor(floats, [2, 3], { dtype: "f16" });
    expect([rounded.dtype, rounded.shape]).toEqual(["f16", [2, 3]]);
    expect([...(await rounded.read())]).toEqual([1, -2.5, 65504, numberOf(0x3555), Infinity, 2 ** -24]);
    using bits = heed.tensor(Uint16Array.of(0x3c00, 0x8000), [2], { dtype: "f16" });
    expect([...(await bits.read())]).toEqual([1, -0]);
    using zeros = heed.zeros([3], { dtype: "f16" });
    expect([zeros.dtype, ...(await zeros.read())]).toEqual(["f16", 0, 0, 0]);
    using single = heed.tensor(floats, [6]);
    expect([single.dtype, await single.read()]).toEqual(["f32", floats]);
  });

  test("f16 options give the bits of the same numbers in f32", async () => {
    const random = new Random(34);
    const both = (...shape: number[]): { f16: HalfTensorLike; f32: TensorLike } => {
      const count = shape.reduce((total, size) => total * size, 1);
      // Positive, as a bandwidth is.
      const { bits, single } = inHalf({ data: random.floats(count).map((number) => Math.abs(number) + 1), shape });
      return { f16: { data: bits, shape, dtype: "f16" }, f32: single };
    };
    const [q, k] = [both(2, 5, 8).f32, both(2, 7, 8).f32];
    const [bias, slopes, sinks, perHead, w, wq, b] = [
      both(5, 7),
      both(2),
      both(2),
      both(2),
      both(8, 8),
      both(2, 8, 8),
      both(8),
    ];
    const ofGate = both(2, 16);
    for (const take of [
      (of) => ({ bias: of(bias), alibiSlopes: of(slopes), sinks: of(sinks) }),
      (of) => ({ score: { type: "general", w: of(w) } }),
      (of) => ({ score: { type: "additive", wq: of(wq), wk: of(w), b: of(b), v: of(b) } }),
      (of) => ({ score: { type: "gated", w: of(ofGate), b: of(perHead) } }),
      (of) => ({ score: { type: "rbf", bandwidth: of(perHead) } }),
    ] as ((of: (one: typeof w) => TensorLike | HalfTensorLike) => AttentionOptions)[]) {
      const wanted: AttentionResult = heed.attentionSync(
        q,
        k,
        k,
        take(({ f32 }) => f32),
      );
      const got: AttentionResult = await heed.attention(
        q,
        k,
        k,
        take(({ f16 }) => f16),
      );
      expect(got).toEqual(wanted);
    }
  });

  test("f16 arrays may be overwritten as soon as the call was made, and tensors freed", async () => {
    const { bits, single } = inHalf({ data: new Random(33).floats(9 * 8), shape: [9, 8] });
    const expected = await heed.attention(single, single, single);
    const tensor = heed.tensor(bits, [9, 8], { dtype: "f16" });
    const array = { data: bits, shape: [9, 8], dtype: "f16" } as const;
    const calls = [heed.attention(array, tensor, tensor), heed.attention(tensor, array, array)];
    bits.fill(0x7e00);
    tensor.dispose();
    expect(await Promise.all(calls)).toEqual([expected, expected]);
  });
});

function fail(): never {
  throw new Error("unreachable");
}
