// Text from models: the tokens are those of the whole text computed anew for each, whatever is cached, cut into pieces or asked for beside.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { type ParameterTensor, saveSafetensors } from "../../../web/src/layers/index.js";
import {
  type LoadedModel,
  loadModel,
  type Piece,
  type Prompt,
  type TextOptions,
} from "../../../web/src/models/index.js";
import { StopStrings } from "../../../web/src/models/stop-strings.js";
import { errorOf } from "../../support/cases.js";
import { worstDifference } from "../../support/fixtures.js";
import { folderOf, json, POSITIONS } from "../../support/small-model.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());

const llama = await loadModel(folderOf("llama").files, { engine });
const gpt2 = await loadModel(folderOf("gpt2").files, { engine });
const bert = await loadModel(folderOf("bert").files, { engine });

/** f32 through two layers. */
const DEPTH = 24;

async function piecesOf(lm: LoadedModel, prompt: Prompt, options: TextOptions = {}): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for await (const piece of lm.generate(prompt, options)) pieces.push(piece);
  return pieces;
}

const tokensOf = (pieces: readonly Piece[]): number[] => pieces.flatMap(({ tokens }) => [...tokens]);

/** The same without a cache. */
async function slowly({ model }: LoadedModel, prompt: readonly number[], count: number): Promise<number[]> {
  const ids = [...prompt];
  for (let at = 0; at < count; at++) {
    const { logits } = await model.forward(ids, { last: true });
    ids.push(logits?.data.indexOf(Math.max(...logits.data)) ?? -1);
  }
  return ids.slice(prompt.length);
}

const PROMPT = [72, 101, 97, 100, 115];

/** A hook that changes nothing. */
const same = (tensor: ParameterTensor): ParameterTensor => tensor;

