// Training as users get it wrong, or change things in its midst: gradients are right or refused, and the engine works on.

import { setTimeout } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type Tensor } from "../../../web/src/index.js";
import { Layer, LayerNorm, Linear, MLP, MultiHeadAttention, Pooling } from "../../../web/src/layers/index.js";
import { evaluate, gradients, meanSquaredError, type Pass, Sgd, train } from "../../../web/src/train/index.js";
import { Random } from "../../support/random.js";

const random = new Random(93);
const draw = (...shape: number[]) => ({ data: random.floats(shape.reduce((a, b) => a * b, 1)), shape });

const engine = await createHeed({ backend: "wasm", threads: 1 });
afterAll(() => engine.dispose());

const linear = () => new Linear({ inFeatures: 3, outFeatures: 2, engine }).init({ seed: 1 });
const lossOf = (model: Linear, rows: number) => {
  const [x, y] = [draw(rows, 3), draw(rows, 2)];
  return async (pass: Pass) => ({ loss: await meanSquaredError(await model.forward(x, { pass }), y, { pass }) });
};

test.each([
  ["packed", linear],
  ["plain", () => new LayerNorm({ shape: 3, engine }).init()],
])("a pass that has ended is refused by a layer of %s parameters", async (_, make) => {
  const model = make() as Linear;
  const x = draw(2, 3);
  let late: Pass | undefined;
  let other: Promise<unknown> = Promise.resolve();
  const own = new Error("mine");
  const failed = gradients(model, async (pass) => {
    late = pass;
    other = model
      .forward(x, { pass })
      .then(() => setTimeout(20))
      .then(() => model.forward(x, { pass }));
    throw own;
  });
  await expect(failed).rejects.toBe(own);
  await expect(other).rejects.toMatchObject({ code: "disposed" });
  const ended = { code: "disposed", message: expect.stringMatching(/pass has ended/) };
  await expect(model.forward(x, { pass: late })).rejects.toMatchObject(ended);
  expect((await model.forward(x)).shape[0]).toBe(2);
});

test("a batch of no rows has gradients of zero", async () => {
  const model = new MLP({ dim: 3, hidden: 4, engine }).init({ seed: 1 });
  const optimizer = new Sgd(model, { learningRate: 0.1 });
  const pass = async (rows: number) => {
    const [x, y] = [draw(rows, 3), draw(rows, 3)];
    await gradients(model, async (pass) => ({
      loss: await meanSquaredError(await model.forward(x, { pass }), y, { pass }),
    }));
  };
  await pass(8);
  await optimizer.step();
  await pass(0);
  const read = await model.readGradients();
  expect(read.size).toBeGreaterThan(1);
  for (const { data } of read.values()) expect(Math.max(...data.map(Math.abs), 0)).toBe(0);
});

test("no gradient goes through the weights of attention: they can be read, and a loss of them is refused", async () => {
  const attention = new MultiHeadAttention({ embedDim: 4, heads: 2, engine }).init({ seed: 1 });
  const [x, y] = [draw(1, 3, 4), draw(1, 3, 4)];
  const pass = (use: (weights: Tensor, output: Tensor, pass: Pass) => Promise<Tensor>) =>
    gradients(attention, async (pass) => {
      const options = { pass, return: { weights: true } } as const;
      const { output, weights } = await attention.forward(x, undefined, undefined, options);
      return { loss: await use(weights as Tensor, output as Tensor, pass), weights: weights as Tensor };
    });
  const seen = await pass((_, output, pass) => meanSquaredError(output, y, { pass }));
  expect(seen.weights.shape).toEqual([1, 2, 3, 3]);
  const refused = pass((weights, _, pass) => meanSquaredError(weights, draw(1, 2, 3, 3), { pass }));
  await expect(refused).rejects.toMatchObject({ code: "unsupported", message: expect.stringMatching(/weights/) });
});

test("gradients are those of the values that the pass began with", async () => {
  const [still, stepping] = [linear(), linear()];
  const optimizer = new Sgd(stepping, { learningRate: 0.5 });
  const [first, x, y] = [lossOf(stepping, 4), draw(4, 3), draw(4, 2)];
  const pass = (model: Linear, meanwhile: () => Promise<void>) =>
    gradients(model, async (pass) => {
      const hidden = await pass.input(x);
      const loss = await meanSquaredError(await model.forward(hidden, { pass }), y, { pass });
      await meanwhile();
      return { loss };
    });
  const expected = await pass(still, async () => {});
  const { inputGradients } = await pass(stepping, async () => {
    await gradients(stepping, first);
    await optimizer.step();
  });
  expect(inputGradients).toEqual(expected.inputGradients);
  expect(await stepping.readGradients()).toEqual(await still.readGradients());
});

test("a step clears the gradients of what was frozen meanwhile", async () => {
  const model = linear();
  const optimizer = new Sgd(model, { learningRate: 0.1 });
  await gradients(model, lossOf(model, 4));
  model.freeze(["weight"]);
  await optimizer.step();
  expect((await model.readGradients()).size).toBe(0);
});

