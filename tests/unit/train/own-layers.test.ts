// Ideas of one's own: layers with parameters of their own, operations in JavaScript, gradients of what is no loss.

import { afterAll, describe, expect, test } from "vitest";
import { abs, add, type Expr, less, mul, sub, type Table, table } from "../../../web/src/expr/index.js";
import { createHeed, type Tensor, type TensorInput } from "../../../web/src/index.js";
import { Layer, Linear, saveSafetensors } from "../../../web/src/layers/index.js";
import {
  AdamW,
  crossEntropy,
  evaluate,
  gradients,
  loadCheckpoint,
  lora,
  meanSquaredError,
  type Pass,
  Sequential,
  saveCheckpoint,
} from "../../../web/src/train/index.js";
import { Random } from "../../support/random.js";

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

const draw = (seed: number, ...shape: number[]) => ({
  data: new Random(seed).floats(shape.reduce((a, b) => a * b, 1)),
  shape,
});

const [HEADS, LENGTH, DIM] = [2, 5, 4];

/** Attention whose scores fall with the distance, as fast as each head learns. */
class Decaying extends Layer {
  readonly decay = this.parameter("decay", { shape: [HEADS], init: "ones" });
  readonly gate = this.parameter("gate", { shape: [DIM], init: (random, shape) => random.normal(shape, 0.5) });
  readonly query = this.part("q_proj", new Linear({ inFeatures: DIM, outFeatures: DIM, engine }));

  constructor() {
    super("Decaying", engine);
  }

  async forward(x: TensorInput, { pass }: { readonly pass: Pass }): Promise<Tensor> {
    const slope = table(this.decay);
    const q = await this.query.forward(x, { pass });
    const { output } = await pass.attention(q, x, x, {
      layout: "packed",
      heads: HEADS,
      causal: true,
      scoreMod: ({ score, h, q, k }) => sub(score, mul(slope.at(h), abs(sub(q, k)))),
    });
    return pass.add(pass.mul(output, pass.sigmoid(this.gate)), x);
  }
}

const x = draw(1, 1, LENGTH, DIM);
const target = draw(2, 1, LENGTH, DIM);

async function lossOf(model: Decaying | Sequential, pass: Pass): Promise<{ readonly loss: Tensor }> {
  const difference = pass.sub(await model.forward(x, { pass }), target);
  return { loss: await pass.mean(pass.mul(difference, difference)) };
}

