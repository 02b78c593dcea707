// heed in a real page: the same problems, the expected isolation and worker, and a page that stays responsive.

import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { attend } from "../../web/src/api/attention.js";
import { MODULES } from "../../web/src/backends/wasm/inlined.js";
import { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import { attention, createHeed, type HalfArray, type Heed, HeedError } from "../../web/src/index.js";
import { features } from "../../web/src/platform/features.js";
import { select } from "../../web/src/platform/select.js";
import { cases, compute, computeSync, differentIndex, firstDifferentBit, firstError } from "../support/cases.js";
import { Random } from "../support/random.js";
import { counted } from "../support/tasks-done.js";
import { drawnBy } from "../support/tensors.js";

const isolated = inject("isolated");
const relaxedSimd = inject("relaxedSimd");
const SEED = 20261121;
const SWEEP = cases(SEED, 60);
const random = new Random(SEED);

const tensor = drawnBy(random);

/** A quarter of a second and more of work. */
const LONG = [tensor(1, 8, 2048, 64), tensor(1, 8, 2048, 64), tensor(1, 8, 2048, 64)] as const;

/** The numbers of a result that was asked for. */
function numbersOf(result: object | undefined): Float32Array {
  if (result !== undefined && "data" in result && result.data instanceof Float32Array) return result.data;
  throw new Error("no such result");
}

test(`this page is ${isolated ? "" : "not "}cross-origin isolated, as its project wants`, () => {
  expect(globalThis.crossOriginIsolated).toBe(isolated);
});

test("a Float16Array is taken for what it is, and nothing less exact comes out", async () => {
  const { Float16Array: F16Array } = globalThis as unknown as {
    readonly Float16Array: new (numbers: Iterable<number>) => HalfArray & Iterable<number>;
  };
  const numbers = random.floats(9 * 8);
  const f16 = new F16Array(numbers);
  const single = { data: Float32Array.from(f16), shape: [9, 8] };
  const half = { data: f16, shape: [9, 8] };
  using heed = await createHeed({ offload: true });
  const expected = await heed.attention(single, single, single);
  expect(await heed.attention(half, half, half)).toEqual(expected);
  // Before the shared engine is there it is a copy that waits, and of the same class.
  expect(await attention(half, half, half)).toEqual(expected);
  using given = heed.tensor(f16, [9, 8]);
  using rounded = heed.tensor(numbers, [9, 8], { dtype: "f16" });
  expect([given.dtype, rounded.dtype]).toEqual(["f16", "f16"]);
  expect(await given.read()).toEqual(single.data);
  expect(await rounded.read()).toEqual(single.data);
  const addends = new F16Array(random.floats(81));
  const biased = (data: unknown): unknown =>
    Reflect.apply(heed.attention, heed, [single, single, single, { bias: { data, shape: [9, 9] } }]);
  const bias = await biased(addends);
  expect(bias).toEqual(await biased(Float32Array.from(addends)));
  expect(bias).not.toEqual(expected);
});

const VARIANTS = relaxedSimd ? (["simd", "relaxed"] as const) : (["simd"] as const);
const OPTIONS = VARIANTS.flatMap((variant) => [true, false].map((offload) => ({ variant, offload })));

describe.each(OPTIONS)("variant $variant, offload $offload", (options) => {
  let heed: Heed;
  beforeAll(async () => {
    heed = await createHeed(options);
  });
  afterAll(() => heed.dispose());

  test("uses what this page allows and no less", () => {
    const worker = options.offload ? (isolated ? "shared-memory" : "private-memory") : null;
    expect(heed.capabilities).toMatchObject({
      simd: true,
      relaxedSimd,
      isolated,
      backend: "wasm",
      variant: options.variant,
      worker,
      webgpu: null,
    });
    if (options.offload && !isolated) expect(heed.capabilities.reasons.join()).toContain("not cross-origin isolated");
  });

  test(`async and sync results of ${SWEEP.length} problems are within the error model, with the same bits`, async () => {
    const errors: (string | null)[] = [];
    for (const one of SWEEP) {
      const later = await compute(heed, one);
      errors.push(firstError(one, later));
      expect(firstDifferentBit(computeSync(heed, one), later), one.name).toBeNull();
    }
    expect(errors.filter((error) => error !== null)).toEqual([]);
  });
});

test("the page goes on while a long call computes", async () => {
  using heed = await createHeed();
  await heed.attention(...LONG);
  // Messages to oneself are tasks of the page's own: a call that computed here would let none of them through before its end.
  const { port1, port2 } = new MessageChannel();
  let tasks = 0;
  port2.onmessage = () => {
    tasks += 1;
    port1.postMessage(null);
  };
  port1.postMessage(null);
  await heed.attention(...LONG);
  port1.close();
  expect(tasks).toBeGreaterThan(5);
});

test("two threads are two workers that both compute, and give the bits of one", async () => {
  const choice = select(await features(), { variant: "auto", offload: true, importsMemory: null, ownWorkers: false });
  const overrides = {
    workerUrl: null,
    workerFactory: null,
    compiled: null,
    cores: 2,
    offload: true,
    grain: null,
  };
  const one = await WasmBackend.open(choice, { ...overrides, modules: MODULES, threads: 1 });
  const { backend: two, tasksDone } = await counted(2, (modules) =>
    WasmBackend.open(choice, { ...overrides, modules, threads: 2 }),
  );
  const [query, key, value] = LONG;
  for (const causal of [false, true]) {
    const options = { causal, return: { lse: true } };
    const expected = await attend(one, { query, key, value }, options);
    const result = await attend(two, { query, key, value }, options);
    expect(differentIndex(numbersOf(result.output), numbersOf(expected.output))).toBe(-1);
    expect(differentIndex(numbersOf(result.lse), numbersOf(expected.lse))).toBe(-1);
  }
  const { threads, reasons } = two.report();
  expect(threads).toBe(2);
  const expected = [
    ...(relaxedSimd ? [] : ["no relaxed SIMD: the plain SIMD variant computes"]),
    ...(isolated ? [] : ["not cross-origin isolated: workers have memories of their own"]),
  ];
  expect(reasons).toEqual(expected);
  for (const worker of [0, 1]) expect(tasksDone(worker)).toBeGreaterThan(0);
  one.dispose();
  two.dispose();
});

test("an abort rejects at once, and the next call works", async () => {
  using heed = await createHeed();
  const controller = new AbortController();
  const running = heed.attention(...LONG, { signal: controller.signal });
  setTimeout(() => controller.abort(), 10);
  await expect(running).rejects.toMatchObject({ name: "HeedError", code: "aborted" });
  const { output } = await heed.attention(tensor(3, 4), tensor(5, 4), tensor(5, 4));
  expect(output.shape).toEqual([3, 4]);
});

test("tensors in the engine give what arrays give", async () => {
  using heed = await createHeed({ offload: true });
  const [q, k, v] = [tensor(1, 2, 9, 8), tensor(1, 2, 17, 8), tensor(1, 2, 17, 8)];
  const [kt, vt] = [heed.tensor(k.data, k.shape), heed.tensor(v.data, v.shape)];
  const expected = await heed.attention(q, k, v);
  expect(await heed.attention(q, kt, vt)).toEqual(expected);
  const kept = await heed.attention(q, kt, vt, { keep: true });
  kt.dispose();
  expect(await kept.output.read()).toEqual(expected.output.data);
  expect(await heed.attention(kept.output, k, vt)).toEqual(await heed.attention(expected.output, k, v));
});

test("a worker that the page refuses is a step down to the calling thread, with its reason", async () => {
  using heed = await createHeed({ wasm: { workerUrl: "/no-such-worker.js" } });
  expect(heed.capabilities.worker).toBeNull();
  expect(heed.capabilities.reasons.join()).toMatch(/worker was refused/);
  const { output } = await heed.attention(tensor(3, 4), tensor(5, 4), tensor(5, 4));
  expect(output.shape).toEqual([3, 4]);
});

test("shared memory views are read where the page has them", async () => {
  if (!isolated) return expect(globalThis.SharedArrayBuffer).toBeUndefined();
  using heed = await createHeed({ offload: true });
  const q = tensor(3, 4);
  const shared = new Float32Array(new SharedArrayBuffer(q.data.byteLength));
  shared.set(q.data);
  const rest = [tensor(5, 4), tensor(5, 4)] as const;
  expect(await heed.attention({ ...q, data: shared }, ...rest)).toEqual(await heed.attention(q, ...rest));
});

test("attention without an engine works, and errors are HeedErrors", async () => {
  const { output } = await attention(tensor(3, 4), tensor(5, 4), tensor(5, 4));
  expect(output.shape).toEqual([3, 4]);
  const error = await attention(tensor(3, 4), tensor(5, 4), tensor(6, 4)).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(HeedError);
  expect(error).toMatchObject({ code: "shape" });
});

test("memory grows while a call computes, and results are right", async () => {
  using heed = await createHeed();
  for (const length of [256, 1024, 2048]) {
    const [q, k, v] = [tensor(1, 1, length, 16), tensor(1, 1, length, 16), tensor(1, 1, length, 16)];
    const { output, weights } = await heed.attention(q, k, v, { return: { weights: true } });
    const sums = Array.from({ length: 4 }, (_, i) =>
      weights.data.subarray(i * length, (i + 1) * length).reduce((total, p) => total + p, 0),
    );
    // Rows of weights sum to one: S roundings of sums below one.
    for (const sum of sums) expect(Math.abs(sum - 1)).toBeLessThan(length * 2 ** -24);
    expect(output.data.every(Number.isFinite)).toBe(true);
  }
});
