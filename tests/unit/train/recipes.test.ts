// The recipes of examples/train learn: one seed of each, with fewer steps than they take by default.

import { createHeed } from "heed";
import { afterAll, describe, expect, test } from "vitest";
import * as dates from "../../../examples/train/dates.js";
import * as decay from "../../../examples/train/decay.js";
import * as distill from "../../../examples/train/distill.js";
import * as kernel from "../../../examples/train/kernel.js";
import * as labels from "../../../examples/train/labels.js";
import * as language from "../../../examples/train/language.js";
import * as longer from "../../../examples/train/longer.js";
import * as notes from "../../../examples/train/notes.js";
import * as oneLook from "../../../examples/train/one-look.js";
import * as pictures from "../../../examples/train/pictures.js";
import * as sequences from "../../../examples/train/sequences.js";

const SEED = 1;

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

test("a decoder copies, reverses and sorts, and short sequences first", async () => {
  const trained = await sequences.train({ seed: SEED, steps: 150, engine });
  expect(await sequences.accuracy(trained)).toBeGreaterThan(0.3);
  expect(await trained.answer("sort", [7])).toEqual([7]);
});

test.each([
  ["copy", [0, 1, 2, 3, 4, 5, 6, 7]],
  ["reverse", [7, 6, 5, 4, 3, 2, 1, 0]],
] as const)("one look learns to %s, and its matrix is that order", async (task, order) => {
  const trained = await oneLook.train({ task, seed: SEED, engine });
  expect(await oneLook.accuracy(trained)).toBeGreaterThan(0.95);
  const { weights } = await trained.look("keyboard");
  for (const [row, place] of order.entries()) expect(weights[row * oneLook.LENGTH + place]).toBeGreaterThan(0.8);
});

test("one look learns to sort, and what it sees on the way is told", async () => {
  const steps: number[] = [];
  const trained = await oneLook.train({
    task: "sort",
    word: "sandwich",
    seed: SEED,
    steps: 121,
    every: 40,
    engine,
    onLook: ({ step }) => steps.push(step),
  });
  expect(steps).toEqual([0, 40, 80, 120]);
  // The first and the last letter of an answer are found first; a letter is right by chance in one of 26.
  expect(await oneLook.accuracy(trained)).toBeGreaterThan(0.3);
});

describe("one look learns which letter comes next", () => {
  /** Where each row has most of its weight, from the first row on that can know. */
  const looksOf = ({ weights }: { weights: Float32Array }): number[] =>
    [4, 5, 6, 7].map((row) => {
      const own = Array.from(weights.subarray(row * oneLook.LENGTH, (row + 1) * oneLook.LENGTH));
      return own.indexOf(Math.max(...own));
    });
  const trainWithout = (...without: oneLook.Part[]) =>
    oneLook.train({ task: "induction", without, seed: SEED, engine });

  test.each([[], ["heads"]] as const)(
    "and looks one further than where a letter stood (without %s)",
    async (...without) => {
      const trained = await trainWithout(...without);
      expect(await oneLook.accuracy(trained)).toBeGreaterThan(0.95);
      const look = await trained.look("couscous");
      expect(looksOf(look)).toEqual([1, 2, 3, 4]);
      expect(look.answer.slice(4)).toBe("ousc");
      // What comes later is hidden.
      expect(look.weights.filter((_: number, at: number) => at % oneLook.LENGTH > at / oneLook.LENGTH)).toEqual(
        new Float32Array(28),
      );
    },
  );

  test.each(["positions", "scaling"] as const)("but not without %s", async (part) => {
    expect(await oneLook.accuracy(await trainWithout(part))).toBeLessThan(0.7);
  });

  test("and copies it where nothing hides it", async () => {
    const trained = await trainWithout("mask");
    expect(looksOf(await trained.look("couscous")).slice(0, 3)).toEqual([5, 6, 7]);
  });
});

test.each([
  ["copy", "positions", 0, 0.3],
  ["reverse", "positions", 0, 0.3],
  ["reverse", "scaling", 0.95, 1],
  ["sort", "positions", 0.9, 1],
  ["sort", "scaling", 0, 0.8],
] as const)("%s without %s has from %d to %d of the letters right", async (task, part, least, most) => {
  const share = await oneLook.accuracy(await oneLook.train({ task, without: [part], seed: SEED, engine }));
  expect(share).toBeGreaterThanOrEqual(least);
  expect(share).toBeLessThanOrEqual(most);
});

