// What tokenizers do beside what their library's cases show: broken text, files of every age, refusals, and time.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { HeedError } from "../../web/src/index.js";
import { loadTokenizer, type Tokenizer } from "../../web/src/layers/index.js";
import { fromOniguruma } from "../../web/src/layers/text/pattern.js";
import { errorOf } from "../support/cases.js";

type Json = Readonly<Record<string, unknown>>;

const MADE: readonly { readonly name: string; readonly tokenizer: Json }[] = JSON.parse(
  readFileSync(new URL("../fixtures/tokenizers.json", import.meta.url), "utf8"),
);

function fileOf(name: string): Json {
  const made = MADE.find((one) => one.name === name);
  if (made === undefined) throw new Error(`no tokenizer ${name}`);
  return made.tokenizer;
}

const modelOf = (file: Json): Json => file["model"] as Json;
const bytesOf = (file: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(file));

describe("text", () => {
  const LONE = ["\ud83d", "\ude00", "a\ud83d b", "\ude00\ud83d", "x\udfffy\ud800"];

  test.each(MADE.map(({ name }) => name))("%s reads unpaired surrogates as U+FFFD", async (name) => {
    const tokenizer = await loadTokenizer(fileOf(name));
    for (const text of LONE) {
      const repaired = text.replace(/\p{Cs}/gu, "\ufffd");
      expect(tokenizer.encode(text)).toEqual(tokenizer.encode(repaired));
    }
  });

  test.each(["gpt2", "llama3", "possessive"])("%s brings every text back", async (name) => {
    const tokenizer = await loadTokenizer(fileOf(name));
    const texts = [
      "",
      " a  b ",
      "😀👩\u200d👩\u200d👧 e\u0301\u0308",
      "مرحبا שלום",
      "\u0000\u0085\u2028\ufeff",
      "日本\n\n\r\n",
    ];
    for (const text of texts) expect(tokenizer.decode(tokenizer.encode(text).ids)).toBe(text);
  });

  test("offsets cut tokens out of the text, in order and without gaps where every byte is a token's", async () => {
    const tokenizer = await loadTokenizer(fileOf("gpt2"));
    const text = "It's  naïve 日本 шу 12345\n";
    const { offsets } = tokenizer.encode(text);
    let end = 0;
    for (const [start, stop] of offsets) {
      expect(start).toBeLessThanOrEqual(end);
      end = Math.max(end, stop);
    }
    expect(end).toBe(text.length);
    const bert = await loadTokenizer(fileOf("bert"));
    const encoded = bert.encode("Hello, WÖRLD", { addSpecialTokens: false });
    expect(encoded.offsets.map(([from, to]) => "Hello, WÖRLD".slice(from, to)).join("")).toBe("Hello,WÖRLD");
  });

  test("numbers without a token are left out of a text, and others than numbers refused", async () => {
    const tokenizer = await loadTokenizer(fileOf("gpt2"));
    const { ids } = tokenizer.encode("Hello");
    expect(tokenizer.decode([...ids, tokenizer.vocabularySize, 2 ** 30])).toBe("Hello");
    expect(tokenizer.decode([])).toBe("");
    for (const wrong of [[-1], [0.5], [Number.NaN], ["a"], "abc", undefined]) {
      expect(() => Reflect.apply(tokenizer.decode, tokenizer, [wrong])).toThrow(HeedError);
    }
  });

  test("tokens have numbers, and numbers tokens", async () => {
    const tokenizer = await loadTokenizer(fileOf("bert"));
    expect(tokenizer.tokenOf(tokenizer.idOf("[CLS]") ?? -1)).toBe("[CLS]");
    expect([tokenizer.idOf("nowhere"), tokenizer.tokenOf(10 ** 6), tokenizer.vocabularySize]).toEqual([
      undefined,
      undefined,
      420,
    ]);
  });

  test.each<[string, unknown[], RegExp]>([
    ["no text", [7], /text must be a string, got 7/],
    ["a pair that is none", ["a", { pair: 7 }], /pair must be a string, got 7/],
    ["no room for what is added", ["a", { maxLength: 1 }], /leave room for 2 added tokens, got 1/],
    ["an unknown option", ["a", { maxlength: 1 }], /"maxlength", did you mean "maxLength"/],
  ])("encode refuses %s", async (_name, given, message) => {
    const tokenizer = await loadTokenizer(fileOf("bert"));
    const encode = (): unknown => Reflect.apply(tokenizer.encode, tokenizer, given);
    expect(encode).toThrow(expect.objectContaining({ code: "option", message: expect.stringMatching(message) }));
  });
});

