// Passes with caches: those that overlap wait for each other, and those that fail leave every cache as it was.

import { afterAll, describe, expect, test, vi } from "vitest";
import { LOCK } from "../../../web/src/api/cache-types.js";
import { type Backend, ENGINE, type Operation, type Program } from "../../../web/src/backends/backend.js";
import type { KVCache } from "../../../web/src/index.js";
import {
  AdditiveAttention,
  beamSearch,
  Decoder,
  GPT2Model,
  LayerNorm,
  LlamaModel,
  type ModelConfig,
  MultiHeadAttention,
  type MultiHeadForwardOptions,
  type NextBeamLogits,
  type ParameterTensor,
} from "../../../web/src/layers/index.js";
import { tokens } from "../../support/cached.js";
import { ENGINE_KINDS, openKind } from "../../support/engines.js";
import { type PackedCase, readFixture, unpackAll, worstDifference } from "../../support/fixtures.js";
import { Random } from "../../support/random.js";
import { drawnBy } from "../../support/tensors.js";

const random = new Random(77);
const numbers = drawnBy(random);

const fixture = readFixture("models.json");
const MODELS = [
  ["gpt2", GPT2Model, 3],
  ["llama", LlamaModel, 2],
] as const;

const bits = ({ data }: { readonly data: Float32Array }): readonly number[] => [
  ...new Uint32Array(Float32Array.from(data).buffer),
];

