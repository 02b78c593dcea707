// Devices, tensors and memory on the GPU: who owns them, how long they live, and that every error is reported.

import { afterAll, describe, expect, test } from "vitest";
import guide from "../../docs/webgpu.md?raw";
import { createHeed, type Heed, type Tensor, type TensorLike } from "../../web/src/index.js";
import { MLP } from "../../web/src/layers/index.js";
import { attention as reference, rope as ropeReference } from "../../web/src/reference/index.js";
import { AdamW, gradients, meanSquaredError } from "../../web/src/train/index.js";
import { errorOf } from "../support/cases.js";
import { boundsFor, WGSL, withinOutput } from "../support/error-model.js";
import { type TestDevice, testDevice } from "../support/gpu-device.js";
import { openTested } from "../support/gpu-engine.js";
import { Random } from "../support/random.js";
import { firstWrongTurn } from "../support/rope-cases.js";
import { scoreBound } from "../support/score-error.js";
import { drawnBy } from "../support/tensors.js";

/** The language has no name for it. */
const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...given: unknown[]) => Promise<void>;

const tensor: (...shape: number[]) => TensorLike = drawnBy(new Random(5));
const [query, key, value] = [tensor(2, 9, 8), tensor(2, 17, 8), tensor(2, 17, 8)] as const;
const exact = reference(query, key, value).output.data;
const score = scoreBound("scaled-dot", 1 / Math.sqrt(8), { query, key, queryDim: 8, headDim: 8 });
const bounds = boundsFor(17, { value }, score, 0, 0, WGSL);

/** The limits as a plain record: those of a device are getters. */
function limitsOf({ limits }: TestDevice["device"]): Record<string, number> {
  const names = Object.keys(Object.getPrototypeOf(limits)) as (keyof typeof limits)[];
  return Object.fromEntries(names.map((name) => [name, limits[name]]));
}

function expectRight(output: Float32Array): void {
  expect(output.length).toBe(exact.length);
  for (const [index, number] of output.entries()) {
    expect(withinOutput(number, exact[index] ?? Number.NaN, bounds), `output[${index}]`).toBe(true);
  }
}

