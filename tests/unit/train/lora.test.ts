// Low-rank adapters: PEFT's own run is followed step by step, what is frozen keeps its bits, and merged weights compute the same.

import { describe, expect, test } from "vitest";
import { createHeed, type Heed } from "../../../web/src/index.js";
import {
  BertModel,
  GPT2Model,
  type Layer,
  Linear,
  LlamaModel,
  loadSafetensors,
  type ModelConfig,
  type ParameterTensor,
  readSafetensorsHeader,
  saveSafetensors,
} from "../../../web/src/layers/index.js";
import {
  AdamW,
  clipNorm,
  crossEntropy,
  gradients,
  type LoraOptions,
  loadCheckpoint,
  lora,
  type Pass,
  saveCheckpoint,
  train,
} from "../../../web/src/train/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";
import { readFixture, unpack, unpackAll, worstDifference } from "../../support/fixtures.js";

type Packed = Parameters<typeof unpackAll>[0];

/** PEFT's run: tests/fixtures/lora.py. */
const peft = readFixture("lora.json") as unknown as {
  readonly config: ModelConfig;
  readonly parameters: Packed;
  readonly before: {
    readonly config: { readonly r: number; readonly lora_alpha: number; readonly target_modules: readonly string[] };
    readonly tensors: Packed;
  };
  readonly rule: {
    readonly learningRate: number;
    readonly betas: readonly [number, number];
    readonly epsilon: number;
    readonly weightDecay: number;
    readonly clip: number;
  };
  readonly tokens: readonly (readonly (readonly number[])[])[];
  readonly gradients: Packed;
  readonly losses: readonly number[];
  readonly norms: readonly number[];
  readonly logits: Packed[string];
};
const { r: rank, lora_alpha: alpha, target_modules: targets } = peft.before.config;

/** PEFT's names with the paths of heed's layers. */
const renamed = (tensors: Packed): Map<string, ParameterTensor> =>
  new Map(
    [...unpackAll(tensors)].map(([name, one]) => [name.replace("model.model.layers", "model.decoder.layers"), one]),
  );

async function lossOf(model: LlamaModel, rows: readonly (readonly number[])[], pass: Pass) {
  const { logits } = await model.forward({ data: rows.flat(), shape: [rows.length, 8] }, { pass });
  const guessed = rows.flatMap((row) => [...row.slice(1), -100]);
  return { loss: await crossEntropy(logits, guessed, { pass }) };
}

const rowsOf = (step: number) => peft.tokens[step] ?? [];

/** The sums of a backward pass, each as deep as those of the forward pass. */
const DEPTH = 16;

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  test("gradients, losses and norms are those of PEFT, and so are the logits of merged weights", async () => {
    using engine = await openKind(kind);
    const model = new LlamaModel(peft.config, { engine }).load(unpackAll(peft.parameters));
    const base = await model.readParameters();
    const adapters = lora(model, { rank, alpha, targets }).load(renamed(peft.before.tensors));

    const { loss } = await gradients(model, (pass) => lossOf(model, rowsOf(0), pass));
    expect(Math.abs(loss - (peft.losses[0] ?? 0))).toBeLessThan(1e-5);
    const got = await adapters.readGradients();
    const wanted = renamed(peft.gradients);
    expect([...got.keys()].map((name) => `base_model.model.${name}`).sort()).toEqual([...wanted.keys()].sort());
    for (const [name, gradient] of wanted) {
      const size = Math.max(...gradient.data.map(Math.abs));
      const scaled = ({ data, shape }: ParameterTensor) => ({ data: data.map((number) => number / size), shape });
      const one = got.get(name.slice("base_model.model.".length));
      expect(worstDifference(one && scaled(one), scaled(gradient), DEPTH), name).toBeLessThan(1);
    }
    const { clip, ...rule } = peft.rule;
    const optimizer = new AdamW(model, rule);
    await optimizer.clear();

    const told: { loss: number; norm: number | undefined }[] = [];
    await train(model, {
      optimizer,
      steps: peft.losses.length,
      batch: rowsOf,
      loss: async (model, rows, pass) => (await lossOf(model, rows, pass)).loss,
      clip,
      onStep: ({ loss, norm }) => told.push({ loss, norm }),
    });
    for (const [step, { loss, norm }] of told.entries()) {
      expect(Math.abs(loss - (peft.losses[step] ?? 0)), `step ${step}`).toBeLessThan(2e-4);
      expect(Math.abs((norm ?? 0) / (peft.norms[step] ?? 0) - 1), `step ${step}`).toBeLessThan(1e-3);
    }

    const learnt = await model.readParameters();
    for (const [name, { data }] of base) expect(learnt.get(name)?.data, name).toEqual(data);
    const tokens = { data: rowsOf(0).flat(), shape: [2, 8] };
    const adapted = await model.forward(tokens);
    await adapters.merge();
    const merged = await model.forward(tokens);
    const peftLogits = unpack(peft.logits);
    for (const [at, number] of merged.logits.data.entries()) {
      expect(Math.abs(number - (adapted.logits.data[at] ?? 0))).toBeLessThan(2e-5);
      expect(Math.abs(number - (peftLogits.data[at] ?? 0))).toBeLessThan(2e-3);
    }
    expect([...(await model.readParameters()).keys()]).toEqual([...base.keys()]);
    optimizer.dispose();
    model.dispose();
    // What was packed for inference is freed when promises have settled.
    await new Promise((resolve) => setTimeout(resolve));
    expect(engine.memory().tensors).toBe(0);
  });
});

