// Texts as vectors and labels: what transformers computed is the oracle for hidden states, and the rest is done again in double precision.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { type ParameterTensor, saveSafetensors } from "../../../web/src/layers/index.js";
import { Dense } from "../../../web/src/models/dense.js";
import { type LoadedModel, loadModel } from "../../../web/src/models/index.js";
import { spansOf } from "../../../web/src/models/label-spans.js";
import { type PackedTensor, readFixture, unpack, worstDifference } from "../../support/fixtures.js";
import { madeByTransformers } from "../../support/model-files.js";
import { Random } from "../../support/random.js";
import { folderOf, json } from "../../support/small-model.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());

const DEPTH = 24;
const { files, config, parameters } = folderOf("bert");
const TEXTS = ["who is tired?", "the animal", "a", "who was tired?", "so tired that it did not cross the street"];

const modules = (...types: readonly string[]) =>
  json(types.map((type, at) => ({ idx: at, path: `${at}_${type}`, type: `sentence_transformers.models.${type}` })));

const width = 12;
const row = ({ data }: { readonly data: Float32Array }, at: number, size = width) =>
  data.slice(at * size, (at + 1) * size);
const asTensor = (numbers: readonly number[]) => ({ data: Float32Array.from(numbers), shape: [numbers.length] });

/** In double precision, of one text's hidden state. */
async function pooledBy(
  lm: LoadedModel,
  text: string,
  kind: "mean" | "cls" | "last",
  normalize: boolean,
): Promise<number[]> {
  const ids = [...new TextEncoder().encode(text)];
  const { hidden } = await lm.model.forward(ids);
  const rows = ids.map((_, at) => [...row(hidden ?? { data: new Float32Array() }, at)]);
  const mean = Array.from({ length: width }, (_, j) => rows.reduce((sum, one) => sum + (one[j] ?? 0), 0) / rows.length);
  const vector = { mean, cls: rows[0] ?? [], last: rows.at(-1) ?? [] }[kind];
  const length = normalize ? Math.hypot(...vector) : 1;
  return vector.map((number) => number / length);
}

