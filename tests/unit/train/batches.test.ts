// Batches of examples, and metrics of classes.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { BertModel, GPT2Model } from "../../../web/src/layers/index.js";
import { accuracy, batches, evaluate, f1, perplexity } from "../../../web/src/train/index.js";
import { Random } from "../../support/random.js";

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

const all = async <T>(from: AsyncIterable<T>): Promise<T[]> => {
  const made: T[] = [];
  for await (const one of from) made.push(one);
  return made;
};
const counted = (length: number): number[] => Array.from({ length }, (_, at) => at);

describe("batches", () => {
  test("hold every example once an epoch, in the order of the seed", async () => {
    const make = (seed: number) => batches(counted(23), { size: 5, seed });
    const data = make(1);
    expect(data.length).toBe(5);
    const epochs = [await all(data), await all(data)];
    for (const epoch of epochs) {
      expect(epoch.map(({ length }) => length)).toEqual([5, 5, 5, 5, 3]);
      expect(epoch.flat().sort((a, b) => a - b)).toEqual(counted(23));
      expect(epoch.flat()).not.toEqual(counted(23));
    }
    expect(epochs[1]).not.toEqual(epochs[0]);
    const again = make(1);
    // Whatever came before, and in any order.
    for (const step of [9, 0, 7, 3]) expect(await again.at(step)).toEqual(epochs.flat()[step]);
    expect(await all(make(2))).not.toEqual(epochs[0]);
    expect((await all(batches(counted(7), { size: 3, shuffle: false }))).flat()).toEqual(counted(7));
  });

  test("are of a copy of the examples, and made by a function of the caller", async () => {
    const given = [1, 2, 3];
    const data = batches(given, { size: 2, shuffle: false, collate: (some) => some.map((one) => one * 2) });
    given.fill(9);
    expect(await all(data)).toEqual([[2, 4], [6]]);
  });

  test("of token lists are of like length, padded or packed", async () => {
    const random = new Random(5);
    const texts = counted(200).map((at) => counted(1 + Math.floor(random.next() * 30)).map(() => at + 1));
    const idOf = (tokens: ArrayLike<number>): number => tokens[0] ?? 0;
    const padded = await all(batches(texts, { size: 8, collate: "padded", pad: 7 }));
    let waste = 0;
    const seen: number[] = [];
    for (const { tokens, mask } of padded) {
      const [count, length] = tokens.shape;
      for (let row = 0; row < count; row++) {
        const own = [...tokens.data.subarray(row * length, (row + 1) * length)];
        const text = texts[idOf(own) - 1] ?? [];
        seen.push(idOf(own));
        expect(own).toEqual([...text, ...Array(length - text.length).fill(7)]);
        expect([...mask.subarray(row * length, (row + 1) * length)]).toEqual(
          own.map((_, at) => Number(at < text.length)),
        );
        waste += length - text.length;
      }
    }
    expect(seen.sort((a, b) => a - b)).toEqual(counted(200).map((at) => at + 1));
    // Without an order of lengths, the longest of eight lies about 12 above the mean.
    expect(waste / 200).toBeLessThan(2);
    for (const { tokens, cuSeqlens } of await all(batches(texts, { size: 8, collate: "packed" }))) {
      expect(tokens.shape).toEqual([1, cuSeqlens.at(-1)]);
      for (let at = 0; at + 1 < cuSeqlens.length; at++) {
        const own = [...tokens.data.subarray(cuSeqlens[at], cuSeqlens[at + 1])];
        expect(own).toEqual(texts[idOf(own) - 1]);
      }
    }
  });

  test("go into models as they are", async () => {
    const texts = [[1, 2, 3], [4, 5], [6]];
    const sizes = {
      vocab_size: 11,
      hidden_size: 8,
      intermediate_size: 8,
      num_hidden_layers: 1,
      num_attention_heads: 2,
    };
    const bert = new BertModel({ model_type: "bert", ...sizes, max_position_embeddings: 8 }, { engine }).init();
    const padded = await batches(texts, { size: 3, shuffle: false, collate: "padded" }).at(0);
    const packed = await batches(texts, { size: 3, shuffle: false, collate: "packed" }).at(0);
    const whole = await bert.forward(texts);
    expect((await bert.forward(padded.tokens, { mask: padded.mask })).hidden).toEqual(whole.hidden);
    const { hidden } = await bert.forward(packed.tokens, { cuSeqlens: packed.cuSeqlens });
    expect(hidden.data.length).toBe(6 * 8);
    for (const [at, one] of hidden.data.subarray(0, 24).entries())
      expect(one).toBeCloseTo(whole.hidden.data[at] ?? 0, 5);
  });

  test.each<[string, () => unknown]>([
    ["batches: examples must be an array, not empty, got []", () => batches([], { size: 1 })],
    ["batches: size must be given", () => batches([1], {} as never)],
    [
      'batches: collate must be "padded", "packed" or a function, got "pad"',
      () => batches([1], { size: 1, collate: "pad" as never }).at(0),
    ],
    [
      "batches: example 1 must be tokens, a list of whole numbers from 0 on, got []",
      () => batches([[1], []], { size: 1, collate: "packed" }).at(0),
    ],
    ["batches.at: step must be a whole number, 0 or more", () => batches([1], { size: 1 }).at(-1)],
  ])("refuses: %s", async (message, act) => {
    await expect((async () => act())()).rejects.toMatchObject({
      code: "option",
      message: expect.stringContaining(message),
    });
  });
});