describe("a layer of one's own", () => {
  test("has parameters by their paths, drawn from the seed by their own rules", () => {
    const model = new Sequential([new Decaying(), new Linear({ inFeatures: DIM, outFeatures: DIM, engine })]);
    const [first, second] = [1, 1].map((seed) => model.init({ seed }).parameters());
    expect([...(first?.keys() ?? [])]).toEqual([
      "0.decay",
      "0.gate",
      "0.q_proj.weight",
      "0.q_proj.bias",
      "1.weight",
      "1.bias",
    ]);
    expect(first).toEqual(second);
    expect(first?.get("0.decay")?.data).toEqual(Float32Array.of(1, 1));
    expect(new Set(first?.get("0.gate")?.data).size).toBe(DIM);
    expect(model.init({ seed: 2 }).parameters().get("0.gate")).not.toEqual(first?.get("0.gate"));
    model.dispose();
  });

  test("has the gradients of central differences, and those that are frozen have none", async () => {
    const model = new Decaying().init({ seed: 3 });
    await gradients(model, (pass) => lossOf(model, pass));
    const got = await model.readGradients();
    for (const [name, { data, shape }] of model.parameters()) {
      for (const place of [0, data.length - 1]) {
        const at = async (by: number): Promise<number> => {
          const moved = new Map(model.parameters());
          moved.set(name, { data: data.map((one, index) => (index === place ? one + by : one)), shape });
          const other = new Decaying().load(moved);
          const { loss } = await evaluate(other, (pass) => lossOf(other, pass));
          other.dispose();
          return loss;
        };
        const step = 2 ** -6;
        // Of f32 losses of about 2: 2^-23 of them by the step, and the step's square times third derivatives of about 1.
        const slope = ((await at(step)) - (await at(-step))) / (2 * step);
        expect(Math.abs((got.get(name)?.data[place] ?? Number.NaN) - slope), `${name} at ${place}`).toBeLessThan(1e-3);
      }
    }
    model.freeze(["decay", "q_proj"]);
    new AdamW(model).clear();
    await gradients(model, (pass) => lossOf(model, pass));
    expect([...(await model.readGradients()).keys()]).toEqual(["gate"]);
    model.dispose();
  });

  test("learns, is saved, and goes on from a checkpoint with the same bits", async () => {
    const train = async (model: Decaying, optimizer: AdamW, steps: number): Promise<number> => {
      let last = Number.NaN;
      for (let step = 0; step < steps; step++) {
        last = (await gradients(model, (pass) => lossOf(model, pass))).loss;
        await optimizer.step();
      }
      return last;
    };
    const whole = new Decaying().init({ seed: 4 });
    const rule = { learningRate: 0.05 };
    const optimizer = new AdamW(whole, rule);
    const first = await train(whole, optimizer, 1);
    await train(whole, optimizer, 9);
    const file = await saveCheckpoint(whole, optimizer, { step: 10 });
    const last = await train(whole, optimizer, 10);
    expect(last).toBeLessThan(first);
    const resumed = new Decaying().init({ seed: 5 });
    const other = new AdamW(resumed, rule);
    await loadCheckpoint(file, resumed, other);
    expect(await train(resumed, other, 10)).toBe(last);
    expect(await resumed.readParameters()).toEqual(await whole.readParameters());
    expect(saveSafetensors(await whole.readParameters()).byteLength).toBeGreaterThan(0);
    for (const model of [whole, resumed]) model.dispose();
  });

  test("takes adapters in its inner layers", async () => {
    const model = new Decaying().init({ seed: 6 });
    const adapters = lora(model, { rank: 1, targets: ["q_proj"] });
    await gradients(model, (pass) => lossOf(model, pass));
    expect([...(await model.readGradients()).keys()]).toEqual(["q_proj.lora_A.weight", "q_proj.lora_B.weight"]);
    expect(adapters.config.target_modules).toEqual(["q_proj"]);
    model.dispose();
  });

  test("refuses rules that make no numbers of its shape", () => {
    class Wrong extends Layer {
      readonly own = this.parameter("own", { shape: [3], init: () => new Float32Array(2) });
    }
    expect(() => new Wrong().init()).toThrow("Wrong: parameter own of shape [3] must have 3 elements, got 2");
    expect(() => new Sequential([{} as never])).toThrow("Sequential: steps must be layers in an array");
  });
});

/** What a function of scores makes of a table, whose numbers only pass.attention reads. */
const scoreModOf = (made: Table) => ({
  scoreMod: ({ score, h, q, k }: { score: Expr; h: Expr; q: Expr; k: Expr }) =>
    add(score, mul(made.at(h), abs(sub(q, k)))),
});

