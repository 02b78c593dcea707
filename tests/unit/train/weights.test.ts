// The weights that the demo loads: what examples/train/weights.js makes of them, and whether they answer.

import { readFileSync } from "node:fs";
import { createHeed } from "heed";
import { type BertModel, loadSafetensors } from "heed/layers";
import { afterAll, describe, expect, test } from "vitest";
import * as dates from "../../../examples/train/dates.js";
import { MASK, WORDS } from "../../../examples/train/grammar.js";
import * as language from "../../../examples/train/language.js";
import { MODELS, make } from "../../../examples/train/weights.js";

type Name = keyof typeof MODELS;

const fileOf = (name: Name): Uint8Array =>
  readFileSync(new URL(`../../../demo/public/weights/${name}.safetensors`, import.meta.url));

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

test("the command makes the same bytes, with one thread and with two", async () => {
  const first = await make("dates-luong", { threads: 1, steps: 3 });
  expect(await make("dates-luong", { threads: 2, steps: 3 })).toEqual(first);
});

test.each(Object.keys(MODELS) as Name[])("%s takes at most 1.5 MB, in float32", async (name) => {
  const file = fileOf(name);
  expect(file.length).toBeLessThan(1.5e6);
  for (const { dtype } of (await loadSafetensors(file)).values()) expect(dtype).toBe("f32");
});

test.each([
  ["dates-bahdanau", "additive"],
  ["dates-luong", "dot"],
] as const)("%s writes new dates right", async (name, attention) => {
  const trained = dates.restore(await loadSafetensors(fileOf(name)), { attention, engine });
  expect(await dates.accuracy(trained)).toBeGreaterThanOrEqual(0.98);
  const { date, alignment } = await trained.answer("we met on the 3rd of may 1997");
  expect(date).toBe("1997-05-03");
  // The day's last digit comes from "3rd".
  const weights = alignment.at(-1) ?? [];
  const from = "we met on the ".length;
  expect(weights.slice(from, from + 4).reduce((sum, weight) => sum + weight, 0)).toBeGreaterThan(0.5);
});

describe("language", () => {
  test("answers new sentences, and a head follows what it is", async () => {
    const trained = language.restore(await loadSafetensors(fileOf("language")), { kind: "causal", engine });
    expect(await language.accuracy(trained)).toBeGreaterThanOrEqual(0.98);
    const { answerFollows, headFollows } = await language.probe(trained);
    expect(answerFollows).toBeGreaterThanOrEqual(0.95);
    expect(headFollows).toBeGreaterThanOrEqual(0.95);
  });

  test("masked, it fills a blank by what follows", async () => {
    const trained = language.restore(await loadSafetensors(fileOf("language-masked")), { kind: "masked", engine });
    expect(await language.accuracy(trained)).toBeGreaterThanOrEqual(0.98);
    for (const [noun, words] of [
      ["road", ["busy", "closed", "wet", "wide"]],
      ["dog", ["afraid", "hungry", "sleepy", "tired"]],
    ] as const) {
      const ids = `the dog didn't cross the road because it was [mask] . it was the ${noun}`.split(" ");
      const tokens = ids.map((word) => WORDS.indexOf(word));
      const given = { data: tokens, shape: [1, tokens.length] };
      const { logits } = await (trained.model as BertModel).forward(given, { logits: true });
      const row = Array.from(
        logits?.data.subarray(tokens.indexOf(MASK) * WORDS.length).subarray(0, WORDS.length) ?? [],
      );
      const best = WORDS.map((word, id) => ({ word, logit: row[id] ?? Number.NaN })).sort((a, b) => b.logit - a.logit);
      expect(
        best
          .slice(0, 4)
          .map(({ word }) => word)
          .sort(),
      ).toEqual(words);
    }
  });
});
