// Every call that must be refused is, with its code and its message, sync and async; and the engine works on.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { errorOf } from "../support/cases.js";
import { argumentsOf, rejects } from "../support/reject-cases.js";
import { zeros } from "../support/tensors.js";

const heed = await createHeed();
afterAll(() => heed.dispose());

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

const [Q, K, V] = [zeros(1, 2, 3, 4), zeros(1, 2, 5, 4), zeros(1, 2, 5, 4)];

function detached(): Float32Array {
  const array = new Float32Array(24);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
}

/** A mask of 15 ones but for a 2, `offset` bytes into its buffer. */
function bitsBut(index: number, offset: number): Uint8Array {
  const bytes = new Uint8Array(new ArrayBuffer(15 + offset), offset).fill(1);
  bytes[index] = 2;
  return bytes;
}

/** Arguments whose reading throws, or whose description could be endless. */
function hostile(): [string, unknown[]][] {
  const raise = (): never => {
    throw new Error("mine");
  };
  const cyclic: unknown[] = [];
  cyclic.push(cyclic, cyclic);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const nameless = Object.defineProperty({}, "constructor", { get: raise });
  const longName = { constructor: { name: "x".repeat(10_000) } };
  return [
    ["a cyclic shape", [{ data: Q.data, shape: cyclic }, K, V]],
    ["a cyclic option", [Q, K, V, { scale: cyclic }]],
    ["a shape of many sizes", [{ data: Q.data, shape: new Array(100_000).fill(1) }, K, V]],
    ["a shape of many wrong sizes", [{ data: Q.data, shape: new Array(100_000).fill("x".repeat(100)) }, K, V]],
    ["a large bigint", [Q, K, V, { scale: 10n ** 10_000n }]],
    ["a revoked proxy", [proxy, K, V]],
    ["a revoked proxy as options", [Q, K, V, proxy]],
    ["a revoked proxy as an option", [Q, K, V, { scale: proxy }]],
    ["a revoked proxy as a shape", [{ data: Q.data, shape: proxy }, K, V]],
    ["a getter that throws", [Q, K, V, Object.defineProperty({}, "scale", { get: raise, enumerable: true })]],
    [
      "a thrown value without a text",
      [
        Object.defineProperty({ shape: [1] }, "data", {
          get: () => {
            throw Object.create(null);
          },
        }),
        K,
        V,
      ],
    ],
    ["a constructor that throws", [Q, K, V, { scale: nameless }]],
    ["a class with a long name", [Q, K, V, { scale: longName }]],
  ];
}

