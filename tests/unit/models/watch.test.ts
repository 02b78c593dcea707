// Looking into a pass, and changing what goes on there: held against models whose weights were changed instead, and shorter models.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { BertModel, GPT2Model, LlamaModel, type ParameterTensor } from "../../../web/src/layers/index.js";
import { gradients, meanSquaredError } from "../../../web/src/train/index.js";
import { worstDifference } from "../../support/fixtures.js";
import { madeByTransformers } from "../../support/model-files.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());

const DEPTH = 24;
const IDS = [3, 1, 4, 1, 5];

const bert = madeByTransformers("bert");
const llama = madeByTransformers("llama");
const gpt2 = madeByTransformers("gpt2");
const llamaOf = (parameters: ReadonlyMap<string, ParameterTensor> = llama.parameters) =>
  new LlamaModel(llama.config, { engine }).load(parameters);

const near = (
  got: { readonly data: Float32Array; readonly shape: readonly number[] } | undefined,
  wanted: ParameterTensor,
) => expect(worstDifference(got, wanted, DEPTH)).toBeLessThan(1);

/** With some columns of a head's output projection times a factor: its output times it. Llama's heads have 4 numbers. */
function withHead(layer: number, head: number, factor: number) {
  const name = `model.layers.${layer}.self_attn.o_proj.weight`;
  const { data, shape } = llama.parameters.get(name) ?? { data: new Float32Array(), shape: [] };
  const [, inputs = 1] = shape;
  const scaled = data.map((number, at) => (Math.floor((at % inputs) / 4) === head ? number * factor : number));
  return new Map([...llama.parameters, [name, { data: scaled, shape }]]);
}

describe("hidden states", () => {
  test("go from the words to the head", async () => {
    const model = llamaOf();
    const { hiddenStates = [], logits } = await model.forward(IDS, { hiddenStates: true });
    expect(hiddenStates.map(({ shape }) => shape)).toEqual(Array.from({ length: 3 }, () => [1, 5, 12]));
    const words = llama.parameters.get("model.embed_tokens.weight")?.data ?? new Float32Array();
    const first = Float32Array.from(IDS.flatMap((id) => [...words.subarray(id * 12, (id + 1) * 12)]));
    expect(hiddenStates[0]?.data).toEqual(first);
    const head = llama.parameters.get("lm_head.weight")?.data ?? new Float32Array();
    const last = hiddenStates[2]?.data ?? new Float32Array();
    const wanted = Float32Array.from({ length: 5 * 16 }, (_, at) => {
      const [row, word] = [Math.floor(at / 16), at % 16];
      let sum = 0;
      for (let j = 0; j < 12; j++) sum += (last[row * 12 + j] ?? 0) * (head[word * 12 + j] ?? 0);
      return sum;
    });
    near(logits, { data: wanted, shape: [1, 5, 16] });
    expect((await model.forward(IDS)).hiddenStates).toBeUndefined();
    model.dispose();
  });

  test("of BERT are those of a shorter BERT, and kept ones are disposed of one by one", async () => {
    const model = new BertModel(bert.config, { engine }).load(bert.parameters);
    const short = new BertModel({ ...bert.config, num_hidden_layers: 1 }, { engine }).load(bert.parameters);
    const { hiddenStates = [], hidden } = await model.forward(IDS, { hiddenStates: true });
    expect(hiddenStates[1]).toEqual((await short.forward(IDS)).hidden);
    expect(hiddenStates[2]).toEqual(hidden);
    const before = engine.memory().tensorBytes;
    const kept = await model.forward(IDS, { hiddenStates: true, keep: true, attentions: { layers: [1] } });
    kept.hidden.dispose();
    expect(await kept.hiddenStates?.at(-1)?.read()).toEqual(hidden.data);
    for (const tensor of [...(kept.hiddenStates ?? []), ...(kept.attentions ?? [])]) tensor.dispose();
    kept.pooled?.dispose();
    expect(engine.memory().tensorBytes).toBe(before);
    model.dispose();
    short.dispose();
  });

  test("are tensors of a pass of gradients", async () => {
    const model = llamaOf();
    const zeros = { data: new Float32Array(60), shape: [1, 5, 12] };
    await gradients(model, async (pass) => {
      const { hiddenStates } = await model.forward(IDS, { pass, hiddenStates: true });
      const [, middle] = hiddenStates ?? [];
      if (middle === undefined) throw new Error("hidden states were asked for");
      return { loss: await meanSquaredError(middle, zeros, { pass }) };
    });
    const made = await model.readGradients();
    expect([...made.keys()].some((name) => name.startsWith("decoder.layers.0."))).toBe(true);
    expect([...made.keys()].some((name) => name.startsWith("decoder.layers.1."))).toBe(false);
    model.dispose();
  });
});

