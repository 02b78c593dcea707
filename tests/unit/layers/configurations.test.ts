// What models make of a config.json and of a file beside it: computed as transformers does, or refused by name, never overlooked.

import { afterAll, expect, test } from "vitest";
import { createHeed, HeedError } from "../../../web/src/index.js";
import {
  BertModel,
  Decoder,
  Embedding,
  GPT2Model,
  Linear,
  LlamaModel,
  type ModelConfig,
  MultiHeadAttention,
  type ParameterTensor,
} from "../../../web/src/layers/index.js";
import { type PackedCase, readFixture, unpackAll, worstDifference } from "../../support/fixtures.js";
import { zeros } from "../../support/tensors.js";

const MODELS = { bert: BertModel, gpt2: GPT2Model, llama: LlamaModel };
type Name = keyof typeof MODELS;

const fixture = readFixture("models.json");

function caseOf(name: Name): { config: ModelConfig; parameters: Map<string, ParameterTensor> } {
  const { config, parameters } = fixture[name] as { config: ModelConfig } & Pick<PackedCase, "parameters">;
  return { config, parameters: new Map(unpackAll(parameters)) };
}

const TOKENS = [3, 1, 4, 1, 5, 9, 2, 6];

const engine = await createHeed();
afterAll(() => engine.dispose());

const made = (name: Name, changes: ModelConfig) => new MODELS[name]({ ...caseOf(name).config, ...changes }, { engine });

function refusalOf(act: () => unknown): readonly [string, string] | null {
  try {
    act();
  } catch (error) {
    if (error instanceof HeedError) return [error.code, error.message];
    throw error;
  }
  return null;
}

test.each<[Name, ModelConfig, string]>([
  ["bert", { model_type: "roberta" }, 'BertModel: config.model_type must be "bert", got "roberta"'],
  ["bert", { position_embedding_type: "relative_key" }, 'position_embedding_type must be "absolute"'],
  ["bert", { position_embedding_type: "relative_key_query" }, 'position_embedding_type must be "absolute"'],
  ["bert", { is_decoder: true }, "config.is_decoder must be false, got true"],
  ["bert", { add_cross_attention: true }, "config.add_cross_attention must be false"],
  ["gpt2", { model_type: "gptj" }, 'GPT2Model: config.model_type must be "gpt2", got "gptj"'],
  ["gpt2", { scale_attn_weights: false }, "config.scale_attn_weights must be true, got false"],
  ["gpt2", { scale_attn_by_inverse_layer_idx: true }, "config.scale_attn_by_inverse_layer_idx must be false"],
  ["gpt2", { add_cross_attention: true }, "config.add_cross_attention must be false"],
  ["llama", { model_type: "qwen2" }, 'LlamaModel: config.model_type must be "llama" or "mistral", got "qwen2"'],
  ["llama", { mlp_bias: true }, "config.mlp_bias must be false, got true"],
  ["llama", { partial_rotary_factor: 0.5 }, "config.partial_rotary_factor must be 1, got 0.5"],
  ["llama", { rope_parameters: { partial_rotary_factor: 0.5 } }, "partial_rotary_factor must be 1, got 0.5"],
])("%s is refused with %o", (name, changes, message) => {
  expect(refusalOf(() => made(name, changes))).toEqual(["unsupported", expect.stringContaining(message)]);
});

test.each([
  ["bert", 'BertModel: config must have a model_type, "bert", got none'],
  ["gpt2", 'GPT2Model: config must have a model_type, "gpt2", got none'],
  ["llama", 'LlamaModel: config must have a model_type, "llama" or "mistral", got none'],
] as const)("%s without a type is refused", (name, message) => {
  for (const type of [undefined, null]) {
    expect(refusalOf(() => made(name, { model_type: type }))).toEqual(["option", message]);
  }
});

test("a scaling without its factor is refused", () => {
  const message = "LlamaModel: config.rope_scaling: config.factor must be given";
  for (const factor of [undefined, null]) {
    const changes = { rope_parameters: null, rope_scaling: { type: "yarn", factor } };
    expect(refusalOf(() => made("llama", changes))).toEqual(["option", message]);
  }
});

test.each<[Name, ModelConfig]>([
  ["bert", { position_embedding_type: "absolute", is_decoder: false, add_cross_attention: false }],
  ["bert", { position_embedding_type: null }],
  ["gpt2", { scale_attn_weights: true, scale_attn_by_inverse_layer_idx: false, add_cross_attention: false }],
  ["llama", { model_type: "mistral", sliding_window: null, partial_rotary_factor: 1.0 }],
])("%s is made with %o", (name, changes) => {
  expect(refusalOf(() => made(name, changes))).toBeNull();
});

