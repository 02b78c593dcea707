// BERT, GPT-2 and Llama against transformers', from their published names, on every kind of engine.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type KVCache } from "../../../web/src/index.js";
import {
  BertModel,
  GPT2Model,
  LlamaModel,
  type ModelConfig,
  type ParameterTensor,
} from "../../../web/src/layers/index.js";
import { ENGINE_KINDS, openKind } from "../../support/engines.js";
import { type PackedCase, readFixture, unpackAll, worstDifference } from "../../support/fixtures.js";

interface ModelCase extends Pick<PackedCase, "parameters" | "outputs"> {
  readonly config: ModelConfig;
  readonly inputs: Readonly<Record<string, readonly (readonly number[])[]>>;
}

const fixture = readFixture("models.json");

function caseOf(name: string) {
  const { config, parameters, inputs, outputs } = fixture[name] as ModelCase;
  const wanted = unpackAll(outputs);
  return {
    config,
    parameters: unpackAll(parameters),
    input: (of: string) => {
      const rows = inputs[of] ?? [];
      return { data: rows.flat(), shape: [rows.length, rows[0]?.length ?? 0] };
    },
    output: (of: string): ParameterTensor => wanted.get(of) ?? { data: new Float32Array(0), shape: [] },
  };
}

/** The error of f32 after two layers, each a chain of about ten sums. */
const DEPTH = 24;

const renamed = (parameters: ReadonlyMap<string, ParameterTensor>, change: (name: string) => string) =>
  new Map([...parameters].map(([name, value]) => [change(name), value]));

describe.each(ENGINE_KINDS)("models, $variant, $worker worker", async (kind) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());

  test("BERT is transformers', with segments, padding and attentions", async () => {
    const { config, parameters, input, output } = caseOf("bert");
    const model = new BertModel(config, { engine }).load(parameters);
    const mask = Uint8Array.from(input("attention_mask").data);
    const tokenTypes = input("token_type_ids");
    const result = await model.forward(input("input_ids"), { tokenTypes, mask, attentions: true });
    expect(worstDifference(result.hidden, output("hidden"), DEPTH)).toBeLessThan(1);
    expect(worstDifference(result.pooled, output("pooled"), DEPTH)).toBeLessThan(1);
    expect(result.attentions?.length).toBe(2);
    for (const [layer, weights] of (result.attentions ?? []).entries()) {
      expect(worstDifference(weights, output(`attention${layer}`), DEPTH)).toBeLessThan(1);
    }
    model.dispose();
  });

  test("BERT's guesses at masked words are transformers', with what old files repeat or without", async () => {
    const { config, parameters, input, output } = caseOf("maskedWords");
    const mask = Uint8Array.from(input("attention_mask").data);
    const [words, bias] = ["bert.embeddings.word_embeddings.weight", "cls.predictions.bias"].map((name) =>
      parameters.get(name),
    );
    if (words === undefined || bias === undefined) throw new Error("the fixture has both");
    const decoder = "cls.predictions.decoder";
    const old = new Map(parameters).set(`${decoder}.weight`, words).set(`${decoder}.bias`, bias);
    const later = new Map(old);
    later.delete("cls.predictions.bias");
    for (const given of [parameters, old, later]) {
      const model = new BertModel(config, { engine }).load(given);
      const { logits } = await model.forward(input("input_ids"), { mask, logits: true });
      expect(worstDifference(logits, output("logits"), DEPTH)).toBeLessThan(1);
      expect((await model.forward(input("input_ids"), { mask })).logits).toBeUndefined();
      model.dispose();
    }
    const headless = new Map([...parameters].filter(([name]) => name.startsWith("bert.")));
    await expect(new BertModel(config, { engine }).load(headless).forward([1], { logits: true })).rejects.toMatchObject(
      {
        code: "option",
        message: "BertModel: for logits the parameters must have a head, cls.predictions, got none",
      },
    );
  });

  test.each([
    ["gpt2", GPT2Model],
    ["llama", LlamaModel],
  ] as const)("%s is transformers', with attentions", async (name, Model) => {
    const { config, parameters, input, output } = caseOf(name);
    const model = new Model(config, { engine }).load(parameters);
    const { logits, attentions } = await model.forward(input("input_ids"), { attentions: true });
    expect(worstDifference(logits, output("logits"), DEPTH)).toBeLessThan(1);
    expect(attentions?.length).toBe(2);
    for (const [layer, weights] of (attentions ?? []).entries()) {
      expect(worstDifference(weights, output(`attention${layer}`), DEPTH)).toBeLessThan(1);
    }
    const { logits: last } = await model.forward(input("input_ids"), { last: true });
    expect(last.shape).toEqual([2, 1, 16]);
    for (const entry of [0, 1]) {
      const from = (entry * 7 + 6) * 16;
      const error = last.data
        .subarray(entry * 16, entry * 16 + 16)
        .map((x, i) => x - (logits.data[from + i] ?? Number.NaN));
      expect(Math.max(...error.map(Math.abs))).toBeLessThan(1e-5);
    }
    model.dispose();
  });

  test.each([
    ["bert", BertModel],
    ["gpt2", GPT2Model],
    ["llama", LlamaModel],
  ] as const)("%s refuses transformers' name for attentions with heed's", async (name, Model) => {
    const { config, parameters, input } = caseOf(name);
    const model = new Model(config, { engine }).load(parameters);
    const call = (model as BertModel).forward(input("input_ids"), { output_attentions: true } as never);
    await expect(call).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/no option "output_attentions", did you mean "attentions"\?$/),
    });
  });
});

