// Kernels that plans choose on other adapters than the software adapter of these tests, f16 tensors, and the choice of "auto".

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attend } from "../../web/src/api/attention.js";
import { OpenDevice } from "../../web/src/backends/webgpu/device.js";
import { GpuBackend } from "../../web/src/backends/webgpu/gpu-backend.js";
import { createHeed, type TensorLike } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import {
  type Case,
  caseOf,
  compute,
  EVERYTHING,
  type EverythingResult,
  errorOf,
  firstError,
} from "../support/cases.js";
import { openBackend } from "../support/engines.js";
import { boundsFor, WGSL, withinOutput } from "../support/error-model.js";
import { f16Case } from "../support/f16-case.js";
import { type TestDevice, testDevice } from "../support/gpu-device.js";
import { openTested } from "../support/gpu-engine.js";
import { Random } from "../support/random.js";
import { scoreBound } from "../support/score-error.js";

const SEED = 20261123;
const random = new Random(SEED);

describe("kernels with tiles in workgroup memory", () => {
  let tested: TestDevice;
  let backend: GpuBackend;
  beforeAll(async () => {
    tested = await testDevice();
    const wasm = await openBackend({ variant: "simd", worker: null });
    // Without its info heed does not know that this is a software adapter.
    const open = new OpenDevice(tested.device, false, undefined);
    backend = new GpuBackend({ wasm, costs: null, open, reopen: null });
  });
  afterAll(() => {
    backend.dispose();
    tested.device.destroy();
    expect(tested.uncaptured).toEqual([]);
  });

  /** Sizes of one tile of 64 rows and one of 32, both with several KV blocks. */
  const SHAPES = [
    { batch: 1, heads: 4, kvHeads: 2, queryLength: 40, keyLength: 70, headDim: 7, valueDim: 5 },
    { batch: 2, heads: 1, kvHeads: 1, queryLength: 20, keyLength: 75, headDim: 8, valueDim: 8 },
  ] as const;
  const list = [...SHAPES, ...SHAPES].map((sizes, index) => caseOf(random, `seed ${SEED} tiled ${index}`, sizes));

  test.each(list)(
    "$name",
    async (one) => {
      const { query, key, value } = one;
      const got = await attend(backend, { query, key, value }, { ...one.options, ...EVERYTHING });
      expect(firstError(one, got as EverythingResult, WGSL)).toBeNull();
    },
    30_000,
  );
});

describe("kernels whose threads share what they read", () => {
  test.each([
    ["tiles", 21],
    ["decode", 3],
  ] as const)("%s: masked values are not added, NaN or not, and all others are", async (kind, queryLength) => {
    const { device, uncaptured } = await testDevice();
    const kinds: string[] = [];
    const plain = device.createShaderModule;
    device.createShaderModule = (descriptor) => {
      kinds.push(descriptor.label ?? "");
      return plain.call(device, descriptor);
    };
    const wasm = await openBackend({ variant: "simd", worker: null });
    // Without its info heed does not know that this is a software adapter.
    const open = new OpenDevice(device, false, undefined);
    const backend = new GpuBackend({ wasm, costs: null, open, reopen: null });
    const [keyLength, dim] = [70, 8];
    const tensor = (length: number): TensorLike => ({ data: random.floats(length * dim), shape: [length, dim] });
    const [query, key, value] = [tensor(queryLength), tensor(keyLength), tensor(keyLength)] as const;
    const poisoned = { data: value.data.slice(), shape: value.shape };
    const mask = { data: new Uint8Array(keyLength).fill(1), shape: [keyLength] };
    for (const masked of [0, 33, keyLength - 1]) {
      mask.data[masked] = 0;
      poisoned.data.fill(masked === 33 ? Number.POSITIVE_INFINITY : Number.NaN, masked * dim, masked * dim + dim);
    }
    const outputOf = async (options: object): Promise<Float32Array> =>
      ((await attend(backend, { query, key, value: poisoned }, options)) as { output: { data: Float32Array } }).output
        .data;
    const score = scoreBound("scaled-dot", 1 / Math.sqrt(dim), { query, key, queryDim: dim, headDim: dim });
    const bounds = boundsFor(keyLength, { value }, score, 0, 0, WGSL);
    const exact = reference(query, key, value, { mask }).output.data;
    for (const [index, number] of (await outputOf({ mask })).entries()) {
      expect(withinOutput(number, exact[index] ?? Number.NaN, bounds), `output[${index}]`).toBe(true);
    }
    expect((await outputOf({})).every(Number.isNaN)).toBe(true);
    expect([...new Set(kinds)]).toEqual([`heed ${kind}`]);
    expect(uncaptured).toEqual([]);
    backend.dispose();
    device.destroy();
  });
});