const GPT2 = { model_type: "gpt2", vocab_size: 11, n_embd: 8, n_layer: 2, n_head: 2, n_positions: 8 };

async function step(model: GPT2Model, optimizer: AdamW): Promise<number> {
  const { loss } = await gradients(model, async (pass) => {
    const { logits } = await model.forward({ data: [1, 5, 2, 7, 3, 3], shape: [1, 6] }, { pass });
    return { loss: await crossEntropy(logits, [5, 2, 7, 3, 3, 9], { pass }) };
  });
  await clipNorm(model, 1);
  await optimizer.step();
  return loss;
}

const make = (engine: Heed, options: Partial<LoraOptions> = {}) => {
  const model = new GPT2Model(GPT2, { engine }).init({ seed: 4 });
  return { model, adapters: lora(model, { rank: 2, alpha: 4, targets: ["q_proj", "v_proj"], ...options }) };
};

test("new adapters change no bit of what a model computes, and are drawn by PEFT's rule from their seed", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const tokens = { data: [1, 5, 2, 7], shape: [1, 4] };
  const plain = await new GPT2Model(GPT2, { engine }).init({ seed: 4 }).forward(tokens);
  const { model, adapters } = make(engine, { rank: 8, seed: 7 });
  expect((await model.forward(tokens)).logits.data).toEqual(plain.logits.data);
  const drawn = adapters.parameters();
  for (const [name, { data }] of drawn) {
    if (name.endsWith("lora_B.weight")) expect(data.every((number) => number === 0)).toBe(true);
    else {
      // Uniform up to 1 / sqrt(8): 64 numbers have a mean square within 5 deviations of a third of the bound's.
      const bound = 1 / Math.sqrt(8);
      const meanSquare = data.reduce((sum, number) => sum + number ** 2, 0) / data.length;
      expect(Math.max(...data.map(Math.abs))).toBeLessThanOrEqual(bound);
      expect(Math.abs(meanSquare / (bound ** 2 / 3) - 1)).toBeLessThan((5 * Math.sqrt(4 / 5)) / Math.sqrt(data.length));
    }
  }
  expect(make(engine, { rank: 8, seed: 7 }).adapters.parameters()).toEqual(drawn);
  expect(make(engine, { rank: 8, seed: 8 }).adapters.parameters()).not.toEqual(drawn);
});