test.each([
  ["gpt2", GPT2Model, 3],
  ["llama", LlamaModel, 2],
] as const)("%s continues from caches as if it had read all at once", async (name, Model, kvHeads) => {
  const heed = await createHeed();
  const { config, parameters, input, output } = caseOf(name);
  const model = new Model(config, { engine: heed }).load(parameters);
  const { data, shape } = input("input_ids");
  const [batch = 0, length = 0] = shape;
  const caches = await Promise.all([0, 1].map(() => heed.createCache({ batch, kvHeads, headDim: 4, maxLength: 16 })));
  const wanted = output("logits");
  const vocabulary = wanted.shape[2] ?? 0;
  for (const [from, to] of [
    [0, 3],
    [3, 4],
    [4, length],
  ] as const) {
    const some = Array.from({ length: batch }, (_, entry) =>
      data.slice(entry * length + from, entry * length + to),
    ).flat();
    const { logits, attentions } = await model.forward(
      { data: some, shape: [batch, to - from] },
      { caches, attentions: true },
    );
    expect(attentions?.map((weights) => weights.shape.slice(2))).toEqual([
      [to - from, to],
      [to - from, to],
    ]);
    for (let entry = 0; entry < batch; entry++) {
      const rows = (of: Float32Array, start: number, count: number): ParameterTensor => ({
        data: of.slice(start * vocabulary, (start + count) * vocabulary),
        shape: [count, vocabulary],
      });
      const got = rows(logits.data, entry * (to - from), to - from);
      expect(worstDifference(got, rows(wanted.data, entry * length + from, to - from), DEPTH)).toBeLessThan(1);
    }
  }
  expect(caches.map((cache) => cache.length)).toEqual([length, length]);
  heed.dispose();
});

