// Families of models against transformers', from their published names: tests/fixtures/make-families.py made the files.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type KVCache } from "../../../web/src/index.js";
import {
  BertModel,
  DistilBertModel,
  EmbeddingGemmaModel,
  Gemma3Model,
  greedy,
  type ModelConfig,
  ModernBertModel,
  MPNetModel,
  type ParameterTensor,
  Qwen2Model,
  Qwen3Model,
  RobertaModel,
  SmolLM3Model,
} from "../../../web/src/layers/index.js";
import { FEW_KINDS, nameOf, openKind } from "../../support/engines.js";
import { caseOf } from "../../support/families.js";
import { worstDifference } from "../../support/fixtures.js";

/** The error of f32 after three layers, each a chain of about twelve sums. */
const DEPTH = 36;

/** Zeros for padding, of which models make what they like. */
function unpadded(
  { data, shape }: { readonly data: Float32Array; readonly shape: readonly number[] },
  mask: Uint8Array,
): ParameterTensor {
  const width = data.length / mask.length;
  return { data: data.map((number, at) => (mask[Math.floor(at / width)] === 1 ? number : 0)), shape };
}

/** The same for the queries of weights [B, H, L, S]. */
function unpaddedRows({ data, shape }: ParameterTensor, mask: Uint8Array): ParameterTensor {
  const [, heads = 1, length = 1, keys = 1] = shape;
  const isToken = (at: number): boolean => {
    const row = Math.floor(at / keys);
    return mask[Math.floor(row / (heads * length)) * length + (row % length)] === 1;
  };
  return { data: data.map((number, at) => (isToken(at) ? number : 0)), shape };
}

function expectAttentions(
  { output, mask }: ReturnType<typeof caseOf>,
  attentions: readonly ParameterTensor[] | undefined,
): void {
  expect(attentions?.length).toBe(3);
  for (const [layer, weights] of (attentions ?? []).entries()) {
    const wanted = unpaddedRows(output(`attention${layer}`), mask);
    expect(worstDifference(unpaddedRows(weights, mask), wanted, DEPTH), `layer ${layer}`).toBeLessThan(1);
  }
}

const CAUSAL = {
  qwen2: [Qwen2Model, { kvHeads: 2, headDim: 4 }],
  qwen3: [Qwen3Model, { kvHeads: 2, headDim: 8 }],
  smollm3: [SmolLM3Model, { kvHeads: 2, headDim: 4 }],
  gemma3: [Gemma3Model, { kvHeads: 2, headDim: 8 }],
} as const;

const ENCODERS = {
  roberta: RobertaModel,
  "xlm-roberta": RobertaModel,
  distilbert: DistilBertModel,
  embeddinggemma: EmbeddingGemmaModel,
  modernbert: ModernBertModel,
  mpnet: MPNetModel,
} as const;

/** Models with heads: the shapes of their logits but for the batch. */
const HEADS = {
  "bert-classes": BertModel,
  "bert-tokens": BertModel,
  "roberta-classes": RobertaModel,
  "roberta-tokens": RobertaModel,
  "roberta-words": RobertaModel,
  "distilbert-classes": DistilBertModel,
  "distilbert-words": DistilBertModel,
  "modernbert-classes": ModernBertModel,
  "modernbert-words": ModernBertModel,
  "mpnet-classes": MPNetModel,
  "mpnet-words": MPNetModel,
} as const;

const causal = Object.entries(CAUSAL).map(([name, [Model, cache]]) => ({ name, Model, cache }));