test("the file has PEFT's names, and another model computes with it what this one does", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const { model, adapters } = make(engine, { targets: ["self_attn.q_proj", /layers\.1\..*(?:v|down)_proj$/] });
  const optimizer = new AdamW(model, { learningRate: 1e-2 });
  for (let at = 0; at < 3; at++) await step(model, optimizer);
  const paths = ["0.self_attn.q_proj", "1.self_attn.q_proj", "1.self_attn.v_proj", "1.mlp.down_proj"];
  const all = paths.map((path) => `decoder.layers.${path}`);
  expect(adapters.config).toEqual({
    peft_type: "LORA",
    r: 2,
    lora_alpha: 4,
    target_modules: all,
    lora_dropout: 0,
    bias: "none",
  });
  const file = await adapters.save();
  const { metadata } = await readSafetensorsHeader(file);
  expect(metadata.get("format")).toBe("pt");
  const tensors = await loadSafetensors(file);
  const names = all.flatMap((path) => ["A", "B"].map((part) => `base_model.model.${path}.lora_${part}.weight`));
  expect([...tensors.keys()].sort()).toEqual(names.sort());
  expect(tensors.get("base_model.model.decoder.layers.1.mlp.down_proj.lora_A.weight")?.shape).toEqual([2, 32]);
  expect(tensors.get("base_model.model.decoder.layers.1.mlp.down_proj.lora_B.weight")?.shape).toEqual([8, 2]);

  const other = make(engine, { targets: adapters.config.target_modules });
  other.adapters.load(tensors);
  const tokens = { data: [1, 5, 2, 7], shape: [1, 4] };
  const wanted = await model.forward(tokens);
  expect((await other.model.forward(tokens)).logits.data).toEqual(wanted.logits.data);
  const read = make(engine, { targets: adapters.config.target_modules });
  read.adapters.load(await adapters.readParameters());
  expect((await read.model.forward(tokens)).logits.data).toEqual(wanted.logits.data);
});

test("a run that is resumed from a checkpoint goes on bit for bit", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const rule = { learningRate: 1e-2 };
  const { model } = make(engine);
  const optimizer = new AdamW(model, rule);
  for (let at = 0; at < 2; at++) await step(model, optimizer);
  const file = await saveCheckpoint(model, optimizer);
  const expected = [await step(model, optimizer), await step(model, optimizer)];
  const copy = make(engine, { seed: 99 });
  const resumed = new AdamW(copy.model, rule);
  expect(await loadCheckpoint(file, copy.model, resumed)).toEqual({ step: 2 });
  expect([await step(copy.model, resumed), await step(copy.model, resumed)]).toEqual(expected);
  expect(await copy.model.readParameters()).toEqual(await model.readParameters());
});

test("a file of an adapted model is refused by a plain one, by name, and read by one with such adapters", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const { model } = make(engine);
  const optimizer = new AdamW(model, { learningRate: 1e-2 });
  await step(model, optimizer);
  const file = await loadSafetensors(saveSafetensors(await model.readParameters()));
  const plain = new GPT2Model(GPT2, { engine }).init({ seed: 5 });
  const before = plain.parameters();
  const refusal = {
    code: "option",
    message:
      "Linear: parameter decoder.layers.0.self_attn.q_proj.lora_A.weight is of an adapter, which lora of heed/train must have added before",
  };
  expect(() => plain.load(file)).toThrow(expect.objectContaining(refusal));
  await expect(loadCheckpoint(await saveCheckpoint(model, optimizer), plain, new AdamW(plain))).rejects.toMatchObject({
    code: "load",
    message:
      "loadCheckpoint: the model must have an adapter decoder.layers.0.self_attn.q_proj.lora_A of alpha 4, as in the file, got undefined",
  });
  expect(plain.parameters()).toEqual(before);
  const copy = make(engine, { seed: 6 });
  copy.model.load(file);
  const tokens = { data: [1, 5, 2, 7], shape: [1, 4] };
  expect((await copy.model.forward(tokens)).logits.data).toEqual((await model.forward(tokens)).logits.data);
});

test("what is frozen beside the adapters can learn with them, and everything learns once they are merged", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const { model, adapters } = make(engine);
  const gradientsOf = async (): Promise<string[]> => {
    await gradients(model, async (pass) => {
      const { logits } = await model.forward([1, 2, 3], { pass });
      return { loss: await crossEntropy(logits, [2, 3, 4], { pass }) };
    });
    const names = [...(await model.readGradients()).keys()];
    await new AdamW(model).clear();
    return names;
  };
  const own = await gradientsOf();
  expect(own.every((name) => /\.self_attn\.[qv]_proj\.lora_[AB]\.weight$/.test(name))).toBe(true);
  expect(own.length).toBe(8);
  model.unfreeze(["decoder.norm"]);
  expect(await gradientsOf()).toEqual(expect.arrayContaining([...own, "decoder.norm.weight", "decoder.norm.bias"]));
  model.freeze(["decoder.layers.0"]);
  expect((await gradientsOf()).some((name) => name.startsWith("decoder.layers.0"))).toBe(false);
  await adapters.merge();
  expect(await gradientsOf()).toContain("words.weight");
  await expect(adapters.merge()).rejects.toMatchObject({ code: "option" });
  await expect(adapters.save()).rejects.toThrow("Lora.save: the adapters have been merged");
  expect(() => adapters.load(new Map())).toThrow(
    expect.objectContaining({ code: "option", message: "Lora.load: the adapters have been merged" }),
  );
  expect(lora(model, { rank: 1, targets: ["out_proj"] }).config.lora_alpha).toBe(1);
});

