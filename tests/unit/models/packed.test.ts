// Packed texts: hidden states and vectors are those of each text alone, to the bit, and transformers' within the bound.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import {
  BertModel,
  DistilBertModel,
  EmbeddingGemmaModel,
  Gemma3Model,
  GPT2Model,
  LlamaModel,
  ModernBertModel,
  MPNetModel,
  Pooling,
  Qwen2Model,
  Qwen3Model,
  RobertaModel,
  SmolLM3Model,
} from "../../../web/src/layers/index.js";
import { packsOf } from "../../../web/src/models/text-batches.js";
import { caseOf } from "../../support/families.js";
import { worstDifference } from "../../support/fixtures.js";
import { folderOf } from "../../support/small-model.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());

/** f32 through two or three layers, as tests of models. */
const DEPTH = 36;

test("a pack has few rows where one of its texts is long", () => {
  const lengths = [...new Array<number>(500).fill(1), 500, ...new Array<number>(300).fill(2), 2000];
  const texts = lengths.map((length) => ({
    ids: new Array<number>(length).fill(1),
    offsets: undefined,
    typeIds: undefined,
  }));
  const packs = [...packsOf(texts)];
  expect(packs.flatMap((pack) => pack.texts).sort((a, b) => a - b)).toEqual([...lengths.keys()]);
  for (const { texts: chosen } of packs) {
    const longest = Math.max(32, ...chosen.map((at) => lengths[at] ?? 0));
    expect(chosen.length === 1 || chosen.length * longest <= 4096).toBe(true);
  }
  expect(packs.length).toBeLessThan(10);
});

const ENCODERS = {
  roberta: RobertaModel,
  distilbert: DistilBertModel,
  embeddinggemma: EmbeddingGemmaModel,
  modernbert: ModernBertModel,
  mpnet: MPNetModel,
} as const;

const CAUSAL = { qwen2: Qwen2Model, qwen3: Qwen3Model, smollm3: SmolLM3Model, gemma3: Gemma3Model } as const;

const LENGTHS = [7, 1, 11, 3, 4, 10];
const starts = [0, ...LENGTHS].map((_, at) => LENGTHS.slice(0, at).reduce((sum, length) => sum + length, 0));
const textsOf = (least: number, words: number): number[][] =>
  LENGTHS.map((length, text) => Array.from({ length }, (_, at) => least + ((7 * text + 5 * at) % (words - least))));

interface Forward {
  forward(tokens: unknown, options: object): Promise<{ readonly hidden: unknown }>;
}

interface Made {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

const CASES: readonly (readonly [string, () => Forward, object, number])[] = [
  ...Object.entries(ENCODERS).map(
    ([name, Model]) =>
      [
        name,
        () => {
          const { config, parameters } = caseOf(name);
          return new Model(config, { engine }).load(parameters) as unknown as Forward;
        },
        {},
        48,
      ] as const,
  ),
  ...Object.entries(CAUSAL).map(
    ([name, Model]) =>
      [
        name,
        () => {
          const { config, parameters } = caseOf(name);
          return new Model(config, { engine }).load(parameters) as unknown as Forward;
        },
        { hidden: true, logits: false },
        48,
      ] as const,
  ),
  ...(["bert", "gpt2", "llama"] as const).map(
    (name) =>
      [
        name,
        () => {
          const { config, parameters } = folderOf(name);
          const Model = { bert: BertModel, gpt2: GPT2Model, llama: LlamaModel }[name];
          return new Model(config, { engine }).load(parameters) as unknown as Forward;
        },
        name === "bert" ? {} : { hidden: true, logits: false },
        200,
      ] as const,
  ),
];

test.each(CASES)("%s", async (_, make, options, words) => {
  const model = make();
  const texts = textsOf(3, words);
  const packed = { data: texts.flat(), shape: [1, texts.flat().length] };
  const hiddenOf = async (tokens: unknown, cuSeqlens?: readonly number[]): Promise<Made> => {
    const { hidden } = await model.forward(tokens, { ...options, ...(cuSeqlens && { cuSeqlens }) });
    return hidden as Made;
  };
  const all = await hiddenOf(packed, starts);
  const dim = all.shape.at(-1) ?? 0;
  expect(all.shape).toEqual([1, packed.data.length, dim]);
  for (const [at, text] of texts.entries()) {
    const own = all.data.slice((starts[at] ?? 0) * dim, (starts[at + 1] ?? 0) * dim);
    const alone = await hiddenOf({ data: text, shape: [1, text.length] }, [0, text.length]);
    expect(alone.data).toEqual(own);
    const plain = await hiddenOf(text);
    const shape = [own.length];
    expect(worstDifference({ data: own, shape }, { data: plain.data, shape }, DEPTH)).toBeLessThan(1);
  }
});

describe("pooling", () => {
  const dim = 3;
  const x = { data: Float32Array.from({ length: 36 * dim }, (_, at) => Math.sin(at)), shape: [1, 36, dim] };

  test.each(["mean", "cls", "last"] as const)("%s is that of each text", async (kind) => {
    const pooling = new Pooling({ kind, engine });
    const { data, shape } = await pooling.forward(x, { cuSeqlens: starts });
    expect(shape).toEqual([LENGTHS.length, dim]);
    for (const [at, length] of LENGTHS.entries()) {
      const from = starts[at] ?? 0;
      const rows = Array.from({ length }, (_, row) => [...x.data.slice((from + row) * dim, (from + row + 1) * dim)]);
      const mean = Array.from({ length: dim }, (_, j) => rows.reduce((sum, row) => sum + (row[j] ?? 0), 0) / length);
      const wanted = { mean, cls: rows[0] ?? [], last: rows.at(-1) ?? [] }[kind];
      const own = { data: data.slice(at * dim, (at + 1) * dim), shape: [dim] };
      expect(worstDifference(own, { data: Float32Array.from(wanted), shape: [dim] }, length)).toBeLessThan(1);
    }
  });
});

test("what cannot be packed is refused", async () => {
  const { config, parameters } = folderOf("bert");
  const model = new BertModel(config, { engine }).load(parameters);
  const tokens = { data: [1, 2, 3], shape: [1, 3] };
  const refused: readonly (readonly [unknown, object])[] = [
    [tokens, { cuSeqlens: [0, 2] }],
    [tokens, { cuSeqlens: [0, 2, 2, 3] }],
    [tokens, { cuSeqlens: [1, 3] }],
    [tokens, { cuSeqlens: "x" }],
    [{ data: [1, 2], shape: [2, 1] }, { cuSeqlens: [0, 1] }],
    [tokens, { cuSeqlens: [0, 3], logits: true }],
    [tokens, { cuSeqlens: [0, 3], mask: new Uint8Array(3) }],
    [tokens, { cuSeqlens: [0, 3], hooks: { "layers.0.heads.0": 0 } }],
  ];
  for (const [given, options] of refused) {
    await expect(model.forward(given as number[], options)).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/cuSeqlens/),
    });
  }
  // Positions begin anew in each text.
  const long = Array.from({ length: 90 }, () => 5);
  const both = { data: [...long, ...long], shape: [1, 180] };
  const { hidden } = await model.forward(both, { cuSeqlens: [0, 90, 180] });
  expect(hidden.data.slice(0, 90 * 12)).toEqual(hidden.data.slice(90 * 12));
  await expect(model.forward(both)).rejects.toMatchObject({ message: expect.stringMatching(/at most 96 tokens/) });
});
