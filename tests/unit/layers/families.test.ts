// Families of models against transformers', from their published names: tests/fixtures/make-families.py made the files.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type KVCache } from "../../../web/src/index.js";
import {
  BertModel,
  DistilBertModel,
  dequantize,
  EmbeddingGemmaModel,
  Gemma3Model,
  greedy,
  type ModelConfig,
  ModernBertModel,
  MPNetModel,
  type ParameterMap,
  type ParameterTensor,
  Qwen2Model,
  Qwen3Model,
  quantize,
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

describe("positions of RoBERTa", () => {
  const { config, parameters } = caseOf("roberta");
  const PAD = 1;
  const text = [5, 9, 2, 33, 17];
  const model = new RobertaModel(config, { engine: heed }).load(parameters);
  const hiddenOf = async (tokens: Parameters<typeof model.forward>[0], mask?: Uint8Array) =>
    (await model.forward(tokens, { mask })).hidden;

  test("count no padding, wherever it is, and not that of heed's own", async () => {
    const alone = await hiddenOf(text);
    const padded = (before: number, after: number) => [...Array(before).fill(PAD), ...text, ...Array(after).fill(PAD)];
    for (const [before, after] of [
      [3, 0],
      [0, 2],
      [1, 3],
    ] as const) {
      const tokens = padded(before, after);
      const mask = Uint8Array.from(tokens, (token) => Number(token !== PAD));
      const hidden = await hiddenOf(tokens, mask);
      const rows = { data: hidden.data.subarray(before * 16, (before + 5) * 16), shape: [1, 5, 16] };
      expect(worstDifference(rows, alone, DEPTH)).toBeLessThan(1);
    }
    const both = await hiddenOf([[3, 4, 5, 6, 7, 8, 9], text]);
    const rows = { data: both.data.subarray(7 * 16, 12 * 16), shape: [1, 5, 16] };
    expect(worstDifference(rows, alone, DEPTH)).toBeLessThan(1);
  });

  test("are 2 fewer than the table has", async () => {
    const most = Array.from({ length: 18 }, (_, at) => at + 3);
    expect((await hiddenOf(most)).shape).toEqual([1, 18, 16]);
    await expect(hiddenOf([...most, 2])).rejects.toMatchObject({
      code: "option",
      message:
        "RobertaModel: a text must have at most 18 tokens, because the model has positions for no more, got 19: encode it with maxLength: 18",
    });
  });

  test("tokenTypes are for models with segments", async () => {
    const other = new DistilBertModel(caseOf("distilbert").config, { engine: heed }).init();
    await expect(other.forward(text, { tokenTypes: [0, 0, 0, 0, 0] })).rejects.toMatchObject({
      code: "option",
      message: "DistilBertModel: tokenTypes are for models with segments, which this has not",
    });
  });
});

test.each(Object.entries(ENCODERS))("%s: a text in a batch is what it is alone", async (name, Model) => {
  const { config, parameters } = caseOf(name);
  const model = new Model(config, { engine: heed }).load(parameters);
  const texts = [
    [5, 9, 2, 33],
    [7, 7, 12, 40, 41, 42, 43, 8, 9],
  ];
  const { hidden, mask } = await model.forward(texts);
  expect([...(mask ?? [])]).toEqual([1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  for (const [at, text] of texts.entries()) {
    const { hidden: alone } = await model.forward(text);
    const from = at * 9 * 16;
    const rows = { data: hidden.data.subarray(from, from + text.length * 16), shape: alone.shape };
    expect(worstDifference(rows, alone, DEPTH)).toBeLessThan(1);
  }
  model.dispose();
});

const MODELS = {
  qwen2: Qwen2Model,
  qwen3: Qwen3Model,
  smollm3: SmolLM3Model,
  gemma3: Gemma3Model,
  embeddinggemma: EmbeddingGemmaModel,
  modernbert: ModernBertModel,
  roberta: RobertaModel,
  distilbert: DistilBertModel,
  mpnet: MPNetModel,
} as const;

describe.each(Object.entries(MODELS))("%s from other files", (name, Model) => {
  const { config, parameters, tokens, mask } = caseOf(name);

  const resultOf = async (given: ParameterMap, weights?: "as stored"): Promise<ParameterTensor> => {
    const model = new Model(config, { engine: heed }).load(given, weights === undefined ? "" : { weights });
    // Those of causal models have the same options here.
    const result = await (model as RobertaModel).forward(tokens, { mask });
    model.dispose();
    return unpadded("logits" in result && result.logits !== undefined ? result.logits : result.hidden, mask);
  };

  test("its own names give the same bits", async () => {
    const own = new Model(config, { engine: heed }).load(parameters).parameters();
    expect((await resultOf(own)).data).toEqual((await resultOf(parameters)).data);
  });

  test("weights in bf16 compute what these numbers do in f32", async () => {
    const narrow = new Map([...parameters].map(([key, value]) => [key, quantize(value, "bf16")]));
    const wide = new Map([...narrow].map(([key, value]) => [key, dequantize(value)]));
    expect(worstDifference(await resultOf(narrow, "as stored"), await resultOf(wide), DEPTH)).toBeLessThan(1);
  });
});

test.each<[keyof typeof MODELS, ModelConfig, string, string]>([
  ["qwen2", { model_type: "qwen2_moe" }, "unsupported", 'config.model_type must be "qwen2", got "qwen2_moe"'],
  ["qwen2", { hidden_act: "gelu" }, "unsupported", "config.hidden_act must be one of silu"],
  ["qwen2", { rope_parameters: { rope_type: "mrope" } }, "unsupported", "config.rope_type must be one of default"],
  ["qwen2", { use_sliding_window: false }, "unsupported", "config.use_sliding_window must be true where layer_types"],
  ["qwen3", { layer_types: ["full_attention"] }, "option", "layer_types must be a list with one for each of 3 layers"],
  [
    "qwen3",
    { layer_types: ["full_attention", "linear_attention", "full_attention"] },
    "unsupported",
    'config.layer_types[1] must be "full_attention" or "sliding_attention", got "linear_attention"',
  ],
  ["qwen3", { partial_rotary_factor: 0.25 }, "unsupported", "config.partial_rotary_factor must be 1, got 0.25"],
  ["qwen3", { num_labels: 0, architectures: ["XForTokenClassification"] }, "option", "config.num_labels must be"],
  ["smollm3", { no_rope_layers: [1, 2, 0] }, "option", "config.no_rope_layers[1] must be"],
  ["gemma3", { model_type: "gemma2" }, "unsupported", 'config.model_type must be "gemma3_text", got "gemma2"'],
  ["gemma3", { attn_logit_softcapping: 50 }, "unsupported", "config.attn_logit_softcapping must be null, got 50"],
  ["gemma3", { use_bidirectional_attention: true }, "unsupported", "use_bidirectional_attention must be false"],
  ["gemma3", { final_logit_softcapping: 0 }, "option", "config.final_logit_softcapping must be"],
  ["gemma3", { query_pre_attn_scalar: -1 }, "option", "config.query_pre_attn_scalar must be"],
  [
    "gemma3",
    { rope_parameters: { rope_type: "default" } },
    "unsupported",
    "config.rope_parameters must be by the type of layer",
  ],
  ["embeddinggemma", { use_bidirectional_attention: false }, "unsupported", "use_bidirectional_attention must be true"],
  ["embeddinggemma", { architectures: ["XForSequenceClassification"] }, "unsupported", "must not be a classifier"],
  ["modernbert", { hidden_activation: "mish" }, "unsupported", "config.hidden_activation must be one of gelu"],
  ["modernbert", { classifier_pooling: "max" }, "unsupported", "config.classifier_pooling must be one of cls, mean"],
  ["roberta", { model_type: "bert" }, "unsupported", 'config.model_type must be "roberta" or "xlm-roberta"'],
  ["roberta", { position_embedding_type: "relative_key" }, "unsupported", 'must be "absolute"'],
  ["roberta", { pad_token_id: -1 }, "option", "config.pad_token_id must be a whole number of at least 0, got -1"],
  ["distilbert", { activation: "mish" }, "unsupported", "config.activation must be one of gelu"],
  ["mpnet", { relative_attention_num_buckets: 64 }, "unsupported", "relative_attention_num_buckets must be 32, got 64"],
])("%s is refused with %o", (name, changes, code, message) => {
  const make = (): unknown => new MODELS[name]({ ...caseOf(name).config, ...changes } as ModelConfig, { engine: heed });
  expect(make).toThrow(message);
  expect(make).toThrow(expect.objectContaining({ name: "HeedError", code }));
});

test.each<[keyof typeof MODELS, string]>([
  ["qwen2", "model.layers.0.self_attn.q_norm.weight"],
  ["qwen2", "model.layers.1.self_attn.o_proj.bias"],
  ["qwen3", "model.layers.1.self_attn.q_proj.bias"],
  ["gemma3", "model.layers.0.self_attn.q_proj.bias"],
  ["modernbert", "layers.0.attn_norm.weight"],
  ["modernbert", "layers.1.attn.Wqkv.bias"],
  ["distilbert", "transformer.layer.0.ffn.lin3.weight"],
])("%s is refused with a parameter %s", (name, extra) => {
  const { config, parameters } = caseOf(name);
  const given = new Map(parameters).set(extra, { data: new Float32Array(16), shape: [16] });
  expect(() => new MODELS[name](config, { engine: heed }).load(given)).toThrow(
    `must have no parameter ${extra}, got one`,
  );
});

test("a classifier's head and a pooler that a file lacks are missed by name", async () => {
  const without = (name: string, start: string) => {
    const { config, parameters } = caseOf(name);
    return { config, parameters: new Map([...parameters].filter(([key]) => !key.startsWith(start))) };
  };
  const headless = without("distilbert-classes", "classifier");
  expect(() => new DistilBertModel(headless.config, { engine: heed }).load(headless.parameters)).toThrow(
    "DistilBertModel: parameter classifier.weight is missing",
  );
  const { config, parameters } = without("bert-classes", "bert.pooler");
  const model = new BertModel(config, { engine: heed }).load(parameters);
  await expect(model.forward([1, 2], { logits: true })).rejects.toMatchObject({
    code: "option",
    message: "BertModel: to classify texts the parameters must have a pooler, pooler.dense, got none",
  });
});
