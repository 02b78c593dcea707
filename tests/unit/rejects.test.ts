// Every call that must be refused is, with its code and its message, sync and async; and the engine works on.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHeed, type Heed } from "../../web/src/index.js";
import list from "../cases/attention-rejects.json";
import { errorOf } from "../support/cases.js";

let heed: Heed;
beforeAll(async () => {
  heed = await createHeed();
});
afterAll(() => heed.dispose());

/** Numbers that JSON cannot say. */
const SPELT: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
]);

function spelt(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spelt);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, spelt(inner)]));
  }
  return SPELT.get(value) ?? value;
}

/** Zeros of a shape that may be nonsense: then empty, since the shape must be refused before the data is looked at. */
function zeros(shape: readonly unknown[], make: (size: number) => unknown): { data: unknown; shape: unknown } {
  const size = shape.reduce<number>((total, axis) => (typeof axis === "number" ? total * axis : -1), 1);
  return { data: make(Number.isInteger(size) && size > 0 && size < 2 ** 20 ? size : 0), shape: spelt(shape) };
}

const floats = (size: number): Float32Array => new Float32Array(size);
const bytes = (size: number): Uint8Array => new Uint8Array(size);

interface Reject {
  readonly name: string;
  readonly query: readonly unknown[];
  readonly key: readonly unknown[];
  readonly value: readonly unknown[];
  readonly mask?: readonly unknown[];
  readonly bias?: readonly unknown[];
  readonly options?: unknown;
  readonly code: string;
  readonly message: string;
}

const rejects: readonly Reject[] = list.cases;

function argumentsOf(one: Reject): unknown[] {
  const tensors = [one.query, one.key, one.value].map((shape) => zeros(shape, floats));
  const extras = {
    ...(one.mask && { mask: zeros(one.mask, bytes) }),
    ...(one.bias && { bias: zeros(one.bias, floats) }),
  };
  if (Object.keys(extras).length === 0 && !("options" in one)) return tensors;
  const options = spelt(one.options);
  if (Object.keys(extras).length === 0) return [...tensors, options];
  return [...tensors, { ...(typeof options === "object" ? options : {}), ...extras }];
}

/** Calls with whatever arguments: what is wrong with them is the test. */
function call(method: "attention" | "attentionSync", args: readonly unknown[]): unknown {
  return Reflect.apply(heed[method], heed, args);
}

describe("tests/cases/attention-rejects.json", () => {
  test.each(rejects)("refuses: $name", async (one) => {
    for (const method of ["attention", "attentionSync"] as const) {
      const error = await errorOf(() => call(method, argumentsOf(one)));
      expect(error).toMatchObject({ name: "HeedError", code: one.code });
      expect(error.message).toContain(one.message);
      expect(error.message).toMatch(new RegExp(`^${method}: `));
    }
  });
});

const tensor = (...shape: number[]): { data: Float32Array; shape: number[] } => ({
  data: new Float32Array(shape.reduce((total, size) => total * size, 1)),
  shape,
});

const [Q, K, V] = [tensor(1, 2, 3, 4), tensor(1, 2, 5, 4), tensor(1, 2, 5, 4)];

function detached(): Float32Array {
  const array = new Float32Array(24);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
}