describe.each([
  ["llama", llama],
  ["gpt2", gpt2],
])("%s", (_, lm) => {
  test("greedy tokens are those without a cache", async () => {
    const pieces = await piecesOf(lm, PROMPT, { maxTokens: 20, eos: [] });
    expect(tokensOf(pieces)).toEqual(await slowly(lm, PROMPT, 20));
    expect(pieces.at(-1)).toMatchObject({ tokens: [], end: "length" });
    expect(pieces.slice(0, -1).every(({ end, tokens }) => end === undefined && tokens.length === 1)).toBe(true);
  });

  test("a text's tokens and a typed array's are the same prompt", async () => {
    const options = { maxTokens: 6, eos: [] };
    const first = await piecesOf(lm, "Heads", options);
    expect(await piecesOf(lm, PROMPT, options)).toEqual(first);
    expect(await piecesOf(lm, Int32Array.from(PROMPT), options)).toEqual(first);
    // Pieces are the text of the tokens.
    expect(first.map(({ text }) => text).join("")).toBe(lm.tokenizer?.decode(tokensOf(first)));
  });

  test("a kept cache computes what is new alone, and gives what none gives", async () => {
    const cache = await lm.createCache();
    const loaded: number[] = [];
    const options = {
      maxTokens: 5,
      eos: [],
      cache,
      onPrompt: (progress: { loaded: number }) => loaded.push(progress.loaded),
    };
    const first = tokensOf(await piecesOf(lm, PROMPT, options));
    expect(first).toEqual(await slowly(lm, PROMPT, 5));
    // The last token was not computed.
    expect(cache.tokens).toEqual([...PROMPT, ...first.slice(0, -1)]);
    const next = [...PROMPT, ...first, 33, 44];
    expect(tokensOf(await piecesOf(lm, next, options))).toEqual(await slowly(lm, next, 5));
    const other = [...PROMPT.slice(0, 3), 7];
    expect(tokensOf(await piecesOf(lm, other, options))).toEqual(await slowly(lm, other, 5));
    expect(tokensOf(await piecesOf(lm, PROMPT, options))).toEqual(first);
    expect(tokensOf(await piecesOf(lm, PROMPT, options))).toEqual(first);
    await cache.truncate(2);
    expect(cache.length).toBe(2);
    expect(tokensOf(await piecesOf(lm, PROMPT, options))).toEqual(first);
    // What was computed with a hook is not mixed with what was not.
    const hooks = { "layers.0.heads.0": 0 };
    const alone = tokensOf(await piecesOf(lm, PROMPT, { maxTokens: 5, eos: [], hooks }));
    expect(tokensOf(await piecesOf(lm, PROMPT, { ...options, hooks }))).toEqual(alone);
    expect(tokensOf(await piecesOf(lm, PROMPT, options))).toEqual(first);
    cache.dispose();
  });

  test("keys of changed hooks are not taken for those of now", async () => {
    const cache = await lm.createCache();
    const hooks: Record<string, { output: number }> = { "layers.0.heads.0": { output: 0 } };
    const options = { maxTokens: 2, eos: [], hooks, hiddenStates: true };
    await piecesOf(lm, PROMPT, { ...options, cache });
    hooks["layers.0.heads.0"] = { output: 3 };
    expect(await piecesOf(lm, PROMPT, { ...options, cache })).toEqual(await piecesOf(lm, PROMPT, options));
    (hooks["layers.0.heads.0"] as { output: number }).output = -3;
    expect(await piecesOf(lm, PROMPT, { ...options, cache })).toEqual(await piecesOf(lm, PROMPT, options));
    cache.dispose();
  });

  test("a prompt is reported to its end, once, whatever is looked at", async () => {
    const ways = [{}, { attentions: true }, { hooks: { "layers.0.heads.0": { weights: same } } }];
    const wanted = [[5], [4, 5], [5]];
    for (const [at, way] of ways.entries()) {
      const seen: number[] = [];
      const onPrompt = ({ loaded }: { loaded: number }) => seen.push(loaded);
      await piecesOf(lm, PROMPT, { maxTokens: 4, eos: [], onPrompt, ...way });
      expect(seen).toEqual(wanted[at]);
    }
  });

  test("a function of weights leaves pieces the rows of their token", async () => {
    const options = { maxTokens: 3, eos: [], attentions: true, hiddenStates: true, scores: true } as const;
    const hooks = { "layers.0.heads.0": { weights: same } };
    const [all, wanted] = [await piecesOf(lm, PROMPT, { ...options, hooks }), await piecesOf(lm, PROMPT, options)];
    for (const [at, piece] of wanted.entries()) {
      for (const name of ["attentions", "hiddenStates", "scores"] as const) {
        for (const [layer, own] of (piece[name] ?? []).entries()) {
          const made = all[at]?.[name]?.[layer];
          expect(made?.shape).toEqual(own.shape);
          expect(worstDifference(made ?? { data: new Float32Array(), shape: [] }, own, DEPTH)).toBeLessThan(1);
        }
      }
    }
  });

  test("attentions, scores and hidden states are those of the whole text", async () => {
    const looked = { attentions: true, hiddenStates: true, scores: "masked" } as const;
    const pieces = await piecesOf(lm, PROMPT, { maxTokens: 4, eos: [], ...looked });
    const tokens = tokensOf(pieces);
    expect(tokens).toEqual(await slowly(lm, PROMPT, 4));
    const whole = await lm.model.forward([...PROMPT, ...tokens], looked);
    for (const [at, piece] of pieces.slice(0, -1).entries()) {
      const row = PROMPT.length + at - 1;
      for (const name of ["attentions", "scores"] as const) {
        for (const [layer, all] of (whole[name] ?? []).entries()) {
          const [, heads = 0, length = 0] = all.shape;
          const made = piece[name]?.[layer];
          expect(made?.shape).toEqual([1, heads, 1, row + 1]);
          const own = Float32Array.from({ length: heads * (row + 1) }, (_, i) => {
            const [head, key] = [Math.floor(i / (row + 1)), i % (row + 1)];
            return all.data[(head * length + row) * length + key] ?? Number.NaN;
          });
          const wanted = { data: made?.data ?? own, shape: [own.length] };
          expect(worstDifference({ data: own, shape: [own.length] }, wanted, DEPTH)).toBeLessThan(1);
        }
      }
      for (const [layer, all] of (whole.hiddenStates ?? []).entries()) {
        const [, , dim = 0] = all.shape;
        const own = { data: all.data.slice(row * dim, (row + 1) * dim), shape: [1, 1, dim] };
        expect(worstDifference(own, piece.hiddenStates?.[layer] ?? own, DEPTH)).toBeLessThan(1);
      }
    }
  });

  test("draws the same from the same seed", async () => {
    const options = { maxTokens: 12, temperature: 1.5, seed: 3, eos: [] };
    const first = tokensOf(await piecesOf(lm, PROMPT, options));
    expect(tokensOf(await piecesOf(lm, PROMPT, options))).toEqual(first);
    expect(tokensOf(await piecesOf(lm, PROMPT, { ...options, seed: 4 }))).not.toEqual(first);
    expect(tokensOf(await piecesOf(lm, PROMPT, { ...options, topK: 1 }))).toEqual(await slowly(lm, PROMPT, 12));
  });
});

