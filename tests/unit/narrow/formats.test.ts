// Formats of weights: what they hold against decoders that are written by their definitions, and what heed rounds against GGML's.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatNamed } from "../../../web/src/layers/formats/table.js";
import type { WeightFormat } from "../../../web/src/layers/index.js";
import { dequantize, quantize } from "../../../web/src/layers/index.js";
import { unpack } from "../../support/fixtures.js";
import { Random } from "../../support/random.js";
import { decoded, randomStored } from "../../support/stored-weights.js";

const random = new Random(43);

const fixture = JSON.parse(readFileSync(new URL("../../fixtures/gguf.json", import.meta.url), "utf8"));
const { floats, made } = fixture.rounded as {
  readonly floats: Parameters<typeof unpack>[0];
  readonly made: Readonly<Record<string, string>>;
};

const GGML = { int8: "Q8_0", int4: "Q4_0", f16: "F16", bf16: "BF16" } as const;
/** Zeros of both signs are one. */
const firstDifference = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).findIndex((number, at) => number !== b[at]);
const bytesIn = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

describe.each(["f16", "bf16", "int8", "int4"] as const)("%s", (format) => {
  test("is rounded to the bytes of GGML's own library", () => {
    const rounded = quantize(unpack(floats), format);
    expect(rounded).toMatchObject({ format, shape: [4, 320] });
    expect([...bytesIn(rounded.data)]).toEqual([...Buffer.from(made[GGML[format]] ?? "", "base64")]);
  });

  test("what is rounded stays what it is when it is rounded again", () => {
    const rounded = quantize(unpack(floats), format);
    const again = quantize(dequantize(rounded), format);
    // A scale of 0 leaves whole numbers that mean nothing.
    expect(firstDifference(dequantize(again).data, dequantize(rounded).data)).toBe(-1);
  });

  test("what it cannot hold is refused by the number", () => {
    const numbers = unpack(floats).data.slice(0, 64);
    const beyond = { f16: 65520, bf16: 3.4e38, int8: 127 * 65520, int4: -8 * 65520 }[format];
    numbers[40] = beyond;
    expect(() => quantize({ data: numbers, shape: [64] }, format)).toThrow(
      `to become ${format}, number 40 is ${numbers[40]}`,
    );
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY]) {
      numbers[40] = number;
      const rounding = (): unknown => quantize({ data: numbers, shape: [64] }, format);
      if (format.startsWith("int")) expect(rounding).toThrow("finite");
      else expect(dequantize(quantize({ data: numbers, shape: [64] }, format)).data[40]).toBe(number);
    }
  });
});

describe.each(["f16", "bf16", "int8", "int4", "int4-min", "q4-k"] as const)("%s", (format) => {
  test("of any bits is what its definition says", () => {
    const tensor = randomStored(random, format, 5, 512);
    const { data } = dequantize(tensor);
    expect(data.length).toBe(5 * 512);
    expect(firstDifference(data, decoded(tensor))).toBe(-1);
  });
});

/** The distance of a rounded number from its own, in units of the group's largest one. */
const STEPS = { int8: 1 / 254, int4: 1 / 16 } as const;

test.each(["int8", "int4"] as const)("%s: no number moves by more than half a step, and zeros stay", (format) => {
  const rows = 40;
  const numbers = random.floats(rows * 64);
  for (let at = 0; at < 64; at++) numbers[at] = 0;
  const { data } = dequantize(quantize({ data: numbers, shape: [rows, 64] }, format));
  expect([...data.subarray(0, 64)].every((number) => number === 0)).toBe(true);
  for (let group = 0; group < numbers.length; group += 32) {
    const own = numbers.subarray(group, group + 32);
    const largest = own.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
    for (const [at, number] of own.entries()) {
      // int4 has 7 steps on one side, so that the other end may move by a whole one; and an f16 scale is rounded.
      const most = format === "int4" ? 2 * STEPS.int4 : STEPS.int8;
      expect(Math.abs(number - (data[group + at] ?? 0))).toBeLessThanOrEqual(largest * (most + 2 ** -11));
    }
  }
});

test("tensors come in any format, and rows without whole blocks are refused", () => {
  const plain = { data: random.floats(96), shape: [3, 32] };
  const int8 = quantize(plain, "int8");
  const half = quantize(plain, "f16");
  expect(quantize({ data: half.data as Uint16Array, shape: [3, 32], dtype: "f16" } as never, "f16")).toEqual(half);
  expect(quantize(int8, "int8")).toEqual(int8);
  expect(dequantize(quantize(int8, "int4")).shape).toEqual([3, 32]);
  expect(() => quantize({ data: plain.data, shape: [4, 24] }, "int8")).toThrow(
    "quantize: a tensor must have rows with a multiple of 32 numbers to become int8, got [4, 24]",
  );
  expect(() => quantize(plain, "q4-k" as never)).toThrow('format must be one of "f16", "bf16", "int8", "int4"');
  expect(() => quantize(plain, undefined as never)).toThrow("quantize: format must be given");
  expect(() => quantize({ data: plain.data, shape: [3, 32], format: "q8" } as never, "int8")).toThrow(
    "must be of a format among f32, f16, bf16, int8, int4, int4-min, q4-k",
  );
  expect(() => dequantize({ ...int8, data: int8.data.subarray(1) })).toThrow("must have 102 bytes, got 101");
  expect(() => dequantize({ ...int8, data: new Float32Array(8) } as never)).toThrow("a Uint8Array of the blocks");
  expect(() => dequantize({ ...int8, shape: [6, 16] })).toThrow("rows with a multiple of 32 numbers");
});

test("every format is named", () => {
  for (const name of ["f32", "f16", "bf16", "int8", "int4", "int4-min", "q4-k"] satisfies WeightFormat[]) {
    expect(formatNamed(name)?.name).toBe(name);
  }
  expect(formatNamed("toString")).toBeUndefined();
});
