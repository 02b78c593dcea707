// Training: losses follow PyTorch's step by step, the same bits come out on every engine, and a run that is resumed goes on with them.

import { describe, expect, test, vi } from "vitest";
import { createHeed, type Heed, type Tensor } from "../../../web/src/index.js";
import {
  GPT2Model,
  Linear,
  LlamaModel,
  MLP,
  type ModelConfig,
  type ParameterTensor,
} from "../../../web/src/layers/index.js";
import {
  Adam,
  AdamW,
  clipNorm,
  constant,
  crossEntropy,
  evaluate,
  gradients,
  linear,
  loadCheckpoint,
  meanSquaredError,
  Sgd,
  saveCheckpoint,
  train,
  warmupCosine,
} from "../../../web/src/train/index.js";
import { ENGINE_KINDS, openKind } from "../../support/engines.js";
import { readFixture, unpackAll } from "../../support/fixtures.js";

interface Curve {
  readonly config: ModelConfig;
  readonly parameters: Parameters<typeof unpackAll>[0];
  /** [steps, batch, length] */
  readonly tokens: readonly (readonly (readonly number[])[])[];
  readonly rule: {
    readonly learningRate: number;
    readonly betas: readonly [number, number];
    readonly epsilon: number;
    readonly weightDecay: number;
    readonly clip: number;
  };
  readonly losses: readonly number[];
  readonly norms: readonly number[];
}

const fixture = readFixture("training.json");

/** Logits and targets of one step: each token is guessed from those before it, and the last one guesses nothing. */
function targetsOf(rows: readonly (readonly number[])[]): number[] {
  return rows.flatMap((row) => [...row.slice(1), -100]);
}

async function losses(model: GPT2Model | LlamaModel, { tokens, rule }: Curve) {
  const { clip, ...options } = rule;
  const optimizer = new AdamW(model, options);
  const told: { loss: number; norm: number | undefined }[] = [];
  await train(model, {
    optimizer,
    steps: tokens.length,
    batch: (step) => tokens[step] ?? [],
    loss: async (model, rows, pass) => {
      const shape = [rows.length, rows[0]?.length ?? 0];
      const { logits } = await model.forward({ data: rows.flat(), shape }, { pass });
      return crossEntropy(logits, targetsOf(rows), { pass });
    },
    clip,
    onStep: ({ loss, norm }) => told.push({ loss, norm }),
  });
  optimizer.dispose();
  return told;
}

describe.each(ENGINE_KINDS)("$variant, $worker worker", (kind) => {
  test("GPT-2 and Llama follow PyTorch's AdamW for 20 steps", async () => {
    using engine = await openKind(kind);
    for (const [name, Model] of [
      ["gpt2", GPT2Model],
      ["llama", LlamaModel],
    ] as const) {
      const curve = fixture[name] as Curve;
      const model = new Model(curve.config, { engine }).load(unpackAll(curve.parameters));
      const told = await losses(model, curve);
      expect(told.length).toBe(curve.losses.length);
      for (const [step, { loss, norm }] of told.entries()) {
        expect(Math.abs(loss - (curve.losses[step] ?? 0)), `${name}, step ${step}`).toBeLessThan(2e-4);
        expect(Math.abs((norm ?? 0) / (curve.norms[step] ?? 0) - 1), `${name}, step ${step}`).toBeLessThan(1e-3);
      }
      model.dispose();
    }
  });
});

/** A model large enough for every worker, its parameters after some steps. */
async function trained(engine: Heed): Promise<Float32Array[]> {
  const config = {
    model_type: "gpt2",
    vocab_size: 61,
    n_embd: 48,
    n_layer: 2,
    n_head: 3,
    n_positions: 40,
  };
  const model = new GPT2Model(config, { engine }).init({ seed: 5 });
  const optimizer = new AdamW(model, { learningRate: 1e-2 });
  await train(model, {
    optimizer,
    steps: 3,
    batch: (step) => Array.from({ length: 6 * 40 }, (_, at) => (at * 7 + step * 13 + (at % 5) ** 2) % 61),
    loss: async (model, tokens, pass) => {
      const { logits } = await model.forward({ data: tokens, shape: [6, 40] }, { pass });
      return crossEntropy(logits, [...tokens.slice(1), -100], { pass });
    },
    clip: 1,
  });
  const parameters = [...(await model.readParameters()).values()].map(({ data }) => data);
  model.dispose();
  optimizer.dispose();
  return parameters;
}

