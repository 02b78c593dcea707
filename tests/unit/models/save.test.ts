// Models and adapters that leave a page: under the names that transformers and PEFT wrote, with the same numbers.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import {
  GPT2Model,
  loadSafetensors,
  type ModelConfig,
  type ParameterTensor,
  saveSafetensors,
} from "../../../web/src/layers/index.js";
import { loadModel, saveModel } from "../../../web/src/models/index.js";
import { AdamW, crossEntropy, gradients, lora } from "../../../web/src/train/index.js";
import { type PackedCase, readFixture, unpack, unpackAll, worstDifference } from "../../support/fixtures.js";
import { type ModelName, madeByTransformers } from "../../support/model-files.js";
import { json } from "../../support/small-model.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());

const DEPTH = 24;
const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const sorted = (tensors: Iterable<readonly [string, { readonly data: unknown; readonly shape: readonly number[] }]>) =>
  [...tensors].map(([name, { data, shape }]) => [name, data, shape] as const).sort(([a], [b]) => (a < b ? -1 : 1));

const filesOf = (config: ModelConfig, parameters: ReadonlyMap<string, ParameterTensor>) => ({
  "config.json": json(config),
  "model.safetensors": saveSafetensors(parameters),
});

describe("save", () => {
  test.each<ModelName>(["bert", "gpt2", "llama"])("%s has transformers' names and numbers", async (name) => {
    const { config, parameters } = madeByTransformers(name);
    const lm = await loadModel(filesOf(config, parameters), { engine });
    // Once more from the engine's memory.
    await lm.model.forward([1, 2]);
    const saved = await lm.save();
    expect([...saved.keys()]).toEqual(["config.json", "model.safetensors"]);
    expect(JSON.parse(textOf(saved.get("config.json")))).toEqual(config);
    const tensors = await loadSafetensors(saved.get("model.safetensors") ?? new Uint8Array());
    const wanted = [...parameters].filter(
      ([one]) => !/\.attn\.(?:masked_)?bias$/.test(one) && (name !== "gpt2" || one !== "lm_head.weight"),
    );
    expect(sorted(tensors)).toEqual(sorted(wanted));
    const again = await loadModel(Object.fromEntries(saved), { engine });
    expect((await again.model.forward([1, 2, 3])).mask).toBeUndefined();
    const [one, other] = [await lm.model.forward([1, 2, 3]), await again.model.forward([1, 2, 3])];
    expect(other).toEqual(one);
    again.dispose();
    lm.dispose();
  });

  test("BERT's head for masked words, whose matrix is that of the words", async () => {
    const { config, parameters } = readFixture("models.json")["maskedWords"] as PackedCase & {
      readonly config: ModelConfig;
    };
    const given = unpackAll(parameters);
    const lm = await loadModel(filesOf(config, given), { engine });
    const tensors = await loadSafetensors((await lm.save()).get("model.safetensors") ?? new Uint8Array());
    expect(sorted(tensors)).toEqual(sorted(given));
    lm.dispose();
  });

  test("a classifier goes along", async () => {
    const { config, parameters } = madeByTransformers("bert");
    const head = new Map<string, ParameterTensor>([
      ["classifier.weight", { data: Float32Array.from({ length: 24 }, Math.sin), shape: [2, 12] }],
      ["classifier.bias", { data: Float32Array.of(1, 2), shape: [2] }],
    ]);
    const all = new Map([...[...parameters].map(([name, tensor]) => [`bert.${name}`, tensor] as const), ...head]);
    const lm = await loadModel(filesOf(config, all), { engine });
    const tensors = await loadSafetensors((await lm.save()).get("model.safetensors") ?? new Uint8Array());
    expect(sorted(tensors)).toEqual(sorted(all));
    lm.dispose();
  });

  test("rounded on request, which the configuration says", async () => {
    const { config, parameters } = madeByTransformers("llama");
    const lm = await loadModel(filesOf({ ...config, torch_dtype: "float32" }, parameters), { engine });
    const saved = await lm.save({ dtype: "bf16" });
    expect(JSON.parse(textOf(saved.get("config.json")))).toMatchObject({ torch_dtype: "bfloat16", dtype: "bfloat16" });
    const whole = (await lm.save()).get("model.safetensors")?.length ?? 0;
    expect((saved.get("model.safetensors")?.length ?? 0) / whole).toBeLessThan(0.75);
    const own = await loadSafetensors((await lm.save({ names: "heed" })).get("model.safetensors") ?? new Uint8Array());
    expect(own.has("words.weight")).toBe(true);
    await expect(lm.save({ names: "keras" as "heed" })).rejects.toMatchObject({ code: "option" });
    lm.dispose();
  });

  test("a model of the page's own that has learnt", async () => {
    const config = { model_type: "gpt2", vocab_size: 9, n_embd: 8, n_layer: 1, n_head: 2, n_positions: 8 };
    const model = new GPT2Model(config, { engine }).init({ seed: 3 });
    const optimizer = new AdamW(model, { learningRate: 0.01 });
    await gradients(model, async (pass) => {
      const { logits } = await model.forward([1, 2, 3, 4], { pass });
      return { loss: await crossEntropy(logits, [2, 3, 4, 5], { pass }) };
    });
    await optimizer.step();
    const saved = await saveModel(model, config);
    const lm = await loadModel(Object.fromEntries(saved), { engine });
    expect((await lm.model.forward([1, 2, 3])).logits).toEqual((await model.forward([1, 2, 3])).logits);
    const { "wte.weight": words, "h.0.attn.c_attn.weight": attention } = Object.fromEntries(
      await loadSafetensors(saved.get("model.safetensors") ?? new Uint8Array()),
    );
    expect([words?.shape, attention?.shape]).toEqual([
      [9, 8],
      [8, 24],
    ]);
    lm.dispose();
    model.dispose();
  });
});

