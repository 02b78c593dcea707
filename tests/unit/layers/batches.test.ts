// Texts of unequal length in one call of a model: each is what it is alone, in its results and its gradients.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type TensorLike } from "../../../web/src/index.js";
import { BertModel, GPT2Model, LlamaModel, Pooling, type TokenInput } from "../../../web/src/layers/index.js";
import { crossEntropy, gradients, type Pass } from "../../../web/src/train/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";
import { type PackedCase, readFixture, unpackAll, worstDifference } from "../../support/fixtures.js";
import { madeByTransformers } from "../../support/model-files.js";

/** The error of f32 after two layers, each a chain of about ten sums. */
const DEPTH = 24;

const TEXTS = [[3, 1, 4, 1, 5, 9, 2], [6, 5], [14]] as const;
const LENGTH = 7;

/** The same texts in every form that may stand in a list. */
const FORMS: readonly (readonly [string, TokenInput])[] = [
  ["arrays", TEXTS],
  ["Int32Arrays", TEXTS.map((text) => Int32Array.from(text))],
  ["a mix", [[...TEXTS[0]], Int32Array.from(TEXTS[1]), { data: Uint8Array.from(TEXTS[2]), shape: [1] }]],
];

const CAUSAL = { GPT2Model: ["gpt2", GPT2Model], LlamaModel: ["llama", LlamaModel] } as const;

/** The first rows of one entry of [B, L, width]. */
function rowsOf({ data, shape }: TensorLike, entry: number, count: number): TensorLike {
  const [, length = 0, width = 0] = shape;
  const from = entry * length * width;
  return { data: Float32Array.from(data.slice(from, from + count * width)), shape: [1, count, width] };
}

const MASK = Uint8Array.from(
  TEXTS.flatMap(({ length }) => Array.from({ length: LENGTH }, (_, at) => Number(at < length))),
);