test.each(["simd", "relaxed"] as const)(
  "the same bits come out with any number of threads and on any memory, %s",
  async (variant) => {
    const kinds = [
      ...[1, 2, 3, 4].map((threads) => ({ worker: "shared-memory", threads }) as const),
      ...[1, 2, 3].map((threads) => ({ worker: "private-memory", threads }) as const),
      { worker: null, threads: 1 } as const,
    ];
    let expected: readonly Float32Array[] | undefined;
    for (const { worker, threads } of kinds) {
      using engine = await openKind({ variant, worker }, { threads });
      const got = await trained(engine);
      expected ??= got;
      for (const [at, data] of got.entries()) {
        expect(data.every(Number.isFinite)).toBe(true);
        expect(data, `${worker}, ${threads} threads, parameter ${at}`).toEqual(expected[at]);
      }
    }
  },
);

const SAMPLES = { data: Float32Array.from({ length: 60 }, (_, at) => Math.sin(at)), shape: [20, 3] } as const;
const WANTED = { data: SAMPLES.data.map((x) => x * x), shape: [20, 3] } as const;

function mlpLoss(model: MLP) {
  return async (pass: Parameters<typeof gradients>[1] extends (pass: infer P) => unknown ? P : never) => {
    const output = await model.forward(SAMPLES, { pass });
    return { loss: await meanSquaredError(output, WANTED, { pass }) };
  };
}

async function steps(model: MLP, optimizer: Adam | Sgd, count: number): Promise<number[]> {
  const losses: number[] = [];
  for (let step = 0; step < count; step++) {
    losses.push((await gradients(model, mlpLoss(model))).loss);
    await optimizer.step();
  }
  return losses;
}

test("a run that is resumed from a checkpoint goes on bit for bit, with every optimizer", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const make = (): MLP => new MLP({ dim: 3, hidden: 8, engine });
  for (const optimizerOf of [
    (model: MLP) => new AdamW(model, { learningRate: 0.01 }),
    (model: MLP) => new Adam(model, { learningRate: 0.01 }),
    (model: MLP) => new Sgd(model, { learningRate: 0.01, momentum: 0.9, nesterov: true }),
  ]) {
    const whole = make().init({ seed: 4 });
    const expected = await steps(whole, optimizerOf(whole), 6);
    const first = make().init({ seed: 4 });
    const optimizer = optimizerOf(first);
    const before = await steps(first, optimizer, 3);
    const file = await saveCheckpoint(first, optimizer, { step: 3 });
    const second = make().init({ seed: 9 });
    const resumed = optimizerOf(second);
    expect(await loadCheckpoint(file, second, resumed)).toEqual({ step: 3 });
    expect([...before, ...(await steps(second, resumed, 3))]).toEqual(expected);
    const learnt = await whole.readParameters();
    for (const [name, { data }] of await second.readParameters()) expect(data).toEqual(learnt.get(name)?.data);
  }
});