describe("f16 tensors", () => {
  test.each([8, 5])("are read without rounding, %i elements a row", async (headDim) => {
    const { heed, close } = await openTested();
    const sizes = { batch: 1, heads: 2, kvHeads: 1, queryLength: 9, keyLength: 11, headDim, valueDim: headDim };
    const one = caseOf(new Random(headDim), `f16 ${headDim}`, sizes);
    const { rounded, inputs } = f16Case(one);
    using key = heed.tensor(inputs.key.data, inputs.key.shape, { dtype: "f16" });
    const got = await heed.attention(inputs.query, key, inputs.value, { ...one.options, ...EVERYTHING });
    expect(firstError(rounded, got, WGSL)).toBeNull();
    close();
  });
});

test("a large call runs on the GPU when asked for, also with little to compute", async () => {
  const { heed, close } = await openTested();
  const long = heed.zeros([1, 1100, 64]);
  const options = { causal: true, window: [0, 0], keep: true } as const;
  for (let repeat = 0; repeat < 2; repeat++) {
    const { output } = await heed.attention(long, long, long, options);
    expect(output.location).toBe("webgpu");
  }
  expect(heed.capabilities.backend).toBe("webgpu");
  close();
});

describe('"auto"', () => {
  test("measures both, sends a call where it is faster, and says why", async () => {
    const { device, uncaptured } = await testDevice();
    using heed = await createHeed({ backend: "auto", device });
    expect(heed.capabilities.webgpu).not.toBeNull();
    const sizes = { batch: 1, heads: 2, kvHeads: 2, queryLength: 8, keyLength: 8, headDim: 8, valueDim: 8 };
    const drawn = caseOf(random, "auto", sizes);
    // Blocks run on wasm, which would leave no choice.
    const { blocks: _blocks, ...options } = drawn.options;
    const one: Case = { ...drawn, options };
    const { backend, reasons } = heed.explain(one.query, one.key, one.value, one.options);
    expect(backend).toBe("wasm");
    expect(reasons.join()).toMatch(/about [\d.]+ ms on the GPU and [\d.]+ ms on wasm, as measured on this machine/);
    expect(firstError(one, await compute(heed, one), WGSL)).toBeNull();
    // A software adapter is slower than wasm for large calls, too.
    const large = heed.zeros([1, 8, 1024, 64]);
    expect(heed.explain(large, large, large).backend).toBe("wasm");
    // Rope takes less time than moving an array, so it runs where the tensor lives.
    const buffer = device.createBuffer({ size: 32, usage: 128 | 8 | 4 });
    using there = heed.tensor(buffer, [2, 4]);
    using here = heed.zeros([2, 4]);
    const rotated = [await heed.rope(there, { keep: true }), await heed.rope(here, { keep: true })];
    expect(rotated.map(({ location }) => location)).toEqual(["webgpu", "wasm"]);
    expect(uncaptured).toEqual([]);
    device.destroy();
  });

  test("ends small calls in order, aborted and disposed ones too", async () => {
    const { device, uncaptured } = await testDevice();
    const heed = await createHeed({ backend: "auto", device });
    const small = { data: new Float32Array(16), shape: [4, 4] };
    const ended: string[] = [];
    const there = heed.tensor(device.createBuffer({ size: 32, usage: 128 | 8 | 4 }), [2, 4]);
    const first = heed.rope(there).then(() => ended.push("on the GPU"));
    there.dispose();
    const second = heed.attention(small, small, small).then(() => ended.push("on wasm"));
    await Promise.all([first, second]);
    expect(ended).toEqual(["on the GPU", "on wasm"]);
    const controller = new AbortController();
    const aborted = heed.attention(small, small, small, { signal: controller.signal });
    const next = heed.rope(heed.tensor(device.createBuffer({ size: 32, usage: 128 | 8 | 4 }), [2, 4]));
    controller.abort();
    expect(await errorOf(() => aborted)).toMatchObject({ code: "aborted" });
    expect((await next).data).toEqual(new Float32Array(8));
    const last = heed.attention(small, small, small);
    heed.dispose();
    expect(await errorOf(() => last)).toMatchObject({ code: "disposed" });
    expect(uncaptured).toEqual([]);
    device.destroy();
  });

  test("opens no GPU until a call is large, and then does not make it wait", async () => {
    using heed = await createHeed();
    const small = heed.zeros([4, 4]);
    await heed.attention(small, small, small);
    expect(heed.capabilities.webgpu).toBeNull();
    const large = heed.zeros([1, 8, 512, 64]);
    await heed.attention(large, large, large);
    await expect.poll(() => heed.capabilities.webgpu, { timeout: 20_000 }).not.toBeNull();
    // Tensors made before the GPU was opened work on.
    const { output } = await heed.attention(small, small, small);
    expect(output.data).toEqual(new Float32Array(16));
  });
});