describe.each([
  [
    "a model that is frozen as a whole",
    () => linear().freeze(["weight", "bias"]),
    [3, 2],
    /all parameters of the model are frozen/,
  ],
  ["a model without parameters", () => new Pooling({ kind: "mean", engine }), [1, 2, 3, 1, 3], /no loaded parameters/],
] as const)("%s", (_, make, sizes, why) => {
  const isLinear = sizes.length === 2;
  const [x, y] = isLinear ? [draw(1, 3), draw(1, 2)] : [draw(1, 2, 3), draw(1, 3)];
  const model = make() as Linear;
  const act = (prepare: (pass: Pass) => Promise<Tensor | typeof x>) => async (pass: Pass) => {
    const output = await model.forward(await prepare(pass), { pass });
    return { loss: await meanSquaredError(output, y, { pass }), output };
  };
  const plain = act(async () => x);

  test("is evaluated", async () => {
    const { loss, output } = await evaluate(model, plain);
    expect(output.data).toEqual((await model.forward(x)).data);
    const squares = Array.from(output.data, (number, at) => (number - (y.data[at] ?? 0)) ** 2);
    expect(loss).toBeCloseTo(squares.reduce((a, b) => a + b) / squares.length, 5);
    expect(
      (
        await evaluate(
          model,
          act((pass) => pass.input(x)),
        )
      ).loss,
    ).toBe(loss);
  });

  test("has gradients of inputs, and is told that it has no others", async () => {
    const { output, inputGradients } = await gradients(
      model,
      act((pass) => pass.input(x)),
    );
    const weight = isLinear ? model.parameters().get("weight")?.data : undefined;
    const slopes = Array.from(output.data, (number, at) => (2 * (number - (y.data[at] ?? 0))) / y.data.length);
    const wanted = Array.from(x.data, (_, at) =>
      weight === undefined
        ? (slopes[at % 3] ?? 0) / 2
        : slopes.reduce((sum, slope, row) => sum + slope * (weight[row * 3 + at] ?? 0), 0),
    );
    for (const [at, number] of wanted.entries()) expect(inputGradients[0]?.data[at]).toBeCloseTo(number, 5);
    await expect(gradients(model, plain)).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(why),
    });
    const optimizer = new Sgd(model, { learningRate: 1 });
    const loss = async (_model: Layer, _batch: number, pass: Pass) => (await plain(pass)).loss;
    await expect(train(model, { optimizer, steps: 1, batch: () => 0, loss })).rejects.toThrow(why);
    const beside = act(async (pass) => {
      await pass.input(draw(1, 1));
      return x;
    });
    await expect(gradients(model, beside)).rejects.toThrow(/must depend on .*, got one of neither$/);
  });
});

test("a loss of the weights of attention is evaluated", async () => {
  const attention = new MultiHeadAttention({ embedDim: 4, heads: 2, engine }).init({ seed: 1 });
  const { loss } = await evaluate(attention, async (pass) => {
    const options = { pass, return: { weights: true } } as const;
    const { weights } = await attention.forward(draw(1, 1, 4), undefined, undefined, options);
    // A lone key has all of the weight.
    return {
      loss: await meanSquaredError(weights as Tensor, { data: new Float32Array(2), shape: [1, 2, 1, 1] }, { pass }),
    };
  });
  expect(loss).toBe(1);
});

test("a part with another engine than its model does not compute without what it has learnt", async () => {
  class Outer extends Layer {
    readonly inner: Linear;
    constructor() {
      super("Outer", engine);
      this.inner = this.part("inner", new Linear({ inFeatures: 3, outFeatures: 2 }).init());
    }
  }
  const outer = new Outer();
  await gradients(outer, lossOf(outer.inner, 2));
  const computing = outer.inner.forward(draw(2, 3));
  await expect(computing).rejects.toMatchObject({ code: "option", message: expect.stringMatching(/another engine/) });
});

describe("train", () => {
  const call = (model: Linear, more: object) =>
    train(model, {
      optimizer: new Sgd(model, { learningRate: 0.1 }),
      steps: 2,
      batch: () => 0,
      loss: (_, __, pass) => lossOf(model, 2)(pass).then(({ loss }) => loss),
      ...more,
    });
  const own = new Error("mine");
  const fail = (): never => {
    throw own;
  };

  test.each(["batch", "loss", "schedule", "onStep"])(
    "an error of %s arrives as it is, and leaves no gradients",
    async (name) => {
      const model = linear();
      await expect(call(model, { [name]: fail })).rejects.toBe(own);
      await expect(call(model, { checkpoint: { every: 1, save: fail } })).rejects.toBe(own);
      expect((await model.readGradients()).size).toBe(0);
      await call(model, {});
    },
  );

  test("a schedule must return a rate, and names of a checkpoint's options are known", async () => {
    const model = linear();
    const rate = { code: "option", message: expect.stringMatching(/^train: schedule must return a rate/) };
    await expect(call(model, { schedule: () => {} })).rejects.toMatchObject(rate);
    expect((await model.readGradients()).size).toBe(0);
    const misspelt = { checkpoint: { every: 1, save: () => {}, evry: 2 } };
    await expect(call(model, misspelt)).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/evry/),
    });
  });

  test("an abort does not wait for a batch, and two calls do not train one model", async () => {
    const model = linear();
    const controller = new AbortController();
    const waiting = call(model, { batch: () => new Promise(() => {}), signal: controller.signal });
    await expect(call(model, {})).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/another call/),
    });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
    await call(model, {});
    expect(Number.isFinite((await evaluate(model, lossOf(model, 2))).loss)).toBe(true);
  });
});
