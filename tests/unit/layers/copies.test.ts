// The numbers of parameters leave JavaScript when an engine has them, and come back from there bit for bit.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { type ArrayTensor, createHeed, type Heed } from "../../../web/src/index.js";
import {
  Embedding,
  GPT2Model,
  GRU,
  Layer,
  type LayerOptions,
  Linear,
  LlamaModel,
  type ParameterTensor,
} from "../../../web/src/layers/index.js";
import { crossEntropy, gradients, lora, meanSquaredError, Sgd } from "../../../web/src/train/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";
import { madeByTransformers } from "../../support/model-files.js";
import { ownWorkers } from "../../support/own-workers.js";
import { Random } from "../../support/random.js";

const random = new Random(151);

/** Any bits: subnormals, infinities and NaNs of all kinds among them. */
function anyBits(...shape: number[]): ParameterTensor {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
  const bits = new Uint32Array(data.buffer);
  for (const at of bits.keys()) bits[at] = random.whole(0, 2 ** 32 - 1);
  bits.set([0x7f800001, 0xffc12345, 0x80000000, 0x7fc00000].slice(0, bits.length));
  return { data, shape };
}

const bitsOf = (parameters: ReadonlyMap<string, ParameterTensor>): Record<string, number[]> =>
  Object.fromEntries([...parameters].map(([name, { data }]) => [name, [...new Uint32Array(data.slice().buffer)]]));

/** Until nothing in JavaScript holds the array. */
async function collected(array: WeakRef<object>): Promise<boolean> {
  for (let round = 0; round < 20 && array.deref() !== undefined; round++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    globalThis.gc?.();
  }
  return array.deref() === undefined;
}

/** Loads a layer with any bits, which nobody else holds. */
function loadAny<L extends Layer>(layer: L): { layer: L; bits: Record<string, number[]>; arrays: WeakRef<object>[] } {
  const parameters = new Map([...layer.init().parameters()].map(([name, { shape }]) => [name, anyBits(...shape)]));
  layer.load(parameters);
  return {
    layer,
    bits: bitsOf(parameters),
    arrays: [...parameters.values()].map(({ data }) => new WeakRef(data.buffer)),
  };
}

const LAYERS: Record<string, (engine: Heed) => { layer: Layer; run: () => Promise<unknown> }> = {
  "a matrix of no whole number of panels": (engine) => {
    const layer = new Linear({ inFeatures: 5, outFeatures: 11, engine });
    return { layer, run: () => layer.forward({ data: new Float32Array(5), shape: [1, 5] }) };
  },
  "a recurrence of three matrices": (engine) => {
    const layer = new GRU({ inputSize: 3, hiddenSize: 5, engine });
    return { layer, run: () => layer.forward({ data: new Float32Array(6), shape: [1, 2, 3] }) };
  },
  "a table": (engine) => {
    const layer = new Embedding({ count: 7, dim: 3, engine });
    return { layer, run: () => layer.forward([6]) };
  },
};

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  test.each(Object.entries(LAYERS))("%s", async (_name, make) => {
    using engine = await openKind(kind);
    const { layer, run } = make(engine);
    const { bits, arrays } = loadAny(layer);
    await run();
    for (const array of arrays) expect(await collected(array)).toBe(true);
    expect(bitsOf(layer.parameters())).toEqual(bits);
    expect(bitsOf(await layer.readParameters())).toEqual(bits);
    // Another module has another memory.
    const other = new Linear({ inFeatures: 1, outFeatures: 1, engine }).init();
    const x = { data: Float32Array.of(1), shape: [1, 1] };
    await gradients(other, async (pass) => ({
      loss: await meanSquaredError(await other.forward(x, { pass }), x, { pass }),
    }));
    expect(bitsOf(layer.parameters())).toEqual(bits);
    layer.dispose();
    expect(bitsOf(layer.parameters())).toEqual(bits);
    await run();
    expect(bitsOf(layer.parameters())).toEqual(bits);
  });
});

test.each(["shared-memory", "private-memory"] as const)("they outlive the loss of a worker, %s", async (worker) => {
  const { workers, wasm } = ownWorkers();
  using engine = await openKind({ variant: "simd", worker }, { threads: 1, wasm });
  const layer = new Linear({ inFeatures: 64, outFeatures: 300, engine });
  const { bits, arrays } = loadAny(layer);
  const x = { data: new Float32Array(64 * 64), shape: [64, 64] };
  await layer.forward(x);
  expect(await collected(arrays[0] as WeakRef<object>)).toBe(true);
  for (const one of workers) void one.terminate();
  await vi.waitFor(
    async () => {
      await layer.forward(x).catch(() => layer.forward(x));
      expect(engine.capabilities.reasons.join()).toMatch(/lost/);
    },
    { timeout: 30_000 },
  );
  expect(bitsOf(layer.parameters())).toEqual(bits);
});

