// Groups of parameters: each steps by its own rate and decay, with schedules, and where a run goes on from a checkpoint.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { GPT2Model, Linear, MLP, TransformerBlock } from "../../../web/src/layers/index.js";
import {
  Adam,
  AdamW,
  crossEntropy,
  gradients,
  loadCheckpoint,
  meanSquaredError,
  type Optimizer,
  type ParameterGroup,
  Sgd,
  saveCheckpoint,
  train,
} from "../../../web/src/train/index.js";

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

const waves = (...shape: number[]) => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, at) => Math.sin(at + 1)),
  shape,
});

const OPTIMIZERS = {
  Sgd: (model: MLP, options: object) => new Sgd(model, { learningRate: 0.05, momentum: 0.5, ...options }),
  Adam: (model: MLP, options: object) => new Adam(model, { learningRate: 0.05, ...options }),
  AdamW: (model: MLP, options: object) => new AdamW(model, { learningRate: 0.05, ...options }),
};

const made = () => new MLP({ dim: 4, hidden: 6, engine }).init({ seed: 1 });

async function learn(model: MLP, optimizer: Optimizer, steps: number, rateOf?: (step: number) => number) {
  for (let step = 0; step < steps; step++) {
    await gradients(model, async (pass) => ({
      loss: await meanSquaredError(await model.forward(waves(3, 4), { pass }), waves(3, 4), { pass }),
    }));
    await optimizer.step(rateOf && { learningRate: rateOf(step) });
  }
  return model.readParameters();
}

describe.each(Object.entries(OPTIMIZERS))("%s", (_, make) => {
  test("steps each parameter as an optimizer with its rule would, the first group that matches", async () => {
    // One step: gradients do not depend on the rules.
    const alone = async (options: object) => {
      const model = made();
      return learn(model, make(model, options), 1);
    };
    const model = made();
    const groups: ParameterGroup[] = [
      { match: /down.*bias$/, learningRate: 0 },
      { match: "norms and biases", weightDecay: 0 },
      { match: "up_proj", learningRate: 0.1 },
      { match: (name) => name.length > 0, weightDecay: 0.5 },
    ];
    const got = await learn(model, make(model, { weightDecay: 0.2, groups }), 1);
    const of = async (name: string, options: object) => (await alone(options)).get(name);
    expect(got.get("down_proj.bias")).toEqual(made().parameters().get("down_proj.bias"));
    expect(got.get("up_proj.bias")).toEqual(await of("up_proj.bias", { weightDecay: 0 }));
    const slow = { weightDecay: 0.2, learningRate: 0.05 * 0.1 };
    expect(got.get("up_proj.weight")).toEqual(await of("up_proj.weight", slow));
    expect(got.get("down_proj.weight")).toEqual(await of("down_proj.weight", { weightDecay: 0.5 }));
  });

  test("follows schedules, and goes on from a checkpoint", async () => {
    const options = { groups: [{ match: "up_proj", learningRate: 0.5, weightDecay: 0.1 }] };
    const rateOf = (step: number): number => 0.01 * (step + 1);
    const whole = made();
    const all = await learn(whole, make(whole, options), 6, rateOf);
    const first = made();
    const optimizer = make(first, options);
    await learn(first, optimizer, 3, rateOf);
    const file = await saveCheckpoint(first, optimizer);
    const resumed = made();
    const other = make(resumed, options);
    await loadCheckpoint(file, resumed, other);
    expect(await learn(resumed, other, 3, (step) => rateOf(step + 3))).toEqual(all);
  });
});

test("norms and biases of a block are its vectors", async () => {
  const model = new TransformerBlock({ dim: 4, heads: 2, engine }).init({ seed: 1 });
  const before = model.parameters();
  const groups = [{ match: "norms and biases", learningRate: 0 }];
  const optimizer = new AdamW(model, { groups });
  await gradients(model, async (pass) => {
    const { output } = await model.forward(waves(3, 4), { pass });
    return { loss: await meanSquaredError(output, waves(3, 4), { pass }) };
  });
  await optimizer.step();
  for (const [name, { data, shape }] of await model.readParameters()) {
    const isStill = data.every((one, at) => one === before.get(name)?.data[at]);
    expect(isStill, name).toBe(/norm|bias/.test(name));
    expect(shape.length, name).toBe(isStill ? 1 : 2);
  }
});

test("a tied parameter is in the group of any of its names", async () => {
  const config = { model_type: "gpt2", vocab_size: 7, n_embd: 8, n_layer: 1, n_head: 2, n_positions: 8 };
  const model = new GPT2Model(config, { engine }).init({ seed: 1 });
  const before = model.parameters().get("words.weight");
  await train(model, {
    optimizer: new AdamW(model, { groups: [{ match: /^head|^words/, learningRate: 0 }] }),
    steps: 1,
    batch: () => [1, 2, 3],
    loss: async (model, tokens, pass) =>
      crossEntropy((await model.forward(tokens, { pass })).logits, [2, 3, 4], { pass }),
  });
  expect((await model.readParameters()).get("words.weight")).toEqual(before);
});

test.each<[string, unknown]>([
  ["groups must be an array, got 1", 1],
  [
    "groups[0].match must be a name, a pattern or a function that some parameter fulfils, got a RegExp",
    [{ match: /norm/ }],
  ],
  ["groups[1].match must be", [{ match: "weight" }, { match: "wei" }]],
  ["groups[0].match must be", [{}]],
  ["groups[0].learningRate must be at least 0, got -1", [{ match: "weight", learningRate: -1 }]],
  ["groups[0].weightDecay must be at least 0, got -1", [{ match: "weight", weightDecay: -1 }]],
  ['groups[0] has no option "lr"', [{ match: "weight", lr: 1 }]],
])("refuses: %s", (message, groups) => {
  const model = new Linear({ inFeatures: 2, outFeatures: 2, engine }).init();
  expect(() => new AdamW(model, { groups: groups as never })).toThrow(`AdamW: ${message}`);
});