describe("values that only JavaScript has", () => {
  test.each([
    ["nothing at all", [], "dtype", "query must be { data, shape }"],
    ["null", [null, K, V], "dtype", "query must be { data, shape }"],
    ["a number", [Q, 7, V], "dtype", "key must be { data, shape }"],
    ["a bare array", [Q, K, new Float32Array(40)], "dtype", "value must be { data, shape }"],
    ["an array of numbers", [{ data: [1, 2], shape: [1, 2] }, K, V], "dtype", "must be a Float32Array, got"],
    ["double precision", [{ data: new Float64Array(24), shape: Q.shape }, K, V], "dtype", "got a Float64Array"],
    ["whole numbers", [{ data: new Int32Array(24), shape: Q.shape }, K, V], "dtype", "got an Int32Array"],
    ["f16 bits without a dtype", [{ data: new Uint16Array(24), shape: Q.shape }, K, V], "dtype", 'need dtype "f16"'],
    [
      "an f16 array with another dtype",
      [{ data: new Uint16Array(24), shape: Q.shape, dtype: "f32" }, K, V],
      "dtype",
      "must be a Float32Array, got a Uint16Array",
    ],
    ["an f32 array with dtype f16", [{ ...Q, dtype: "f16" }, K, V], "dtype", "a Uint16Array with dtype"],
    [
      "too few f16 numbers",
      [Q, { data: new Uint16Array(39), shape: K.shape, dtype: "f16" }, V],
      "shape",
      "must have 40 elements, got 39",
    ],
    ["f16 bits without a dtype as a bias", [Q, K, V, { bias: new Uint16Array(15) }], "dtype", 'need dtype "f16"'],
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
    ["a detached buffer", [{ data: detached(), shape: Q.shape }, K, V], "shape", "its buffer was transferred"],
    ["a map of options", [Q, K, V, new Map([["scale", 2]])], "option", "options must be an object, got a Map"],
    ["a date for options", [Q, K, V, new Date()], "option", "options must be an object, got a Date"],
    ["a set of results", [Q, K, V, { return: new Set(["lse"]) }], "option", "return must be an object, got a Set"],
    ["options of bytes", [Q, K, V, new Uint8Array(0)], "option", "options must be an object, got a Uint8Array"],
    ["options in an array", [Q, K, V, []], "option", "options must be an object, got []"],
    ["a mask of null", [Q, K, V, { mask: null }], "dtype", "mask must be { data, shape }, a Uint8Array or boolean[]"],
    ["a bias of null", [Q, K, V, { bias: null }], "dtype", "bias must be { data, shape } or a heed tensor, got null"],
    ["a float mask", [Q, K, V, { mask: zeros(3, 5) }], "dtype", "are a bias"],
    ["a byte bias", [Q, K, V, { bias: { data: new Uint8Array(15), shape: [3, 5] } }], "dtype", "is a mask"],
    ["one mask value of 2 among words", [Q, K, V, { mask: { data: bitsBut(6, 0), shape: [3, 5] } }], "option", "got 2"],
    [
      "one mask value of 2 behind words",
      [Q, K, V, { mask: { data: bitsBut(14, 0), shape: [3, 5] } }],
      "option",
      "got 2",
    ],
    ["one mask value of 2 off words", [Q, K, V, { mask: { data: bitsBut(6, 1), shape: [3, 5] } }], "option", "got 2"],
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

  test.each(hostile())("%s leaves nothing but HeedErrors", async (_name, args) => {
    for (const method of ["attention", "attentionSync"] as const) {
      const error = await errorOf(() => call(method, args));
      expect(error.name).toBe("HeedError");
      expect(error.message).toMatch(new RegExp(`^${method}: `));
      expect(error.message.length).toBeLessThan(700);
    }
  });

  test("empty tensors of a transferred buffer compute as empty ones", async () => {
    const empty = { data: detached(), shape: [1, 2, 0, 4] };
    const { output } = await heed.attention(empty, K, V);
    expect(output).toEqual({ data: new Float32Array(0), shape: [1, 2, 0, 4], dtype: "f32" });
  });

  test("an input that is transferred away while the others are read is refused, not read", async () => {
    for (const method of ["attention", "attentionSync"] as const) {
      const data = new Float32Array(24);
      const key = {
        ...K,
        get shape(): number[] {
          if (data.length > 0) structuredClone(data, { transfer: [data.buffer] });
          return K.shape;
        },
      };
      expect(await errorOf(() => call(method, [{ data, shape: Q.shape }, key, V]))).toMatchObject({ code: "shape" });
    }
  });

  test("a Float32Array of a subclass counts by its memory, not by its word", async () => {
    class Liar extends Float32Array {
      override get length(): number {
        return 24;
      }
      override get byteLength(): number {
        return 96;
      }
    }
    const args = [{ data: new Liar(2), shape: Q.shape }, K, V];
    expect(await errorOf(() => call("attentionSync", args))).toMatchObject({ code: "shape" });
    expect(await errorOf(() => call("attentionSync", [Q, K, V, { out: new Liar(2) }]))).toMatchObject({
      code: "shape",
    });
    class Spoof extends Uint8Array {
      // @ts-expect-error: the name of another class.
      override get [Symbol.toStringTag](): string {
        return "Float32Array";
      }
    }
    const spoof = [{ data: new Spoof(24), shape: Q.shape }, K, V];
    expect(await errorOf(() => call("attentionSync", spoof))).toMatchObject({ code: "dtype" });
  });

  test("a heed tensor where none can be is called a Tensor, and a mask is not said to be one", async () => {
    using made = heed.zeros([3, 5]);
    using f16 = heed.zeros([3, 5], { dtype: "f16" });
    expect(await errorOf(() => call("attention", [Q, K, V, { bias: f16 }]))).toMatchObject({
      code: "dtype",
      message: expect.stringContaining("bias must be f32, got f16"),
    });
    for (const [options, wanted] of [
      [{ mask: made }, "mask must be { data, shape }, a Uint8Array or boolean[], got a Tensor"],
      [{ out: made }, "out must be a Float32Array, got a Tensor"],
    ] as const) {
      expect((await errorOf(() => call("attention", [Q, K, V, options]))).message).toContain(wanted);
    }
    // The package is minified: the class itself says its name.
    expect(Object.getOwnPropertyDescriptor(made.constructor, "name")?.enumerable).toBe(true);
  });

  test.each([
    ["no prototype", Object.assign(Object.create(null), { scale: 0 })],
    ["inherited ones", Object.create({ scale: 0 })],
    [
      "a class's",
      new (class {
        scale = 0;
      })(),
    ],
    [
      "a getter's",
      {
        get scale() {
          return 0;
        },
      },
    ],
  ])("takes options of objects with %s", (_name, options: object) => {
    const ones = { data: new Float32Array(4).fill(1), shape: [2, 2] };
    const key = { data: Float32Array.of(9, 9, 0, 0), shape: [2, 2] };
    const { weights } = heed.attentionSync(
      ones,
      key,
      ones,
      Object.assign(options, { return: { weights: true } } as const),
    );
    expect(weights?.data).toEqual(new Float32Array(4).fill(0.5));
  });

  test("a tensor's shape cannot be written over", () => {
    const made = heed.zeros([2]);
    expect(() => Object.assign(made, { shape: [1000] })).toThrow(TypeError);
    expect(made.shape).toEqual([2]);
    made.dispose();
  });

  test("the engine works on after all of this", async () => {
    const { output } = await heed.attention(Q, K, V);
    expect(output.shape).toEqual([1, 2, 3, 4]);
  });
});

describe("createHeed", () => {
  test.each([
    [{ backend: "webgpu" }, "unsupported", "there is no navigator.gpu"],
    [{ backend: "cuda" }, "option", "backend must be one of"],
    [{ device: {} }, "option", "device must be a GPUDevice"],
    [{ device: 1 }, "option", "device must be a GPUDevice, got 1"],
    [{ threads: 0 }, "option", "threads must be a whole number"],
    [{ threads: 1.5 }, "option", "threads must be a whole number"],
    [{ threads: "many" }, "option", "threads must be a whole number"],
    [{ variant: "scalar" }, "option", "variant must be one of"],
    [{ offload: 1 }, "option", 'offload must be true, false or "auto"'],
    [{ ofload: true }, "option", 'did you mean "offload"'],
    [{ wasm: { uri: "x" } }, "option", 'did you mean "url"'],
    [{ wasm: { url: 7 } }, "option", "wasm.url"],
    [{ wasm: { binary: "AGFzbQ" } }, "option", "wasm.binary"],
    [{ wasm: { binary: new Uint8Array(8) } }, "load", "wasm.binary"],
    [{ wasm: { module: {} } }, "option", "wasm.module"],
    [{ wasm: { workerFactory: "x" } }, "option", "wasm.workerFactory"],
    [
      { wasm: { url: "x", binary: new Uint8Array(8) } },
      "option",
      "wasm.url, wasm.binary and wasm.module exclude each other",
    ],
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
    [[new Uint16Array(4), [2, 2]], "dtype"],
    [[new Uint16Array(4), [2, 2], { dtype: "f32" }], "dtype"],
    [[new Float32Array(3), [2, 2], { dtype: "f16" }], "shape"],
    [[new Float32Array(4), [2, 2], { dtype: "bf16" }], "dtype"],
    [[new Float64Array(4), [2, 2], { dtype: "f16" }], "dtype"],
    [[new Float32Array(4), "2,2"], "shape"],
    [[new Float32Array(4), [2, 2], { type: "f32" }], "option"],
  ])("heed.tensor refuses %o", async (args, code) => {
    expect(await errorOf(() => Reflect.apply(heed.tensor, heed, args))).toMatchObject({ code });
  });

  test("what user code throws inside them leaves as a HeedError with its cause", async () => {
    const cause = new Error("mine");
    const throws = new Proxy(
      {},
      {
        ownKeys: () => {
          throw cause;
        },
      },
    );
    const calls = [
      () => Reflect.apply(createHeed, undefined, [throws]),
      () => Reflect.apply(heed.tensor, heed, [new Float32Array(4), [4], throws]),
      () => Reflect.apply(heed.zeros, heed, [[4], throws]),
    ];
    for (const one of calls) expect(await errorOf(one)).toMatchObject({ name: "HeedError", code: "option", cause });
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
