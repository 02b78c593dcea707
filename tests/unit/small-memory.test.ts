// Engines of JavaScript that reserve little address space for a shared memory, as phones do, or none: heed takes what it gets, refuses what
// does not fit, and works on.

import { afterEach, beforeEach, expect, test } from "vitest";
import { readCreateOptions } from "../../web/src/api/read-create-options.js";
import { openEngine } from "../../web/src/engine.js";
import { HeedError, type Tensor } from "../../web/src/index.js";
import { MLP } from "../../web/src/layers/index.js";
import { probe } from "../../web/src/platform/features.js";
import { currentHost } from "../../web/src/platform/host.js";
import { gradients, meanSquaredError, Sgd } from "../../web/src/train/index.js";
import { errorOf } from "../support/cases.js";
import { openKind } from "../support/engines.js";

const { Memory } = WebAssembly;
/** The largest maximum of a shared memory, in pages; and what was asked for. */
let most = 0;
let asked: number[] = [];

beforeEach(() => {
  asked = [];
  WebAssembly.Memory = new Proxy(Memory, {
    construct(made, [size]: [WebAssembly.MemoryDescriptor]) {
      // The probe asks for one.
      if (size.shared === true && size.maximum !== 1) asked.push(size.maximum ?? Number.NaN);
      if (size.shared === true && (size.maximum ?? 0) > most) throw new RangeError("could not allocate memory");
      return new made(size);
    },
  });
});
afterEach(() => {
  WebAssembly.Memory = Memory;
});

const one = { data: Float32Array.of(1, 2), shape: [1, 2] };

/** Fills the engine until it refuses; the numbers that it took. */
async function full(heed: {
  zeros(shape: readonly number[]): Tensor;
}): Promise<{ elements: number; tensors: Tensor[] }> {
  const tensors: Tensor[] = [];
  let elements = 0;
  for (const size of [2 ** 22, 2 ** 18, 2 ** 8]) {
    const error = await errorOf(() => {
      for (;;) {
        tensors.push(heed.zeros([size]));
        elements += size;
      }
    });
    expect(error).toBeInstanceOf(HeedError);
    expect(error.code).toBe("memory");
  }
  return { elements, tensors };
}

test.each([
  [20000, [32768, 16384]],
  [4096, [32768, 16384, 4096]],
])("where a shared memory may have %i pages, it has the next size below", async (pages, tried) => {
  most = pages;
  using heed = await openKind({ variant: "simd", worker: "shared-memory" });
  expect((await heed.attention(one, one, one)).output.data).toEqual(one.data);
  expect(asked).toEqual(tried);
});

test("what does not fit into 4096 pages is refused, and the engine works on", async () => {
  most = 4096;
  using heed = await openKind({ variant: "simd", worker: "shared-memory" });
  const { elements, tensors } = await full(heed);
  // All of it, but for the engine's own and what is lost between blocks.
  expect(elements * 4).toBeLessThan(most * 65536);
  expect(elements * 4).toBeGreaterThan(most * 65536 * 0.9);
  const large = { data: new Float32Array(2 ** 20).fill(1), shape: [2 ** 12, 256] };
  expect(await errorOf(() => heed.attention(large, large, large))).toMatchObject({ code: "memory" });
  expect(await errorOf(() => heed.attentionSync(large, large, large))).toMatchObject({ code: "memory" });
  for (const tensor of tensors) expect((await tensor.read()).every((number) => number === 0)).toBe(true);
  for (const tensor of tensors) tensor.dispose();
  const { output } = await heed.attention(large, large, large);
  expect(output.data.every((number) => Math.abs(number - 1) < 1e-5)).toBe(true);
  expect(heed.capabilities).toMatchObject({ worker: "shared-memory" });
});

test("an engine that is full does not move onto a larger module, and trains when there is room", async () => {
  most = 4096;
  using heed = await openKind({ variant: "simd", worker: "shared-memory" });
  const model = new MLP({ dim: 8, hidden: 16, engine: heed }).init({ seed: 1 });
  const optimizer = new Sgd(model, { learningRate: 0.1 });
  const x = { data: Float32Array.from({ length: 32 }, (_, i) => Math.sin(i)), shape: [4, 8] };
  const step = async (): Promise<number> => {
    const { loss } = await gradients(model, async (pass) => ({
      loss: await meanSquaredError(await model.forward(x, { pass }), x, { pass }),
    }));
    await optimizer.step();
    return loss;
  };
  const { tensors } = await full(heed);
  const refused = await errorOf(step);
  expect(refused).toBeInstanceOf(HeedError);
  expect(refused.code).toBe("memory");
  for (const tensor of tensors) tensor.dispose();
  const first = await step();
  expect(await step()).toBeLessThan(first);
  expect(heed.capabilities).toMatchObject({ worker: "shared-memory" });
});

test("where no shared memory is large enough, workers have memories of their own, and reasons say why", async () => {
  most = 1024;
  const features = { ...probe(currentHost()), isolated: true };
  using heed = await openEngine(readCreateOptions({ variant: "simd", offload: true, threads: 2 }), features);
  expect((await heed.attention(one, one, one)).output.data).toEqual(one.data);
  expect(heed.capabilities).toMatchObject({ worker: "private-memory", threads: 2 });
  expect(heed.capabilities.reasons.join()).toMatch(
    /with shared-memory worker was refused: .*could not allocate memory/,
  );
});