describe("attentions", () => {
  test("of some layers, heads and rows are those of all", async () => {
    const model = llamaOf();
    const { attentions: all = [] } = await model.forward([IDS, [2, 7, 1, 8, 2]], { attentions: true });
    const some = await model.forward([IDS, [2, 7, 1, 8, 2]], {
      attentions: { layers: [1], heads: [4, 0], rows: [2, 4] },
    });
    expect(some.attentions?.map(({ shape }) => shape)).toEqual([[2, 2, 2, 5]]);
    const wanted = [0, 1].flatMap((entry) =>
      [4, 0].flatMap((head) =>
        [...(all[1]?.data ?? [])].slice(((entry * 6 + head) * 5 + 2) * 5, ((entry * 6 + head) * 5 + 4) * 5),
      ),
    );
    expect([...(some.attentions?.[0]?.data ?? [])]).toEqual(wanted);
    model.dispose();
  });

  test.each<[object, RegExp]>([
    [{ layers: [2] }, /attentions\.layers must be below 2, got 2/],
    [{ heads: [6] }, /attentions\.heads must be below 6/],
    [{ heads: [] }, /attentions\.heads must be whole numbers/],
    [{ rows: [0, 9] }, /rows/],
    [{ head: [1] }, /no option "head", did you mean "heads"/],
  ])("refuses %j", async (attentions, message) => {
    const model = llamaOf();
    await expect(model.forward(IDS, { attentions })).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(message),
    });
    model.dispose();
  });
});

describe("scores", () => {
  test("become the weights by a softmax, at every layer and for those that are chosen", async () => {
    const model = llamaOf();
    const tokens = [IDS, [2, 7, 1, 8, 2]];
    const { attentions = [], scores = [] } = await model.forward(tokens, { attentions: true, scores: true });
    expect(scores.map(({ shape }) => shape)).toEqual([
      [2, 6, 5, 5],
      [2, 6, 5, 5],
    ]);
    for (const [layer, { data }] of scores.entries()) {
      const weights = Array.from({ length: data.length / 5 }, (_, row) => {
        const exps = [...data.subarray(5 * row, 5 * row + 5)].map(Math.exp);
        const sum = exps.reduce((a, b) => a + b);
        return exps.map((e) => e / sum);
      }).flat();
      near(attentions[layer], { data: Float32Array.from(weights), shape: [2, 6, 5, 5] });
    }
    const some = await model.forward(tokens, {
      attentions: { layers: [1], heads: [4, 0], rows: [2, 4] },
      scores: "masked",
    });
    const wanted = [0, 1].flatMap((entry) =>
      [4, 0].flatMap((head) =>
        [...(scores[1]?.data ?? [])].slice(((entry * 6 + head) * 5 + 2) * 5, ((entry * 6 + head) * 5 + 4) * 5),
      ),
    );
    expect(some.scores?.map(({ shape }) => shape)).toEqual([[2, 2, 2, 5]]);
    expect([...(some.scores?.[0]?.data ?? [])]).toEqual(wanted);
    model.dispose();
  });

  test("are raw before the mask", async () => {
    const model = llamaOf();
    const { scores: [raw] = [] } = await model.forward(IDS, { scores: "raw" });
    const { scores: [masked] = [] } = await model.forward(IDS, { scores: "masked" });
    const isAhead = (at: number): boolean => at % 5 > Math.floor(at / 5) % 5;
    expect(raw?.data.every(Number.isFinite)).toBe(true);
    expect(masked?.data.every((score, at) => (isAhead(at) ? score === -Infinity : score === raw?.data[at]))).toBe(true);
    await expect(model.forward(IDS, { scores: "all" as "raw" })).rejects.toMatchObject({ code: "option" });
    model.dispose();
  });

  test("of an encoder are those of its layers", async () => {
    const model = new BertModel(bert.config, { engine }).load(bert.parameters);
    const { scores, attentions } = await model.forward(IDS, { attentions: true, scores: true, keep: true });
    expect(scores?.map(({ shape }) => shape)).toEqual(attentions?.map(({ shape }) => shape));
    model.dispose();
  });
});