describe("where a text ends", () => {
  test("at a token of the files', which is not part of it", async () => {
    const [first = 0] = await slowly(llama, PROMPT, 1);
    const { files } = folderOf("llama");
    const generation = new TextEncoder().encode(JSON.stringify({ eos_token_id: [first, 5] }));
    const lm = await loadModel({ ...files, "generation_config.json": generation }, { engine });
    expect(await piecesOf(lm, PROMPT)).toEqual([
      {
        sequence: 0,
        text: "",
        tokens: [],
        attentions: undefined,
        hiddenStates: undefined,
        scores: undefined,
        end: "eos",
      },
    ]);
    lm.dispose();
  });

  test("before a string, which may come in pieces", async () => {
    const all = await piecesOf(llama, PROMPT, { maxTokens: 20, eos: [] });
    const text = all.map((piece) => piece.text).join("");
    const stop = text.slice(4, 7);
    const pieces = await piecesOf(llama, PROMPT, { maxTokens: 20, eos: [], stop });
    expect(pieces.map((piece) => piece.text).join("")).toBe(text.slice(0, text.indexOf(stop)));
    expect(pieces.at(-1)?.end).toBe("stop");
  });

  test("when the model's positions are used up", async () => {
    const prompt = Array.from({ length: POSITIONS - 3 }, (_, at) => at + 10);
    const pieces = await piecesOf(gpt2, prompt, { maxTokens: 50, eos: [] });
    expect(tokensOf(pieces)).toHaveLength(4);
    expect(pieces.at(-1)?.end).toBe("length");
  });

  test("an abort ends it, and the cache may be used again", async () => {
    const controller = new AbortController();
    const cache = await llama.createCache();
    const tokens: number[] = [];
    const running = (async () => {
      const options = { maxTokens: 50, eos: [], signal: controller.signal, cache };
      for await (const piece of llama.generate(PROMPT, options)) {
        tokens.push(...piece.tokens);
        if (tokens.length === 3) controller.abort();
      }
    })();
    await expect(running).rejects.toMatchObject({ code: "aborted" });
    expect(tokensOf(await piecesOf(llama, PROMPT, { maxTokens: 5, eos: [], cache }))).toEqual(
      await slowly(llama, PROMPT, 5),
    );
    // Who breaks off leaves nothing in use either.
    for await (const _ of llama.generate(PROMPT, { maxTokens: 5, eos: [], cache })) break;
    expect(tokensOf(await piecesOf(llama, PROMPT, { maxTokens: 5, eos: [], cache }))).toEqual(
      await slowly(llama, PROMPT, 5),
    );
    cache.dispose();
  });
});