test("a resumed GPT-2 is still tied, and goes on bit for bit", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const curve = fixture["gpt2"] as Curve;
  const { clip: _, ...rule } = curve.rule;
  const make = () => new GPT2Model(curve.config, { engine });
  const step = async (model: GPT2Model, optimizer: AdamW, at: number): Promise<number> => {
    const rows = curve.tokens[at] ?? [];
    const { loss } = await gradients(model, async (pass) => {
      const { logits } = await model.forward({ data: rows.flat(), shape: [2, 8] }, { pass });
      return { loss: await crossEntropy(logits, targetsOf(rows), { pass }) };
    });
    await optimizer.step();
    return loss;
  };
  const whole = make().load(unpackAll(curve.parameters));
  const optimizer = new AdamW(whole, rule);
  const expected = [await step(whole, optimizer, 0), await step(whole, optimizer, 1)];
  const file = await saveCheckpoint(whole, optimizer, { step: 2 });
  for (let at = 2; at < 5; at++) expected.push(await step(whole, optimizer, at));
  // Nothing was loaded or drawn before.
  const copy = make();
  const resumed = new AdamW(copy, rule);
  // A source that can be read once.
  expect(await loadCheckpoint(new Response(file), copy, resumed)).toEqual({ step: 2 });
  const got: number[] = [];
  for (let at = 2; at < 5; at++) got.push(await step(copy, resumed, at));
  expect(got).toEqual(expected.slice(2));
  const learnt = await copy.readParameters();
  expect(learnt.get("head.weight")?.data).toBe(learnt.get("words.weight")?.data);
  const { tensors } = engine.memory();
  await loadCheckpoint(file, copy, resumed);
  await loadCheckpoint(file, copy, resumed);
  expect(engine.memory().tensors).toBeLessThanOrEqual(tensors);
});

test("what was learnt is what the model then computes with, and what is saved", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const [first = 0] = await steps(model, new AdamW(model, { learningRate: 0.02 }), 60);
  const { loss } = await evaluate(model, mlpLoss(model));
  expect(loss).toBeLessThan(first / 10);
  const output = await model.forward(SAMPLES);
  const copy = new MLP({ dim: 3, hidden: 8, engine }).load(await model.readParameters());
  expect((await copy.forward(SAMPLES)).data).toEqual(output.data);
  const meanSquare = output.data.reduce((sum, x, at) => sum + (x - (WANTED.data[at] ?? 0)) ** 2, 0) / 60;
  expect(Math.abs(meanSquare - loss)).toBeLessThan(1e-6);
});

test("a pass that is under way ends before the engine goes to the module of training", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const wide = new Linear({ inFeatures: 512, outFeatures: 512, engine }).init({ seed: 2 });
  const x = { data: new Float32Array(512 * 512).fill(0.1), shape: [512, 512] };
  const alone = await wide.forward(x);
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const [beside, { loss }] = await Promise.all([wide.forward(x), gradients(model, mlpLoss(model)), wide.forward(x)]);
  expect(beside.data).toEqual(alone.data);
  expect(loss).toBeGreaterThan(0);
  const q = { data: Float32Array.of(1, 2), shape: [1, 2] };
  const calls = [wide.forward(x), engine.attentionVjp(q, q, q), gradients(model, mlpLoss(model))] as const;
  const [again, { backward }] = await Promise.all(calls);
  expect(again.data).toEqual(alone.data);
  wide.dispose();
  model.dispose();
  expect((await backward({ data: Float32Array.of(1, 1), shape: [1, 2] })).dv.data).toEqual(Float32Array.of(1, 1));
});

test("a pass and a training step that both come first on a fresh engine are both right", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const wide = new Linear({ inFeatures: 512, outFeatures: 512, engine }).init({ seed: 2 });
  const x = { data: new Float32Array(512 * 512).fill(0.1), shape: [512, 512] };
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const [beside, { loss }] = await Promise.all([wide.forward(x), gradients(model, mlpLoss(model))]);
  expect(beside.data).toEqual((await wide.forward(x)).data);
  expect(loss).toBeGreaterThan(0);
});

test("a model answers while it learns", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const optimizer = new AdamW(model, { learningRate: 1e-4 });
  let isDone = false;
  const answers = [1, 2, 3].map(async () => {
    let count = 0;
    for (; !isDone; count++) expect((await model.forward(SAMPLES)).data.every(Number.isFinite)).toBe(true);
    return count;
  });
  await steps(model, optimizer, 60);
  isDone = true;
  for (const count of await Promise.all(answers)) expect(count).toBeGreaterThan(0);
});