describe("embed", () => {
  test.each([
    ["nothing", {}, "mean", true],
    [
      "mean and no norm",
      {
        "modules.json": modules("Transformer", "Pooling"),
        "1_Pooling/config.json": json({ pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }),
      },
      "mean",
      false,
    ],
    [
      "first and norm",
      {
        "modules.json": modules("Transformer", "Pooling", "Normalize"),
        "1_Pooling/config.json": json({ pooling_mode_cls_token: true }),
      },
      "cls",
      true,
    ],
    ["last, in the new form", { "1_Pooling/config.json": json({ pooling_mode: "lasttoken" }) }, "last", true],
  ] as const)("as the files say: %s", async (_, extra, kind, normalize) => {
    const lm = await loadModel({ ...files, ...extra }, { engine });
    const made = await lm.embed(TEXTS);
    expect(made.shape).toEqual([TEXTS.length, width]);
    for (const [at, text] of TEXTS.entries()) {
      const wanted = await pooledBy(lm, text, kind, normalize);
      expect(worstDifference({ data: row(made, at), shape: [width] }, asTensor(wanted), DEPTH)).toBeLessThan(1);
    }
    lm.dispose();
  });

  test("a text's vector is the same bits in any batch", async () => {
    const lm = await loadModel(files, { engine });
    const random = new Random(5);
    const texts = Array.from(
      { length: 60 },
      (_, at) => "x".repeat(1 + (at % 7)) + String.fromCharCode(random.whole(97, 122)),
    );
    const all = await lm.embed(texts);
    for (const at of [0, 13, 59]) expect((await lm.embed([texts[at] ?? ""])).data).toEqual(row(all, at));
    const turned = await lm.embed([...texts].reverse());
    expect(row(turned, 0)).toEqual(row(all, 59));
    lm.dispose();
  });

  test("is transformers'", async () => {
    const { config, parameters, outputs } = madeByTransformers("bert");
    const given = { "config.json": json(config), "model.safetensors": saveSafetensors(parameters) };
    const lm = await loadModel(given, { engine });
    const types = { ids: [5, 13, 9, 0, 0, 9, 5], typeIds: [0, 0, 0, 0, 1, 1, 1] };
    lm.tokenizer = { encode: () => types, decode: () => "" };
    const hidden = outputs.get("hidden") ?? { data: new Float32Array(), shape: [] };
    const rows = types.ids.map((_, at) => row(hidden, at));
    const mean = Array.from(
      { length: width },
      (_, j) => rows.reduce((sum, one) => sum + (one[j] ?? 0), 0) / rows.length,
    );
    const made = await lm.embed("x", { normalize: false });
    expect(worstDifference({ data: made.data, shape: [width] }, asTensor(mean), DEPTH)).toBeLessThan(1);
    lm.dispose();
  });

  test("options come before what the files say, and dimensions are cut before the norm", async () => {
    const lm = await loadModel(files, { engine });
    const { data, shape } = await lm.embed(["tired"], { pooling: "last", normalize: true, dimensions: 5 });
    expect(shape).toEqual([1, 5]);
    const whole = (await pooledBy(lm, "tired", "last", false)).slice(0, 5);
    const wanted = whole.map((number) => number / Math.hypot(...whole));
    expect(worstDifference({ data, shape: [5] }, asTensor(wanted), DEPTH)).toBeLessThan(1);
    expect((await lm.embed([])).shape).toEqual([0, width]);
    expect((await lm.embed([], { dimensions: 5 })).shape).toEqual([0, 5]);
    lm.dispose();
  });

  test("a causal model's is its last hidden state, after the last norm", async () => {
    const lm = await loadModel(folderOf("llama").files, { engine });
    const made = await lm.embed(["tired"], { normalize: false });
    const { hiddenStates } = await lm.model.forward([...new TextEncoder().encode("tired")], { hiddenStates: true });
    const state = hiddenStates?.at(-1) ?? { data: new Float32Array() };
    expect(worstDifference({ data: made.data, shape: [width] }, asTensor([...row(state, 4)]), DEPTH)).toBeLessThan(1);
    lm.dispose();
  });

  test("cuts a text to what the model reads", async () => {
    const lm = await loadModel({ ...files, "sentence_bert_config.json": json({ max_seq_length: 8 }) }, { engine });
    expect((await lm.embed(["a long text"])).data).toEqual((await lm.embed(["a long t"])).data);
    lm.dispose();
  });

  test("leaves nothing in the engine, and ends by its signal", async () => {
    const lm = await loadModel(files, { engine });
    await lm.embed(TEXTS);
    const before = engine.memory().tensorBytes;
    await lm.embed(TEXTS);
    expect(engine.memory().tensorBytes).toBe(before);
    await expect(lm.embed(TEXTS, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    lm.dispose();
  });

  test.each<[string, object, unknown, object, string, RegExp]>([
    [
      "a module that heed does not compute",
      { "modules.json": modules("Transformer", "Pooling", "WordWeights") },
      ["a"],
      {},
      "unsupported",
      /WordWeights/,
    ],
    [
      "a layer after the norm",
      { "modules.json": modules("Transformer", "Pooling", "Normalize", "Dense") },
      ["a"],
      {},
      "unsupported",
      /Dense/,
    ],
    ["too many dimensions", {}, ["a"], { dimensions: 13 }, "option", /at most 12/],
    ["too many dimensions of no text", {}, [], { dimensions: 13 }, "option", /at most 12/],
    ["another pooling", {}, ["a"], { pooling: "max" }, "option", /pooling must be one of/],
    ["a number", {}, [1], {}, "option", /texts must be strings/],
    ["an empty text without tokens", {}, [""], {}, "option", /must have a token/],
  ])("refuses %s", async (_, extra, texts, options, code, message) => {
    const lm = await loadModel({ ...files, ...extra }, { engine });
    await expect(lm.embed(texts as string[], options)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    lm.dispose();
  });

  test("files that ask for what cannot be are refused", async () => {
    const broken = { ...files, "1_Pooling/config.json": json({}) };
    await expect(loadModel(broken, { engine })).rejects.toMatchObject({ code: "load" });
    const lm = await loadModel(
      { ...files, "1_Pooling/config.json": json({ pooling_mode_max_tokens: true }) },
      { engine },
    );
    await expect(lm.embed(["a"])).rejects.toMatchObject({ code: "unsupported" });
    expect((await lm.embed(["a"], { pooling: "mean" })).shape).toEqual([1, width]);
    lm.dispose();
  });
});

describe("layers after pooling", () => {
  const read = readFixture("sentence.json") as unknown as {
    readonly files: Readonly<Record<string, string>>;
    readonly texts: readonly (readonly number[])[];
    readonly vectors: PackedTensor;
  };
  const folder: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = Object.fromEntries(
    Object.entries(read.files).map(([name, base64]) => [name, Uint8Array.from(Buffer.from(base64, "base64"))]),
  );
  const texts = read.texts.map((_, at) => String(at));
  const numbers = { encode: (text: string) => [...(read.texts[Number(text)] ?? [])], decode: () => "" };
  const parsed = (name: string) => JSON.parse(new TextDecoder().decode(folder[name]));

  test("are sentence-transformers'", async () => {
    const before = engine.memory().tensorBytes;
    const lm = await loadModel(folder, { engine });
    lm.tokenizer = numbers;
    const made = await lm.embed(texts);
    const wanted = unpack(read.vectors);
    expect(made.shape).toEqual(wanted.shape);
    expect(worstDifference(made, wanted, DEPTH)).toBeLessThan(1);
    // Alone it is the same.
    expect((await lm.embed("1")).data).toEqual(row(made, 1, 12));
    const cut = await lm.embed("2", { dimensions: 5, normalize: false });
    const whole = await lm.embed("2", { normalize: false });
    expect(cut.data).toEqual(whole.data.slice(0, 5));
    lm.dispose();
    expect(engine.memory().tensorBytes).toBe(before);
  });

  test("take no rows of another width", async () => {
    const parameters = new Map([["linear.weight", { data: new Float32Array(3 * 8), shape: [3, 8] }]]);
    const rule = { inFeatures: 8, outFeatures: 3, bias: false, activation: "none", parameters } as const;
    const dense = new Dense(rule, engine);
    await expect(dense.forward({ data: new Float32Array(2 * 16), shape: [2, 16] })).rejects.toMatchObject({
      code: "shape",
      message: expect.stringMatching(/must be 8, got \[2, 16\]/),
    });
    dense.dispose();
  });

  test.each<[string, object, string, RegExp]>([
    [
      "without their weights",
      { "3_Dense/model.safetensors": undefined },
      "load",
      /3_Dense\/model\.safetensors, got none/,
    ],
    [
      "without their sizes",
      { "2_Dense/config.json": json({}) },
      "option",
      /2_Dense\/config\.json: config\.in_features must be given/,
    ],
    [
      "of another activation",
      { "2_Dense/config.json": json({ ...parsed("2_Dense/config.json"), activation_function: "torch.nn.Mish" }) },
      "unsupported",
      /activation_function must be one of Identity, Tanh.*Mish/,
    ],
    [
      "of tokens",
      { "2_Dense/config.json": json({ ...parsed("2_Dense/config.json"), module_input_name: "token_embeddings" }) },
      "unsupported",
      /module_input_name/,
    ],
    [
      "of other numbers than there are",
      { "3_Dense/config.json": json({ ...parsed("3_Dense/config.json"), in_features: 25 }) },
      "load",
      /the 24 numbers that come before it, got 25/,
    ],
    [
      "of other numbers than hidden states have",
      {
        "2_Dense/config.json": json({ ...parsed("2_Dense/config.json"), in_features: 8 }),
        "2_Dense/model.safetensors": saveSafetensors(
          new Map([
            ["linear.weight", { data: new Float32Array(8 * 24), shape: [24, 8] }],
            ["linear.bias", { data: new Float32Array(24), shape: [24] }],
          ]),
        ),
      },
      "load",
      /the 16 numbers that come before it, got 8/,
    ],
    [
      "of another size",
      { "3_Dense/config.json": json({ ...parsed("3_Dense/config.json"), out_features: 13 }) },
      "shape",
      /linear\.weight/,
    ],
  ])("%s are refused", async (_, changed, code, message) => {
    const files = Object.fromEntries(
      Object.entries({ ...folder, ...changed }).filter(([, file]) => file !== undefined),
    );
    await expect(loadModel(files, { engine })).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe("classify", () => {
  const random = new Random(9);
  const matrix = (...shape: readonly number[]): ParameterTensor => ({
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.next() - 0.5),
    shape,
  });
  const labels = ["no", "maybe", "yes"];
  const id2label = Object.fromEntries(labels.map((label, at) => [at, label]));
  const withHead = (
    tensors: Readonly<Record<string, ParameterTensor>>,
    more: object,
    name: "bert" | "llama" = "bert",
  ) => {
    const folder = name === "bert" ? { files, config, parameters } : folderOf(name);
    return {
      ...folder.files,
      "config.json": json({ ...folder.config, id2label, ...more }),
      "model.safetensors": saveSafetensors(new Map([...folder.parameters, ...Object.entries(tensors)])),
    };
  };
  /** W x + b in double precision. */
  const product = (x: readonly number[], { data: w }: ParameterTensor, b?: ParameterTensor): number[] =>
    Array.from({ length: w.length / x.length }, (_, i) =>
      x.reduce((sum, number, j) => sum + number * (w[i * x.length + j] ?? 0), b?.data[i] ?? 0),
    );
  const softmax = (x: readonly number[]): number[] => {
    const powers = x.map(Math.exp);
    return powers.map((power) => power / powers.reduce((a, b) => a + b, 0));
  };
  const IDS = [...new TextEncoder().encode("tired")];

  const weight = matrix(3, width);
  const bias = matrix(3);
  const dense = matrix(width, width);
  const denseBias = matrix(width);

  test.each([
    ["BERT's pooler", { "classifier.weight": weight, "classifier.bias": bias }, {}, "pooled"],
    [
      "RoBERTa's two layers",
      {
        "classifier.dense.weight": dense,
        "classifier.dense.bias": denseBias,
        "classifier.out_proj.weight": weight,
        "classifier.out_proj.bias": bias,
      },
      {},
      "tanh",
    ],
    [
      "DistilBERT's two layers",
      {
        "pre_classifier.weight": dense,
        "pre_classifier.bias": denseBias,
        "classifier.weight": weight,
        "classifier.bias": bias,
      },
      {},
      "relu",
    ],
  ] as const)("by %s", async (_, tensors, more, way) => {
    const lm = await loadModel(withHead(tensors, more), { engine });
    const { hidden, pooled } = await lm.model.forward(IDS);
    const first = [...row(hidden ?? { data: new Float32Array() }, 0)];
    const inner = product(first, dense, denseBias);
    const x = { pooled: [...(pooled?.data ?? [])], tanh: inner.map(Math.tanh), relu: inner.map((y) => Math.max(0, y)) }[
      way
    ];
    const wanted = softmax(product(x, weight, bias));
    const [made = [], other] = await lm.classify(["tired", "a"]);
    expect(made.map(({ score }) => score)).toEqual([...made.map(({ score }) => score)].sort((a, b) => b - a));
    for (const { label, score } of made) expect(score).toBeCloseTo(wanted[labels.indexOf(label)] ?? -1, 5);
    expect((await lm.classify("a"))[0]).toEqual(other);
    lm.dispose();
  });

  test("by the last token of a causal model, several labels at once", async () => {
    const problem = { problem_type: "multi_label_classification" };
    const lm = await loadModel(withHead({ "score.weight": weight }, problem, "llama"), { engine });
    const { hiddenStates } = await lm.model.forward(IDS, { hiddenStates: true });
    const last = [...row(hiddenStates?.at(-1) ?? { data: new Float32Array() }, IDS.length - 1)];
    const wanted = product(last, weight).map((logit) => 1 / (1 + Math.exp(-logit)));
    const [made = []] = await lm.classify(["tired"]);
    for (const { label, score } of made) expect(score).toBeCloseTo(wanted[labels.indexOf(label)] ?? -1, 5);
    lm.dispose();
  });

  test("each token, as spans of the text", async () => {
    const more = { architectures: ["BertForTokenClassification"], id2label: { 0: "O", 1: "B-X", 2: "I-X" } };
    const lm = await loadModel(withHead({ "classifier.weight": weight, "classifier.bias": bias }, more), { engine });
    const { hidden } = await lm.model.forward(IDS);
    const rows = IDS.map((_, at) =>
      Float32Array.from(softmax(product([...row(hidden ?? { data: new Float32Array() }, at)], weight, bias))),
    );
    const encoding = { ids: IDS, typeIds: undefined, offsets: IDS.map((_, at) => [at, at + 1] as const) };
    const wanted = spansOf("tired", encoding, rows, ["O", "B-X", "I-X"]);
    const [made = []] = await lm.classify(["tired"]);
    expect(made.map(({ label, ...span }) => ({ ...span, label, score: Math.round(span.score * 1e5) }))).toEqual(
      wanted.map((span) => ({ ...span, score: Math.round(span.score * 1e5) })),
    );
    lm.dispose();
  });

  test("pairs of texts, with their segments", async () => {
    const lm = await loadModel(withHead({ "classifier.weight": weight, "classifier.bias": bias }, {}), { engine });
    const seen: unknown[] = [];
    lm.tokenizer = {
      encode: (text, options) => {
        seen.push([text, (options as { readonly pair?: string }).pair]);
        return { ids: [1, 2, 3], typeIds: [0, 0, 1] };
      },
      decode: () => "",
    };
    const [made] = await lm.classify([["question", "answer"]]);
    expect(seen).toEqual([["question", "answer"]]);
    const { pooled } = await lm.model.forward([1, 2, 3], { tokenTypes: [0, 0, 1] });
    const wanted = softmax(product([...(pooled?.data ?? [])], weight, bias));
    expect(made?.[0]?.score).toBeCloseTo(Math.max(...wanted), 5);
    lm.dispose();
  });

  test("a head of another width than hidden states is refused", async () => {
    const narrow = withHead({ "classifier.weight": matrix(3, width - 4), "classifier.bias": bias }, {});
    await expect(loadModel(narrow, { engine })).rejects.toMatchObject({
      code: "shape",
      message: expect.stringMatching(/classifier\.weight must be \[3, 12\].* got \[3, 8\]/),
    });
  });

  test("without a head it is refused", async () => {
    const lm = await loadModel(files, { engine });
    await expect(lm.classify(["a"])).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/classifier or score/),
    });
    lm.dispose();
  });
});

test("spans join what belongs together", () => {
  const one = (best: number): Float32Array => Float32Array.from({ length: 4 }, (_, at) => (at === best ? 0.7 : 0.1));
  const labels = ["O", "B-PER", "I-PER", "LOC"];
  const text = "Ada Love in Rome";
  const offsets = [
    [0, 0],
    [0, 3],
    [4, 8],
    [9, 11],
    [12, 16],
    [0, 0],
  ] as const;
  const rows = [3, 1, 2, 0, 3, 3].map(one);
  const made = spansOf(text, { ids: [], typeIds: undefined, offsets }, rows, labels);
  expect(made.map(({ label, text: words, start, end }) => [label, words, start, end])).toEqual([
    ["PER", "Ada Love", 0, 8],
    ["LOC", "Rome", 12, 16],
  ]);
  // B- begins anew.
  expect(spansOf(text, { ids: [], typeIds: undefined, offsets }, [0, 1, 1, 0, 0, 0].map(one), labels)).toHaveLength(2);
});