test("what cannot have an adapter is refused by name", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const { model, adapters } = make(engine);
  const fresh = () => new GPT2Model(GPT2, { engine }).init({ seed: 4 });
  const refuse = (options: unknown, code: string, message: string, layer: Layer = fresh()) =>
    expect(() => lora(layer, options as LoraOptions)).toThrow(
      expect.objectContaining({ name: "HeedError", code, message: expect.stringContaining(message) }),
    );
  refuse(
    { rank: 2, targets: ["c_attn"] },
    "option",
    'lora: no linear layer is named "c_attn", or ends so, among q_proj',
  );
  refuse({ rank: 2, targets: [/c_attn/] }, "option", "/c_attn/");
  refuse({ rank: 2, targets: ["roj"] }, "option", 'named "roj"');
  refuse({ rank: 2, targets: ["words"] }, "option", 'named "words"');
  refuse(
    { rank: 2, targets: ["head"] },
    "unsupported",
    "head.weight must not be tied to others, got one tied to words",
  );
  refuse({ rank: 2, targets: [] }, "option", "lora: targets must be names or patterns in an array");
  refuse({ rank: 2, targets: [3] }, "option", "lora: targets must be names or patterns in an array");
  refuse({ rank: 2 }, "option", "lora: targets must be names or patterns in an array, got undefined");
  refuse({ rank: 0, targets: ["q_proj"] }, "option", "lora: rank must be");
  refuse({ targets: ["q_proj"] }, "option", "lora: rank must be given");
  refuse({ rank: 2, alpha: -1, targets: ["q_proj"] }, "option", "lora: alpha must be greater than 0, got -1");
  refuse({ rank: 2, targets: ["q_proj"], dropout: 0.1 }, "option", "dropout");
  refuse({ rank: 2, targets: ["q_proj"], seed: 0.5 }, "option", "seed must be a whole number");
  refuse({ rank: 2, targets: ["q_proj"] }, "option", "lora: the model has adapters, which must be merged first", model);
  const bare = new BertModel(
    {
      model_type: "bert",
      vocab_size: 5,
      hidden_size: 8,
      intermediate_size: 8,
      num_hidden_layers: 1,
      num_attention_heads: 2,
      max_position_embeddings: 4,
    },
    { engine },
  );
  refuse({ rank: 2, targets: ["q_proj"] }, "option", "self_attn.q_proj.weight has not been loaded", bare);
  const most = "rank must be at most 8 for decoder.layers.0.self_attn.q_proj, [8, 8], got 100000000";
  refuse({ rank: 1e8, targets: ["q_proj"] }, "option", most);
  refuse({ rank: 2, targets: ["q_proj"] }, "option", "lora: model must be a layer or a model", {} as Layer);

  const good = await loadSafetensors(await adapters.save());
  const [first = ""] = good.keys();
  const load = (change: (tensors: Map<string, unknown>) => void) => () => {
    const tensors = new Map<string, unknown>(good);
    change(tensors);
    adapters.load(tensors as Map<string, ParameterTensor>);
  };
  const before = adapters.parameters();
  expect(load((tensors) => tensors.delete(first))).toThrow(`parameter ${first} is missing`);
  expect(load((tensors) => tensors.set(first, { data: new Float32Array(24), shape: [3, 8] }))).toThrow(
    `parameter ${first} must be [2, 8], got [3, 8]`,
  );
  const fused = "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight";
  expect(load((tensors) => tensors.set(fused, good.get(first)))).toThrow(
    `Lora: the model has no adapter for parameter ${fused}`,
  );
  expect(adapters.parameters()).toEqual(before);
  // Linear layers alone have no path.
  const alone = new Linear({ inFeatures: 3, outFeatures: 2, engine }).init();
  expect([
    ...lora(alone, { rank: 1, targets: [/^$/] })
      .parameters()
      .keys(),
  ]).toEqual(["lora_A.weight", "lora_B.weight"]);
});