describe("files", () => {
  const TEXT = "Hello it's the lowest newest 12345 naïve";

  test("come as bytes, Blobs, streams, or parsed", async () => {
    const file = fileOf("llama3");
    const wanted = (await loadTokenizer(file)).encode(TEXT);
    const bytes = bytesOf(file);
    const sources = [bytes, new Blob([Uint8Array.from(bytes)]), new Response(JSON.stringify(file))];
    for (const source of sources) expect((await loadTokenizer(source)).encode(TEXT)).toEqual(wanted);
  });

  test("may write merges as older ones did, and not say what their model is", async () => {
    for (const name of ["gpt2", "llama2", "metaspace"]) {
      const file = fileOf(name);
      const { type: _type, ...model } = modelOf(file);
      const merges = (model["merges"] as string[][]).map((merge) => merge.join(" "));
      const older = await loadTokenizer({ ...file, model: { ...model, merges } });
      expect(older.encode(TEXT)).toEqual((await loadTokenizer(file)).encode(TEXT));
    }
    const { type: _type, ...model } = modelOf(fileOf("bert"));
    const bert = await loadTokenizer({ ...fileOf("bert"), model });
    expect(bert.encode(TEXT)).toEqual((await loadTokenizer(fileOf("bert"))).encode(TEXT));
  });

  const bert = fileOf("bert");
  const gpt2 = fileOf("gpt2");
  const withModel = (file: Json, change: Json): Json => ({ ...file, model: { ...modelOf(file), ...change } });
  test.each<[string, unknown, string, RegExp]>([
    ["a model", withModel(bert, { type: "X" }), "unsupported", /model of type "X" is not supported/],
    ["a normalizer", { ...bert, normalizer: { type: "Nmt" } }, "unsupported", /normalizer of type "Nmt"/],
    [
      "one in a row",
      { ...bert, normalizer: { type: "Sequence", normalizers: [{ type: "X" }] } },
      "unsupported",
      /normalizers\[0\] of type "X"/,
    ],
    ["a pre-tokenizer", { ...bert, pre_tokenizer: { type: "UnicodeScripts" } }, "unsupported", /"UnicodeScripts"/],
    ["a post-processor", { ...bert, post_processor: { type: "X" } }, "unsupported", /post_processor of type "X"/],
    ["a decoder", { ...bert, decoder: { type: "CTC" } }, "unsupported", /decoder of type "CTC"/],
    ["a type from the prototype", { ...bert, decoder: { type: "constructor" } }, "unsupported", /"constructor"/],
    ["a Unigram of no scores", { model: { type: "Unigram", vocab: [["a"]] } }, "load", /tokens with their scores/],
    [
      "a Unigram of an endless token",
      { model: { type: "Unigram", vocab: [["a".repeat(257), 0]] } },
      "load",
      /at most 256 characters, got 257/,
    ],
    [
      "a Unigram without its unknown token",
      { model: { type: "Unigram", unk_id: 1, vocab: [["a", 0]] } },
      "load",
      /unk_id must be in/,
    ],
    [
      "compiled rules that are no base64",
      { ...bert, normalizer: { type: "Precompiled", precompiled_charsmap: "?" } },
      "load",
      /must be base64/,
    ],
    [
      "compiled rules without a trie",
      { ...bert, normalizer: { type: "Precompiled", precompiled_charsmap: "/////w==" } },
      "load",
      /must have a trie in 4 bytes/,
    ],
    [
      "compiled rules that write long texts",
      {
        ...bert,
        normalizer: { type: "Precompiled", precompiled_charsmap: btoa(`\u0004\0\0\0\0\0\0\0${"a".repeat(257)}`) },
      },
      "load",
      /replace by at most 256 bytes, got 257/,
    ],
    ["dropout", withModel(gpt2, { dropout: 0.1 }), "unsupported", /dropout/],
    ["no model", { model: 7 }, "load", /the tokenizer: model must be an object, got 7/],
    ["an array", [], "load", /must be an object/],
    ["no vocabulary", withModel(gpt2, { vocab: 7 }), "load", /vocab must be an object, got 7/],
    ["a token without a number", withModel(gpt2, { vocab: { a: "1" } }), "load", /that of "a", got "1"/],
    ["a negative number", withModel(gpt2, { vocab: { a: -1 } }), "load", /that of "a", got -1/],
    ["a merge of three", withModel(gpt2, { merges: ["a b c"] }), "load", /a merge must be two tokens/],
    ["a merge of nothing", withModel(gpt2, { merges: [null] }), "load", /a merge must be two tokens, got null/],
    [
      "a merge of strangers",
      withModel(gpt2, { merges: [["nobody", "a"]] }),
      "load",
      /tokens of the vocabulary, got "nobody/,
    ],
    ["an unknown token that is unknown", withModel(bert, { unk_token: "nobody" }), "load", /unk_token must be in/],
    [
      "a number for a text",
      { ...bert, decoder: { type: "WordPiece", prefix: 7 } },
      "load",
      /prefix must be a text, got 7/,
    ],
    [
      "a text for a flag",
      { ...bert, normalizer: { type: "BertNormalizer", lowercase: "no" } },
      "load",
      /lowercase must be true or false/,
    ],
    [
      "a pattern that is none",
      { ...bert, pre_tokenizer: { type: "Split", pattern: { Regex: "a{2,1}" }, behavior: "Isolated" } },
      "load",
      /is no pattern/,
    ],
    [
      "an unknown behavior",
      { ...bert, pre_tokenizer: { type: "Split", pattern: { String: "a" }, behavior: "X" } },
      "load",
      /behavior must be one of/,
    ],
  ])("are refused with %s", async (_name, file, code, message) => {
    const error = await errorOf(loadTokenizer(bytesOf(file)));
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    expect(error.message).toMatch(/^loadTokenizer: /);
  });

  test("are refused where they are no JSON, no UTF-8, or nothing to read", async () => {
    expect((await errorOf(loadTokenizer(new TextEncoder().encode("{")))).message).toMatch(/must be JSON/);
    expect((await errorOf(loadTokenizer(Uint8Array.of(0x22, 0xff, 0x22)))).message).toMatch(/must be UTF-8/);
    expect((await errorOf(Reflect.apply(loadTokenizer, undefined, [7]))).code).toBe("option");
    expect((await errorOf(loadTokenizer(bytesOf(gpt2), { signal: AbortSignal.abort() }))).code).toBe("aborted");
  });

  test("a token named __proto__ is a token", async () => {
    const vocab = JSON.parse('{"__proto__": 1, "a": 0, "<unk>": 2}');
    const tokenizer = await loadTokenizer({ model: { type: "WordLevel", vocab, unk_token: "<unk>" } });
    expect([...tokenizer.encode("__proto__").ids]).toEqual([1]);
    expect([...tokenizer.encode("toString").ids]).toEqual([2]);
  });
});