test("passes at the same time add both of their gradients, and what fails leaves them as they were", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  await gradients(model, mlpLoss(model));
  const once = (await model.readGradients()).get("up_proj.bias")?.data ?? new Float32Array();
  const optimizer = new AdamW(model);
  await optimizer.clear();
  expect((await model.readGradients()).size).toBe(0);
  await Promise.all([gradients(model, mlpLoss(model)), gradients(model, mlpLoss(model))]);
  const twice = once.map((number) => 2 * number);
  expect((await model.readGradients()).get("up_proj.bias")?.data).toEqual(twice);
  const abort = new AbortController();
  const failing = gradients(
    model,
    async (pass) => {
      const made = await mlpLoss(model)(pass);
      abort.abort();
      return made;
    },
    { signal: abort.signal },
  );
  await expect(failing).rejects.toMatchObject({ code: "aborted" });
  expect((await model.readGradients()).get("up_proj.bias")?.data).toEqual(twice);
});

test("each parameter has steps of its own, and a frozen one stays, tied or not", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 }).freeze(["up_proj"]);
  const rate = 1e-3;
  const optimizer = new Adam(model, { learningRate: rate });
  const before = (await model.readParameters()).get("up_proj.bias")?.data ?? new Float32Array();
  await steps(model, optimizer, 30);
  expect((await model.readParameters()).get("up_proj.bias")?.data).toEqual(before);
  model.unfreeze(["up_proj"]);
  await steps(model, optimizer, 1);
  // The first step of Adam is as long as the rate.
  const after = (await model.readParameters()).get("up_proj.bias")?.data ?? new Float32Array();
  for (const [at, number] of after.entries()) expect(Math.abs(number - (before[at] ?? 0))).toBeCloseTo(rate, 5);
  const gpt2 = new GPT2Model((fixture["gpt2"] as Curve).config, { engine }).init({ seed: 1 }).freeze(["words"]);
  await gradients(gpt2, async (pass) => {
    const { logits } = await gpt2.forward([1, 2, 3], { pass });
    return { loss: await crossEntropy(logits, [2, 3, 4], { pass }) };
  });
  const names = [...(await gpt2.readGradients()).keys()];
  expect(names).not.toContain("words.weight");
  expect(names).not.toContain("head.weight");
  expect(names).toContain("positions.weight");
});

test("a model that is disposed of in a pass keeps nothing in the engine", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  await gradients(model, async (pass) => {
    const made = await mlpLoss(model)(pass);
    model.dispose();
    return made;
  }).catch(() => {});
  model.dispose();
  expect(engine.memory().tensors).toBe(0);
});

test("tokens are counted in batches of any form", async () => {
  using engine = await createHeed({ backend: "wasm", threads: 1 });
  const model = new Linear({ inFeatures: 1, outFeatures: 1, engine }).init({ seed: 1 });
  const optimizer = new Sgd(model, { learningRate: 0.1 });
  const one = { data: Float32Array.of(1), shape: [1, 1] };
  using kept = engine.tensor(new Float32Array(6), [2, 3]);
  const batches: readonly (readonly [unknown, number])[] = [
    [[Int32Array.of(1, 2, 3), Int32Array.of(1)], 3],
    [{ tokens: [1, 2], targets: [3, 4] }, 2],
    [{ name: "first", x: { data: new Float32Array(4), shape: [4] } }, 4],
    [{ rows: [[1, 2, 3], [4]] }, 4],
    [new Map([["ids", [1, 2, 3, 4, 5]]]), 5],
    [{ data: new Float32Array(7), shape: [7] }, 7],
    [[1, 2, 3, 4, 5, 6, 7, 8], 8],
    [kept, 6],
    [{ kept }, 6],
    ["a text", 0],
    [undefined, 0],
  ];
  const told: number[] = [];
  // A step begins at 0 and ends after a second, however often it asks in between.
  let asked = 0;
  using _clock = vi.spyOn(performance, "now").mockImplementation(() => (asked++ === 0 ? 0 : 1000));
  await train(model, {
    optimizer,
    steps: batches.length,
    batch: (step) => batches[step]?.[0],
    loss: async (model, _batch, pass) => meanSquaredError(await model.forward(one, { pass }), one, { pass }),
    onStep: ({ tokensPerSecond }) => {
      told.push(tokensPerSecond);
      asked = 0;
    },
  });
  expect(told).toEqual(batches.map(([, count]) => count));
});