test("a head that no model has is refused before its frequencies are made", () => {
  const { config } = caseOf("llama");
  const message = "MultiHeadAttention: headDim must be a whole number, 1 or more, up to 65536, got 100000000";
  expect(() => new LlamaModel({ ...config, head_dim: 1e8 }, { engine })).toThrow(message);
  expect(() => new MultiHeadAttention({ embedDim: 1e8, heads: 1, rope: {}, engine })).toThrow(message);
});

test("Mistral's tokens see a window of keys, at once and from caches; Llama's see all", async () => {
  const { config, parameters } = caseOf("llama");
  const plain = { ...config, rope_parameters: { rope_theta: 1000 } };
  const model = new LlamaModel({ ...plain, model_type: "mistral", sliding_window: 3 }, { engine }).load(parameters);
  const own = model.parameters();
  const decoder = new Decoder({
    layers: 2,
    dim: 12,
    heads: 6,
    kvHeads: 2,
    headDim: 4,
    hidden: 20,
    activation: "swiglu",
    norm: "rms",
    epsilon: 1e-6,
    bias: false,
    rope: { base: 1000 },
    engine,
  }).load(own, "decoder.");
  const words = new Embedding({ count: 16, dim: 12, engine }).load(own, "words.");
  const head = new Linear({ inFeatures: 12, outFeatures: 16, bias: false, engine }).load(own, "head.");
  const { length } = TOKENS;
  const logitsWith = async (window: number): Promise<ParameterTensor> => {
    const seen = Array.from({ length: length * length }, (_, at) => {
      const distance = Math.floor(at / length) - (at % length);
      return distance >= 0 && distance < window;
    });
    const mask = { data: Uint8Array.from(seen, Number), shape: [length, length] };
    const x = await words.forward({ data: TOKENS, shape: [1, length] });
    return head.forward((await decoder.forward(x, { self: { causal: false, mask } })).output);
  };
  const wanted = await logitsWith(3);
  expect(worstDifference((await model.forward(TOKENS)).logits, wanted, 24)).toBeLessThan(1);

  const caches = await Promise.all([0, 1].map(() => engine.createCache({ kvHeads: 2, headDim: 4, maxLength: length })));
  for (const [from, to] of [
    [0, 5],
    [5, 6],
    [6, length],
  ] as const) {
    const { logits } = await model.forward(TOKENS.slice(from, to), { caches });
    const rows = { data: wanted.data.subarray(from * 16, to * 16), shape: [1, to - from, 16] };
    expect(worstDifference(logits, rows, 24)).toBeLessThan(1);
  }

  const llama = new LlamaModel({ ...plain, sliding_window: 3 }, { engine }).load(parameters);
  expect(worstDifference((await llama.forward(TOKENS)).logits, await logitsWith(length), 24)).toBeLessThan(1);
});

test("YaRN's factor is a ratio where mscale and mscale_all_dim are both given, and pairs are whole unless truncate is false", async () => {
  const { parameters } = caseOf("llama");
  const logitsOf = async (rules: object): Promise<ParameterTensor> => {
    // Pair 1 lies between those with 32 rotations and with one, 0.12 and 1.12.
    const yarn = { rope_type: "yarn", rope_theta: 1000, factor: 4, original_max_position_embeddings: 300, ...rules };
    const model = new LlamaModel({ ...caseOf("llama").config, rope_parameters: yarn }, { engine }).load(parameters);
    return (await model.forward(TOKENS)).logits;
  };
  const by = (mscale: number): number => 0.1 * mscale * Math.log(4) + 1;
  const plain = await logitsOf({});
  expect(worstDifference(await logitsOf({ attention_factor: by(1) }), plain, 24)).toBeLessThan(1);
  expect(worstDifference(await logitsOf({ mscale: 2 }), plain, 24)).toBeLessThan(1);
  expect(worstDifference(await logitsOf({ mscale: 2, mscale_all_dim: 0 }), plain, 24)).toBeLessThan(1);
  const ratio = await logitsOf({ mscale: 2, mscale_all_dim: 0.5 });
  expect(worstDifference(ratio, await logitsOf({ attention_factor: by(2) / by(0.5) }), 24)).toBeLessThan(1);
  expect(worstDifference(ratio, plain, 24)).toBeGreaterThan(100);
  expect(worstDifference(await logitsOf({ truncate: true }), plain, 24)).toBeLessThan(1);
  expect(worstDifference(await logitsOf({ truncate: false }), plain, 24)).toBeGreaterThan(100);
});