describe("an engine on the caller's device", async () => {
  const { heed, tested, close } = await openTested();
  afterAll(close);

  test("says which device it computes on", () => {
    const { backend, webgpu } = heed.capabilities;
    expect(backend).toBe("webgpu");
    expect(webgpu).toMatchObject({
      subgroups: tested.device.features.has("subgroups"),
      f16: tested.device.features.has("shader-f16"),
    });
  });

  test("arrays may be overwritten as soon as the call returned its promise", async () => {
    const own = [query, key, value].map(({ data, shape }) => ({ data: data.slice(), shape }));
    const [q = query, k = key, v = value] = own;
    const computing = heed.attention(q, k, v);
    for (const { data } of own) data.fill(Number.NaN);
    expectRight((await computing).output.data);
  });

  test("tensors, kept results and f16 tensors stay on the GPU and can be read", async () => {
    using k = heed.tensor(key.data, key.shape);
    using v = heed.tensor(value.data, value.shape);
    expect([k.location, k.buffer === undefined]).toEqual(["webgpu", false]);
    expect(await k.read()).toEqual(key.data);
    const { output, lse } = await heed.attention(query, k, v, { keep: true, return: { lse: true } });
    expect([output.location, lse.location]).toEqual(["webgpu", "webgpu"]);
    expectRight(await output.read());
    using zeros = heed.zeros([3, 3], { dtype: "f16" });
    expect(await zeros.read()).toEqual(new Float32Array(9));
    output.dispose();
    lse.dispose();
    expect((await errorOf(() => output.read())).code).toBe("disposed");
  });

  test("takes the caller's GPUBuffer, and leaves it to the caller", async () => {
    const bytes = key.data.byteLength;
    // STORAGE, COPY_DST and COPY_SRC
    const buffer = tested.device.createBuffer({ size: bytes, usage: 128 | 8 | 4 });
    tested.device.queue.writeBuffer(buffer, 0, Float32Array.from(key.data));
    const k = heed.tensor(buffer as GPUBuffer, key.shape);
    expect(k.buffer).toBe(buffer);
    expectRight((await heed.attention(query, k, value)).output.data);
    k.dispose();
    using again = heed.tensor(buffer as GPUBuffer, key.shape);
    expect(await again.read()).toEqual(key.data);
    expect((await errorOf(() => heed.tensor(buffer as GPUBuffer, [2, 17, 9]))).code).toBe("shape");
    const mapped = tested.device.createBuffer({ size: bytes, usage: 1 | 8 });
    expect((await errorOf(() => heed.tensor(mapped as GPUBuffer, key.shape))).code).toBe("option");
  });

  test("a call that the GPU does not support gives wasm's results, also with tensors on the GPU, and says why", async () => {
    using k = heed.tensor(key.data, key.shape);
    const options = { topK: 3 } as const;
    const { backend, reasons } = heed.explain(query, k, value, options);
    expect(backend).toBe("wasm");
    expect(reasons.join()).toContain("topK runs on wasm: ");
    using wasm = await createHeed({ backend: "wasm" });
    const { output } = await heed.attention(query, k, value, options);
    expect(output.data).toEqual((await wasm.attention(query, key, value, options)).output.data);
    expect(heed.capabilities.reasons.join()).toContain("topK runs on wasm: ");
  });

  test("a tensor on the GPU is refused by attentionSync, which cannot wait for it", async () => {
    using k = heed.tensor(key.data, key.shape);
    const error = await errorOf(() => heed.attentionSync(query, k, value));
    expect([error.code, error.message]).toEqual([
      "unsupported",
      "attentionSync: key lives on the GPU, which cannot be waited for: use attention",
    ]);
  });

  test("an aborted call rejects at once, and the next one computes", async () => {
    const controller = new AbortController();
    const computing = heed.attention(query, key, value, { signal: controller.signal });
    controller.abort();
    expect((await errorOf(() => computing)).code).toBe("aborted");
    expectRight((await heed.attention(query, key, value)).output.data);
  });

  test("calls end in the order in which they were made, on whichever backend", async () => {
    const done: number[] = [];
    const large = tensor(1, 96, 8);
    const calls = [
      heed.attention(large, large, large),
      heed.attention(query, key, value, { topK: 1 }),
      heed.attention(query, key, value),
    ];
    await Promise.all(calls.map((call, index) => call.then(() => done.push(index))));
    expect(done).toEqual([0, 1, 2]);
  });

  test("masked values are not read, NaN or not; seen values are", async () => {
    const poisoned = { data: value.data.slice(), shape: value.shape };
    // The last key of both heads.
    for (const at of [16, 33]) poisoned.data.fill(Number.NaN, at * 8, at * 8 + 8);
    const mask = { data: new Uint8Array(17).fill(1), shape: [17] };
    mask.data[16] = 0;
    const masked = await heed.attention(query, key, poisoned, { mask });
    const wanted = reference(query, key, value, { mask }).output.data;
    for (const [index, number] of masked.output.data.entries()) {
      expect(withinOutput(number, wanted[index] ?? Number.NaN, bounds)).toBe(true);
    }
    const seen = await heed.attention(query, key, poisoned);
    expect(seen.output.data.every(Number.isNaN)).toBe(true);
  });

  test("ten thousand calls hold no more memory than two hundred", async () => {
    const small = tensor(2, 4);
    const calls = async (): Promise<void> => {
      await Promise.all(Array.from({ length: 50 }, () => heed.attention(small, small, small)));
      const { output } = await heed.attention(small, small, small, { keep: true });
      output.dispose();
    };
    for (let i = 0; i < 4; i++) await calls();
    const before = heed.memory();
    expect(before.gpu).toBeGreaterThan(0);
    for (let i = 0; i < 196; i++) await calls();
    expect(heed.memory()).toEqual(before);
  });

  test("a buffer that its owner destroyed fails the calls that read it, and no others", async () => {
    const buffer = tested.device.createBuffer({ size: key.data.byteLength, usage: 128 | 8 | 4 });
    using k = heed.tensor(buffer as GPUBuffer, key.shape);
    buffer.destroy();
    const failing = heed.attention(query, k, value);
    const next = heed.attention(query, key, value);
    expect((await errorOf(() => failing)).code).toBe("load");
    expect((await errorOf(() => k.read())).code).toBe("load");
    expectRight((await next).output.data);
  });

  test("calls that need a buffer that could not be made reject", async () => {
    const { device } = tested;
    const plain = device.createBuffer;
    // A GPU without memory returns an invalid buffer, and reports the error later.
    const most = device.limits.maxBufferSize;
    device.createBuffer = (descriptor) => plain.call(device, { ...descriptor, size: most + 4 });
    const k = heed.tensor(new Float32Array(2 ** 20), [2 ** 20]);
    device.createBuffer = plain;
    const { code, message } = await errorOf(() => k.read());
    expect([code, message]).toEqual(["load", expect.stringContaining(String(most))]);
    k.dispose();
    expectRight((await heed.attention(query, key, value)).output.data);
  });
});