describe.each(FEW_KINDS.map((kind) => ({ kind, of: nameOf(kind) })))("families, $of", async ({ kind }) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());

  test.each(causal)("$name has transformers' logits and attentions", async ({ name, Model }) => {
    const of = caseOf(name);
    const model = new Model(of.config, { engine }).load(of.parameters);
    const { logits, attentions } = await model.forward(of.tokens, { mask: of.mask, attentions: true });
    expect(worstDifference(unpadded(logits, of.mask), unpadded(of.output("logits"), of.mask), DEPTH)).toBeLessThan(1);
    expectAttentions(of, attentions);
    model.dispose();
  });

  test.each(Object.entries(ENCODERS))("%s has transformers' hidden states and attentions", async (name, Model) => {
    const of = caseOf(name);
    const model = new Model(of.config, { engine }).load(of.parameters);
    const { hidden, pooled, attentions } = await model.forward(of.tokens, { mask: of.mask, attentions: true });
    expect(worstDifference(unpadded(hidden, of.mask), unpadded(of.output("hidden"), of.mask), DEPTH)).toBeLessThan(1);
    if (pooled !== undefined) expect(worstDifference(pooled, of.output("pooled"), DEPTH)).toBeLessThan(1);
    expect(pooled === undefined).toBe(of.output("pooled").shape.length === 0);
    expectAttentions(of, attentions);
    model.dispose();
  });

  test.each(Object.entries(HEADS))("%s has transformers' logits", async (name, Model) => {
    const of = caseOf(name);
    const model = new Model(of.config, { engine }).load(of.parameters);
    const { logits } = await model.forward(of.tokens, { mask: of.mask, logits: true });
    const wanted = of.output("logits");
    const isOfTexts = wanted.shape.length === 2;
    const [got, like] = isOfTexts ? [logits, wanted] : [logits && unpadded(logits, of.mask), unpadded(wanted, of.mask)];
    expect(worstDifference(got, like, DEPTH)).toBeLessThan(1);
    model.dispose();
  });
});

const heed = await createHeed();
afterAll(() => heed.dispose());

describe.each(causal)("$name", ({ name, Model, cache }) => {
  const { config, parameters, texts, greedy: wanted, output } = caseOf(name);
  const [prompt = []] = texts;

  test("takes transformers' 40 tokens, with caches and without", async () => {
    const model = new Model(config, { engine: heed }).load(parameters);
    const maxTokens = wanted.length;
    expect(maxTokens).toBe(40);
    const all = async (ids: ArrayLike<number>) => (await model.forward(Array.from(ids), { last: true })).logits.data;
    expect(await greedy(all, prompt, { maxTokens })).toEqual(wanted);
    const caches: KVCache[] = [];
    for (let layer = 0; layer < 3; layer++) caches.push(await heed.createCache({ ...cache, maxLength: 64 }));
    const next = async (ids: ArrayLike<number>, past: number) =>
      (await model.forward(Array.from(ids).slice(past), { caches, last: true })).logits.data;
    expect(await greedy(next, prompt, { maxTokens })).toEqual(wanted);
    for (const one of caches) one.dispose();
    model.dispose();
  });

  test("gives what its head reads, and no logits where none are wanted", async () => {
    const model = new Model(config, { engine: heed }).load(parameters);
    const { logits, hidden } = await model.forward(prompt, { logits: false, hidden: true });
    expect(logits).toBeUndefined();
    expect(hidden?.shape).toEqual([1, prompt.length, 16]);
    const head = model.parameters().get("head.weight")?.data ?? new Float32Array(0);
    const first = output("logits").shape[2] ?? 0;
    const row = Float32Array.from({ length: first }, (_, word) => {
      let sum = 0;
      for (let at = 0; at < 16; at++) sum += (head[word * 16 + at] ?? 0) * (hidden?.data[at] ?? 0);
      return sum;
    });
    const logitsOf = (await model.forward(prompt)).logits.data.slice(0, first);
    if (!name.startsWith("gemma")) {
      expect(worstDifference({ data: row, shape: [first] }, { data: logitsOf, shape: [first] }, DEPTH)).toBeLessThan(1);
    }
    model.dispose();
  });
});

test("a causal classifier has logits of the last token of each text", async () => {
  const { config, parameters, tokens, mask, output } = caseOf("qwen3-classes");
  const model = new Qwen3Model(config, { engine: heed }).load(parameters);
  const { logits } = await model.forward(tokens, { mask });
  expect(worstDifference(logits, output("logits"), DEPTH)).toBeLessThan(1);
  model.dispose();
});

test("rope_parameters are the same flat and by the type of layer", async () => {
  const { config, parameters, tokens } = caseOf("qwen3");
  const logitsWith = async (rope_parameters: ModelConfig["rope_parameters"]): Promise<Float32Array> => {
    const model = new Qwen3Model({ ...config, rope_parameters }, { engine: heed }).load(parameters);
    return (await model.forward(tokens)).logits.data;
  };
  const flat = await logitsWith({ rope_type: "default", rope_theta: 1000 });
  const byType = await logitsWith({ full_attention: { rope_type: "default", rope_theta: 1000 } });
  expect(byType).toEqual(flat);
  expect(await logitsWith({ full_attention: { rope_theta: 2000 } })).not.toEqual(flat);
});