test("no character is split, and another tokenizer may take the place", async () => {
  const bytes = [...new TextEncoder().encode("a\u{1f98a}é")];
  // A tokenizer whose tokens are bytes, as the model's, without a stream.
  const lm = await loadModel(folderOf("llama").files, { engine });
  const own = lm.tokenizer;
  for (const codec of [own, { encode: () => bytes, decode: (ids: ArrayLike<number>) => own?.decode(ids) ?? "" }]) {
    lm.tokenizer = codec;
    const stream = codec?.decodeStream?.();
    if (stream !== undefined)
      expect(bytes.map((id) => stream.push(id))).toEqual(["a", "", "", "", "\u{1f98a}", "", "é"]);
    const pieces = await piecesOf(lm, "x", { maxTokens: 12, eos: [] });
    expect(pieces.map(({ text }) => text).join("")).toBe(own?.decode(tokensOf(pieces)));
  }
  lm.dispose();
});

describe("messages", () => {
  /** Writes what a template is given. */
  class Template {
    readonly #source: string;
    constructor(source: string) {
      this.#source = source;
    }
    render({ messages, bos_token, add_generation_prompt, extra }: Readonly<Record<string, unknown>>): string {
      const turns = (messages as { role: string; content: string }[]).map(
        ({ role, content }) => `${role}:${content}\n`,
      );
      return `${this.#source === "{{ unused }}" ? "" : "?"}${bos_token}${turns.join("")}${extra ?? ""}${add_generation_prompt ? ">" : ""}`;
    }
  }

  test("are rendered by the files' template, whose special tokens are tokens", async () => {
    const lm = await loadModel(folderOf("llama").files, { engine, jinja: { Template } });
    const messages = [{ role: "user", content: "Hi" }];
    const options = { maxTokens: 4, eos: [] };
    const ids = [256, ...new TextEncoder().encode("user:Hi\n>")];
    expect(await piecesOf(lm, messages, options)).toEqual(await piecesOf(lm, ids, options));
    const extra = [256, ...new TextEncoder().encode("user:Hi\n!>")];
    expect(await piecesOf(lm, messages, { ...options, template: { extra: "!" } })).toEqual(
      await piecesOf(lm, extra, options),
    );
    expect(await lm.encode(messages)).toEqual(ids);
    expect(await lm.encode(messages, { template: { extra: "!" } })).toEqual(extra);
    expect(await lm.encode([3, 1])).toEqual([3, 1]);
    expect(await errorOf(() => lm.encode([]))).toMatchObject({ code: "option" });
    lm.dispose();
  });

  test("need jinja, a template and a tokenizer, and say so", async () => {
    const messages = [{ role: "user", content: "Hi" }];
    expect(await errorOf(() => piecesOf(llama, messages))).toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/npm install @huggingface\/jinja/),
    });
    const { "tokenizer_config.json": _, "tokenizer.json": __, ...files } = folderOf("llama").files;
    const lm = await loadModel(files, { engine, jinja: { Template } });
    await expect(piecesOf(lm, messages)).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/tokenizer/),
    });
    lm.tokenizer = llama.tokenizer;
    await expect(piecesOf(lm, messages)).rejects.toMatchObject({
      message: expect.stringMatching(/chat template.*none/),
    });
    // Tokens need neither.
    lm.tokenizer = null;
    expect(tokensOf(await piecesOf(lm, PROMPT, { maxTokens: 2, eos: [] }))).toEqual(await slowly(lm, PROMPT, 2));
    await expect(piecesOf(lm, PROMPT, { stop: "a" })).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/stop needs a tokenizer/),
    });
    lm.dispose();
  });

  test("a template that fails is named", async () => {
    class Failing {
      render(): string {
        throw new Error("roles must alternate");
      }
    }
    const lm = await loadModel(folderOf("llama").files, { engine, jinja: { Template: Failing } });
    await expect(piecesOf(lm, [{ role: "user", content: "" }])).rejects.toMatchObject({
      name: "HeedError",
      message: expect.stringMatching(/chat template failed: roles must alternate/),
    });
    lm.dispose();
  });
});