test("gradients are clipped to a norm", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  await gradients(model, mlpLoss(model));
  const squares = (all: ReadonlyMap<string, ParameterTensor>): number =>
    [...all.values()].reduce((sum, { data }) => sum + data.reduce((total, x) => total + x * x, 0), 0);
  const norm = Math.sqrt(squares(await model.readGradients()));
  expect(await clipNorm(model, norm / 4)).toBeCloseTo(norm, 6);
  expect(Math.sqrt(squares(await model.readGradients()))).toBeCloseTo(norm / 4, 6);
  await clipNorm(model, 10);
  expect(Math.sqrt(squares(await model.readGradients()))).toBeCloseTo(norm / 4, 6);
});

test("batches that are accumulated step as one large batch", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const half = (at: number) => ({ data: SAMPLES.data.slice(30 * at, 30 * at + 30), shape: [10, 3] });
  const wanted = (at: number) => ({ data: WANTED.data.slice(30 * at, 30 * at + 30), shape: [10, 3] });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const told: number[] = [];
  await train(model, {
    optimizer: new Sgd(model, { learningRate: 0.1 }),
    steps: 1,
    accumulate: 2,
    batch: (_step, part) => part,
    loss: async (model, part, pass) => {
      const output = await model.forward(half(part), { pass });
      return meanSquaredError(output, wanted(part), { pass });
    },
    onStep: ({ loss }) => told.push(loss),
  });
  const whole = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const [loss = 0] = await steps(whole, new Sgd(whole, { learningRate: 0.1 }), 1);
  expect(told[0]).toBeCloseTo(loss, 6);
  const learnt = await whole.readParameters();
  for (const [name, { data }] of await model.readParameters()) {
    for (const [at, x] of data.entries()) expect(x).toBeCloseTo(learnt.get(name)?.data[at] ?? 0, 6);
  }
});

test("a run that is aborted keeps what it has learnt, and the engine works on", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const optimizer = new AdamW(model);
  const abort = new AbortController();
  const run = train(model, {
    optimizer,
    steps: 100,
    batch: () => 0,
    loss: async (model, _batch, pass) => (await mlpLoss(model)(pass)).loss,
    onStep: ({ step }) => step === 2 && abort.abort(),
    signal: abort.signal,
  });
  await expect(run).rejects.toMatchObject({ name: "HeedError", code: "aborted" });
  expect(optimizer.steps).toBe(3);
  expect((await gradients(model, mlpLoss(model))).loss).toBeGreaterThan(0);
});

test("schedules rise, and fall to their floor", () => {
  const rule = { peak: 1, warmup: 4, total: 14, floor: 0.1 };
  expect(constant(7, rule)).toBe(1);
  expect([0, 3].map((step) => warmupCosine(step, rule))).toEqual([0.25, 1]);
  expect(warmupCosine(9, rule)).toBeCloseTo(0.55, 12);
  expect([14, 100].map((step) => warmupCosine(step, rule))).toEqual([0.1, 0.1]);
  expect(linear(9, rule)).toBeCloseTo(0.55, 12);
});

test("the engine holds no more after many steps than after a few", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const optimizer = new AdamW(model);
  await steps(model, optimizer, 3);
  const { tensors, tensorBytes, total } = engine.memory();
  await steps(model, optimizer, 200);
  expect(engine.memory()).toMatchObject({ tensors, tensorBytes, total });
  optimizer.dispose();
  model.dispose();
  expect(engine.memory().tensors).toBe(0);
});

