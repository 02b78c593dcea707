// Several sequences at once: each is what it is alone, to the bit, however long the others are.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { LlamaModel, saveSafetensors, type Weights } from "../../../web/src/layers/index.js";
import {
  type LoadedModel,
  loadModel,
  type Piece,
  type Prompt,
  saveModel,
  type TextOptions,
} from "../../../web/src/models/index.js";
import { caseOf } from "../../support/families.js";
import { folderOf, json } from "../../support/small-model.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());
/** With this in its memory, an engine stays as it is where models are disposed of. */
engine.zeros([2 ** 22]);

async function piecesOf(lm: LoadedModel, prompt: Prompt | readonly Prompt[], options: TextOptions): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for await (const piece of lm.generate(prompt, options)) pieces.push(piece);
  return pieces;
}

/** The pieces of one of several, as if it were alone. */
const ofSequence = (pieces: readonly Piece[], wanted: number): Piece[] =>
  pieces.filter(({ sequence }) => sequence === wanted).map((piece) => ({ ...piece, sequence: 0 }));

const WORDS = ["Heads", "a", "What does attention compute, and for whom?", "Keys"];

const familyOf = (name: string): Promise<LoadedModel> => {
  const { config, parameters } = caseOf(name);
  return loadModel({ "config.json": json(config), "model.safetensors": saveSafetensors(parameters) }, { engine });
};

/** A model whose matrices can have every format. */
async function randomLlama(weights: Weights): Promise<LoadedModel> {
  const config = {
    model_type: "llama",
    vocab_size: 96,
    hidden_size: 64,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 96,
    num_hidden_layers: 2,
    max_position_embeddings: 256,
  };
  const files = await saveModel(new LlamaModel(config, { engine }).init({ seed: 3 }), config);
  return loadModel(files, { engine, weights });
}