describe.each(ENGINE_KINDS)("passes over caches, $variant, $worker worker", async (kind) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());

  const layerWithRope = (): MultiHeadAttention => {
    const names = ["q_proj", "k_proj", "v_proj", "out_proj"].map((name) => `${name}.weight`);
    const layer = new MultiHeadAttention({ embedDim: 8, heads: 2, bias: false, rope: {}, engine });
    return layer.load(new Map(names.map((name) => [name, numbers(8, 8)])));
  };

  const cacheOf = (options: { maxLength?: number; window?: number } = { maxLength: 32 }): Promise<KVCache> =>
    engine.createCache({ kvHeads: 2, headDim: 4, ...options });

  const modelOf = (name: string, Model: typeof GPT2Model | typeof LlamaModel): GPT2Model | LlamaModel => {
    const { config, parameters } = fixture[name] as { config: ModelConfig } & Pick<PackedCase, "parameters">;
    return new Model(config, { engine }).load(unpackAll(parameters));
  };

  test("a forward that is called before another is done goes on from its positions", async () => {
    const layer = layerWithRope();
    const [a, b] = [numbers(1, 3, 8), numbers(1, 1, 8)];
    const options = { causal: true } as const;
    using apart = await cacheOf();
    const first = await layer.forward(a, a, a, { ...options, cache: apart });
    const second = await layer.forward(b, b, b, { ...options, cache: apart });
    using cache = await cacheOf();
    const [early, late] = await Promise.all([
      layer.forward(a, a, a, { ...options, cache }),
      layer.forward(b, b, b, { ...options, cache }),
    ]);
    expect(bits(early.output)).toEqual(bits(first.output));
    expect(bits(late.output)).toEqual(bits(second.output));
    expect(cache.length).toBe(4);
  });

  test("additive attention token by token is that of all tokens at once", async () => {
    const names = { "query_proj.weight": [5, 6], "key_proj.weight": [5, 4], "score_proj.weight": [1, 5], bias: [5] };
    const parameters = Object.entries(names).map(([name, shape]) => [name, numbers(...shape)] as const);
    const layer = new AdditiveAttention({ queryDim: 6, keyDim: 4, hidden: 5, bias: true, engine });
    layer.load(new Map(parameters));
    const [query, key, value] = [numbers(2, 7, 6), numbers(2, 7, 4), numbers(2, 7, 3)];
    const wanted = await layer.forward(query, key, value, { causal: true, return: { weights: true } });
    using cache = await engine.createCache({ batch: 2, kvHeads: 1, headDim: 4, valueDim: 3, maxLength: 7 });
    for (const [from, to] of [
      [0, 4],
      [4, 5],
      [5, 7],
    ] as const) {
      const [q, k, v] = [query, key, value].map((all) => tokens(all, "packed", from, to));
      if (q === undefined || k === undefined) throw new Error("no tokens");
      const options = { cache, causal: true, return: { weights: true } } as const;
      const { output, weights } = await layer.forward(q, k, v, options);
      expect(worstDifference(output, tokens(wanted.output, "packed", from, to), 4)).toBeLessThan(1);
      expect(weights.shape).toEqual([2, 1, to - from, to]);
    }
    expect(cache.length).toBe(7);
  });

  describe.each(["without a cache", "with one"])("tensors among the options, %s", (kind) => {
    const x = numbers(1, 3, 8);
    const forward = async (options: MultiHeadForwardOptions): Promise<ParameterTensor> => {
      using cache = await cacheOf();
      const { output } = await layer.forward(x, x, x, kind === "with one" ? { ...options, cache } : options);
      return output as ParameterTensor;
    };
    const layer = layerWithRope();

    test("a bias is the same wherever it lives", async () => {
      const bias = { data: Float32Array.of(0, -Infinity, -Infinity, 0, 0, -Infinity, 0, 0, 0), shape: [3, 3] };
      using resident = engine.tensor(bias.data, bias.shape);
      const norm = new LayerNorm({ shape: 3, engine, epsilon: 0.5 });
      norm.load({
        weight: { data: new Float32Array(3), shape: [3] },
        bias: { data: bias.data.slice(0, 3), shape: [3] },
      });
      using ofLayers = await norm.forward(numbers(1, 3), { keep: true });
      const wanted = bits(await forward({ causal: true }));
      for (const one of [bias, resident]) expect(bits(await forward({ bias: one }))).toEqual(wanted);
      expect(bits(await forward({ bias: ofLayers }))).toEqual(
        bits(await forward({ mask: { data: Uint8Array.of(1, 0, 0), shape: [1, 3] } })),
      );
    });

    test("a score's matrix is the same wherever it lives", async () => {
      const twice = { data: new Float32Array(16).map((_, at) => (at % 5 === 0 ? 2 : 0)), shape: [4, 4] };
      using resident = engine.tensor(twice.data, twice.shape);
      const wanted = await forward({ score: "dot", scale: 2 });
      class General {
        readonly type = "general";
        get w() {
          return resident;
        }
      }
      for (const score of [
        { type: "general" as const, w: twice },
        { type: "general" as const, w: resident },
        new General(),
      ]) {
        expect(worstDifference(await forward({ score }), wanted, 4)).toBeLessThan(1);
      }
    });

    test("a tensor that was disposed of is refused", async () => {
      const gone = engine.tensor(new Float32Array(9), [3, 3]);
      gone.dispose();
      await expect(forward({ bias: gone })).rejects.toMatchObject({ code: "disposed" });
    });
  });

  test("the cache's own methods and forwards run one after the other, in the order of the calls", async () => {
    const layer = layerWithRope();
    const [a, b] = [numbers(1, 3, 8), numbers(1, 1, 8)];
    using cache = await cacheOf();
    const results = await Promise.all([
      layer.forward(a, a, a, { cache }),
      cache.truncate(1),
      layer.forward(b, b, b, { cache, return: { weights: true } }),
      cache.append(
        { data: new Float32Array(16), shape: [1, 2, 2, 4] },
        { data: new Float32Array(16), shape: [1, 2, 2, 4] },
      ),
      layer.forward(b, b, b, { cache, return: { weights: true } }),
    ]);
    expect([results[2].weights.shape, results[4].weights.shape]).toEqual([
      [1, 2, 1, 2],
      [1, 2, 1, 5],
    ]);
    expect(cache.length).toBe(5);
  });

  test.each(MODELS)("forwards of %s that overlap are those one after the other", async (name, Model, kvHeads) => {
    const model = modelOf(name, Model);
    const make = (): Promise<KVCache[]> =>
      Promise.all([0, 1].map(() => engine.createCache({ kvHeads, headDim: 4, maxLength: 16 })));
    const caches = await make();
    const apart = await make();
    const alone = [];
    for (const tokens of [[1, 2], [3], [4, 5]]) alone.push(await model.forward(tokens, { caches: apart }));
    const together = await Promise.all([[1, 2], [3], [4, 5]].map((tokens) => model.forward(tokens, { caches })));
    expect(together.map(({ logits }) => bits(logits))).toEqual(alone.map(({ logits }) => bits(logits)));
    expect(caches.map(({ length }) => length)).toEqual([5, 5]);
    for (const cache of [...caches, ...apart]) cache.dispose();
  });

  test.each(MODELS)(
    "beams of %s that go on from caches are those that read all again",
    async (name, Model, kvHeads) => {
      const model = modelOf(name, Model);
      const beams = 4;
      const prompt = [3, 1, 4];
      const whole: NextBeamLogits = async (sequences) => {
        const tokens = { data: sequences.flat(), shape: [sequences.length, sequences[0]?.length ?? 0] };
        return (await model.forward(tokens, { last: true })).logits.data;
      };
      for (const eos of [[], [2, 5], [7]]) {
        const caches = await Promise.all(
          [0, 1].map(() => engine.createCache({ batch: beams, kvHeads, headDim: 4, maxLength: 16 })),
        );
        let reordered = 0;
        const step: NextBeamLogits = async (sequences, past, origins) => {
          if (past > 0) await Promise.all(caches.map((cache) => cache.reorder(origins)));
          if (origins.some((origin, at) => past > prompt.length && origin !== at)) reordered += 1;
          const fresh = sequences.map((ids) => ids.slice(past));
          const tokens = { data: fresh.flat(), shape: [beams, fresh[0]?.length ?? 0] };
          return (await model.forward(tokens, { caches, last: true })).logits.data;
        };
        const options = { beams, eos, maxTokens: 7 };
        const got = await beamSearch(step, prompt, { ...options, fullBatch: true });
        const wanted = await beamSearch(whole, prompt, options);
        expect(got.map(({ ids }) => ids)).toEqual(wanted.map(({ ids }) => ids));
        for (const [at, { score }] of got.entries()) expect(score).toBeCloseTo(wanted[at]?.score ?? Number.NaN, 4);
        expect(reordered).toBeGreaterThan(0);
        for (const cache of caches) cache.dispose();
      }
    },
  );

  test.each(MODELS)(
    "%s with a cache of each text, which hold unequally many tokens, is what it is of each",
    async (name, Model, kvHeads) => {
      const model = modelOf(name, Model);
      const starts = [[1, 2, 3, 4], [5], [6, 7]];
      const next = [
        [3, 1],
        [4, 1],
        [5, 9],
      ];
      const each = () =>
        Promise.all(
          starts.map(() => Promise.all([0, 1].map(() => engine.createCache({ kvHeads, headDim: 4, maxLength: 12 })))),
        );
      const [alone, together] = [await each(), await each()];
      for (const [at, tokens] of starts.entries()) {
        for (const caches of [alone[at] ?? [], together[at] ?? []]) await model.forward(tokens, { caches });
      }
      const caches = [0, 1].map((layer) => together.flatMap((own) => own[layer] ?? []));
      const made = await model.forward(next, { caches, attentions: true });
      const [, length = 0, words = 0] = made.logits.shape;
      for (const [at, tokens] of next.entries()) {
        const wanted = await model.forward(tokens, { caches: alone[at] ?? [] });
        const own = made.logits.data.slice(at * length * words, (at + 1) * length * words);
        expect(bits({ data: own })).toEqual(bits(wanted.logits));
        expect(together[at]?.map((cache) => cache.length)).toEqual(alone[at]?.map((cache) => cache.length));
      }
      const [, , , keys = 0] = made.attentions?.[0]?.shape ?? [];
      expect(keys).toBe(6);
      const mask = new Uint8Array(3 * 8).fill(1);
      const refused: readonly (readonly [object, RegExp])[] = [
        [{ caches, mask }, /mask and a cache of each text exclude each other/],
        [{ caches: [caches[0]?.slice(1), caches[1]] }, /lengths/],
        [{ caches: [caches[0], caches[0]] }, /one of them twice/],
        [{ caches: caches.map((own) => own.slice(1)) }, /one for each of 3 batch entries, got 2/],
      ];
      for (const [options, message] of refused) {
        await expect(model.forward(next, options)).rejects.toThrow(message);
        expect(together.map(([cache]) => cache?.length)).toEqual([6, 3, 4]);
      }
      for (const cache of [...alone, ...together].flat()) cache.dispose();
    },
  );

  test("passes that take the same caches in another order do not wait for each other for ever", async () => {
    const model = modelOf("llama", LlamaModel);
    using a = await cacheOf();
    using b = await cacheOf();
    await Promise.all([
      model.forward([1, 2], { caches: [a, b] }),
      model.forward([3], { caches: [b, a] }),
      model.forward([4], { caches: [a, b] }),
    ]);
    expect([a.length, b.length]).toEqual([4, 4]);
  });

  test("a model's forward that fails leaves all caches as they were, and lets the next one go on", async () => {
    const model = modelOf("llama", LlamaModel);
    const caches = [await cacheOf({ maxLength: 32 }), await cacheOf({ maxLength: 4 })];
    await model.forward([1, 2, 3], { caches });
    const failing = model.forward([4, 5], { caches });
    const next = model.forward([4], { caches, last: true });
    await expect(failing).rejects.toMatchObject({ code: "shape", message: expect.stringContaining("maxLength") });
    const whole = [await cacheOf(), await cacheOf()];
    await model.forward([1, 2, 3], { caches: whole });
    const expected = await model.forward([4], { caches: whole, last: true });
    expect(bits((await next).logits)).toEqual(bits(expected.logits));
    expect(caches.map(({ length }) => length)).toEqual([4, 4]);
    for (const cache of [...caches, ...whole]) cache.dispose();
  });

  test("a failed forward brings back the tokens that windows had freed", async () => {
    const model = modelOf("llama", LlamaModel);
    // Its parameters are in the engine from the first pass on.
    await model.forward([1]);
    const rest = engine.memory().tensors;
    // More than a page of new tokens: the window frees whole pages, among them the one that is written to.
    const many = Array.from({ length: 200 }, (_, i) => i % 11);
    const make = async (maxLength: number): Promise<KVCache[]> => [
      await cacheOf({ window: 40 }),
      await cacheOf({ window: 400, maxLength }),
    ];
    const [caches, apart] = [await make(120), await make(300)];
    for (const some of [caches, apart]) await model.forward(many.slice(0, 100), { caches: some });
    const pages = engine.memory().tensors;
    await expect(model.forward(many, { caches })).rejects.toMatchObject({ code: "shape" });
    expect(caches.map(({ length, start }) => [length, start])).toEqual(
      apart.map(({ length, start }) => [length, start]),
    );
    expect(engine.memory().tensors).toBe(pages);
    const [result, expected] = [
      await model.forward([4, 5], { caches }),
      await model.forward([4, 5], { caches: apart }),
    ];
    expect(bits(result.logits)).toEqual(bits(expected.logits));
    for (const cache of [...caches, ...apart]) cache.dispose();
    expect(engine.memory().tensors).toBe(rest);
  });

  /** Lets `act` happen before every such call, or run of an operation, of the programs that begin from now on. */
  const beforeCalls = (name: "attention" | "flush", act: () => void): { mockRestore(): void } => {
    const { root } = (engine as unknown as { [ENGINE](): Backend })[ENGINE]();
    const begin = root.program;
    return vi.spyOn(root, "program").mockImplementation(async (signal, module) => {
      const program: Program = await Reflect.apply(begin, root, [signal, module]);
      const method = name === "flush" ? name : "run";
      const original = program[method] as (...call: unknown[]) => never;
      vi.spyOn(program, method).mockImplementation((...call: unknown[]) => {
        if (method === name || (call[0] as Operation<object>).name === name) act();
        return Reflect.apply(original, program, call);
      });
      return program;
    });
  };

  test("a pass over caches waits for nothing before all its calls are recorded", async () => {
    const model = modelOf("llama", LlamaModel);
    const caches = [await cacheOf(), await cacheOf()];
    const lengths: number[][] = [];
    const begin = beforeCalls("flush", () => lengths.push(caches.map((cache) => cache.length)));
    await model.forward([1, 2, 3], { caches });
    await model.forward([4], { caches });
    begin.mockRestore();
    for (const [first, second] of lengths) expect(second).toBe(first);
    expect([...new Set(lengths.flat())]).toEqual([3, 4]);
    for (const cache of caches) cache.dispose();
  });

  test("a forward that is aborted between its layers leaves the caches of those before as they were", async () => {
    const model = modelOf("llama", LlamaModel);
    const caches = [await cacheOf(), await cacheOf()];
    await model.forward([1, 2, 3], { caches });
    const stop = new AbortController();
    const lengths: number[][] = [];
    const begin = beforeCalls("attention", () => {
      lengths.push(caches.map((cache) => cache.length));
      if (lengths.length === 2) stop.abort();
    });
    await expect(model.forward([4], { caches, signal: stop.signal })).rejects.toMatchObject({ code: "aborted" });
    begin.mockRestore();
    expect(lengths).toEqual([
      [3, 3],
      [4, 3],
    ]);
    expect(caches.map((cache) => cache.length)).toEqual([3, 3]);
    for (const cache of caches) cache.dispose();
  });

  test("a forward that is aborted while it waits for its caches is rejected at once, and the one behind it goes on", async () => {
    const model = modelOf("llama", LlamaModel);
    const caches = [await cacheOf(), await cacheOf()];
    const lock = caches[1]?.[LOCK]();
    const stop = new AbortController();
    const aborted = model.forward([9], { caches, signal: stop.signal });
    const behind = model.forward([1, 2, 3], { caches });
    const reason = new Error("no more of this");
    stop.abort(reason);
    // Nothing releases the lock that it waits for before the rejection is there.
    await expect(aborted).rejects.toMatchObject({ code: "aborted", cause: reason });
    await lock?.release(true);
    const apart = [await cacheOf(), await cacheOf()];
    const expected = await model.forward([1, 2, 3], { caches: apart });
    expect(bits((await behind).logits)).toEqual(bits(expected.logits));
    expect(caches.map((cache) => cache.length)).toEqual([3, 3]);
    for (const cache of [...caches, ...apart]) cache.dispose();
  });

  test("caches that are disposed of while a forward has them give all memory back", async () => {
    const model = modelOf("llama", LlamaModel);
    await model.forward([1]);
    const before = engine.memory().tensors;
    for (let moment = 0; moment < 40; moment += 5) {
      const caches = [await cacheOf({ window: 20 }), await cacheOf({ window: 20 })];
      await model.forward([1, 2, 3], { caches });
      const pending = model.forward([4], { caches }).catch((error: unknown) => error);
      for (let tick = 0; tick < moment; tick++) await null;
      for (const cache of caches) cache.dispose();
      await pending;
      expect(engine.memory().tensors).toBe(before);
    }
  });

  test("caches of other lengths, the same cache twice, and one cache for several blocks are refused", async () => {
    const model = modelOf("llama", LlamaModel);
    using short = await cacheOf();
    using long = await cacheOf();
    const row = { data: new Float32Array(8), shape: [1, 2, 1, 4] };
    await long.append(row, row);
    await expect(model.forward([1], { caches: [short, long] })).rejects.toMatchObject({
      code: "option",
      message: "LlamaModel: caches must hold equally many tokens, got lengths [0, 1]",
    });
    await expect(model.forward([1], { caches: [short, short] })).rejects.toMatchObject({
      code: "option",
      message: "LlamaModel: caches must be one for each of 2 layers, got one of them twice",
    });
    const sizes = { dim: 8, heads: 2, layers: 2, bias: false, engine };
    const decoder = new Decoder(sizes);
    await expect(decoder.forward(numbers(1, 1, 8), { self: { cache: short } })).rejects.toMatchObject({
      code: "option",
      message: "Decoder: a cache holds the keys of one block, got one for 2 blocks",
    });
    expect([short.length, long.length]).toEqual([0, 1]);
  });
});