const { config, parameters, ids } = madeByTransformers("gpt2");

test("a model that has computed learns as one that has not, and tied parameters stay tied", async () => {
  using engine = await createHeed({ backend: "wasm", threads: 1 });
  const trained = async (before: (model: GPT2Model) => Promise<unknown>) => {
    const model = new GPT2Model(config, { engine }).init({ seed: 3 });
    await before(model);
    const optimizer = new Sgd(model, { learningRate: 0.5 });
    const losses: number[] = [];
    for (let step = 0; step < 3; step++) {
      const { loss } = await gradients(model, async (pass) => {
        const { logits } = await model.forward(ids.slice(0, -1), { pass });
        return { loss: await crossEntropy(logits, ids.slice(1), { pass }) };
      });
      losses.push(loss);
      await optimizer.step();
    }
    const read = await model.readParameters();
    expect(read.get("head.weight")?.data).toBe(read.get("words.weight")?.data);
    model.dispose();
    return { losses, bits: bitsOf(read) };
  };
  const fresh = await trained(async () => {});
  const used = await trained(async (model) => {
    await model.forward(ids);
    globalThis.gc?.();
    expect(() => lora(model, { rank: 1, targets: ["head"] })).toThrow("got one tied to words.weight");
    const read = await model.readParameters();
    expect(read.get("head.weight")?.data).toBe(read.get("words.weight")?.data);
  });
  expect(used).toEqual(fresh);
});

test("what comes back from an engine is tied where it is loaded", async () => {
  using engine = await createHeed({ backend: "wasm", threads: 1 });
  const table = new Embedding({ count: 4, dim: 3, engine }).init({ seed: 1 });
  await table.forward([0]);
  globalThis.gc?.();
  class Both extends Layer {
    readonly head: Linear;
    constructor() {
      super("Both", engine);
      this.part("table", table);
      this.head = this.part("head", new Linear({ inFeatures: 3, outFeatures: 4, bias: false, engine }));
    }
  }
  const both = new Both();
  both.head.load({ weight: table.parameters().get("weight") as ParameterTensor });
  expect(() => lora(both, { rank: 1, targets: ["head"] })).toThrow("got one tied to table.weight");
  const { tensorBytes } = engine.memory();
  const x = { data: Float32Array.of(1, 0, 0), shape: [1, 3] };
  const expected = [0, 1, 2, 3].map((row) => table.parameters().get("weight")?.data[row * 3]);
  expect([...(await both.head.forward(x)).data]).toEqual(expected);
  expect(engine.memory().tensorBytes).toBeGreaterThan(tensorBytes);
});

class Outer extends Layer {
  constructor(
    readonly inner: Linear,
    options: LayerOptions,
  ) {
    super("Outer", options.engine);
    this.part("inner", inner);
  }
  async forward(x: ParameterTensor): Promise<ArrayTensor> {
    const made = await this.passOne(x, {}, (scope, input) => this.inner.compute(scope, input));
    return made as ArrayTensor;
  }
}

test("a layer of one engine is part of a model of another, and each has the layer's numbers", async () => {
  using first = await createHeed({ backend: "wasm", threads: 1 });
  using second = await createHeed({ backend: "wasm", threads: 1 });
  const weight = { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] };
  const inner = new Linear({ inFeatures: 2, outFeatures: 2, bias: false, engine: first }).load({ weight });
  // The memory of the other engine has other numbers at the same place.
  const filler = new Linear({ inFeatures: 2, outFeatures: 2, bias: false, engine: second });
  const x = { data: Float32Array.of(1, 1), shape: [1, 2] };
  await filler.load({ weight: { data: new Float32Array(4).fill(9), shape: [2, 2] } }).forward(x);
  const outer = new Outer(inner, { engine: second });
  for (let round = 0; round < 2; round++) {
    expect([...(await inner.forward(x)).data]).toEqual([3, 7]);
    expect([...(await outer.forward(x)).data]).toEqual([3, 7]);
  }
  first.dispose();
  expect([...(await outer.forward(x)).data]).toEqual([3, 7]);
  expect([...(outer.parameters().get("inner.weight")?.data ?? [])]).toEqual([1, 2, 3, 4]);
});