describe("time", () => {
  test("a word of 200,000 characters takes no more than some times that of 20,000", async () => {
    const tokenizer = await loadTokenizer(fileOf("gpt2"));
    const took = (length: number): number => {
      const text = "abbaab".repeat(Math.ceil(length / 6)).slice(0, length);
      const start = performance.now();
      expect(tokenizer.decode(tokenizer.encode(text).ids)).toBe(text);
      return performance.now() - start;
    };
    took(20_000);
    const short = Math.min(took(20_001), took(20_002), took(20_003));
    // 10 times as much, 11.5 times with its logarithm; 100 times if it were quadratic.
    expect(Math.min(took(200_001), took(200_002))).toBeLessThan(40 * short);
  });
});

describe("added tokens that begin alike", () => {
  const model = { type: "WordLevel", vocab: { "?": 0 }, unk_token: "?" };
  const load = (contents: readonly string[]): Promise<Tokenizer> =>
    loadTokenizer({ model, added_tokens: contents.map((content, at) => ({ id: at + 1, content, special: true })) });

  test("the longest is found at each place", async () => {
    const contents = ["a", "ab", "abcab", "b", "c.", "c", "cab", "😀", "😀😀b"];
    const tokenizer = await load(contents);
    const text = "abcabcabc.😀😀😀b x abcaab".repeat(3);
    const wanted: string[] = [];
    for (let at = 0; at < text.length; ) {
      const rest = text.slice(at);
      const [longest = ""] = contents.filter((one) => rest.startsWith(one)).sort((a, b) => b.length - a.length);
      if (longest !== "") wanted.push(longest);
      at += longest.length || 1;
    }
    expect(tokenizer.encode(text).tokens.filter((token) => token !== "?")).toEqual(wanted);
  });

  test("each character of a text is compared once with all of them, and one of more than 256 is refused", async () => {
    const tokenizer = await load(Array.from({ length: 3000 }, (_, at) => `${"a".repeat(at % 250)}b${at}`));
    const start = performance.now();
    tokenizer.encode("a".repeat(30_000));
    // 0.02 s; with each token on its own 4 s.
    expect(performance.now() - start).toBeLessThan(1000);
    await expect(load(["a".repeat(257)])).rejects.toThrow(
      "loadTokenizer: an added token must have at most 256 characters, got 257",
    );
  });
});