describe("values that only JavaScript has", () => {
  test.each([
    ["nothing at all", [], "dtype", "query must be { data, shape }"],
    ["null", [null, K, V], "dtype", "query must be { data, shape }"],
    ["a number", [Q, 7, V], "dtype", "key must be { data, shape }"],
    ["a bare array", [Q, K, new Float32Array(40)], "dtype", "value must be { data, shape }"],
    ["an array of numbers", [{ data: [1, 2], shape: [1, 2] }, K, V], "dtype", "must be a Float32Array, got"],
    ["double precision", [{ data: new Float64Array(24), shape: Q.shape }, K, V], "dtype", "got a Float64Array"],
    ["whole numbers", [{ data: new Int32Array(24), shape: Q.shape }, K, V], "dtype", "got a Int32Array"],
    [
      "half precision",
      [{ data: new Uint16Array(24), shape: Q.shape, dtype: "f16" }, K, V],
      "unsupported",
      "half precision",
    ],
    ["an unknown dtype", [{ ...Q, dtype: "f64" }, K, V], "dtype", 'dtype must be "f32"'],
    ["a shape that is no array", [{ data: Q.data, shape: 24 }, K, V], "shape", "query.shape must be an array"],
    [
      "too few elements",
      [{ data: new Float32Array(23), shape: Q.shape }, K, V],
      "shape",
      "must have 24 elements, got 23",
    ],
    [
      "too many elements",
      [{ data: new Float32Array(25), shape: Q.shape }, K, V],
      "shape",
      "must have 24 elements, got 25",
    ],
    ["a detached buffer", [{ data: detached(), shape: Q.shape }, K, V], "shape", "transferred away"],
    ["a float mask", [Q, K, V, { mask: tensor(3, 5) }], "dtype", "are a bias"],
    ["a byte bias", [Q, K, V, { bias: { data: new Uint8Array(15), shape: [3, 5] } }], "dtype", "is a mask"],
    ["a mask value of 2", [Q, K, V, { mask: { data: new Uint8Array(15).fill(2), shape: [3, 5] } }], "option", "0 or 1"],
    [
      "numbers in a boolean mask",
      [Q, K, V, { mask: { data: [0, 1, 1, 0, 1], shape: [5] } }],
      "dtype",
      "must be booleans",
    ],
    ["a hole in a boolean mask", [Q, K, V, { mask: { data: new Array(5), shape: [5] } }], "dtype", "must be booleans"],
    ["a bare mask of another size", [Q, K, V, { mask: new Uint8Array(16) }], "shape", "mask without a shape"],
    ["a bare bias of another size", [Q, K, V, { bias: new Float32Array(16) }], "shape", "bias without a shape"],
    ["an out that is too short", [Q, K, V, { out: new Float32Array(23) }], "shape", "room for 24 elements, got 23"],
    [
      "a signal that nobody can stop listening to",
      [Q, K, V, { signal: { aborted: false, addEventListener() {} } }],
      "option",
      "signal must be an AbortSignal",
    ],
    ["an out of doubles", [Q, K, V, { out: new Float64Array(24) }], "dtype", "out must be a Float32Array"],
    ["a detached out", [Q, K, V, { out: detached() }], "shape", "out must have room"],
    ["out with keep", [Q, K, V, { out: new Float32Array(24), keep: true }], "option", "exclude each other"],
    [
      "out without output",
      [Q, K, V, { out: new Float32Array(24), return: { output: false } }],
      "option",
      "out needs the output",
    ],
  ])("refuses %s", async (_name, args, code, message) => {
    for (const method of ["attention", "attentionSync"] as const) {
      const error = await errorOf(() => call(method, args));
      expect(error).toMatchObject({ name: "HeedError", code });
      expect(error.message).toContain(message);
    }
  });

  test("the engine works on after all of this", async () => {
    const { output } = await heed.attention(Q, K, V);
    expect(output.shape).toEqual([1, 2, 3, 4]);
  });
});

describe("createHeed", () => {
  test.each([
    [{ backend: "webgpu" }, "unsupported", "webgpu"],
    [{ backend: "cuda" }, "option", "backend must be one of"],
    [{ device: {} }, "unsupported", "device"],
    [{ threads: 0 }, "option", "threads must be a whole number"],
    [{ threads: 1.5 }, "option", "threads must be a whole number"],
    [{ threads: "many" }, "option", "threads must be a whole number"],
    [{ variant: "scalar" }, "option", "variant must be one of"],
    [{ offload: 1 }, "option", "offload must be true or false"],
    [{ ofload: true }, "option", 'did you mean "offload"'],
    [{ wasm: { uri: "x" } }, "option", 'did you mean "url"'],
    [{ wasm: { url: 7 } }, "option", "wasm.url"],
    [{ wasm: { binary: "AGFzbQ" } }, "option", "wasm.binary"],
    [{ wasm: { binary: new Uint8Array(8) } }, "load", "wasm.binary"],
    [{ wasm: { module: {} } }, "option", "wasm.module"],
    [{ wasm: { workerFactory: "x" } }, "option", "wasm.workerFactory"],
    [{ wasm: { url: "x", binary: new Uint8Array(8) } }, "option", "one of wasm.url"],
    [{ wasm: { url: "http://127.0.0.1:1/none.wasm" } }, "load", "cannot fetch"],
    [null, "option", "options must be an object"],
  ])("refuses %o", async (options, code, message) => {
    const error = await errorOf(() => Reflect.apply(createHeed, undefined, [options]));
    expect(error).toMatchObject({ name: "HeedError", code });
    expect(error.message).toContain(message);
  });

  test.each([
    [[new Float32Array(3), [2, 2]], "shape"],
    [[new Float64Array(4), [2, 2]], "dtype"],
    [[[1, 2], [2]], "dtype"],
    [[new Float32Array(4), [2, 2], { dtype: "f16" }], "unsupported"],
    [[new Float32Array(4), "2,2"], "shape"],
    [[new Float32Array(4), [2, 2], { type: "f32" }], "option"],
  ])("heed.tensor refuses %o", async (args, code) => {
    expect(await errorOf(() => Reflect.apply(heed.tensor, heed, args))).toMatchObject({ code });
  });

  test.each([
    [[-1], "shape"],
    [[1.5], "shape"],
    [[65536, 65536], "shape"],
    ["4", "shape"],
  ])("heed.zeros refuses %o", async (shape, code) => {
    expect(await errorOf(() => Reflect.apply(heed.zeros, heed, [shape]))).toMatchObject({ code });
  });
});