describe.each(FEW_KINDS)("$variant, $worker worker", async (kind) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());

  const bertOf = () => {
    const { config, parameters } = madeByTransformers("bert");
    return new BertModel(config, { engine }).load(parameters);
  };

  test.each(FORMS)("BertModel takes texts as %s", async (_, texts) => {
    const model = bertOf();
    const { hidden, pooled, mask, attentions } = await model.forward(texts, { attentions: true });
    expect([hidden.shape, mask]).toEqual([[3, LENGTH, 12], MASK]);
    for (const [at, text] of TEXTS.entries()) {
      const alone = await model.forward([text]);
      expect(alone.mask).toBeUndefined();
      expect(alone).toEqual(await model.forward(text));
      expect(worstDifference(rowsOf(hidden, at, text.length), alone.hidden, DEPTH)).toBeLessThan(1);
      const [, width = 0] = pooled?.shape ?? [];
      const row = { data: pooled?.data.slice(at * width, (at + 1) * width) ?? new Float32Array(), shape: [1, width] };
      expect(worstDifference(row, alone.pooled ?? row, DEPTH)).toBeLessThan(1);
      // Nothing attends to padding.
      for (const { data, shape } of attentions ?? []) {
        const entry = data.subarray(at * (data.length / 3), (at + 1) * (data.length / 3));
        expect(entry.every((weight, index) => index % (shape[3] ?? 0) < text.length || weight === 0)).toBe(true);
      }
    }
    model.dispose();
  });

  test("segments are lists as well, as long as the texts", async () => {
    const model = bertOf();
    const types = TEXTS.map((text) => text.map((_, at) => at % 2));
    const { hidden } = await model.forward(TEXTS, { tokenTypes: types });
    for (const [at, text] of TEXTS.entries()) {
      const alone = await model.forward(text, { tokenTypes: types[at] });
      expect(worstDifference(rowsOf(hidden, at, text.length), alone.hidden, DEPTH)).toBeLessThan(1);
    }
    for (const wrong of [
      [[0, 0], [0], [0, 0, 0, 0, 0, 0, 0]],
      [[0], [0], [0]],
    ]) {
      await expect(model.forward(TEXTS, { tokenTypes: wrong })).rejects.toMatchObject({
        code: "shape",
        message: expect.stringMatching(/^BertModel: tokenTypes must be as many as tokens/),
      });
    }
    model.dispose();
  });

  test.each(["mean", "last", "cls"] as const)("Pooling by %s leaves padding out", async (of) => {
    const model = bertOf();
    const pooling = new Pooling({ kind: of, engine });
    const { hidden, mask } = await model.forward(TEXTS);
    const kept = await model.forward(TEXTS, { keep: true });
    const ways = [
      await pooling.forward(hidden),
      await pooling.forward({ data: hidden.data, shape: [...hidden.shape] }),
      await pooling.forward(kept.hidden),
      ...(of === "cls" ? [] : [await pooling.forward(hidden, { mask })]),
    ];
    kept.hidden.dispose();
    kept.pooled?.dispose();
    for (const [at, text] of TEXTS.entries()) {
      const alone = await pooling.forward((await model.forward(text)).hidden);
      for (const { data, shape } of ways) {
        expect(shape).toEqual([3, 12]);
        const row = { data: data.slice(at * 12, (at + 1) * 12), shape: [1, 12] };
        expect(worstDifference(row, alone, DEPTH)).toBeLessThan(1);
      }
    }
    // A mask of one's own comes first.
    if (of !== "cls") {
      const all = await pooling.forward(hidden, { mask: new Uint8Array(3 * LENGTH).fill(1) });
      expect(worstDifference(all, ways[0] ?? all, DEPTH)).toBeGreaterThan(100);
    }
    model.dispose();
  });

  describe.each(Object.entries(CAUSAL))("%s", (_name, [fixture, Model]) => {
    const make = () => {
      const { config, parameters } = madeByTransformers(fixture);
      return new Model(config, { engine }).load(parameters);
    };

    test.each(FORMS)("takes texts as %s", async (_, texts) => {
      const model = make();
      const { logits, mask } = await model.forward(texts);
      const last = await model.forward(texts, { last: true });
      expect([logits.shape, mask, last.mask]).toEqual([[3, LENGTH, 16], MASK, MASK]);
      for (const [at, text] of TEXTS.entries()) {
        const alone = await model.forward([text]);
        expect(alone).toEqual(await model.forward(text));
        expect(worstDifference(rowsOf(logits, at, text.length), alone.logits, DEPTH)).toBeLessThan(1);
        const lastAlone = (await model.forward(text, { last: true })).logits;
        expect(worstDifference(rowsOf(last.logits, at, 1), lastAlone, DEPTH)).toBeLessThan(1);
      }
      model.dispose();
    });

    test("a list of equal lengths is { data, shape }, without a mask", async () => {
      const model = make();
      const shaped = await model.forward({ data: [1, 2, 3, 4], shape: [2, 2] });
      expect(shaped.mask).toBeUndefined();
      expect(await model.forward([[1, 2], Int32Array.of(3, 4)])).toEqual(shaped);
      model.dispose();
    });

    test("a mask joins the padding, and caches need one", async () => {
      const model = make();
      const given = MASK.slice();
      given[0] = 0;
      const { logits, mask } = await model.forward(TEXTS, { mask: Array.from(MASK, (_counts, at) => at > 0) });
      expect(mask).toEqual(given);
      expect(logits).toEqual((await model.forward(TEXTS, { mask: given })).logits);
      const { config } = madeByTransformers(fixture);
      const [heads, kvHeads] = [config["n_head"] ?? config["num_attention_heads"], config["num_key_value_heads"]].map(
        Number,
      );
      const size = { batch: 3, kvHeads: Number.isNaN(kvHeads) ? heads : kvHeads, headDim: 4 };
      const caches = await Promise.all([0, 1].map(() => engine.createCache({ ...size, maxLength: 12 } as never)));
      await expect(model.forward(TEXTS, { caches })).rejects.toMatchObject({
        code: "option",
        message: `${_name}: with caches, texts of unequal length must have a mask, as later calls must, got none`,
      });
      // Padding that a cache holds is masked in later calls.
      await model.forward(TEXTS, { caches, mask: MASK });
      const longer = Uint8Array.from([0, 1, 2].flatMap((at) => [...MASK.slice(at * LENGTH, (at + 1) * LENGTH), 1]));
      const next = await model.forward([[7], [8], [9]], { caches, mask: longer });
      for (const [at, text] of TEXTS.entries()) {
        const alone = await model.forward([...text, 7 + at], { last: true });
        expect(worstDifference(rowsOf(next.logits, at, 1), alone.logits, DEPTH)).toBeLessThan(1);
      }
      for (const cache of caches) cache.dispose();
      model.dispose();
    });
  });
});