describe("dates", () => {
  /** A text and the characters before those of its date, as the model reads them. */
  const batchOf = (text: string, date: string) => ({
    source: {
      data: Array.from(text, (one) => " abcdefghijklmnopqrstuvwxyz0123456789,".indexOf(one)),
      shape: [1, text.length],
    },
    mask: { data: new Uint8Array(text.length).fill(1), shape: [1, 1, 1, text.length] },
    inputs: {
      data: [11, ...Array.from(date.slice(0, -1), (one) => "0123456789-".indexOf(one))],
      shape: [1, date.length],
    },
  });

  test("with additive attention, which looks where the date is", async () => {
    const trained = await dates.train({ attention: "additive", seed: SEED, steps: 90, engine });
    expect(await dates.accuracy(trained)).toBeGreaterThan(0.2);
    for (const share of Object.values(await dates.alignment(trained))) expect(share).toBeGreaterThan(0.3);
    const text = "we met on the 3rd of may 1997";
    const { date, alignment } = await trained.answer(text);
    expect(date).toMatch(/^1997-\d\d-\d\d$/);
    expect(alignment.map((weights) => weights.length)).toEqual(Array(10).fill(text.length));
  });

  test("the decoder reads what it wrote itself, where no teacher tells it", async () => {
    const untrained = dates.untrained({ attention: "dot", seed: SEED, engine });
    // Of one length: the encoder reads the spaces before shorter ones too.
    const texts = ["the 3rd of may 1997", "december 25th, 2024", "the 1st of may 2001"];
    const { data, shape } = await dates.ownInputs(untrained, texts);
    expect(shape).toEqual([texts.length, 10]);
    for (const [row, text] of texts.entries()) {
      const { date } = await untrained.answer(text);
      const read = Array.from(date.slice(0, -1), (one) => "0123456789-".indexOf(one));
      expect(data.slice(10 * row, 10 * row + 10)).toEqual([11, ...read]);
    }
  });

  test("what may follow a beginning is what one pass over the whole date says there", async () => {
    const trained = dates.untrained({ attention: "additive", seed: SEED, engine });
    const [text, date] = ["3rd of may 1997", "1997-05-03"];
    const { data } = (await trained.model.forward(batchOf(text, date), {})).logits;
    for (let at = 0; at < date.length; at++) {
      const powers = Array.from(data.subarray(11 * at, 11 * at + 11), (logit: number) => Math.exp(logit));
      const sum = powers.reduce((total, power) => total + power, 0);
      const [found = []] = await dates.following(trained, text, [date.slice(0, at), "9".repeat(at)]);
      expect(found.map(({ character }) => character).join("")).toBe("0123456789-");
      // Logits below 1 of sums of 64 products.
      for (const [place, { probability }] of found.entries()) {
        expect(Math.abs(probability - (powers[place] ?? Number.NaN) / sum)).toBeLessThan(64 * 2 ** -24);
      }
    }
  });

  test.each(["dot", "none"] as const)(
    "with %s attention, are moved by each character as finite differences say",
    async (attention) => {
      const trained = dates.untrained({ attention, seed: SEED, engine });
      const [text, date] = ["3rd may", "1997-05-03"];
      const found = await dates.reach(trained, text, date);
      const { model } = trained;
      const { source, mask, inputs } = batchOf(text, date);
      const embedded = await model.source.forward(source, {});
      /** The logit of the last character, 3, where one number of an embedding is another. */
      const logit = async (at: number, by: number): Promise<number> => {
        const data = embedded.data.slice();
        data[at] = (data[at] ?? Number.NaN) + by;
        const encoded = await model.encoder.forward({ ...embedded, data }, {});
        const { logits } = await model.decode(encoded, { mask, inputs }, {});
        return logits.data.at(-11 + 3) ?? Number.NaN;
      };
      const width = embedded.data.length / text.length;
      const step = 0.25;
      for (const character of [0, text.length - 1]) {
        let square = 0;
        for (let i = 0; i < width; i++) {
          const at = character * width + i;
          square += (((await logit(at, step)) - (await logit(at, -step))) / (2 * step)) ** 2;
        }
        // A logit has some 2e-8 of rounding in each difference; a third derivative of gates is below 1.
        const bound = 0.02 * (found[character] ?? 0) + (Math.sqrt(width) * 4e-8) / step;
        expect(Math.abs(Math.sqrt(square) - (found[character] ?? Number.NaN))).toBeLessThan(bound);
      }
    },
  );

  test("without attention give no alignment", async () => {
    const trained = await dates.train({ attention: "none", seed: SEED, steps: 30, engine });
    expect((await trained.answer("may 3rd, 1997")).alignment).toEqual([]);
  });
});

test("a bandwidth is learned, and it is the best one", async () => {
  const losses: number[] = [];
  const trained = await kernel.train({ seed: SEED, engine, onStep: ({ loss }) => losses.push(loss) });
  expect(await kernel.accuracy(trained)).toBeGreaterThan(0.93);
  const { bandwidth, students } = trained;
  const least = lossOf(students, bandwidth);
  expect(losses.at(-1)).toBeCloseTo(least, 2);
  for (const factor of [0.8, 1.25]) expect(lossOf(students, factor * bandwidth)).toBeGreaterThan(least);
});