describe("tokens, weights and states are those alone, to the bit", () => {
  const byName: readonly (readonly [string, () => Promise<LoadedModel>])[] = [
    ["llama", () => loadModel(folderOf("llama").files, { engine })],
    ["gpt2", () => loadModel(folderOf("gpt2").files, { engine })],
    ...["gemma3", "qwen2", "qwen3", "smollm3"].map((name) => [name, () => familyOf(name)] as const),
    ...(["f32", "f16", "int8", "int4"] as const).map((name) => [name, () => randomLlama(name)] as const),
  ];

  test.each(byName)("%s", async (_, load) => {
    const lm = await load();
    const prompts = [[1, 2, 3, 4, 5], [9], Array.from({ length: 11 }, (_, at) => (5 * at) % 13), [7, 7]];
    const options = { maxTokens: 14, eos: [], attentions: true, hiddenStates: true };
    const all = await piecesOf(lm, prompts, options);
    for (const [at, prompt] of prompts.entries()) {
      expect(ofSequence(all, at)).toEqual(await piecesOf(lm, prompt, options));
    }
    // A token of each in turn.
    expect(all.slice(0, 8).map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
    lm.dispose();
  });

  test("with workers", async () => {
    const other = await createHeed({ threads: 2 });
    const { files } = folderOf("llama");
    const lm = await loadModel(files, { engine: other });
    const single = await loadModel(files, { engine });
    const options = { maxTokens: 20, eos: [] };
    const all = await piecesOf(lm, WORDS, options);
    for (const [at, prompt] of WORDS.entries()) {
      expect(ofSequence(all, at)).toEqual(await piecesOf(single, prompt, options));
    }
    single.dispose();
    other.dispose();
  });

  test("across pages of the caches", async () => {
    const lm = await randomLlama("f32");
    const prompts = [60, 95, 96, 3, 150].map((length) => Array.from({ length }, (_, at) => (at * length) % 96));
    const options = { maxTokens: 50, eos: [], attentions: true, hiddenStates: true };
    const all = await piecesOf(lm, prompts, options);
    for (const [at, prompt] of prompts.entries()) {
      expect(ofSequence(all, at)).toEqual(await piecesOf(lm, prompt, options));
    }
    lm.dispose();
  });
});

const adapterOf = (factor: number) => ({
  "adapter_config.json": json({ peft_type: "LORA", r: 1, lora_alpha: 8, target_modules: ["q_proj"] }),
  "adapter_model.safetensors": saveSafetensors({
    "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": {
      data: Float32Array.from({ length: 12 }, (_, at) => Math.cos(at)),
      shape: [1, 12],
    },
    "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight": {
      data: Float32Array.from({ length: 24 }, (_, at) => factor * Math.sin(at)),
      shape: [24, 1],
    },
  }),
});

describe("each by itself", () => {
  test("draws by its seed", async () => {
    const lm = await loadModel(folderOf("llama").files, { engine });
    const options = { maxTokens: 12, temperature: 1.4, topK: 40, repetitionPenalty: 1.2, eos: [] };
    const one = await piecesOf(lm, WORDS, { ...options, seed: 5 });
    for (const [at, prompt] of WORDS.entries()) {
      expect(ofSequence(one, at)).toEqual(await piecesOf(lm, prompt, { ...options, seed: 5 }));
    }
    const own = await piecesOf(lm, ["Keys", "Keys"], { ...options, seed: [5, 6] });
    expect(ofSequence(own, 0)).toEqual(ofSequence(one, 3));
    expect(ofSequence(own, 1)).toEqual(await piecesOf(lm, "Keys", { ...options, seed: 6 }));
    expect(ofSequence(own, 1)).not.toEqual(ofSequence(own, 0));
    lm.dispose();
  });

  test("stops by itself, for its own reason", async () => {
    const lm = await loadModel(folderOf("llama").files, { engine });
    const plain = await piecesOf(lm, WORDS, { maxTokens: 10, eos: [] });
    const eos = ofSequence(plain, 0)[3]?.tokens[0] ?? -1;
    const text = ofSequence(plain, 2)
      .map((piece) => piece.text)
      .join("");
    const options = { maxTokens: 10, eos, stop: text.slice(5, 8) };
    const all = await piecesOf(lm, WORDS, options);
    for (const [at, prompt] of WORDS.entries()) {
      expect(ofSequence(all, at)).toEqual(await piecesOf(lm, prompt, options));
    }
    const ends = WORDS.map((_, at) => ofSequence(all, at).at(-1)?.end);
    expect(ends[0]).toBe("eos");
    expect(ends[2]).toBe("stop");
    expect(new Set(WORDS.map((_, at) => ofSequence(all, at).length)).size).toBeGreaterThan(1);
    lm.dispose();
  });

  test("is told of its prompt, and keeps its cache", async () => {
    const lm = await loadModel(folderOf("llama").files, { engine });
    const caches = [await lm.createCache(), await lm.createCache()] as const;
    const seen: unknown[] = [];
    const options = { maxTokens: 4, eos: [], cache: caches, onPrompt: (progress: unknown) => seen.push(progress) };
    const first = await piecesOf(lm, ["Heads", "ab"], options);
    expect(seen).toEqual([
      { loaded: 5, total: 5, sequence: 0 },
      { loaded: 2, total: 2, sequence: 1 },
    ]);
    expect(caches.map(({ length }) => length)).toEqual([8, 5]);
    expect(await piecesOf(lm, ["Heads", "ab"], options)).toEqual(first);
    // A prompt that a cache holds lacks one token, which both read in one pass.
    expect(seen.slice(2)).toEqual(seen.slice(0, 2));
    // The caches of several serve one as well.
    expect(await piecesOf(lm, "Heads", { ...options, cache: caches[0] })).toEqual(ofSequence(first, 0));
    for (const cache of caches) cache.dispose();
    lm.dispose();
  });

  test("has the hooks and the adapter", async () => {
    const lm = await loadModel(folderOf("llama").files, { engine });
    const shapes: string[] = [];
    const hooks = [
      { "layers.1.heads.3": 0, "layers.0.heads.0": 0.5 },
      {
        "layers.0.residual": (x: { data: Float32Array; shape: readonly number[] }) => {
          shapes.push(x.shape.join());
          return { data: x.data.map((number) => 1.5 * number), shape: x.shape };
        },
      },
    ];
    for (const hook of hooks) {
      const options = { maxTokens: 5, eos: [], hooks: hook, attentions: { layers: [1] } };
      const all = await piecesOf(lm, WORDS, options);
      for (const [at, prompt] of WORDS.entries()) {
        expect(ofSequence(all, at)).toEqual(await piecesOf(lm, prompt, options));
      }
    }
    // A function sees one text.
    expect(shapes.every((shape) => shape.startsWith("1,"))).toBe(true);
    await lm.loadAdapter(adapterOf(1), { name: "own" });
    const options = { maxTokens: 5, eos: [], adapter: "own" };
    const all = await piecesOf(lm, WORDS, options);
    for (const [at, prompt] of WORDS.entries()) {
      expect(ofSequence(all, at)).toEqual(await piecesOf(lm, prompt, options));
    }
    lm.dispose();
  });

  test("keys of an adapter are not taken for those of another of the same name", async () => {
    const lm = await loadModel(folderOf("llama").files, { engine });
    const options = { maxTokens: 1, eos: [], adapter: "own", hiddenStates: true };
    const cache = await lm.createCache();
    for (const factor of [1, -2]) {
      await lm.loadAdapter(adapterOf(factor), { name: "own" });
      expect(await piecesOf(lm, "Heads", { ...options, cache })).toEqual(await piecesOf(lm, "Heads", options));
    }
    cache.dispose();
    lm.dispose();
  });

  test("is a dialogue where messages are given", async () => {
    class Template {
      render({ messages }: Readonly<Record<string, unknown>>): string {
        return (messages as { content: string }[]).map(({ content }) => `${content};`).join("");
      }
    }
    const lm = await loadModel(folderOf("llama").files, { engine, jinja: { Template } });
    const options = { maxTokens: 3, eos: [] };
    const dialogues = [[{ role: "user", content: "Hi" }], [{ role: "user", content: "What" }]];
    const all = await piecesOf(lm, dialogues, options);
    expect(all).toEqual(await piecesOf(lm, ["Hi;", "What;"], options));
    lm.dispose();
  });
});

test("an abort ends all, and nothing stays behind", async () => {
  const lm = await loadModel(folderOf("llama").files, { engine });
  await piecesOf(lm, WORDS, { maxTokens: 2 });
  const before = engine.memory().tensorBytes;
  const controller = new AbortController();
  const running = (async () => {
    for await (const { sequence } of lm.generate(WORDS, { eos: [], signal: controller.signal })) {
      if (sequence === 3) controller.abort();
    }
  })();
  await expect(running).rejects.toMatchObject({ code: "aborted" });
  for await (const _ of lm.generate(WORDS, { eos: [] })) break;
  expect(engine.memory().tensorBytes).toBe(before);
  lm.dispose();
});

test("no prompt has no piece", async () => {
  const lm = await loadModel(folderOf("llama").files, { engine });
  await expect(piecesOf(lm, [], {})).rejects.toMatchObject({ code: "option" });
  lm.dispose();
});

describe("refuses", () => {
  test.each<[string, unknown, object, RegExp]>([
    ["an empty one", ["a", []], {}, /at least one token/],
    ["too long a one", ["a", new Int32Array(96)], {}, /shorter than 96 tokens/],
    ["a number among them", ["a", 7], {}, /a list of those of several, got 7/],
    ["as many seeds as there are not", ["a", "b"], { seed: [1] }, /one for each of 2 sequences/],
    ["no seed", ["a", "b"], { seed: [1, 0.5] }, /32 bits/],
    ["one cache", ["a", "b"], { cache: {} }, /cache must be 2 that createCache/],
  ])("%s", async (_, prompts, options, message) => {
    const lm = await loadModel(folderOf("llama").files, { engine });
    await expect(piecesOf(lm, prompts as Prompt[], options)).rejects.toMatchObject({
      name: "HeedError",
      code: "option",
      message: expect.stringMatching(message),
    });
    lm.dispose();
  });

  test("caches that are not alike, and works on", async () => {
    const lm = await loadModel(folderOf("llama").files, { engine });
    const cache = [await lm.createCache({ dtype: "f16" }), await lm.createCache()];
    await expect(piecesOf(lm, ["a", "b"], { cache, maxTokens: 3, eos: [] })).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/must be made with the same options/),
    });
    expect(cache[0]?.length).toBe(0);
    const longer = [cache[1], await lm.createCache({ maxLength: 40 })].filter((one) => one !== undefined);
    await expect(piecesOf(lm, ["a", "b"], { cache: longer })).rejects.toMatchObject({ code: "option" });
    const alike = [cache[1], await lm.createCache()].filter((one) => one !== undefined);
    expect(await piecesOf(lm, ["a", "b"], { cache: alike, maxTokens: 3, eos: [] })).toHaveLength(8);
    for (const one of [...cache, ...longer, ...alike]) one.dispose();
    lm.dispose();
  });
});
