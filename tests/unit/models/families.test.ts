// Every family of models, from the files that transformers wrote to text, labels and the same files again.

import { readdirSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { loadSafetensors, saveSafetensors } from "../../../web/src/layers/index.js";
import { loadModel } from "../../../web/src/models/index.js";
import { caseOf } from "../../support/families.js";
import { json } from "../../support/small-model.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());
/** With this in its memory, an engine stays as it is where models are disposed of. */
engine.zeros([2 ** 22]);

const NAMES = readdirSync(new URL("../../fixtures/families", import.meta.url)).map((file) => file.replace(".json", ""));

const load = (name: string) => {
  const { config, parameters } = caseOf(name);
  return loadModel({ "config.json": json(config), "model.safetensors": saveSafetensors(parameters) }, { engine });
};

test.each(NAMES)("%s is saved as it was", async (name) => {
  const lm = await load(name);
  const { parameters } = caseOf(name);
  const made = await loadSafetensors((await lm.save()).get("model.safetensors") ?? new Uint8Array());
  const missing = [...parameters.keys()].filter((one) => !made.has(one));
  const others = [...made.keys()].filter((one) => !parameters.has(one));
  expect({ missing, others }).toEqual({ missing: [], others: [] });
  for (const [one, { data, shape }] of made) {
    const wanted = parameters.get(one);
    expect([one, shape]).toEqual([one, wanted?.shape]);
    // Gemma's norms are published as what they add to 1, and the sum was rounded.
    const error = name.includes("gemma") && one.includes("norm") ? 2 ** -23 : 0;
    const isSame = Array.from(data, Number).every(
      (number, at) => Math.abs(number - (wanted?.data[at] ?? Number.NaN)) <= error,
    );
    expect(isSame, one).toBe(true);
  }
  lm.dispose();
});

const greedy = NAMES.map((name) => [name, caseOf(name)] as const).filter(([, { greedy: ids }]) => ids.length > 0);

test.each(greedy)("%s says what it says in transformers", async (_, { texts, greedy: wanted, config, parameters }) => {
  const lm = await loadModel(
    { "config.json": json(config), "model.safetensors": saveSafetensors(parameters) },
    { engine },
  );
  const made: number[] = [];
  for await (const { tokens } of lm.generate(texts[0] ?? [], { maxTokens: wanted.length, eos: [] }))
    made.push(...tokens);
  expect(made).toEqual(wanted.slice(-made.length));
  expect(made).toHaveLength(wanted.length);
  lm.dispose();
});

describe("classify", () => {
  const classes = NAMES.filter((name) => name.endsWith("-classes"));

  test.each(classes)("%s gives transformers' probabilities", async (name) => {
    const lm = await load(name);
    const { texts, mask, output } = caseOf(name);
    const { data, shape } = output("logits");
    const [count = 0, labels = 1] = shape;
    const length = texts[0]?.length ?? 0;
    for (let text = 0; text < count; text++) {
      const ids = (texts[text] ?? []).filter((_, at) => mask[text * length + at] === 1);
      lm.tokenizer = { encode: () => ids, decode: () => "" };
      const logits = [...data.slice(text * labels, (text + 1) * labels)];
      const powers = logits.map(Math.exp);
      const sum = powers.reduce((a, b) => a + b, 0);
      const [made = []] = await lm.classify(["x"]);
      const scores = made.map(({ score }) => score);
      expect(scores).toHaveLength(labels);
      const wanted = powers.map((power) => power / sum).sort((a, b) => b - a);
      for (const [at, score] of scores.entries()) expect(score).toBeCloseTo(wanted[at] ?? -1, 5);
    }
    lm.dispose();
  });
});