interface AdapterCase {
  readonly config: ModelConfig;
  readonly parameters: PackedCase["parameters"];
  readonly before: { readonly config: Readonly<Record<string, unknown>>; readonly tensors: PackedCase["parameters"] };
  readonly tokens: readonly (readonly (readonly number[])[])[];
  readonly logits: PackedCase["parameters"][string];
}

describe("PEFT's adapters", () => {
  const peft = readFixture("lora.json") as unknown as AdapterCase;
  const base = filesOf(peft.config, unpackAll(peft.parameters));
  const tensors = unpackAll(peft.before.tensors);
  const files = {
    "adapter_config.json": json(peft.before.config),
    "adapter_model.safetensors": saveSafetensors(tensors, { format: "pt" }),
  };
  const ids = peft.tokens[0]?.[0] ?? [];

  /** W + alpha / r B A in double precision, loaded anew. */
  async function merged(adapter: ReadonlyMap<string, ParameterTensor>, scale: number) {
    const all = unpackAll(peft.parameters);
    for (const [name, a] of adapter) {
      if (!name.endsWith("lora_A.weight")) continue;
      const b = adapter.get(name.replace("lora_A", "lora_B")) ?? a;
      const path = name.replace("base_model.model.", "").replace("lora_A.weight", "weight");
      const weight = all.get(path) ?? a;
      const [rank = 0, inputs = 0] = a.shape;
      const data = weight.data.map((number, at) => {
        const [i, j] = [Math.floor(at / inputs), at % inputs];
        let sum = number;
        for (let k = 0; k < rank; k++) sum += scale * (b.data[i * rank + k] ?? 0) * (a.data[k * inputs + j] ?? 0);
        return sum;
      });
      all.set(path, { data, shape: weight.shape });
    }
    const lm = await loadModel(filesOf(peft.config, all), { engine });
    const { logits } = await lm.model.forward(ids);
    lm.dispose();
    return logits;
  }

  test("several over one base, chosen by each call", async () => {
    const lm = await loadModel(base, { engine });
    const plain = (await lm.model.forward(ids)).logits;
    const scale = Number(peft.before.config["lora_alpha"]) / Number(peft.before.config["r"]);
    const other = new Map(
      [...tensors].map(([name, tensor]) => [name, { ...tensor, data: tensor.data.map((x) => -x / 2) }]),
    );
    const root = { ...peft.before.config, use_rslora: true };
    const second = { "adapter_config.json": json(root), "adapter_model.safetensors": saveSafetensors(other) };
    const loaded = await lm.loadAdapter(files, { name: "one" });
    expect(loaded).toMatchObject({ name: "one", rank: 3, alpha: 5 });
    expect(loaded.targets).toContain("decoder.layers.0.self_attn.q_proj");
    await lm.loadAdapter(second, { name: "two" });
    const wanted = { one: await merged(tensors, scale), two: await merged(other, (scale * 3) / Math.sqrt(3)) };
    for (const name of ["one", "two", "one"] as const) {
      const { logits } = await lm.model.forward(ids, { adapter: name });
      expect(
        worstDifference(logits, wanted[name] ?? tensors.values().next().value ?? unpack(peft.logits), DEPTH),
      ).toBeLessThan(1);
      expect(logits).not.toEqual(plain);
      expect((await lm.model.forward(ids)).logits).toEqual(plain);
    }
    // In text as well.
    const first = async (adapter?: string) => {
      const { value } = await lm.generate(ids, { maxTokens: 1, eos: [], adapter }).next();
      return value?.tokens[0];
    };
    for (const name of ["one", "two"] as const) {
      const last = wanted[name]?.data.slice(-13) ?? new Float32Array();
      expect(await first(name)).toBe(last.indexOf(Math.max(...last)));
    }
    await expect(lm.model.forward(ids, { adapter: "three" })).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/one of those that were loaded, "one", "two", got "three"/),
    });
    // The same bytes go out.
    const saved = await lm.save({ adapter: "one" });
    expect(saved.get("adapter_model.safetensors")).toEqual(files["adapter_model.safetensors"]);
    expect(JSON.parse(textOf(saved.get("adapter_config.json")))).toEqual(peft.before.config);
    lm.removeAdapter("one");
    await expect(lm.model.forward(ids, { adapter: "one" })).rejects.toMatchObject({ code: "option" });
    expect((await lm.model.forward(ids)).logits).toEqual(plain);
    lm.dispose();
  });

  test("what PEFT wrote learns on, and what has learnt leaves in PEFT's names", async () => {
    const lm = await loadModel(base, { engine });
    const { rank, alpha, targets, parameters } = await lm.loadAdapter(files, { name: "one" });
    const wanted = (await lm.model.forward(ids, { adapter: "one" })).logits;
    lm.removeAdapter("one");
    const adapters = lora(lm.model, { rank, alpha, targets });
    adapters.load(parameters);
    expect(worstDifference((await lm.model.forward(ids)).logits, wanted ?? unpack(peft.logits), DEPTH)).toBeLessThan(1);
    const saved = await lm.save({ adapter: adapters });
    const made = await loadSafetensors(saved.get("adapter_model.safetensors") ?? new Uint8Array());
    expect(sorted(made)).toEqual(sorted(tensors));
    const config = JSON.parse(textOf(saved.get("adapter_config.json")));
    expect(config).toMatchObject({ peft_type: "LORA", r: 3, lora_alpha: 5, bias: "none", rank_pattern: {} });
    // PEFT finds a layer by the end of its path.
    for (const name of made.keys()) {
      const path = name.replace("base_model.model.", "").replace(/\.lora_[AB]\.weight$/, "");
      expect(config.target_modules).toContain(path);
    }
    // The base goes out without them.
    const whole = await loadSafetensors((await lm.save()).get("model.safetensors") ?? new Uint8Array());
    expect(sorted(whole)).toEqual(sorted(unpackAll(peft.parameters)));
    lm.dispose();
  });

  test("of GPT-2, whose queries, keys and values are one layer for PEFT", async () => {
    const { config, parameters } = madeByTransformers("gpt2");
    const lm = await loadModel(filesOf(config, parameters), { engine });
    const adapters = lora(lm.model, {
      rank: 2,
      alpha: 6,
      targets: ["q_proj", "v_proj", "layers.1.mlp.up_proj"],
      seed: 4,
    });
    // B is zero at first.
    const random = new Map(
      [...(await adapters.readParameters())].map(([name, { data, shape }]) => [
        name,
        { data: data.map((_, at) => Math.sin(at + name.length)), shape },
      ]),
    );
    adapters.load(random);
    const wanted = (await lm.model.forward([1, 2, 3])).logits;
    const saved = await lm.save({ adapter: adapters });
    const made = await loadSafetensors(saved.get("adapter_model.safetensors") ?? new Uint8Array());
    expect(made.get("base_model.model.transformer.h.0.attn.c_attn.lora_A.weight")?.shape).toEqual([4, 12]);
    expect(made.get("base_model.model.transformer.h.0.attn.c_attn.lora_B.weight")?.shape).toEqual([36, 4]);
    expect(JSON.parse(textOf(saved.get("adapter_config.json")))).toMatchObject({
      rank_pattern: { "transformer.h.0.attn.c_attn": 4 },
      alpha_pattern: { "transformer.h.0.attn.c_attn": 12 },
      fan_in_fan_out: true,
    });
    const fresh = await loadModel(filesOf(config, parameters), { engine });
    await fresh.loadAdapter(Object.fromEntries(saved), { name: "it" });
    const { logits } = await fresh.model.forward([1, 2, 3], { adapter: "it" });
    expect(worstDifference(logits, wanted ?? unpack(peft.logits), DEPTH)).toBeLessThan(1);
    fresh.dispose();
    lm.dispose();
  });

  test("a head may come with an adapter", async () => {
    const { config, parameters } = madeByTransformers("bert");
    const lm = await loadModel(filesOf(config, parameters), { engine });
    lm.tokenizer = { encode: () => [1, 2, 3], decode: () => "" };
    const pair = (rows: number, columns: number): ParameterTensor => ({
      data: Float32Array.from({ length: rows * columns }, Math.cos),
      shape: [rows, columns],
    });
    const start = "base_model.model.";
    const adapter = new Map([
      [`${start}bert.encoder.layer.0.attention.self.query.lora_A.weight`, pair(2, 12)],
      [`${start}bert.encoder.layer.0.attention.self.query.lora_B.weight`, pair(12, 2)],
      [`${start}classifier.weight`, pair(3, 12)],
      [`${start}classifier.bias`, { data: Float32Array.of(0, 0, 5), shape: [3] }],
    ]);
    const given = {
      "adapter_config.json": json({ peft_type: "LORA", r: 2, lora_alpha: 2 }),
      "adapter_model.safetensors": saveSafetensors(adapter),
    };
    await expect(lm.classify(["a"])).rejects.toMatchObject({ code: "unsupported" });
    await lm.loadAdapter(given, { name: "labels" });
    const [labels] = await lm.classify(["a"], { adapter: "labels" });
    expect(labels).toHaveLength(3);
    await expect(lm.classify(["a"], { adapter: "others" })).rejects.toMatchObject({ code: "option" });
    expect((await lm.embed(["a"], { adapter: "labels" })).data).not.toEqual((await lm.embed(["a"])).data);
    lm.dispose();
  });

  test.each<[string, object, string, RegExp]>([
    [
      "another kind",
      { ...files, "adapter_config.json": json({ peft_type: "IA3" }) },
      "unsupported",
      /peft_type must be "LORA"/,
    ],
    [
      "DoRA",
      { ...files, "adapter_config.json": json({ ...peft.before.config, use_dora: true }) },
      "unsupported",
      /use_dora/,
    ],
    [
      "biases",
      { ...files, "adapter_config.json": json({ ...peft.before.config, bias: "all" }) },
      "unsupported",
      /bias/,
    ],
    ["a folder without weights", { "adapter_config.json": json({}) }, "load", /no adapter_model\.safetensors/],
    [
      "a layer that the model has not",
      {
        ...files,
        "adapter_model.safetensors": saveSafetensors({
          "base_model.model.model.layers.7.x.lora_A.weight": { data: new Float32Array(2), shape: [1, 2] },
          "base_model.model.model.layers.7.x.lora_B.weight": { data: new Float32Array(2), shape: [2, 1] },
        }),
      },
      "option",
      /must have the layer model\.layers\.7\.x/,
    ],
    [
      "another shape",
      {
        ...files,
        "adapter_model.safetensors": saveSafetensors({
          "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": {
            data: new Float32Array(2),
            shape: [1, 2],
          },
          "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight": {
            data: new Float32Array(2),
            shape: [2, 1],
          },
        }),
      },
      "shape",
      /lora_A must be \[r, 12\]/,
    ],
    [
      "half of a pair",
      {
        ...files,
        "adapter_model.safetensors": saveSafetensors({
          "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": {
            data: new Float32Array(12),
            shape: [1, 12],
          },
        }),
      },
      "option",
      /lora_B/,
    ],
    [
      "other parameters",
      {
        ...files,
        "adapter_model.safetensors": saveSafetensors({ "x.weight": { data: new Float32Array(1), shape: [1] } }),
      },
      "unsupported",
      /low rank/,
    ],
  ])("refuses %s", async (_, source, code, message) => {
    const lm = await loadModel(base, { engine });
    await expect(lm.loadAdapter(source as Record<string, Uint8Array>, { name: "x" })).rejects.toMatchObject({
      name: "HeedError",
      code,
      message: expect.stringMatching(message),
    });
    lm.dispose();
  });
});