test("what is not a model, a pass or a loss is refused by name", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const model = new MLP({ dim: 3, hidden: 8, engine }).init({ seed: 4 });
  const stranger = new Linear({ inFeatures: 3, outFeatures: 3, engine }).init();
  const option = (message: RegExp) => ({ name: "HeedError", code: "option", message: expect.stringMatching(message) });
  await expect(gradients({} as MLP, mlpLoss(model))).rejects.toMatchObject(option(/^gradients: model must be/));
  await expect(gradients(model, async () => ({ loss: 3 as unknown as Tensor }))).rejects.toMatchObject(
    option(/^gradients: the pass must return \{ loss \}/),
  );
  await expect(model.forward(SAMPLES, { pass: {} as never })).rejects.toMatchObject(
    option(/^MLP: pass must be the one/),
  );
  await expect(
    gradients(model, async (pass) => {
      const output = await model.forward(SAMPLES, { pass });
      return { loss: await crossEntropy(output, [3], { pass }) };
    }),
  ).rejects.toMatchObject({
    code: "shape",
    message: expect.stringMatching(/targets must be one a row of the logits, 20, got 1/),
  });
  expect(() => new Sgd(model, { learningRate: 1, nesterov: true })).toThrow(/nesterov needs a momentum/);
  expect(() => new Adam(model, { betas: [0.9, 1] })).toThrow(/betas must be two numbers/);
  expect(() => model.freeze(["nothing"])).toThrow(/no parameter is named "nothing"/);
  const other = new AdamW(stranger);
  const run = train(model, { optimizer: other, steps: 1, batch: () => 0, loss: () => 0 as unknown as Tensor });
  await expect(run).rejects.toMatchObject(option(/optimizer must be one of this model/));
  await expect(
    gradients(model, async (pass) => {
      const output = await model.forward(SAMPLES, { pass });
      return { loss: await meanSquaredError(output, await model.forward(SAMPLES, { pass }), { pass }) };
    }),
  ).rejects.toMatchObject({ code: "unsupported", message: expect.stringMatching(/targets must not depend/) });
  await expect(
    gradients(model, async (pass) => {
      const output = await pass.input(await model.forward(SAMPLES, { pass }));
      return { loss: await meanSquaredError(output, WANTED, { pass }) };
    }),
  ).rejects.toMatchObject(option(/^Pass.input: x must come from outside/));
  const every = { optimizer: new AdamW(model), steps: 1, batch: () => 0, loss: () => 0 as unknown as Tensor };
  await expect(train(model, { ...every, checkpoint: { every: 0, save: () => 0 } })).rejects.toMatchObject(
    option(/checkpoint.every must be a whole number/),
  );
  await expect(train(model, { ...every, checkpoint: { every: 1, save: 1 as never } })).rejects.toMatchObject(
    option(/checkpoint.save must be a function/),
  );
  expect(() => warmupCosine(0, {} as never)).toThrow(/^warmupCosine: peak must be given/);
  const kept = new AdamW(model);
  await gradients(model, mlpLoss(model));
  await kept.step();
  const file = await saveCheckpoint(model, kept);
  await expect(loadCheckpoint(file, model, new Sgd(model, { learningRate: 1, momentum: 0.9 }))).rejects.toMatchObject({
    code: "load",
    message: expect.stringMatching(/^loadCheckpoint: the file must be of the optimizer's kind, Sgd, got "AdamW"$/),
  });
  await expect(saveCheckpoint(model, other)).rejects.toMatchObject(option(/^saveCheckpoint: optimizer must be/));
  expect((await gradients(model, mlpLoss(model))).loss).toBeGreaterThan(0);
});

test("an optimizer that is collected frees what it keeps", async () => {
  using engine = await openKind({ variant: "simd", worker: null });
  const model = new Linear({ inFeatures: 4, outFeatures: 3, engine }).init({ seed: 1 });
  const step = async (): Promise<number> => {
    await gradients(model, async (pass) => {
      const output = await model.forward({ data: new Float32Array(8), shape: [2, 4] }, { pass });
      return { loss: await meanSquaredError(output, { data: new Float32Array(6), shape: [2, 3] }, { pass }) };
    });
    await new AdamW(model).step();
    return engine.memory().tensors;
  };
  const kept = await step();
  await expect
    .poll(() => {
      globalThis.gc?.();
      return engine.memory().tensors;
    })
    .toBe(kept - 4);
});