describe("refuses", () => {
  test.each<[string, LoadedModel, unknown, object, string, RegExp]>([
    ["what is no function", llama, "Hi", { onPrompt: 5 }, "option", /onPrompt must be a function, got 5/],
    ["an encoder", bert, "Hi", {}, "unsupported", /logits of the next token, got "bert"/],
    ["no tokens", llama, [], {}, "option", /at least one token/],
    ["a number", llama, 7, {}, "option", /messages, a text or tokens/],
    ["half tokens", llama, [1.5], {}, "option", /whole numbers/],
    ["unknown tokens", llama, [400], {}, "option", /below 259/],
    ["too long a prompt", llama, new Int32Array(POSITIONS), {}, "option", /shorter than 96 tokens/],
    ["an empty stop", llama, "Hi", { stop: "" }, "option", /stop must be strings/],
    ["a negative temperature", llama, "Hi", { temperature: -1 }, "option", /temperature/],
    ["max_new_tokens", llama, "Hi", { max_new_tokens: 3 }, "option", /no option "max_new_tokens"/],
    ["another cache", llama, "Hi", { cache: {} }, "option", /made by createCache of the model/],
    ["an unknown hook", llama, "Hi", { hooks: { "layers.9.residual": () => {} } }, "option", /hooks must have names/],
  ])("%s", async (_, lm, prompt, options, code, message) => {
    await expect(piecesOf(lm, prompt as Prompt, options)).rejects.toMatchObject({
      name: "HeedError",
      code,
      message: expect.stringMatching(message),
    });
  });

  test("a cache in use", async () => {
    const cache = await llama.createCache();
    const first = llama.generate(PROMPT, { cache, eos: [] });
    await first.next();
    await expect(piecesOf(llama, PROMPT, { cache })).rejects.toMatchObject({
      message: expect.stringMatching(/one in use/),
    });
    await expect(cache.truncate(1)).rejects.toMatchObject({ code: "option" });
    await first.return();
    await cache.truncate(1);
    cache.dispose();
    // One that cannot begin is not in use afterwards.
    for (let at = 0; at < 2; at++) await expect(piecesOf(llama, PROMPT, { cache })).rejects.toThrow(/disposed/);
  });

  test("a classifier", async () => {
    const { config, parameters } = folderOf("llama");
    const score = { data: new Float32Array(3 * 12), shape: [3, 12] };
    const files = {
      "config.json": json({ ...config, architectures: ["LlamaForSequenceClassification"], num_labels: 3 }),
      "model.safetensors": saveSafetensors(new Map([...parameters, ["score.weight", score]])),
    };
    const lm = await loadModel(files, { engine });
    await expect(piecesOf(lm, PROMPT)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/LlamaForSequenceClassification/),
    });
    lm.dispose();
  });
});

test.each([
  [["abcSTOPdef"], ["STOP"], "abc"],
  [["abcST", "OPdef"], ["STOP"], "abc"],
  [["abcS", "T", "O", "P"], ["STOP", "x"], "abc"],
  [["abcST", "Odef"], ["STOP"], "abcSTOdef"],
  [["aab"], ["aab"], ""],
  [["aa", "ab"], ["aab"], "a"],
  [["one", "two"], ["twx", "t"], "one"],
])("StopStrings %j until %j gives %j", (pieces, stops, wanted) => {
  const stop = new StopStrings(stops);
  let text = "";
  for (const piece of pieces) if (!stop.isFound) text += stop.push(piece);
  expect(text + stop.flush()).toBe(wanted);
});