describe.each([
  ["gpt2", GPT2Model, 3],
  ["llama", LlamaModel, 2],
] as const)("texts of unequal length in one batch: %s", async (name, Model, kvHeads) => {
  const { config, parameters } = caseOf(name);
  const TEXTS = [
    [3, 1, 4, 1, 5, 9, 2],
    [6, 5, 3, 5],
  ] as const;
  const VOCABULARY = 16;
  const heed = await createHeed();
  const model = new Model(config, { engine: heed }).load(parameters);
  afterAll(() => heed.dispose());

  const cachesFor = (batch: number): Promise<KVCache[]> =>
    Promise.all([0, 1].map(() => heed.createCache({ batch, kvHeads, headDim: 4, maxLength: 16 })));
  /** Tokens of a text, with padding, and which of them are none. */
  const padded = (text: readonly number[], before: number, after: number) => ({
    tokens: [...new Array(before).fill(0), ...text, ...new Array(after).fill(0)] as number[],
    mask: [...new Array(before).fill(0), ...text.map(() => 1), ...new Array(after).fill(0)] as number[],
  });
  const batchOf = (rows: readonly (readonly number[])[]) => ({
    data: rows.flat(),
    shape: [rows.length, rows[0]?.length ?? 0],
  });
  const rowsOf = ({ data, shape }: ParameterTensor, entry: number, from: number, to: number): ParameterTensor => {
    const start = entry * (shape[1] ?? 0);
    return {
      data: data.subarray((start + from) * VOCABULARY, (start + to) * VOCABULARY),
      shape: [1, to - from, VOCABULARY],
    };
  };
  const [long, short] = [padded(TEXTS[0], 0, 0), padded(TEXTS[1], 3, 0)];

  test("each is what it is alone", async () => {
    const mask = Uint8Array.from([...long.mask, ...short.mask]);
    const { logits } = await model.forward(batchOf([long.tokens, short.tokens]), { mask });
    const { logits: last } = await model.forward(batchOf([long.tokens, short.tokens]), { mask, last: true });
    for (const [entry, text] of TEXTS.entries()) {
      const { logits: alone } = await model.forward(text);
      expect(worstDifference(rowsOf(logits, entry, 7 - text.length, 7), alone, DEPTH)).toBeLessThan(1);
      const end = rowsOf(alone, 0, text.length - 1, text.length);
      expect(worstDifference(rowsOf(last, entry, 0, 1), end, DEPTH)).toBeLessThan(1);
    }
    const { logits: unmasked } = await model.forward(batchOf([long.tokens, short.tokens]));
    const { logits: alone } = await model.forward(TEXTS[1]);
    expect(worstDifference(rowsOf(unmasked, 1, 3, 7), alone, DEPTH)).toBeGreaterThan(100);
  });

  test("and with caches, token by token", async () => {
    const caches = await cachesFor(2);
    for (const [from, to] of [
      [0, 2],
      [2, 5],
      [5, 6],
      [6, 7],
    ] as const) {
      const mask = [long, short].flatMap((text) => text.mask.slice(0, to).map(Boolean));
      const tokens = batchOf([long, short].map((text) => text.tokens.slice(from, to)));
      const { logits } = await model.forward(tokens, { caches, mask });
      for (const [entry, text] of TEXTS.entries()) {
        const before = 7 - text.length;
        const seen = Math.max(from, before);
        if (seen >= to) continue;
        const { logits: alone } = await model.forward(text);
        const wanted = rowsOf(alone, 0, seen - before, to - before);
        expect(worstDifference(rowsOf(logits, entry, seen - from, to - from), wanted, DEPTH)).toBeLessThan(1);
      }
    }
    for (const cache of caches) cache.dispose();
  });

  test("positions count only unmasked tokens, wherever the padding is", async () => {
    const caches = await cachesFor(2);
    const after = padded(TEXTS[1], 0, 3);
    const mask = [...long.mask, ...after.mask];
    const first = await model.forward(batchOf([long.tokens, after.tokens]), {
      caches,
      mask: Uint8Array.from(mask),
      last: true,
    });
    const next = await model.forward(batchOf([[8], [8]]), {
      caches,
      mask: Uint8Array.from([...long.mask, 1, ...after.mask, 1]),
    });
    for (const [entry, text] of TEXTS.entries()) {
      const { logits: alone } = await model.forward([...text, 8]);
      const { length } = text;
      expect(
        worstDifference(rowsOf(first.logits, entry, 0, 1), rowsOf(alone, 0, length - 1, length), DEPTH),
      ).toBeLessThan(1);
      expect(
        worstDifference(rowsOf(next.logits, entry, 0, 1), rowsOf(alone, 0, length, length + 1), DEPTH),
      ).toBeLessThan(1);
    }
    for (const cache of caches) cache.dispose();
  });

  test("a mask of another size is refused, and one for caches whose windows freed different tokens", async () => {
    const caches = await Promise.all(
      [2, 3].map((window) => heed.createCache({ kvHeads, headDim: 4, maxLength: 16, window })),
    );
    await model.forward([1, 2, 3, 4], { caches });
    await expect(model.forward([5], { caches, mask: [true] })).rejects.toMatchObject({
      code: "shape",
      message: `${Model.name}: mask of shape [1, 5] must have 5 elements, got 1`,
    });
    await expect(model.forward([5], { caches, mask: new Uint8Array(5).fill(1) })).rejects.toMatchObject({
      code: "option",
      message: `${Model.name}: caches must have the same window where there is a mask, got starts [3, 2]`,
    });
    for (const cache of caches) cache.dispose();
  });
});

test("a mask counts tokens from the first of all, though windows have freed some", async () => {
  const { config, parameters } = caseOf("llama");
  const heed = await createHeed();
  const windowed = { ...config, model_type: "mistral", sliding_window: 3 };
  const model = new LlamaModel(windowed, { engine: heed }).load(parameters);
  const text = [6, 5, 3, 5, 8, 9, 7];
  const { logits: alone } = await model.forward(text);
  const caches = await Promise.all([0, 1].map(() => heed.createCache({ kvHeads: 2, headDim: 4, window: 3 })));
  for (const [from, to] of [
    [0, 5],
    [5, 7],
    [7, 9],
  ] as const) {
    const mask = Uint8Array.from({ length: to }, (_, at) => Number(at >= 2));
    const { logits } = await model.forward([0, 0, ...text].slice(from, to), { caches, mask });
    const [first, count] = [Math.max(from, 2), to - Math.max(from, 2)];
    const got = { data: logits.data.subarray((first - from) * 16), shape: [count, 16] };
    const wanted = { data: alone.data.subarray((first - 2) * 16, (first - 2 + count) * 16), shape: [count, 16] };
    expect(worstDifference(got, wanted, DEPTH)).toBeLessThan(1);
  }
  expect(caches.map(({ start }) => start)).toEqual([7, 7]);
  heed.dispose();
});