test("a model beside the one that learns computes with what it has learnt", async () => {
  using engine = await createHeed({ backend: "wasm", threads: 1 });
  const one = { data: Float32Array.of(1), shape: [1, 1] };
  const make = () => new Linear({ inFeatures: 1, outFeatures: 1, bias: false, engine }).load({ weight: one });
  const [generator, judge] = [make(), make()];
  const zero = { data: Float32Array.of(0), shape: [1, 1] };
  await gradients(generator, async (pass) => ({
    loss: await meanSquaredError(await generator.forward(one, { pass }), zero, { pass }),
  }));
  // The gradient is 2.
  await new Sgd(generator, { learningRate: 0.25 }).step();
  const { made, loss } = await gradients(judge, async (pass) => {
    const made = await generator.forward(one, { pass });
    return { loss: await meanSquaredError(await judge.forward(made, { pass }), zero, { pass }), made };
  });
  expect([...made.data, loss]).toEqual([0.5, 0.25]);
  expect([...((await judge.readGradients()).get("weight")?.data ?? [])]).toEqual([2 * 0.5 * 0.5]);
});

describe("a model that is disposed of", () => {
  test("ends its passes, keeps nothing, says so, and can be loaded anew", async () => {
    using engine = await createHeed({ backend: "wasm", threads: 1 });
    const model = new GPT2Model(config, { engine }).load(parameters);
    const { logits } = await model.forward(ids);
    const pass = model.forward(ids);
    model.dispose();
    const refused = { code: "disposed", message: expect.stringMatching(/^GPT2Model was disposed of: call .*load/) };
    await expect(model.forward(ids)).rejects.toMatchObject(refused);
    expect((await pass).logits.data).toEqual(logits.data);
    await expect(model.forward(ids)).rejects.toMatchObject(refused);
    expect(model.parameters().size).toBe(0);
    expect(engine.memory().tensors).toBe(0);
    expect((await model.load(parameters).forward(ids)).logits.data).toEqual(logits.data);
  });

  test("and one that was never loaded, are told apart", async () => {
    using engine = await createHeed({ backend: "wasm", threads: 1 });
    const model = new LlamaModel(madeByTransformers("llama").config, { engine });
    const refused = { code: "option", message: "LlamaModel has not been loaded: call LlamaModel.load, or init, first" };
    await expect(model.forward([1])).rejects.toMatchObject(refused);
    const inPass = gradients(model, async (pass) => ({
      loss: await crossEntropy((await model.forward([1], { pass })).logits, [1], { pass }),
    }));
    await expect(inPass).rejects.toMatchObject(refused);
    expect(() => lora(model, { rank: 1, targets: ["q_proj"] })).toThrow(
      /has not been loaded: call LlamaModel\.load first$/,
    );
    model.dispose();
    await expect(model.forward([1])).rejects.toMatchObject(refused);
  });
});

test("what was in an engine that is disposed of is missed by name", async () => {
  const engine = await createHeed({ backend: "wasm", threads: 1 });
  const layer = new Linear({ inFeatures: 2, outFeatures: 1, bias: false, engine });
  const { arrays } = loadAny(layer);
  await layer.forward({ data: Float32Array.of(1, 1), shape: [1, 2] });
  expect(await collected(arrays[0] as WeakRef<object>)).toBe(true);
  engine.dispose();
  expect(() => layer.parameters()).toThrow(/^Linear: parameter weight was in the memory of an engine/);
  layer.dispose();
  const weight = { data: Float32Array.of(3, 4), shape: [1, 2] };
  expect([...(layer.load({ weight }).parameters().get("weight")?.data ?? [])]).toEqual([3, 4]);
});

/** Told of a process in which nobody else collects garbage: its memory in MiB with the model, and the least until half a minute after. */
const DISPOSING = `
import { createHeed } from "heed";
import { LlamaModel } from "heed/layers";
const engine = await createHeed({ backend: "wasm", threads: 1 });
const config = { model_type: "llama", vocab_size: 64, hidden_size: 1024, num_attention_heads: 8, num_hidden_layers: 3, intermediate_size: 4096 };
const model = new LlamaModel(config, { engine }).init();
await model.forward([1, 2]);
const taken = () => process.memoryUsage().rss / 2 ** 20;
const before = taken();
model.dispose();
const until = performance.now() + 30_000;
let after = before;
while (performance.now() < until && after > before - 150) {
  await new Promise((resolve) => setTimeout(resolve, 50));
  after = Math.min(after, taken());
}
console.log(JSON.stringify({ before, after }));
engine.dispose();
`;

test("an idle process has the memory of a model back, without a collection of its own", {
  timeout: 120_000,
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", DISPOSING]);
  const { before, after } = JSON.parse(stdout);
  // 192 MiB of parameters.
  expect(before - after).toBeGreaterThan(150);
});