describe("metrics", () => {
  const random = new Random(6);
  const [rows, classes] = [40, 4];
  const logits = { data: random.floats(rows * classes), shape: [rows, classes] };
  // The last class is never a target, and some rows do not count.
  const targets = counted(rows).map((row) => (row % 9 === 0 ? -100 : Math.floor(random.next() * (classes - 1))));
  const kept = counted(rows).filter((row) => targets[row] !== -100);
  const row = (at: number): number[] => [...logits.data.subarray(at * classes, (at + 1) * classes)];
  const predicted = (at: number): number => row(at).indexOf(Math.max(...row(at)));

  test("are those of their definitions", async () => {
    const right = kept.filter((at) => predicted(at) === targets[at]).length;
    expect(await accuracy(logits, targets)).toBeCloseTo(right / kept.length, 12);
    const scores = counted(classes).map((label) => {
      const [found, wanted] = [
        kept.filter((at) => predicted(at) === label),
        kept.filter((at) => targets[at] === label),
      ];
      const both = found.filter((at) => targets[at] === label).length;
      const [precision, recall] = [both / (found.length || 1), both / (wanted.length || 1)];
      const score = both === 0 ? 0 : (2 * precision * recall) / (precision + recall);
      return { score, wanted: wanted.length, isThere: found.length + wanted.length > 0 };
    });
    const there = scores.filter(({ isThere }) => isThere);
    const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
    expect(await f1(logits, targets)).toBeCloseTo(sum(there.map(({ score }) => score)) / there.length, 12);
    const weighted = sum(scores.map(({ score, wanted }) => score * wanted)) / kept.length;
    expect(await f1(logits, targets, { average: "weighted" })).toBeCloseTo(weighted, 12);
    expect(await f1(logits, targets, { average: "micro" })).toBeCloseTo(right / kept.length, 12);
    const losses = kept.map((at) => Math.log(sum(row(at).map(Math.exp))) - (row(at)[targets[at] ?? 0] ?? 0));
    expect(await perplexity(logits, targets)).toBeCloseTo(Math.exp(sum(losses) / kept.length), 9);
  });

  test("take tensors, of an engine and of a pass", async () => {
    const wanted = await accuracy(logits, targets);
    using tensor = await engine.tensor(logits.data, logits.shape);
    expect(await accuracy(tensor, targets)).toBe(wanted);
    const { right } = await evaluate(
      new GPT2Model(
        { model_type: "gpt2", vocab_size: 5, n_embd: 4, n_layer: 1, n_head: 1, n_positions: 4 },
        { engine },
      ).init(),
      async (pass) => {
        const own = pass.mul(logits, 2);
        return { loss: pass.sum(own), right: accuracy(own, targets) };
      },
    );
    expect(right).toBe(wanted);
  });

  test("refuse what has no meaning", async () => {
    await expect(f1(logits, targets, { average: "binary" })).rejects.toThrow(
      'f1: average "binary" must have 2 classes, got 4',
    );
    await expect(accuracy(logits, [1])).rejects.toThrow("accuracy: targets must be one a row of the logits, 40, got 1");
    await expect(
      perplexity(
        logits,
        targets.map(() => -100),
      ),
    ).rejects.toThrow("perplexity: at least one target must count");
  });
});