describe("a table of what learns", () => {
  const owner = new Decaying().init({ seed: 7 });
  const [q, k] = [draw(12, HEADS, 3, DIM), draw(13, HEADS, LENGTH, DIM)];

  test("has the numbers that pass.attention finds, wherever it was made, and gradients from masks and weights too", async () => {
    const gains = { data: Float32Array.of(0.5, -0.25), shape: [2] };
    const outside = table(owner.decay);
    const once = async (make: (pass: Pass, input: Tensor) => Promise<Table> | Table) => {
      const { inputGradients, loss } = await gradients(owner, async (pass) => {
        const input = await pass.input(gains);
        const of = await make(pass, input);
        const { output } = await pass.attention(q, k, k, {
          ...scoreModOf(of),
          maskMod: ({ h, q, k }) => less(sub(k, q), add(of.at(h), 3)),
          probMod: ({ prob, h }) => mul(prob, outside.at(h), of.at(h)),
        });
        return { loss: pass.sum(pass.mul(output, output)) };
      });
      return { loss, gradient: inputGradients[0]?.data };
    };
    const learnt = await once((_, input) => table(input));
    expect((await once((pass, input) => pass.add(input, 0).then(table))).gradient).toEqual(learnt.gradient);
    const constant = await once(() => table(gains));
    expect(constant.loss).toBe(learnt.loss);
    expect(constant.gradient).toEqual(new Float32Array(2));
    const step = 2 ** -6;
    for (const [place, slope] of (learnt.gradient ?? []).entries()) {
      const at = async (by: number): Promise<number> => {
        const data = gains.data.map((one, index) => (index === place ? one + by : one));
        return (await once(() => table({ data, shape: [2] }))).loss;
      };
      expect(Math.abs(slope - ((await at(step)) - (await at(-step))) / (2 * step))).toBeLessThan(2e-3);
    }
    const { data } = (await owner.readGradients()).get("decay") ?? { data: [] };
    expect(data.every((one) => one !== 0)).toBe(true);
  });

  test("is refused by calls that do not read it", async () => {
    const message = /only pass\.attention takes tables of tensors/;
    const refused = { message: expect.stringMatching(message), code: "option" };
    const options = scoreModOf(table(owner.decay));
    await expect(engine.attention(q, k, k, options)).rejects.toMatchObject(refused);
    await expect(engine.attentionVjp(q, k, k, options)).rejects.toMatchObject(refused);
    await gradients(owner, async (pass) => {
      await pass.attention(q, k, k, options);
      return { loss: pass.sum(owner.decay) };
    });
    await expect(engine.attention(q, k, k, options)).rejects.toMatchObject(refused);
  });

  test("must be read: operators of JavaScript are told from those of expressions", async () => {
    const of = table(owner.decay);
    const run = evaluate(owner, async (pass) => {
      await pass.attention(q, k, k, { scoreMod: ({ score, h }) => of.at(h) && score });
      return { loss: pass.sum(1) };
    });
    await expect(run).rejects.toThrow("Pass.attention: scoreMod must use every expression that it makes, got at");
  });
});