test("published names with and without their beginning are the same model", async () => {
  const bert = caseOf("bert");
  const one = new BertModel(bert.config).load(bert.parameters);
  const old = (name: string): string =>
    `bert.${name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")}`;
  const other = new BertModel(bert.config).load(renamed(bert.parameters, old));
  const tokens = [1, 2, 3];
  const [a, b] = [await one.forward(tokens), await other.forward(tokens)];
  expect(a.hidden.shape).toEqual([1, 3, 12]);
  expect([...a.hidden.data]).toEqual([...b.hidden.data]);
  const bare = new BertModel(bert.config);
  bare.load(new Map([...bert.parameters].filter(([name]) => !name.startsWith("pooler"))));
  expect((await bare.forward(tokens)).pooled).toBeUndefined();

  const gpt2 = caseOf("gpt2");
  const strip = (name: string): string => name.replace("transformer.", "");
  const long = await new GPT2Model(gpt2.config).load(gpt2.parameters).forward(tokens);
  const short = await new GPT2Model(gpt2.config).load(renamed(gpt2.parameters, strip)).forward(tokens);
  expect([...long.logits.data]).toEqual([...short.logits.data]);
});

test("configurations and files that do not fit are refused by name", async () => {
  const { config, parameters } = caseOf("llama");
  const codes = [
    () => new LlamaModel({ ...config, hidden_size: undefined }),
    () => new LlamaModel({ ...config, hidden_act: "gelu" }),
    () => new LlamaModel({ ...config, rope_parameters: { rope_type: "longrope" } }),
    () => new LlamaModel(null as never),
    () => new LlamaModel(config).load(new Map()),
    () => new LlamaModel(config).load(new Map([...parameters].filter(([name]) => !name.includes("layers.1.mlp")))),
    () => new LlamaModel({ ...config, intermediate_size: 24 }).load(parameters),
  ].map((make) => {
    try {
      make();
    } catch (error) {
      return Reflect.get(Object(error), "code");
    }
    return null;
  });
  expect(codes).toEqual(["option", "unsupported", "unsupported", "option", "option", "option", "shape"]);
  const model = new LlamaModel(config).load(parameters);
  await expect(model.forward([1, 16])).rejects.toMatchObject({
    code: "option",
    message: "LlamaModel: tokens must be below 16, number 1 is 16",
  });
  await expect(model.forward([])).rejects.toMatchObject({ code: "shape" });
  await expect(model.forward([1], { caches: [] })).rejects.toMatchObject({ code: "option" });
  const bert = caseOf("bert");
  const encoder = new BertModel(bert.config).load(bert.parameters);
  await expect(encoder.forward([1, 2], { mask: [true] })).rejects.toMatchObject({
    code: "shape",
    message: "BertModel: mask of shape [1, 2] must have 2 elements, got 1",
  });
  await expect(encoder.forward([1, 2], { tokenTypes: [0, 2] })).rejects.toMatchObject({
    code: "option",
    message: "BertModel: tokenTypes must be below 2, number 1 is 2",
  });
  const gpt2 = caseOf("gpt2");
  const positions = Number(gpt2.config["n_positions"]);
  const beyond = (count: number): string => {
    const rule = `a text must have at most ${count} tokens, because the model has positions for no more`;
    return `${rule}, got ${count + 1}: encode it with maxLength: ${count}`;
  };
  const decoder = new GPT2Model(gpt2.config).load(gpt2.parameters);
  await expect(decoder.forward(Array.from({ length: positions + 1 }, () => 0))).rejects.toMatchObject({
    code: "option",
    message: `GPT2Model: ${beyond(positions)}`,
  });
  const most = Number(bert.config["max_position_embeddings"]);
  await expect(encoder.forward({ data: new Int32Array(most + 1), shape: [1, most + 1] })).rejects.toMatchObject({
    code: "option",
    message: `BertModel: ${beyond(most)}`,
  });
});