describe("what a file makes of a text is bounded", () => {
  const model = { type: "BPE", vocab: { a: 0, "<unk>": 1 }, merges: [], unk_token: "<unk>" };
  const tenfold = { type: "Replace", pattern: { String: "a" }, content: "a".repeat(10) };
  const twelve = Array.from({ length: 12 }, () => tenfold);
  const bytes = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
  const slot = { SpecialToken: { id: "x", type_id: 0 } };
  const template = (single: unknown, ids: number): Json => ({
    model,
    post_processor: {
      type: "TemplateProcessing",
      single,
      pair: [],
      special_tokens: {
        x: { ids: Array.from({ length: ids }, () => 0), tokens: Array.from({ length: ids }, () => "x") },
      },
    },
  });
  const nested = (depth: number): Json =>
    depth === 0 ? { type: "Lowercase" } : { type: "Sequence", normalizers: [nested(depth - 1)] };

  test.each<[string, Json, string]>([
    ["a normalizer", { normalizer: { type: "Sequence", normalizers: twelve } }, "a"],
    ["one replacement", { normalizer: { ...tenfold, content: "b".repeat(10 ** 6) } }, "a".repeat(10 ** 4)],
    ["a pre-tokenizer", { pre_tokenizer: { type: "Sequence", pretokenizers: Array(40).fill(bytes) } }, "\u00e9"],
    [
      "a mark",
      { pre_tokenizer: { type: "Metaspace", replacement: "b".repeat(1000), prepend_scheme: "never" } },
      " ".repeat(10 ** 4),
    ],
  ])("%s that grows it", async (_name, parts, text) => {
    const tokenizer = await loadTokenizer({ model, ...parts });
    const rule = `Tokenizer.encode: the tokenizer's rules must write at most ${2 ** 20 + 256 * text.length} characters`;
    expect(() => tokenizer.encode(text)).toThrow(
      expect.objectContaining({ code: "memory", message: `${rule} for a text of ${text.length}, got more` }),
    );
    expect(tokenizer.encode("").ids.length).toBe(0);
  });

  test("a normalizer that grows an added token, when it is loaded", async () => {
    const added_tokens = [{ id: 0, content: "a", normalized: true }];
    const error = await errorOf(
      loadTokenizer({ model, added_tokens, normalizer: { type: "Sequence", normalizers: twelve } }),
    );
    expect([error.code, error.message]).toEqual([
      "memory",
      expect.stringMatching(/^loadTokenizer: .* for a text of 1, got/),
    ]);
  });

  test.each<[string, Json]>([
    ["replacements", { type: "Sequence", decoders: twelve }],
    ["suffixes of nothing", { type: "Sequence", decoders: Array(60).fill({ type: "Metaspace", replacement: "" }) }],
  ])("a decoder that grows it by %s", async (_name, decoder) => {
    const tokenizer = await loadTokenizer({ model, decoder });
    const { ids } = tokenizer.encode("aa");
    expect(() => tokenizer.decode(ids)).toThrow(
      expect.objectContaining({
        code: "memory",
        message: expect.stringMatching(/^Tokenizer.decode: .* for a text of 2, got/),
      }),
    );
  });

  test.each<[string, Json, RegExp]>([
    [
      "many steps",
      { model, normalizer: { type: "Sequence", normalizers: Array(257).fill({ type: "NFD" }) } },
      /at most 256 steps in its sequences, got 257/,
    ],
    ["deep steps", { model, normalizer: nested(300) }, /at most 256 steps/],
    ["a template of many slots", template(Array(1000).fill(slot), 1), /at most 256 steps in its sequences, got 1000/],
    ["a slot of many tokens", template([slot], 1000), /ids must be at most 64, got an array of 1000/],
    [
      "a text several times",
      template([{ Sequence: { id: "A" } }, { Sequence: { id: "A" } }], 1),
      /single must have each text once/,
    ],
  ])("%s", async (_name, file, message) => {
    const error = await errorOf(loadTokenizer(file));
    expect([error.code, error.message]).toEqual(["load", expect.stringMatching(message)]);
  });

  test("words that WordPiece compares with long tokens for ever, and no others", async () => {
    const fileWith = (long: number): Json => ({
      model: {
        type: "WordPiece",
        vocab: { "[UNK]": 0, a: 1, "##a": 2, ["b".repeat(long)]: 3 },
        max_input_chars_per_word: 2 ** 26 - 1,
      },
    });
    const short = await loadTokenizer(fileWith(20));
    expect(short.encode("a".repeat(50_000)).ids.length).toBe(50_000);
    const long = await loadTokenizer(fileWith(2000));
    expect(long.encode("a".repeat(100)).ids.length).toBe(100);
    expect(() => long.encode("a".repeat(5000))).toThrow(
      expect.objectContaining({
        code: "memory",
        message: expect.stringContaining("at most 134 characters with tokens of up to 2000, got 5000"),
      }),
    );
  });
});