describe("a pass", () => {
  const model = new Linear({ inFeatures: 1, outFeatures: 1, engine }).init();

  test("without a way back needs no loss, but must return something", async () => {
    const doubled = await evaluate(model, async (pass) => ({ made: await pass.mul(draw(7, 3), 2) }));
    expect(doubled.made).toEqual({ data: draw(7, 3).data.map((one) => 2 * one), shape: [3], dtype: "f32" });
    const refused = { code: "option", message: expect.stringMatching(/the pass must return \{ loss \}/) };
    await expect(evaluate(model, async () => ({}))).rejects.toMatchObject(refused);
    await expect(gradients(model, async (pass) => ({ made: await pass.sum(1) }))).rejects.toMatchObject(refused);
  });

  test("runs functions of the caller, forward and back", async () => {
    const given = draw(7, 3);
    const { inputGradients, made } = await gradients(model, async (pass) => {
      const input = await pass.input(given);
      const made = await pass.apply({
        inputs: [input, 2],
        forward: ([x, factor]) => ({
          data: (x?.data ?? new Float32Array()).map((one) => one ** 3 * (factor?.data[0] ?? 0)),
          shape: [3],
        }),
        backward: ({ inputs: [x], gradient }) => [
          gradient.data.map((one, at) => one * 6 * (x?.data[at] ?? 0) ** 2),
          undefined,
        ],
      });
      return { loss: await pass.sum(made), made };
    });
    expect(made.data).toEqual(given.data.map((one) => Math.fround(one) ** 3 * 2));
    expect(inputGradients[0]?.data).toEqual(given.data.map((one) => 6 * one ** 2));
  });

  test("begins its way back at what is no loss, and adds to what a loss gives", async () => {
    const given = draw(8, 2, 2);
    const seed = draw(9, 2, 2);
    const { inputGradients } = await gradients(model, async (pass) => {
      const input = await pass.input(given);
      await (await pass.mul(input, 3)).backward(seed);
      return { loss: await pass.sum(input) };
    });
    expect(inputGradients[0]?.data).toEqual(seed.data.map((one) => Math.fround(Math.fround(3 * one) + 1)));
    const alone = await gradients(model, async (pass) => {
      await (await pass.input(given)).backward(seed);
      return {};
    });
    expect(alone.inputGradients[0]?.data).toEqual(seed.data);
  });

  test("tells tensors of other passes, and of none, that they begin no way back", async () => {
    const own = await engine.tensor(Float32Array.of(1, 2), [2]);
    let late: Tensor | undefined;
    await gradients(model, async (pass) => {
      late = await pass.mul(await pass.input(own), 2);
      await late.backward(draw(9, 2));
      return {};
    });
    for (const tensor of [own, late]) {
      await expect(tensor?.backward(draw(9, 2))).rejects.toMatchObject({ message: /Tensor\.backward/, code: /./ });
    }
    own.dispose();
  });

  test("adds losses up", async () => {
    const given = draw(10, 3, 4);
    const of = async (scales: readonly [number, number]) => {
      const { inputGradients, loss } = await gradients(model, async (pass) => {
        const logits = await pass.input(given);
        const entropy = crossEntropy(logits, [1, 0, 3], { pass });
        const error = meanSquaredError(logits, { data: new Float32Array(12), shape: [3, 4] }, { pass });
        return { loss: await pass.add(pass.mul(entropy, scales[0]), pass.mul(error, scales[1])) };
      });
      return { loss, gradient: inputGradients[0]?.data ?? new Float32Array() };
    };
    const [first, second, both] = [await of([1, 0]), await of([0, 1]), await of([0.5, 2])];
    expect(both.loss).toBeCloseTo(first.loss / 2 + 2 * second.loss, 5);
    for (const [at, one] of both.gradient.entries()) {
      expect(one).toBeCloseTo((first.gradient[at] ?? 0) / 2 + 2 * (second.gradient[at] ?? 0), 6);
    }
  });

  test.each<[string, (pass: Pass, x: Tensor) => Promise<unknown>]>([
    [
      "Pass.add: shapes must be equal or 1 on each axis, from the last, got [2, 3] and [2]",
      (pass, x) => pass.add(x, { data: new Float32Array(2), shape: [2] }),
    ],
    ["Pass.matmul: a must be [..., M, K] and b [..., K, N], got [2, 3] and [2, 3]", (pass, x) => pass.matmul(x, x)],
    [
      "Pass.reshape: shape must have the 6 numbers of [2, 3], and -1 once at most, got",
      (pass, x) => pass.reshape(x, [4, -1]),
    ],
    ["Pass.transpose: axes must name each axis of [2, 3] once", (pass, x) => pass.transpose(x, [0, 0])],
    [
      "Pass.slice: from and to must be a range of the 3 indices of axis 1, got 2 and 4",
      (pass, x) => pass.slice(x, { axis: 1, from: 2, to: 4 }),
    ],
    [
      "Pass.gather: indices must be from 0 to below 2, the size of axis 0, got 2 at 1",
      (pass, x) => pass.gather(x, [0, 2]),
    ],
    [
      "Pass.concat: shapes must be equal but on axis 0, got [2, 3], [6]",
      (pass, x) => pass.concat([x, pass.reshape(x, [6])]),
    ],
    ["Pass.sum: axis must be below 2, the number of axes, got 2", (pass, x) => pass.sum(x, { axis: 2 })],
    [
      'Pass.dropout: seed must be a whole number, 0 or more, up to 4294967295, got "none"',
      (pass, x) => pass.dropout(x, { p: 0.5 } as never),
    ],
    [
      "Tensor.backward: outputGradient must have the shape of the tensor, got [1] for [2, 3]",
      (_pass, x) => x.backward({ data: new Float32Array(1), shape: [1] }),
    ],
    ["heed/expr: a table must have one to 4 axes", async (pass, x) => table(await pass.sum(x))],
    [
      "Pass.attention: scoreMod is no expression of heed/expr: at takes whole numbers",
      (pass, x) => pass.attention(x, x, x, { scoreMod: () => ({ ...table(x).at(0, 0), args: [0.5, 0.5] }) as never }),
    ],
    ["Pass.apply: forward must be a function, got undefined", (pass, x) => pass.apply({ inputs: [x] } as never)],
  ])("refuses: %s", async (message, act) => {
    const run = gradients(model, async (pass) => {
      const input = await pass.input(draw(11, 2, 3));
      await act(pass, input);
      return { loss: await pass.sum(input) };
    });
    await expect(run).rejects.toThrow(message);
  });
});