describe("gradients", async () => {
  const engine = await createHeed({ backend: "wasm" });
  afterAll(() => engine.dispose());

  const TARGETS = TEXTS.map((text) => text.map((token) => (token * 7 + 3) % 16));
  const COUNT = TEXTS.flat().length;

  type Model = BertModel | GPT2Model | LlamaModel;

  function masked() {
    const { config, parameters } = readFixture("models.json")["maskedWords"] as unknown as PackedCase & {
      config: object;
    };
    return new BertModel(config as never, { engine }).load(unpackAll(parameters));
  }

  const MODELS: Readonly<Record<string, () => Model>> = {
    GPT2Model: () =>
      new GPT2Model(madeByTransformers("gpt2").config, { engine }).load(madeByTransformers("gpt2").parameters),
    LlamaModel: () =>
      new LlamaModel(madeByTransformers("llama").config, { engine }).load(madeByTransformers("llama").parameters),
    BertModel: masked,
  };

  const logitsOf = async (model: Model, texts: TokenInput, pass: Pass) => {
    const made =
      model instanceof BertModel
        ? await model.forward(texts, { pass, logits: true })
        : await model.forward(texts, { pass });
    if (made.logits === undefined) throw new Error("logits were asked for");
    return made.logits;
  };

  test.each(Object.entries(MODELS))("of %s are the sum of each text's own", async (_, make) => {
    const batched = make();
    const { loss } = await gradients(batched, async (pass) => {
      return { loss: await crossEntropy(await logitsOf(batched, TEXTS, pass), TARGETS, { pass }) };
    });
    // The mean over all tokens, from the means over each text's.
    const sums = new Map<string, Float64Array>();
    let mean = 0;
    for (const [at, text] of TEXTS.entries()) {
      const single = make();
      const alone = await gradients(single, async (pass) => {
        return { loss: await crossEntropy(await logitsOf(single, [text], pass), TARGETS[at] ?? [], { pass }) };
      });
      const share = text.length / COUNT;
      mean += alone.loss * share;
      const own = await single.readGradients();
      for (const [name, { data }] of own) {
        const sum = sums.get(name) ?? new Float64Array(data.length);
        sums.set(
          name,
          sum.map((number, index) => number + share * (data[index] ?? 0)),
        );
      }
      single.dispose();
    }
    expect(loss).toBeCloseTo(mean, 5);
    const got = await batched.readGradients();
    expect(got.size).toBe(sums.size);
    for (const [name, { data }] of got) {
      const wanted = sums.get(name) ?? new Float64Array(0);
      const largest = Math.max(...wanted.map(Math.abs));
      for (const [index, number] of data.entries()) {
        expect(Math.abs(number - (wanted[index] ?? Number.NaN)), name).toBeLessThan(2e-6 + 1e-5 * largest);
      }
    }
    batched.dispose();
  });

  test("go through the mean of each text", async () => {
    const make = () =>
      new BertModel(madeByTransformers("bert").config, { engine }).load(madeByTransformers("bert").parameters);
    const pooling = new Pooling({ kind: "mean", engine });
    const run = async (texts: TokenInput) => {
      const model = make();
      await gradients(model, async (pass) => {
        const { hidden } = await model.forward(texts, { pass });
        const mean = await pooling.forward(hidden, { pass });
        return {
          loss: await crossEntropy(
            mean,
            Array.from({ length: mean.shape[0] ?? 0 }, () => 3),
            { pass },
          ),
        };
      });
      const read = await model.readGradients();
      model.dispose();
      return read;
    };
    const got = await run(TEXTS);
    const alone = await Promise.all(TEXTS.map((text) => run([text])));
    for (const [name, { data }] of got) {
      for (const [index, number] of data.entries()) {
        const wanted = alone.reduce((sum, one) => sum + (one.get(name)?.data[index] ?? 0) / TEXTS.length, 0);
        expect(Math.abs(number - wanted), name).toBeLessThan(1e-5);
      }
    }
  });
});

test("what is no text is refused by name", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const { config, parameters } = madeByTransformers("bert");
  const model = new BertModel(config, { engine }).load(parameters);
  const refuse = (tokens: unknown, code: string, message: string) =>
    expect(Reflect.apply(model.forward, model, [tokens])).rejects.toMatchObject({ name: "HeedError", code, message });
  const forms = "whole numbers of at least 0, a list of them for each text, or { data, shape } of [B, L] or [L]";
  await refuse("text", "option", `BertModel: tokens must be ${forms}, got "text"`);
  await refuse([3, [1]], "option", `BertModel: tokens must be ${forms}, got [3, an array of 1]`);
  await refuse(
    [[1], 3],
    "option",
    "BertModel: tokens[1] must be whole numbers of at least 0, or { data, shape }, got 3",
  );
  await refuse(
    [[1], [0.5]],
    "option",
    "BertModel: tokens[1] must be whole numbers of at least 0, or { data, shape }, got 0.5 at 0",
  );
  await refuse([[1], []], "shape", "BertModel: tokens[1] must be [L], at least one of each, got [0]");
  await refuse(
    [[1], { data: [1, 2], shape: [1, 2] }],
    "shape",
    "BertModel: tokens[1] must be [L], at least one of each, got [1, 2]",
  );
  await refuse([], "shape", "BertModel: tokens must be [B, L] or [L], at least one of each, got [0]");
  await refuse(
    Object.assign([[1]], { length: 2 ** 32 - 1 }),
    "option",
    "BertModel: tokens[1] must be whole numbers of at least 0, or { data, shape }, got undefined",
  );
  expect((await model.forward([[1], [2, 3]])).hidden.shape).toEqual([2, 2, 12]);
});