test("a tensor that the adapter cannot bind lives in wasm, where its calls run", async () => {
  const { device, uncaptured } = await testDevice();
  const limits = { ...limitsOf(device), maxStorageBufferBindingSize: 1024 };
  Object.defineProperty(device, "limits", { value: limits });
  using heed = await createHeed({ backend: "webgpu", device });
  using k = heed.tensor(key.data, key.shape);
  using small = heed.tensor(query.data, query.shape);
  expect([k.location, small.location]).toEqual(["wasm", "webgpu"]);
  expect(heed.zeros(key.shape).location).toBe("wasm");
  expect(heed.explain(small, k, value).reasons.join()).toContain("too large for the GPU: key takes 1088 bytes");
  expectRight((await heed.attention(small, k, value)).output.data);
  const rotated = await heed.rope(key, { keep: true });
  expect(rotated.location).toBe("wasm");
  expect(firstWrongTurn({ data: await rotated.read(), shape: rotated.shape }, ropeReference(key))).toBe(-1);
  expect(heed.capabilities.reasons.join()).toContain(
    "rope runs on wasm: too large for the GPU: input takes 1088 bytes",
  );
  expect(uncaptured).toEqual([]);
  device.destroy();
});

describe("the loss of a device", () => {
  test("rejects calls in flight with retry: false; a caller's device is not replaced, and later calls run on wasm", async () => {
    const { device } = await testDevice();
    using heed = await createHeed({ backend: "webgpu", device });
    await heed.attention(query, key, value);
    const computing = [
      heed.attention(query, key, value, { retry: false }),
      heed.attention(query, key, value, { retry: false, keep: true }),
      heed.rope(query, { retry: false }),
    ];
    device.destroy();
    for (const [index, operation] of ["attention", "attention", "rope"].entries()) {
      expect(await errorOf(async () => computing[index])).toMatchObject({
        code: "device-lost",
        message: expect.stringMatching(`^${operation}: the GPU device is lost`),
      });
    }
    expect(heed.capabilities).toMatchObject({ backend: "wasm", webgpu: null });
  });

  test("moves calls in flight to wasm if there is no other device, with the arrays as they were", async () => {
    const { device } = await testDevice();
    using heed = await createHeed({ backend: "webgpu", device });
    await heed.attention(query, key, value);
    const [q, k, v] = [query, key, value].map(({ data, shape }) => ({ data: data.slice(), shape })) as [
      TensorLike,
      TensorLike,
      TensorLike,
    ];
    const done: string[] = [];
    const computing = heed.attention(q, k, v);
    const keeping = heed.attention(q, k, v, { keep: true });
    const out = new Float32Array(exact.length);
    const filling = heed.attention(q, k, v, { out });
    const turning = heed.rope(q, { positions: 3 });
    for (const { data } of [q, k, v]) data.fill(Number.NaN);
    device.destroy();
    for (const [index, call] of [computing, keeping, filling].entries()) void call.then(() => done.push(`${index}`));
    expectRight((await computing).output.data);
    const { output } = await keeping;
    expect(output.location).toBe("wasm");
    expectRight(await output.read());
    expect((await filling).output.data.buffer).toBe(out.buffer);
    expectRight(out);
    expect(done).toEqual(["0", "1", "2"]);
    expect(firstWrongTurn(await turning, ropeReference(query, { positions: 3 }))).toBe(-1);
    // The engine works on, on wasm.
    expectRight((await heed.attention(query, key, value)).output.data);
    output.dispose();
  });

  test("goes as the guide says", async () => {
    const code = /^## When the device is lost$.*?^```js\n(.*?)^```$/ms.exec(guide)?.[1] ?? "";
    const printed = [...code.matchAll(/console\.log\(.*?\/\/ (.*)$/gm)].map(([, text]) => text);
    expect(printed.length).toBe(3);
    const { device } = await testDevice();
    const lines: string[] = [];
    const show = (value: unknown): void => {
      lines.push(Array.isArray(value) ? `[${value.join(", ")}]` : String(value));
    };
    const names = { createHeed, device, q: query, k: key, v: value, console: { log: show } };
    const body = code.replace(/^import .*$/gm, "");
    await new AsyncFunction(...Object.keys(names), body)(...Object.values(names));
    expect(lines).toEqual(printed);
  });

  test("loses the tensors that lived on it, and rejects their calls", async () => {
    const { device } = await testDevice();
    using heed = await createHeed({ backend: "webgpu", device });
    using k = heed.tensor(key.data, key.shape);
    using q = heed.tensor(query.data, query.shape);
    await heed.attention(query, k, value);
    const computing = [heed.attention(query, k, value), heed.rope(q), q.read()];
    device.destroy();
    for (const call of computing) expect((await errorOf(() => call)).code).toBe("device-lost");
    expect((await errorOf(() => heed.attention(query, k, value))).code).toBe("disposed");
    expect((await errorOf(() => heed.rope(q))).code).toBe("disposed");
    expectRight((await heed.attention(query, key, value)).output.data);
    expect(heed.capabilities).toMatchObject({ backend: "wasm", webgpu: null });
    expect(heed.capabilities.reasons.join()).toContain("the GPU device is lost");
  });

  test("changes nothing for what WebAssembly computes beside: gradients and steps that are under way", async () => {
    const { device } = await testDevice();
    using gpu = await createHeed({ backend: "webgpu", device });
    using wasm = await createHeed({ backend: "wasm" });
    const train = async (engine: Heed, lose: () => void) => {
      const model = new MLP({ dim: 8, hidden: 16, engine }).init({ seed: 1 });
      const optimizer = new AdamW(model);
      const step = async (): Promise<number> => {
        const { loss } = await gradients(model, async (pass) => ({
          loss: await meanSquaredError(await model.forward(query, { pass }), query, { pass }),
        }));
        await optimizer.step();
        return loss;
      };
      await step();
      const steps = [step(), engine.attentionVjp(query, key, value)] as const;
      lose();
      const [loss, { backward }] = await Promise.all(steps);
      return [loss, await backward(query), await step(), await model.readParameters()];
    };
    expect(await train(gpu, () => device.destroy())).toEqual(await train(wasm, () => {}));
    expect(gpu.capabilities).toMatchObject({ backend: "wasm", webgpu: null });
  });

  test("opens another in place of heed's own", async () => {
    const { GpuBackend } = await import("../../web/src/backends/webgpu/gpu-backend.js");
    const { OpenDevice } = await import("../../web/src/backends/webgpu/device.js");
    const { openBackend } = await import("../support/engines.js");
    const { attend } = await import("../../web/src/api/attention.js");
    const first = (await testDevice()).device;
    const wasm = await openBackend({ variant: "simd", worker: null });
    const open = new OpenDevice(first, true, undefined);
    const reopen = async (): Promise<typeof open> => new OpenDevice((await testDevice()).device, true, undefined);
    const backend = new GpuBackend({ wasm, costs: null, open, reopen });
    const computing = attend(backend, { query, key, value }, { keep: true });
    first.destroy();
    // The call was in flight when the device was lost, and ran on the new one.
    const kept = (await computing).output as Tensor;
    expect(kept.location).toBe("webgpu");
    expectRight(await kept.read());
    await expect.poll(() => backend.report().webgpu !== null && backend.pool !== open.pool).toBe(true);
    const { output } = await attend(backend, { query, key, value }, {});
    expectRight((output as { readonly data: Float32Array }).data);
    backend.dispose();
  });

  test("a disposed engine rejects its calls and leaves the caller's device alone", async () => {
    const { device } = await testDevice();
    const heed = await createHeed({ backend: "webgpu", device });
    const computing = heed.attention(query, key, value);
    heed.dispose();
    expect((await errorOf(() => computing)).code).toBe("disposed");
    expect((await errorOf(() => heed.attention(query, key, value))).code).toBe("disposed");
    using next = await createHeed({ backend: "webgpu", device });
    expectRight((await next.attention(query, key, value)).output.data);
    device.destroy();
  });
});