describe("patterns", () => {
  const found = (pattern: string, text: string): string[] =>
    [...text.matchAll(fromOniguruma(pattern))].map(([one]) => one);

  test("GPT-2's cuts the example of docs/semantics/layers-and-models.md as it says", async () => {
    const tokenizer = await loadTokenizer({
      model: { type: "WordLevel", vocab: { "?": 0 }, unk_token: "?" },
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false },
    });
    const text = "It's 5  o'clock";
    const texts = tokenizer.encode(text).offsets.map(([from, to]) => text.slice(from, to));
    expect(texts).toEqual(["It", "'s", " 5", " ", " o", "'", "clock"]);
  });

  test.each<[string, string, string[]]>([
    ["(?i:'s|k)", "'S 'ſ \u212a 's x", ["'S", "'ſ", "\u212a", "'s"]],
    ["a(?i:b)c", "abc aBc Abc aBC", ["abc", "aBc"]],
    ["(?i:[a-c]x)", "Bx bX dx", ["Bx", "bX"]],
    ["a++b|a", "aab aac", ["aab", "a", "a"]],
    ["(?:a?+a|b)", "a b", ["b"]],
    ["(?>ab|a)c", "abc ac", ["abc", "ac"]],
    ["a{2}+", "aaaaa", ["aaaa"]],
    ["a{1,3}+", "aaaaab", ["aaaaa"]],
    ["a+?b", "aab", ["aab"]],
    ["a{,2}b{x", "aaab{x", ["aab{x"]],
    ["\\s+", "a\u0085\u3000b\ufeffc", ["\u0085\u3000"]],
    ["[^\\s\\S]|\\S", "a\u0085", ["a"]],
    ["\\d|\\h", "٣ f g", ["٣", "f"]],
    ["\\w+", "aé_1-b\u0301½", ["aé_1", "b\u0301"]],
    ["\\p{Han}+", "a日本b", ["日本"]],
    ["\\p{^L}|\\P{Lu}", "aB1", ["a", "1"]],
    ["[]a]|[-b]", "]a-b", ["]", "a", "-", "b"]],
    ["^a|b$", "ab\nab", ["a", "b", "a", "b"]],
    [".", "a\r\n\u2028", ["a", "\r", "\u2028"]],
    ["\\u0041|\\x42|\\x{1F600}", "AB😀", ["A", "B", "😀"]],
    ["a/b\\-c\\ d", "a/b-c d", ["a/b-c d"]],
    ["(?<year>\\d{4})-(?=x)", "2000-x 2001-y", ["2000-"]],
    ["(?<!a)b", "ab b", ["b"]],
  ])("%s", (pattern, text, wanted) => expect(found(pattern, text)).toEqual(wanted));

  test.each(["[a[bc]]", "[a&&b]", "\\Aa", "a\\z", "(?m:a)", "(a)\\1", "[\\W]", "(?#comment)", "a)", "\\p{Nonsense}"])(
    "%s is refused as unsupported",
    (pattern) => {
      expect(() => fromOniguruma(pattern)).toThrow(expect.objectContaining({ code: "unsupported" }));
    },
  );

  test.each([
    "(a+)+$",
    "(?:a*b?)*c",
    "((a+b?)c?)+",
    "(?:\\w+\\s?)*x",
    "(?:[a-z]+){2,}$",
    "(?:(?:ab)?a*)+c",
    // Alternatives that begin with the same character, or end with what another begins with, or match nothing.
    "(a|a)*$",
    "(a|ab|b)*c",
    "(?:a|a){30}$",
    "(?:\\p{L}|\\p{Lu}\\p{Ll})+$",
    "(?:\\p{L}\\p{M}*|\\p{M})+$",
    "(?:(?:a?|b?)c)*$",
    "(?:(?:a|b)*c?)*$",
    // A part without alternatives whose text splits in two ways all the same.
    "(?:(?:ab?)(?:b?a))+$",
    "(?:(?:a?)+b)*$",
    "(?:α+)+$",
    // A degree of the length for each of the repetitions.
    "(?:a|b)*(?:a|b)*(?:a|b)*c",
    "(?:a+a+)b",
    "a+(?=a+b)",
    "a*\\Ba*\\Ba*\\Bb",
    // Counted repetitions are repetitions, also small ones where there are many.
    "a{1,30000}a{1,30000}b",
    "\\w+a{2000}b",
    "\\w+(?>\\w++$\\w|[^b]){2}",
    "\\w+\\w{1,3}a++[ab]{1,3}",
    "a{2,}a{0,40}b",
    "a?a?a?a?a?a?a?a?b",
    "(a|ab)(a|ab)(a|ab)(a|ab)(a|ab)(a|ab)c",
    "a+(?:a+b)",
  ])("%s, which may take for ever, is refused by name", (pattern) => {
    expect(() => fromOniguruma(pattern)).toThrow(
      expect.objectContaining({
        code: "unsupported",
        message: expect.stringContaining(`pattern ${JSON.stringify(pattern)} repeats`),
      }),
    );
  });

  test.each([
    ["alternatives", `(?:${Array.from({ length: 800 }, (_, at) => `\\x{${(0x4e00 + at).toString(16)}}`).join("|")})*$`],
    ["optional parts", `(?:${"a?".repeat(1000)}b)*$`],
    ["levels of empty parts", `${"(?:".repeat(30)}a?${")+".repeat(30)}$`],
  ])("a repeated group of too many %s is refused at once", (_name, pattern) => {
    expect(() => fromOniguruma(pattern)).toThrow(HeedError);
  });

  test.each<[string, string, string[]]>([
    ["\\p{N}{1,3}(?=(?:\\p{N}{3})*(?:\\P{N}|$))", "1234567 89", ["1", "234", "567", "89"]],
    ["(?:\\p{L}\\p{M}*)+", "e\u0301a b", ["e\u0301a", "b"]],
    ["(?:\\r?\\n)+", "a\r\n\nb", ["\r\n\n"]],
    ["\\d+(?:\\.\\d+)*", "1.22.3 4", ["1.22.3", "4"]],
    ["(?:ab){2}|(?:a+)?b", "ababaab", ["abab", "aab"]],
    ["(?>a+|b)+", "aab", ["aab"]],
    ["(?:a|b)+", "abba c", ["abba"]],
    ["(?:a|b)+c", "abbac ab", ["abbac"]],
    ["(?:\\p{L}\\p{M}*|\\p{N})+", "e\u0301a1 2", ["e\u0301a1", "2"]],
    ["(?:ab|c){2}", "abcabab", ["abc", "abab"]],
    ["(?:a|b(?:c|d)*)*e", "abcdae", ["abcdae"]],
    ["(?:a++|b)+$", "aab", ["aab"]],
    ["(?:^a|\\n)+", "a\na", ["a\na"]],
    ["\\d+\\.\\d+x", "1.22x 3", ["1.22x"]],
    ["\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", " \n  a", [" \n", " ", " "]],
    ["(?:ab){1000}|(?:(?:ab){3}c)+", "abababcab", ["abababc"]],
    ["((?=[\\p{L}])([^a-z]))*((?=[\\p{L}])([^A-Z]))+", "ABcd Ef", ["ABcd", "Ef"]],
    ["(?:\\s*[\\r\\n]+|a)", " \n a", [" \n", "a"]],
    ["a?b?a?\\d+a{1,3}|b", "aba12a", ["aba12a"]],
    [
      "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re)?",
      " Don't 日本",
      [" Don't", " 日本"],
    ],
  ])("%s, which repeats what can be told apart, works on", (pattern, text, wanted) => {
    expect(found(pattern, text)).toEqual(wanted);
  });

  test.each([
    ["long", "a?".repeat(5000), /at most 4096 characters, got 10000/],
    ["deep", `${"(".repeat(100)}a${")".repeat(100)}`, /groups must be at most 32 deep/],
  ])("one that is too %s is refused", (_name, pattern, message) => {
    expect(() => fromOniguruma(pattern)).toThrow(
      expect.objectContaining({ code: "load", message: expect.stringMatching(message) }),
    );
  });

  test.each(["(a", "[a", "a\\", "*", "a{2,1}"])("%s is refused as no pattern", (pattern) => {
    expect(() => fromOniguruma(pattern)).toThrow(HeedError);
  });
});

test("a tokenizer_config.json is told to be none", async () => {
  const config = { tokenizer_class: "GPT2Tokenizer", model_max_length: 1024, added_tokens_decoder: {} };
  const message = 'loadTokenizer: the file must be tokenizer.json, got "tokenizer_config.json"';
  const bytes = new TextEncoder().encode(JSON.stringify(config));
  await expect(loadTokenizer(bytes)).rejects.toThrow(message);
  await expect(loadTokenizer(config)).rejects.toThrow(message);
});
