// Room 12's models, without a page: what their files are known by, what fits together, and how tokens are written.

import { describe, expect, test } from "vitest";
import {
  type BroughtFile,
  isParameter,
  NO_PIECES,
  type Piece,
  recognise,
  withPiece,
} from "../../../demo/rooms/12-bring-your-own/model/recognise.js";
import { readable, wordOf, wordsOf } from "../../../demo/rooms/12-bring-your-own/model/words.js";
import { loadTokenizer } from "../../../web/src/layers/index.js";
import { type ModelName, madeByTransformers, madeTokenizer } from "../../support/model-files.js";

const brought = (name: string, piece: Piece): BroughtFile => ({ file: new File([], name), piece });
const config = (name: ModelName, changed: Readonly<Record<string, unknown>> = {}): BroughtFile =>
  brought("config.json", { kind: "config", config: { ...madeByTransformers(name).config, ...changed } });
const parameters = (name: ModelName, file = "model.safetensors", keeps: (name: string) => boolean = () => true) =>
  brought(file, {
    kind: "parameters",
    tensors: Array.from(madeByTransformers(name).parameters, ([key, { shape }]) => ({ name: key, shape })).filter(
      (one) => keeps(one.name),
    ),
  });
const tokenizer = (tokens: number): BroughtFile => brought("tokenizer.json", { kind: "tokenizer", tokens });
const found = (...files: readonly BroughtFile[]) => recognise(files.reduce(withPiece, NO_PIECES));

describe("a model", () => {
  test.each([
    ["gpt2", "GPT-2: 2 layers × 3 heads, 4,128 numbers, texts up to 12 tokens."],
    ["bert", "BERT: 2 layers × 3 heads, 2,908 numbers, texts up to 12 tokens."],
    ["llama", "Llama: 2 layers × 6 heads, 3,420 numbers, texts up to 32 tokens."],
  ] as const)("%s is known in any order, and says what is still to come", (name, said) => {
    const pieces = [parameters(name), config(name), tokenizer(16)] as const;
    for (const order of [pieces, [...pieces].reverse()]) {
      const all = found(...order);
      expect(all.said).toBe(said);
      expect(all.model).toMatchObject({ family: name, layers: 2, vocabulary: 16 });
    }
    expect(found(parameters(name))).toMatchObject({ model: undefined });
    expect(found(parameters(name)).said).toContain("Now drop its config.json.");
    expect(found(config(name)).said).toContain("Now drop its model.safetensors.");
    expect(found(parameters(name), config(name)).said).toContain("Now drop its tokenizer.json, or give numbers");
    expect(found(parameters(name), config(name)).model?.tokenizer).toBeUndefined();
    expect(found(tokenizer(16)).said).toContain("Now drop its config.json and its model.safetensors.");
  });

  test("in parts waits for all of them, by their names or by its index", () => {
    const [one, other] = [
      parameters("llama", "model-00001-of-00002.safetensors", (name) => !name.includes("layers.1")),
      parameters("llama", "model-00002-of-00002.safetensors", (name) => name.includes("layers.1")),
    ];
    expect(found(one, config("llama")).said).toContain("Now drop the other part of its parameters.");
    const whole = found(one, config("llama"), other);
    expect(whole.model?.files.map(({ name }) => name)).toEqual([one, other].map(({ file }) => file.name));
    expect(whole.said).toContain("3,420 numbers");
    const [left, right] = ["left.safetensors", "right.safetensors"];
    const index = brought("model.safetensors.index.json", { kind: "index", files: [left, right] });
    const named = [one, other].map(({ piece }, at) => brought([left, right][at] ?? "", piece));
    expect(found(index, config("llama"), ...named.slice(0, 1)).said).toContain(`Now drop ${right}.`);
    expect(found(index, config("llama"), ...named).model?.files).toHaveLength(2);
  });

  test("of another kind begins anew; another file of the same kind takes the place of the first", () => {
    expect(found(parameters("gpt2"), config("gpt2"), tokenizer(16), parameters("bert")).said).toBe(
      "BERT: 2,908 numbers. Now drop its config.json.",
    );
    expect(
      found(parameters("gpt2", "a.safetensors"), parameters("gpt2", "b.safetensors"), config("gpt2")).model,
    ).toMatchObject({
      files: [{ name: "b.safetensors" }],
    });
  });

  test.each([
    [[config("bert"), parameters("gpt2")], "config.json is of BERT, and the parameters have the names of GPT-2"],
    [
      [config("bert", { model_type: "t5" }), parameters("bert")],
      "of a model of the type “t5”. Those that run here are gpt2, bert, llama",
    ],
    [[config("bert", { model_type: undefined })], "no model_type"],
    [[config("gpt2", { n_head: "three" }), parameters("gpt2")], 'must say n_head, a whole number; it says "three"'],
    [[config("llama", { num_hidden_layers: 1 }), parameters("llama")], "says 1 layer, and the parameters are of 2"],
    [
      [config("gpt2"), parameters("gpt2"), tokenizer(420)],
      "tokenizer.json has 420 tokens, and this GPT-2 knows 16: it is another model’s",
    ],
    [
      [
        config("gpt2"),
        brought("model.safetensors", { kind: "parameters", tensors: [{ name: "wte.weight", shape: [2 ** 20, 1000] }] }),
      ],
      "1,049 million numbers, which would take 8 GB",
    ],
  ] as const)("that cannot run is refused in words: %#", (files, why) => {
    expect(() => found(...files)).toThrow(why);
  });

  test("may have a tokenizer that is not its own, which is said", () => {
    expect(found(parameters("gpt2"), config("gpt2"), tokenizer(9)).said).toContain("it may be another model’s");
    expect(found(parameters("gpt2"), config("gpt2"), tokenizer(15)).said).not.toContain("another");
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
