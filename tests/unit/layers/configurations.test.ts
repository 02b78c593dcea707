// What models make of the parameters of a file: all of them taken, or one refused by name, never overlooked.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createHeed, type Heed, HeedError } from "../../../web/src/index.js";
import {
  BertModel,
  GPT2Model,
  Linear,
  LlamaModel,
  type ModelConfig,
  type ParameterTensor,
} from "../../../web/src/layers/index.js";
import { type PackedCase, readFixture, unpackAll } from "../../support/fixtures.js";

const MODELS = { bert: BertModel, gpt2: GPT2Model, llama: LlamaModel };
type Name = keyof typeof MODELS;

const fixture = readFixture("models.json");

function caseOf(name: Name): { config: ModelConfig; parameters: Map<string, ParameterTensor> } {
  const { config, parameters } = fixture[name] as { config: ModelConfig } & Pick<PackedCase, "parameters">;
  return { config, parameters: new Map(unpackAll(parameters)) };
}

const zeros = (...shape: number[]): ParameterTensor => ({
  data: new Float32Array(shape.reduce((a, b) => a * b, 1)),
  shape,
});

const TOKENS = [3, 1, 4, 1, 5, 9, 2, 6];

let engine: Heed;
beforeAll(async () => {
  engine = await createHeed();
});
afterAll(() => engine.dispose());

function refusalOf(act: () => unknown): readonly [string, string] | null {
  try {
    act();
  } catch (error) {
    if (error instanceof HeedError) return [error.code, error.message];
    throw error;
  }
  return null;
}

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