/** The mean squared error of guessing each salary from all others, in double precision. */
function lossOf({ grades, salaries }: { grades: number[]; salaries: number[] }, bandwidth: number): number {
  const errors = grades.map((grade, at) => {
    let [sum, total] = [0, 0];
    for (const [other, salary] of salaries.entries()) {
      if (other === at) continue;
      const weight = Math.exp(-((((grades[other] ?? 0) - grade) / bandwidth) ** 2) / 2);
      [sum, total] = [sum + weight * salary, total + weight];
    }
    return sum / total - (salaries[at] ?? 0);
  });
  return errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length;
}

test("a head of a masked language model finds what it is, before the model can say so", async () => {
  const trained = await language.train({ kind: "masked", seed: 2, steps: 300, engine });
  const { right, other, headFollows } = await language.probe(trained);
  expect(right).toBeGreaterThan(4 * other);
  expect(headFollows).toBeGreaterThan(0.8);
  // One of 36 nouns is right by chance.
  expect(await language.accuracy(trained)).toBeGreaterThan(0.08);
});

test("a causal language model learns the grammar", async () => {
  const losses: number[] = [];
  await language.train({ kind: "causal", seed: SEED, steps: 50, engine, onStep: ({ loss }) => losses.push(loss) });
  expect(losses.at(-1)).toBeLessThan(0.6 * (losses[0] ?? 0));
});

test("adapters learn labels, of words as well that stand in no labelled sentence", async () => {
  const told: number[] = [];
  const onStep = ({ step }: { readonly step: number }) => told.push(step);
  const trained = await labels.train({ seed: SEED, readingSteps: 150, steps: 60, engine, onStep });
  expect(told).toEqual(Array.from({ length: 210 }, (_, step) => step));
  // Half of the labels are right by chance.
  expect(await labels.accuracy(trained)).toBeGreaterThan(0.7);
  expect(await trained.label("the hen didn't cross the lake because it was hungry")).toBe("animal");
  const names = [...trained.adapters.parameters().keys()];
  expect(names).toContain("bert.encoder.layers.0.self_attn.q_proj.lora_A.weight");
});

test("attention pooling finds the shape in a picture", async () => {
  const trained = await pictures.train({ seed: SEED, steps: 150, engine });
  expect(await pictures.accuracy(trained)).toBeGreaterThan(0.7);
  expect(await pictures.onShape(trained)).toBeGreaterThan(0.5);
});

test("notes are found by questions in other words", async () => {
  const trained = await notes.train({ seed: SEED, steps: 60, engine });
  // Of 256 notes, the right one is found by chance in one of 256, and in some more by the name in it.
  expect(trained.before).toBeLessThan(0.1);
  expect(await notes.accuracy(trained)).toBeGreaterThan(0.9);
  const found = await trained.find("when did anna repair a bike at this carport ?", [
    "on monday anna lost the bicycle in the garage",
    "the bicycle : anna mended it in the garage on sunday",
    "on sunday anna mended the sofa in the garage",
  ]);
  expect(found).toEqual([1]);
});

test("two layers learn from six what labels alone do not tell them", async () => {
  const trained = await distill.train({ seed: SEED, teacherSteps: 150, steps: 120, engine });
  const { teacher, distilled, alone } = await distill.figures(trained);
  expect(distilled).toBeGreaterThan(1.5 * alone);
  expect(teacher).toBeGreaterThan(distilled);
});

test("words are copied that are longer than any in training, where distances are all that is known of places", async () => {
  const relative = await longer.train({ seed: SEED, steps: 120, engine });
  const absolute = await longer.train({ positions: "absolute", seed: SEED, steps: 120, engine });
  expect(await longer.accuracy(relative, { length: 4 * longer.SEEN })).toBeGreaterThan(0.9);
  expect(await longer.accuracy(absolute, { length: longer.SEEN })).toBeGreaterThan(0.9);
  expect(await longer.accuracy(absolute, { length: 2 * longer.SEEN })).toBe(0);
});

test("each head learns its decay, and longer texts cost no more", async () => {
  const trained = await decay.train({ seed: SEED, steps: 60, engine });
  const [once, four] = [await decay.perplexity(trained), await decay.perplexity(trained, { times: 4 })];
  expect(four).toBeLessThan(1.05 * once);
  const rates = (await trained.model.readParameters()).get("attention0.layer.rate")?.data ?? [];
  expect(rates).toHaveLength(4);
  // ALiBi's are 1/4, 1/16, 1/64 and 1/256.
  for (const [head, rate] of rates.entries()) expect(Math.abs(rate + 2 * (head + 1) * Math.LN2)).toBeGreaterThan(0.3);
});

test("a recipe ends when its signal aborts", async () => {
  const controller = new AbortController();
  const training = kernel.train({ seed: SEED, engine, signal: controller.signal, onStep: () => controller.abort() });
  await expect(training).rejects.toThrow();
});