test.each<[Name, string]>([
  ["bert", "encoder.layer.1.attention.self.distance_embedding.weight"],
  ["bert", "encoder.layer.0.crossattention.self.query.weight"],
  ["bert", "embeddings.LayerNorm.scale"],
  ["gpt2", "transformer.h.1.crossattention.c_attn.weight"],
  ["gpt2", "lm_head.bias"],
  ["llama", "model.layers.0.self_attn.q_proj.bias"],
  ["llama", "model.layers.1.self_attn.q_norm.weight"],
  ["llama", "model.norm.bias"],
])("%s is refused with a parameter %s", (name, extra) => {
  const { config, parameters } = caseOf(name);
  if (extra.startsWith("lm_head")) parameters.set("lm_head.weight", zeros(16, 12));
  parameters.set(extra, zeros(12));
  for (const prefix of ["", "part.3."]) {
    const given = new Map([...parameters].map(([key, value]) => [prefix + key, value]));
    const model = new MODELS[name](config, { engine });
    const message = `${name === "gpt2" ? "GPT2" : name.replace(/^./, (first) => first.toUpperCase())}Model: a model of this config must have no parameter ${prefix}${extra}, got one`;
    expect(refusalOf(() => model.load(given, prefix))).toEqual(["option", message]);
    expect(model.parameters().size).toBe(0);
  }
});

test.each<[Name, readonly string[]]>([
  [
    "bert",
    ["embeddings.position_ids", "embeddings.token_type_ids", "cls.predictions.bias", "encoder.layer.7.x.weight"],
  ],
  ["gpt2", ["transformer.h.0.attn.bias", "transformer.h.1.attn.masked_bias", "score.weight", "other.layers.0.weight"]],
  ["llama", ["model.layers.0.self_attn.rotary_emb.inv_freq", "model.rotary_emb.inv_freq", "score.weight"]],
])("%s leaves heads, buffers and layers that it does not have alone", (name, extras) => {
  const { config, parameters } = caseOf(name);
  for (const extra of extras) parameters.set(extra, zeros(1));
  expect(new MODELS[name](config, { engine }).load(parameters).parameters().size).toBeGreaterThan(20);
});

test("a bias that a file lacks is missed by its published name", () => {
  const { config, parameters } = caseOf("bert");
  parameters.delete("encoder.layer.0.intermediate.dense.bias");
  expect(refusalOf(() => new BertModel(config, { engine }).load(parameters))).toEqual([
    "option",
    expect.stringMatching(/^BertModel: parameter encoder.layer.0.intermediate.dense.bias is missing/),
  ]);
});

test("a load that fails changes nothing", async () => {
  const layer = new Linear({ inFeatures: 2, outFeatures: 1, engine });
  layer.load({ weight: { data: Float32Array.of(1, 2), shape: [1, 2] }, bias: zeros(1) });
  expect(refusalOf(() => layer.load({ weight: zeros(1, 2) }))).toEqual(["option", expect.stringContaining("bias")]);
  expect(refusalOf(() => layer.load({ weight: zeros(1, 2), bias: zeros(2) }))).toEqual(["shape", expect.anything()]);
  expect([...(await layer.forward({ data: Float32Array.of(3, 4), shape: [1, 2] })).data]).toEqual([11]);

  const { config, parameters } = caseOf("bert");
  const model = new BertModel(config, { engine }).load(parameters);
  const before = model.parameters();
  const other = new Map([...parameters].map(([name, { shape }]) => [name, zeros(...shape)]));
  for (const name of other.keys()) if (name.startsWith("pooler")) other.delete(name);
  other.set("encoder.layer.1.output.LayerNorm.bias", zeros(5));
  expect(refusalOf(() => model.load(other))).toEqual(["shape", expect.anything()]);
  expect([...model.parameters()]).toEqual([...before]);
  expect((await model.forward(TOKENS)).pooled).toBeDefined();

  other.set("encoder.layer.1.output.LayerNorm.bias", zeros(12));
  model.load(other);
  expect([...before.keys()].filter((name) => !model.parameters().has(name))).toEqual(["pooler.weight", "pooler.bias"]);
  expect((await model.forward(TOKENS)).pooled).toBeUndefined();
});