describe("hooks", () => {
  test.each([0, 0.5, -2])("a head times %j is a head whose projection is", async (factor) => {
    const model = llamaOf();
    const changed = llamaOf(withHead(1, 3, factor));
    const { logits: wanted } = await changed.forward(IDS);
    const ways = [factor, { output: factor }, { weights: factor }];
    const functions = [
      { output: ({ data, shape }: ParameterTensor) => ({ data: data.map((x) => x * factor), shape }) },
      { weights: async ({ data, shape }: ParameterTensor) => ({ data: data.map((x) => x * factor), shape }) },
    ];
    for (const hook of [...ways, ...functions]) {
      near((await model.forward(IDS, { hooks: { "layers.1.heads.3": hook } })).logits, wanted);
    }
    const caches = [];
    for (let layer = 0; layer < 2; layer++)
      caches.push(await engine.createCache({ kvHeads: 2, headDim: 4, maxLength: 9 }));
    const hooks = { "layers.1.heads.3": factor };
    await model.forward(IDS.slice(0, 3), { hooks, caches });
    const { logits } = await model.forward(IDS.slice(3), { hooks, caches, last: true });
    near(logits, { data: wanted.data.slice(4 * 16), shape: [1, 1, 16] });
    for (const cache of caches) cache.dispose();
    // Nothing stays behind.
    expect((await model.forward(IDS)).logits).toEqual((await llamaOf().forward(IDS)).logits);
    model.dispose();
    changed.dispose();
  });

  test("weights that are replaced are those that are returned, and what values are summed by", async () => {
    const model = llamaOf();
    const own = ({ shape }: ParameterTensor) => {
      const [, length = 0] = shape;
      // Each token attends to itself alone.
      return {
        data: Float32Array.from({ length: length * length }, (_, at) =>
          Number(Math.floor(at / length) === at % length),
        ),
        shape,
      };
    };
    const seen: number[][] = [];
    const note = (x: ParameterTensor) => {
      seen.push([...x.data]);
      return x;
    };
    const hooks = { "layers.0.heads.5": { weights: own, output: note } };
    const plain = await model.forward(IDS, { attentions: true });
    const { attentions, logits } = await model.forward(IDS, { attentions: true, hooks });
    const diagonal = own({ data: new Float32Array(), shape: [1, 5, 5] }).data;
    expect(attentions?.[0]?.data.slice(125)).toEqual(diagonal);
    expect(attentions?.[0]?.data.slice(0, 125)).toEqual(plain.attentions?.[0]?.data.slice(0, 125));
    expect(logits).not.toEqual(plain.logits);
    // Its output is what each token would give alone, since rope turns no values.
    for (const id of IDS) await model.forward([id], { hooks: { "layers.0.heads.5": { output: note } } });
    const [whole = [], ...each] = seen;
    near({ data: Float32Array.from(whole), shape: [20] }, { data: Float32Array.from(each.flat()), shape: [20] });
    model.dispose();
  });

  test("a residual that is read and put into another pass gives that pass's results (patching)", async () => {
    const model = new GPT2Model(gpt2.config, { engine }).load(gpt2.parameters);
    const other = [7, 7, 7, 2, 9];
    let state: ParameterTensor = { data: new Float32Array(), shape: [] };
    const read = await model.forward(other, { hooks: { "layers.0.residual": (x) => (state = x) } });
    expect(read.logits).toEqual((await model.forward(other)).logits);
    const patched = await model.forward(IDS, { hooks: { "layers.0.residual": () => state } });
    expect(patched.logits).toEqual(read.logits);
    const { hiddenStates } = await model.forward(other, { hiddenStates: true });
    expect(state.data).toEqual(hiddenStates?.[1]?.data);
    model.dispose();
  });

  test("encoders have them too, by the end of a path", async () => {
    const model = new BertModel(bert.config, { engine }).load(bert.parameters);
    const plain = (await model.forward(IDS)).hidden;
    const names = ["layers.1.heads.0", "encoder.layers.1.heads.0"];
    const [one, other] = await Promise.all(names.map((name) => model.forward(IDS, { hooks: { [name]: 0 } })));
    expect(one?.hidden).toEqual(other?.hidden);
    expect(one?.hidden).not.toEqual(plain);
    model.dispose();
  });

  const fine = ({ data, shape }: ParameterTensor) => ({ data, shape });
  test.each<[string, unknown, string, RegExp]>([
    ["a layer that is not there", { "layers.2.residual": fine }, "option", /of 2 layers, got "layers\.2\.residual"/],
    ["a head that is not there", { "layers.0.heads.6": 0 }, "option", /up to 5, got 6/],
    ["a name of another form", { "layers.0.mlp": 0 }, "option", /names as "layers\.0\.heads\.0"/],
    ["a factor of a residual", { "layers.0.residual": 2 }, "option", /must be a function, got 2/],
    ["no number", { "layers.0.heads.0": Number.NaN }, "option", /finite factor/],
    ["an unknown part", { "layers.0.heads.0": { weight: 0 } }, "option", /did you mean "weights"/],
    ["a list", [], "option", /hooks must be an object/],
    [
      "a function that gives nothing",
      { "layers.0.residual": () => undefined },
      "dtype",
      /must return \{ data, shape \}/,
    ],
    [
      "another shape",
      { "layers.0.heads.0": { output: () => ({ data: new Float32Array(3), shape: [3] }) } },
      "shape",
      /must return \[1, 5, 4\], got \[3\]/,
    ],
    [
      "a function that throws",
      {
        "layers.0.residual": () => {
          throw new Error("mine");
        },
      },
      "option",
      /hooks: residual failed: mine/,
    ],
  ])("refuses %s", async (_, hooks, code, message) => {
    const model = llamaOf();
    await expect(model.forward(IDS, { hooks: hooks as Record<string, number> })).rejects.toMatchObject({
      name: "HeedError",
      code,
      message: expect.stringMatching(message),
    });
    expect((await model.forward(IDS)).logits.shape).toEqual([1, 5, 16]);
    model.dispose();
  });

  test("functions of weights need all values, so no cache, and gradients no hooks", async () => {
    const model = llamaOf();
    const caches = [];
    for (let layer = 0; layer < 2; layer++)
      caches.push(await engine.createCache({ kvHeads: 2, headDim: 4, maxLength: 9 }));
    const hooks = { "layers.0.heads.0": { weights: fine } };
    await expect(model.forward(IDS, { hooks, caches })).rejects.toMatchObject({ code: "unsupported" });
    expect(caches.map(({ length }) => length)).toEqual([0, 0]);
    await expect(model.forward(IDS, { hooks, attentions: { rows: [0, 1] } })).rejects.toMatchObject({ code: "option" });
    await expect(
      gradients(model, async (pass) => {
        const { logits } = await model.forward(IDS, { pass, hooks });
        return { loss: await meanSquaredError(logits, { data: new Float32Array(80), shape: [1, 5, 16] }, { pass }) };
      }),
    ).rejects.toMatchObject({ code: "option", message: expect.stringMatching(/no hooks/) });
    for (const cache of caches) cache.dispose();
    model.dispose();
  });
});
