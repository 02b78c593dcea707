// What learns beside narrow weights, and what says that it cannot: adapters follow those on a base of f32, and everything else of a narrow
// model is refused by its name.

import { createHeed as createOwn } from "heed";
import { afterAll, describe, expect, test } from "vitest";
import * as labels from "../../../examples/train/labels.js";
import * as language from "../../../examples/train/language.js";
import { createHeed } from "../../../web/src/index.js";
import {
  dequantize,
  Embedding,
  GRU,
  Layer,
  Linear,
  LlamaModel,
  type ParameterTensor,
  quantize,
  saveSafetensors,
} from "../../../web/src/layers/index.js";
import {
  AdamW,
  clipNorm,
  crossEntropy,
  evaluate,
  gradients,
  loadCheckpoint,
  lora,
  meanSquaredError,
  Sgd,
  saveCheckpoint,
} from "../../../web/src/train/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";
import { Random } from "../../support/random.js";
import { drawnBy } from "../../support/tensors.js";

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

const random = new Random(37);
const tensor = drawnBy(random);

const LLAMA = {
  model_type: "llama",
  vocab_size: 40,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 96,
  tie_word_embeddings: true,
};
const TOKENS = [3, 14, 15, 9, 26, 5, 35, 8];

async function lossOf(model: LlamaModel, pass: Parameters<Parameters<typeof gradients>[1]>[0]) {
  const { logits } = await model.forward(TOKENS.slice(0, -1), { pass });
  return { loss: await crossEntropy(logits, TOKENS.slice(1), { pass }) };
}

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  test.each(["f16", "bf16", "int8", "int4"] as const)(
    "%s: gradients of inputs and adapters are those of the dequantized base",
    async (format) => {
      using own = await openKind(kind);
      const given = new LlamaModel(LLAMA, { engine: own }).init({ seed: 2 }).parameters();
      const wanted = new Map(
        [...given].map(([name, { data, shape }]): [string, ParameterTensor] => {
          return [name, shape.length === 1 ? { data, shape } : dequantize(quantize({ data, shape }, format))];
        }),
      );
      const read: ReadonlyMap<string, ParameterTensor>[] = [];
      for (const weights of [format, "f32"] as const) {
        const model = new LlamaModel(LLAMA, { engine: own }).load(weights === "f32" ? wanted : given, { weights });
        lora(model, { rank: 2, alpha: 4, targets: ["q_proj", "down_proj"], seed: 1 });
        for (const checkpointing of [false, true]) {
          await gradients(model, (pass) => lossOf(model, pass), { checkpointing });
          const made = await model.readGradients();
          if (checkpointing) expect([...made.keys()]).toEqual([...(read.at(-1) ?? new Map()).keys()]);
          else read.push(made);
          await new Sgd(model, { learningRate: 1e-6 }).clear();
        }
      }
      const [narrow, plain] = read;
      expect(narrow?.size).toBe(2 * 2 * 2);
      for (const [name, { data }] of narrow ?? []) {
        const other = plain?.get(name)?.data ?? new Float32Array();
        const largest = other.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
        const worst = data.reduce((most, number, at) => Math.max(most, Math.abs(number - (other[at] ?? 0))), 0);
        // A is multiplied by B, which is zero: its own gradient is zero too.
        if (name.includes("lora_A")) expect(largest).toBe(0);
        else expect(worst / largest, name).toBeLessThan({ f16: 1e-4, bf16: 1e-4, int8: 1e-2, int4: 0.2 }[format]);
      }
    },
  );

  test("the gradient of an input is dY W, exactly", async () => {
    using own = await openKind(kind);
    const weight = quantize(tensor(70, 96), "int4");
    const layer = new Linear({ inFeatures: 96, outFeatures: 70, engine: own });
    layer.load({ weight, bias: tensor(70) }, { weights: "as stored" }).freeze(["weight"]);
    const [x, targets] = [tensor(5, 96), tensor(5, 70)];
    const { inputGradients } = await gradients(layer, async (pass) => {
      const input = await pass.input(x);
      return { loss: await meanSquaredError(await layer.forward(input, { pass }), targets, { pass }) };
    });
    const { data: y } = await layer.forward(x);
    const { data: w } = dequantize(weight);
    const bias = (await layer.readGradients()).get("bias")?.data ?? new Float32Array();
    const [dx] = inputGradients;
    for (let i = 0; i < 96; i++) {
      for (let row = 0; row < 5; row++) {
        let [sum, size] = [0, 0];
        for (let o = 0; o < 70; o++) {
          const dy = (2 * ((y[row * 70 + o] ?? 0) - (targets.data[row * 70 + o] ?? 0))) / 350;
          sum += dy * (w[o * 96 + i] ?? 0);
          size += Math.abs(dy * (w[o * 96 + i] ?? 0));
        }
        expect(Math.abs((dx?.data[row * 96 + i] ?? 0) - sum)).toBeLessThan(80 * 2 ** -24 * size);
      }
    }
    for (let o = 0; o < 70; o++) {
      let sum = 0;
      for (let row = 0; row < 5; row++) sum += (2 * ((y[row * 70 + o] ?? 0) - (targets.data[row * 70 + o] ?? 0))) / 350;
      expect(bias[o]).toBeCloseTo(sum, 5);
    }
  });
});

