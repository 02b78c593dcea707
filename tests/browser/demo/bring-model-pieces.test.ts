// Room 12's models, without a page: how their files come together, how answers change, and how tokens are written.

import { describe, expect, test } from "vitest";
import { isParameter } from "../../../demo/src/brought/arrays.js";
import { isWhole, lacking, nameOf, withFiles } from "../../../demo/src/brought/files.js";
import { chances, changes, cosineOfMeans, divergence, movements } from "../../../demo/src/brought/odds.js";
import { readable, wordOf, wordsOf } from "../../../demo/src/brought/words.js";
import { loadTokenizer } from "../../../web/src/layers/index.js";
import { madeTokenizer } from "../../support/model-files.js";

describe("the files of a model", () => {
  const brought = (...paths: readonly string[]) =>
    paths.map((path) => ({ path, file: new File([], path.split("/").at(-1) ?? "") }));
  const dropped = (...drops: readonly (readonly string[])[]) =>
    drops.reduce((files, paths) => withFiles(files, brought(...paths)), withFiles(new Map(), []));
  const paths = (...drops: readonly (readonly string[])[]) => [...dropped(...drops).keys()];

  test("come in any order, one by one; weights have their published name", () => {
    for (const order of [
      ["config.json", "tokenizer.json", "bert.safetensors"],
      ["bert.safetensors", "tokenizer.json", "config.json"],
    ]) {
      const all = paths(...order.map((one) => [one]));
      expect(all.sort()).toEqual(["config.json", "model.safetensors", "tokenizer.json"]);
      expect(isWhole(all)).toBe(true);
    }
    expect(lacking(dropped(["config.json"]))).toBe("A piece of a model. Now drop its model.safetensors.");
    expect(isWhole(["config.json", "model.safetensors"], true)).toBe(false);
    expect(isWhole(["config.json", "model.safetensors", "tokenizer.json"], true)).toBe(true);
    expect(lacking(dropped(["tokenizer.json"]))).toContain("its config.json and its model.safetensors.");
  });

  test("replace those of their kind, and all of them where they are whole", () => {
    expect(paths(["a.safetensors"], ["b.safetensors"], ["config.json"])).toEqual(["model.safetensors", "config.json"]);
    expect(paths(["config.json", "a.safetensors", "tokenizer.json"], ["config.json", "b.safetensors"])).toEqual([
      "config.json",
      "model.safetensors",
    ]);
    expect(paths(["config.json", "a.safetensors"], ["tiny.GGUF"])).toEqual(["tiny.GGUF"]);
    expect(paths(["tiny.gguf"], ["config.json"])).toEqual(["config.json"]);
  });

  test("in parts stand beside each other, as those that an index names", () => {
    const [one, other] = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    expect(paths([one], [other], ["config.json"])).toEqual([one, other, "config.json"]);
    expect(paths(["config.json", "left.safetensors", "model.safetensors.index.json"])).toContain("left.safetensors");
  });

  test("keep the paths of their folder, by which they are called", () => {
    const folder = ["tiny/config.json", "tiny/1_Pooling/config.json", "tiny/model.safetensors"];
    expect(paths(folder)).toEqual(folder);
    expect(nameOf(dropped(folder))).toBe("tiny");
    expect(nameOf(dropped(["Some.Q4_1.gguf"]))).toBe("Some.Q4_1");
    expect(nameOf(dropped(["config.json", "a.safetensors"]))).toBeUndefined();
  });
});

describe("an answer", () => {
  test("is chances, of which those are listed that were likeliest or are", () => {
    const before = chances(Float32Array.of(Math.log(5), Math.log(3), Math.log(2), Number.NEGATIVE_INFINITY));
    for (const [at, chance] of [0.5, 0.3, 0.2, 0].entries()) expect(before[at]).toBeCloseTo(chance, 7);
    const after = Float64Array.of(0.1, 0.3, 0.2, 0.4);
    const listed = changes(before, after, 1);
    expect(listed.map(({ id }) => id)).toEqual([0, 3]);
    expect(listed[1]).toEqual({ id: 3, before: 0, after: 0.4 });
    expect(divergence(before, after)).toBeCloseTo(0.5 * Math.log(5), 7);
    expect(divergence(after, after)).toBe(0);
  });

  test("without words is how far vectors move", () => {
    const [before, after] = [Float32Array.of(3, 4, 0, 2), Float32Array.of(3, 4, 2, 2)];
    expect(movements(before, after, 2)).toEqual([0, 1]);
    // The means are half of (3, 6) and (5, 6).
    expect(cosineOfMeans(before, after, 2)).toBeCloseTo((15 + 36) / Math.sqrt(45 * 61), 12);
  });
});

test("parameters are told from arrays by their names", () => {
  expect(["a.weight", "bias", "x.LayerNorm.gamma", "attn.c_attn.bias"].every(isParameter)).toBe(true);
  expect(["weights", "q", "layer0.query", "attention_weights", "attn.weights"].some(isParameter)).toBe(false);
});

describe("words", () => {
  test("of bytes are told apart by their number, of all scripts as they are written", async () => {
    const made = await loadTokenizer(madeTokenizer("gpt2"));
    const words = (text: string): readonly string[] => wordsOf(text, made.encode(text));
    expect(words("🙂")).toEqual(["🙂·1", "🙂·2", "🙂·3", "🙂·4"]);
    expect(words("שי").join("")).toBe("ש·1ש·2י·1י·2");
    expect(words("a\n").at(-1)).toBe("↵");
    const text = "lower and lowest";
    expect(words(text).join("")).toBe(text.replaceAll(" ", ""));
  });

  test("that are added have their names, unknown ones their text", async () => {
    const made = await loadTokenizer(madeTokenizer("bert"));
    const text = "the 中 lower";
    const words = wordsOf(text, made.encode(text));
    expect([words[0], words.at(-1)]).toEqual(["[CLS]", "[SEP]"]);
    expect(words.slice(1, -1).join("")).toBe("the中lower");
  });

  test("that stand in no text are written as they would be, and bytes as they are spelt", async () => {
    const made = await loadTokenizer(madeTokenizer("gpt2"));
    const of = (text: string): string => wordOf(made, made.encode(text).ids[0] ?? -1);
    expect(of(" ")).toBe("␣");
    expect(of("a")).toBe("a");
    expect(of("🙂")).toBe(made.encode("🙂").tokens[0]);
    expect(wordOf(made, 99999)).toBe("#99999");
  });

  test.each([
    [" the", "the"],
    ["   ", "␣␣␣"],
    ["\t", "⇥"],
    ["\u0007", "U+0007"],
    ["\u200b", "U+200B"],
    ["\u0301", "◌\u0301"],
    ["क्\u200dष", "क्\u200dष"],
    ["x".repeat(40), `${"x".repeat(23)}…`],
  ])("%j is readable", (text, wanted) => {
    expect(readable(text)).toBe(wanted);
  });
});
