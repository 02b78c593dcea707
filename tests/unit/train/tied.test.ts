// Tied parameters are one tensor, however their file is loaded: as f32, as f16 that is kept, or with the numbers twice.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { BertModel, GPT2Model, LlamaModel, loadSafetensors, saveSafetensors } from "../../../web/src/layers/index.js";
import { crossEntropy, gradients, Sgd } from "../../../web/src/train/index.js";
import { madeByTransformers } from "../../support/model-files.js";

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

const MODELS = { gpt2: GPT2Model, llama: LlamaModel };

function made(name: keyof typeof MODELS) {
  const { config, parameters } = madeByTransformers(name);
  const file = new Map(parameters);
  file.delete("lm_head.weight");
  const make = () => new MODELS[name]({ ...config, tie_word_embeddings: true }, { engine });
  return { make, file };
}

/** The numbers of the token embeddings and the head after one step. */
async function learnt(model: GPT2Model | LlamaModel) {
  const optimizer = new Sgd(model, { learningRate: 0.5 });
  await gradients(model, async (pass) => {
    const { logits } = await model.forward([1, 2, 3, 4], { pass });
    return { loss: await crossEntropy(logits, [2, 3, 4, 5], { pass }) };
  });
  await optimizer.step();
  const read = await model.readParameters();
  const [words, head] = ["words.weight", "head.weight"].map((name) => read.get(name)?.data);
  model.dispose();
  return { words, head };
}

/** Whether two parameters are views of the same numbers. */
function areOne(model: GPT2Model | LlamaModel | BertModel, names: readonly [string, string]): boolean {
  const [a, b] = names.map((name) => model.parameters().get(name)?.data);
  return a !== undefined && a.buffer === b?.buffer && a.byteOffset === b.byteOffset && a.length === b.length;
}

describe.each(["gpt2", "llama"] as const)("%s", (name) => {
  const { make, file } = made(name);

  test("learns alike from f16 that is kept and from f32 of the same numbers", async () => {
    const halves = saveSafetensors(new Map([...file].map(([key, one]) => [key, { ...one, dtype: "f16" as const }])));
    const plain = await learnt(make().load(await loadSafetensors(halves)));
    const kept = make().load(await loadSafetensors(halves, { keepHalves: true }));
    expect(areOne(kept, ["words.weight", "head.weight"])).toBe(true);
    const after = await learnt(kept);
    expect(after.head).toBe(after.words);
    expect(after).toEqual(plain);
  });

  test("views of the same f16 numbers under two names are one", () => {
    const model = make().init({ seed: 3 });
    const own = new Map(
      [...model.parameters()].map(([key, { data, shape }]) => [
        key,
        { data: new Uint16Array(data.length).fill(0x3c00), shape, dtype: "f16" as const },
      ]),
    );
    const words = own.get("words.weight");
    if (words === undefined) throw new Error("there are words");
    model.load(own);
    expect(areOne(model, ["words.weight", "head.weight"])).toBe(true);
    const { data, shape } = words;
    const view = new Uint16Array(data.buffer, data.byteOffset, data.length);
    model.load(own.set("head.weight", { data: view, shape, dtype: "f16" }));
    expect(areOne(model, ["words.weight", "head.weight"])).toBe(true);
  });
});

test("a model that was saved by its own names is tied when it is loaded", async () => {
  const bert = madeByTransformers("bert").config;
  const cases = [
    { make: made("gpt2").make, names: ["words.weight", "head.weight"] },
    { make: made("llama").make, names: ["words.weight", "head.weight"] },
    { make: () => new BertModel(bert, { engine }), names: ["words.weight", "head.decoder.weight"] },
  ] as const;
  for (const { make, names } of cases) {
    const drawn = make().init({ seed: 1 });
    const file = await loadSafetensors(saveSafetensors(await drawn.readParameters()));
    expect(areOne(make().load(file), names)).toBe(true);
    // One number makes another tensor, which stays what it is.
    const other = Float32Array.from(file.get(names[1])?.data as Float32Array);
    other[5] = 9;
    const untied = make().load(
      new Map(file).set(names[1], { data: other, shape: file.get(names[1])?.shape ?? [], dtype: "f32" }),
    );
    expect(areOne(untied, names)).toBe(false);
    expect(untied.parameters().get(names[1])?.data[5]).toBe(9);
  }
});

test("numbers that are equal are not tied where the configuration says no", async () => {
  const { config } = madeByTransformers("llama");
  const tied = new LlamaModel({ ...config, tie_word_embeddings: true }, { engine }).init();
  const file = await loadSafetensors(saveSafetensors(await tied.readParameters()));
  const model = new LlamaModel({ ...config, tie_word_embeddings: false }, { engine }).load(file);
  expect(areOne(model, ["words.weight", "head.weight"])).toBe(false);
});