test("adapters on int8 and int4 follow those on f32 within 2 % over 100 steps", { timeout: 600_000 }, async () => {
  using engine = await createOwn({ backend: "wasm" });
  const { model } = await language.train({ kind: "masked", seed: 1, steps: 500, engine });
  const encoder = await model.readParameters();
  const losses: number[] = [];
  for (const weights of [undefined, "int8", "int4"] as const) {
    let sum = 0;
    const onStep = ({ loss }: { readonly loss: number }): void => {
      sum += loss;
    };
    const trained = await labels.train({ seed: 1, steps: 100, encoder, engine, weights, onStep });
    losses.push(sum / 100);
    expect(await labels.accuracy(trained)).toBeGreaterThan(0.9);
    if (weights !== undefined) expect(trained.model.describe().formats[weights]).toBeGreaterThan(0);
    // PEFT's file has the adapters alone, in f32.
    const file = await trained.adapters.save();
    expect(file.length).toBeLessThan(60_000);
  }
  const [plain = 0, ...narrow] = losses;
  for (const loss of narrow) expect(Math.abs(loss / plain - 1)).toBeLessThan(0.02);
});

describe("a narrow parameter is refused by its name where it would learn", () => {
  const narrow = (): LlamaModel => quantize(new LlamaModel(LLAMA, { engine }).init({ seed: 1 }), "int8");
  const rule = (name: string): string =>
    `parameter ${name} must be f32, because nothing else learns, got int8: freeze it, as lora does, or load it as f32`;

  test("by gradients, optimizers, init and unfreeze", async () => {
    const model = narrow();
    await expect(gradients(model, (pass) => lossOf(model, pass))).rejects.toMatchObject({
      code: "option",
      message: `gradients: ${rule("words.weight")}`,
    });
    await expect(new AdamW(model).step()).rejects.toMatchObject({ message: `AdamW.step: ${rule("words.weight")}` });
    expect(() => model.init()).toThrow(`LlamaModel.init: ${rule("words.weight")}`);
    const part = "decoder.layers.0.mlp.up_proj";
    expect(() => model.unfreeze([part])).toThrow(`LlamaModel.unfreeze: ${rule(`${part}.weight`)}`);
    // Its norms may learn, where the rest is frozen.
    model.freeze(["words", "decoder", "head"]).unfreeze(["decoder.norm"]);
    const { loss } = await gradients(model, (pass) => lossOf(model, pass));
    expect([...(await model.readGradients()).keys()]).toEqual(["decoder.norm.weight"]);
    expect(await clipNorm(model, 1)).toBeGreaterThan(0);
    const optimizer = new AdamW(model, { learningRate: 0.1 });
    await optimizer.step();
    const after = await evaluate(model, (pass) => lossOf(model, pass));
    expect(after.loss).toBeLessThan(loss);
    model.dispose();
  });

  test("a loss is computed without gradients, frozen or not", async () => {
    const model = narrow();
    const { loss } = await evaluate(model, (pass) => lossOf(model, pass));
    expect(loss).toBeGreaterThan(1);
    model.dispose();
  });

  test("adapters are not merged into it, and go on", async () => {
    const model = narrow();
    const adapters = lora(model, { rank: 2, targets: ["q_proj"] });
    await expect(adapters.merge()).rejects.toMatchObject({
      code: "unsupported",
      message:
        "Lora.merge: a weight must be f32 to be merged, because a sum would be rounded to its format again, got int8",
    });
    await gradients(model, (pass) => lossOf(model, pass));
    expect(() => quantize(model, "int4")).not.toThrow();
    expect(
      model
        .describe()
        .layers.filter(({ name }) => /lora_[AB]$/.test(name))
        .every(({ format }) => format === "f32"),
    ).toBe(true);
    await gradients(model, (pass) => lossOf(model, pass));
    model.dispose();
  });

  test("no gradient goes through its recurrence", async () => {
    const gru = quantize(new GRU({ inputSize: 32, hiddenSize: 32, engine }).init(), "int8");
    gru.freeze(["weight_ih_l0", "weight_hh_l0"]);
    const [x, targets] = [tensor(1, 2, 32), tensor(1, 2, 32)];
    const run = gradients(gru, async (pass) => {
      const { output } = await gru.forward(x, { pass });
      return { loss: await meanSquaredError(output, targets, { pass }) };
    });
    await expect(run).rejects.toMatchObject({
      code: "unsupported",
      message: "gradients: none go through gru of stored weights",
    });
  });

  test("a layer beside the model must have f32 where the model has nothing else", async () => {
    const teacher = quantize(new Embedding({ count: 9, dim: 32, engine }).init(), "int8");
    const model = new Linear({ inFeatures: 32, outFeatures: 3, engine }).init();
    const run = (): Promise<unknown> =>
      gradients(model, async (pass) => {
        const y = await model.forward(await teacher.forward([1, 2], { pass }), { pass });
        return { loss: await meanSquaredError(y, { data: new Float32Array(6), shape: [2, 3] }, { pass }) };
      });
    await expect(run()).rejects.toMatchObject({
      code: "option",
      message:
        "Embedding: parameter weight must be f32 in a pass that began with f32 alone, got int8: load it before, and make its layer a part of the model",
    });
    class Both extends Layer {
      constructor() {
        super("Both", engine);
        this.part("teacher", teacher);
        this.part("model", model);
      }
    }
    const both = new Both().freeze(["teacher"]);
    await gradients(both, async (pass) => {
      const y = await model.forward(await teacher.forward([1, 2], { pass }), { pass });
      return { loss: await meanSquaredError(y, { data: new Float32Array(6), shape: [2, 3] }, { pass }) };
    });
    expect([...(await both.readGradients()).keys()]).toEqual(["model.weight", "model.bias"]);
  });
});

test("a run of adapters goes on from its checkpoint bit for bit, and the file lacks the base", async () => {
  const begin = () => {
    const model = quantize(new LlamaModel(LLAMA, { engine }).init({ seed: 1 }), "int4");
    lora(model, { rank: 2, targets: ["q_proj", "v_proj"], seed: 3 });
    return { model, optimizer: new AdamW(model, { learningRate: 1e-2 }) };
  };
  const step = async ({ model, optimizer }: ReturnType<typeof begin>): Promise<number> => {
    const { loss } = await gradients(model, (pass) => lossOf(model, pass));
    await optimizer.step();
    return loss;
  };
  const whole = begin();
  const wanted = [await step(whole), await step(whole)];
  const file = await saveCheckpoint(whole.model, whole.optimizer);
  wanted.push(await step(whole), await step(whole));
  const resumed = begin();
  expect(await loadCheckpoint(file, resumed.model, resumed.optimizer)).toEqual({ step: 2 });
  expect([await step(resumed), await step(resumed)]).toEqual(wanted.slice(2));
  const base = saveSafetensors(await whole.model.readParameters());
  expect(file.length).toBeLessThan(base.length / 4);
});
