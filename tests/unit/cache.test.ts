// The KV cache: calls with it give what calls with all of its keys and values give, on every kind of engine.

import { Worker as NodeWorker } from "node:worker_threads";
import { afterAll, describe, expect, test } from "vitest";
import { attend, attendSync } from "../../web/src/api/attention.js";
import { createCache } from "../../web/src/api/cache/kv-cache.js";
import { PageLayout } from "../../web/src/api/cache/page-layout.js";
import { LOCK } from "../../web/src/api/cache-types.js";
import { workerSource } from "../../web/src/backends/wasm/generated/worker-source.js";
import type { CacheOptions, KVCache, Tensor, TensorLike } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import { type CachedOptions, cacheFor, inChunks, kept, randomCuts, TYPES, tokens } from "../support/cached.js";
import {
  cases,
  differentIndex,
  EVERYTHING,
  type EverythingResult,
  errorOf,
  firstDifferentBit,
  firstError,
} from "../support/cases.js";
import { FEW_KINDS, openBackend, openKind } from "../support/engines.js";
import { boundsFor, withinOutput } from "../support/error-model.js";
import { Random } from "../support/random.js";
import { scoreBound, withInt16Query } from "../support/score-error.js";
import { drawnBy } from "../support/tensors.js";

const problems = cases(61, 60).filter(({ options }) => options.cuSeqlensQ === undefined);

/** The same for all kinds of engines, so that the reference computes each once. */
const keptProblems = TYPES.map((dtype) => {
  const random = new Random(62);
  return [dtype, problems.map((one) => kept(random, one, dtype))] as const;
});

const windowed = (
  [
    [1, undefined],
    [2, 2],
    [7, 10],
    [96, undefined],
    [97, 97],
    [150, 151],
    [1600, 1601],
  ] as const
).map(([window, maxLength]) => {
  const random = new Random(window);
  const shape = [2, window + 230, 8] as const;
  const tensor = (): TensorLike => ({ data: random.floats(2 * 8 * shape[1]), shape });
  const [query, key, value] = [tensor(), tensor(), tensor()];
  const { output } = reference(query, key, value, { causal: true, window: [window - 1, 0] });
  return { window, maxLength, shape, query, key, value, expected: Float32Array.from(output.data) };
});

describe.each(FEW_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test.each(keptProblems)(
    "calls with a cache of %s give what all of its keys and values give, with any option",
    async (dtype, problems) => {
      const random = new Random(63);
      for (const one of problems) {
        const cuts = randomCuts(random, one.sizes.keyLength);
        const results: EverythingResult[] = [];
        for (const isSync of [false, true]) {
          using cache = await heed.createCache(cacheFor(one, { dtype }));
          const options: CachedOptions = { ...one.options, ...EVERYTHING, cache };
          const call = (key: TensorLike, value: TensorLike): Promise<EverythingResult> =>
            isSync
              ? Promise.resolve(heed.attentionSync(one.query, key, value, options))
              : heed.attention(one.query, key, value, options);
          const result = await inChunks(heed, one, cache, cuts, call);
          expect(firstError(one, result), `in runs up to ${cuts}`).toBe(null);
          expect(cache.length).toBe(one.sizes.keyLength);
          results.push(result);
        }
        const [first, second] = results;
        if (first !== undefined && second !== undefined) expect(firstDifferentBit(first, second), one.name).toBe(null);
      }
    },
  );

  test("every way to cut tokens into appends gives the same bits", async () => {
    const random = new Random(63);
    const length = 6;
    const shape = [1, 2, length, 8];
    const [query, key, value] = [0, 1, 2].map(() => ({ data: random.floats(96), shape }));
    if (query === undefined || key === undefined || value === undefined) throw new Error("no tensors");
    const one = tokens(query, "bhnd", 5, 6);
    let wanted: Float32Array | null = null;
    for (let ways = 0; ways < 2 ** (length - 1); ways++) {
      using cache = await heed.createCache({ kvHeads: 2, headDim: 8, maxLength: length });
      let from = 0;
      for (let to = 1; to < length; to++) {
        if ((ways & (1 << (to - 1))) === 0) continue;
        await cache.append(tokens(key, "bhnd", from, to), tokens(value, "bhnd", from, to));
        from = to;
      }
      const rest = [tokens(key, "bhnd", from, length), tokens(value, "bhnd", from, length)] as const;
      const { output } = await heed.attention(one, ...rest, { cache, causal: true });
      wanted ??= output.data;
      expect(differentIndex(output.data, wanted)).toBe(-1);
    }
  });

  test("past its window a cache gives what attention with the window gives, and holds no more than it", async () => {
    const random = new Random(64);
    for (const { window, maxLength, shape, query, key, value, expected } of windowed) {
      const [heads, total, dim] = shape;
      const score = scoreBound(undefined, 1 / Math.sqrt(dim), { query, key, queryDim: dim, headDim: dim });
      const bounds = boundsFor(total, { value }, score);
      using cache = await heed.createCache({ kvHeads: heads, headDim: dim, window, maxLength });
      const most =
        2 + Math.ceil((window + 11) / new PageLayout("f32", heads, { key: dim, value: dim }, total, window).rows);
      for (let from = 0; from < total; ) {
        const to = Math.min(total, from + random.whole(1, 11));
        const [q, k, v] = [query, key, value].map((tensor) => tokens(tensor, "bhnd", from, to));
        if (q === undefined || k === undefined || v === undefined) throw new Error("no tokens");
        const { output } = await heed.attention(q, k, v, { cache, causal: true });
        const { data: exact } = tokens({ data: expected, shape }, "bhnd", from, to);
        const wrong = output.data.findIndex(
          (number, index) => !withinOutput(number, exact[index] ?? Number.NaN, bounds),
        );
        expect(wrong, `window ${window} of ${maxLength}, tokens ${from} to ${to}`).toBe(-1);
        expect(heed.memory().tensors).toBeLessThanOrEqual(most);
        expect(cache.length).toBe(to);
        expect(cache.start).toBe(Math.max(0, to - (window - 1)));
        from = to;
      }
    }
  });

  test("calls that nobody waits for run one after the other", async () => {
    const random = new Random(66);
    const shape = [2, 1, 16];
    const step = (): TensorLike => ({ data: random.floats(32), shape });
    const steps = Array.from({ length: 20 }, () => [step(), step(), step()] as const);
    using waiting = await heed.createCache({ kvHeads: 2, headDim: 16, maxLength: 20 });
    using hasty = await heed.createCache({ kvHeads: 2, headDim: 16, maxLength: 20 });
    const wanted: Float32Array[] = [];
    for (const [q, k, v] of steps) wanted.push((await heed.attention(q, k, v, { cache: waiting })).output.data);
    const calls = steps.map(([q, k, v]) => {
      const [key, value] = [k, v].map(({ data }) => ({ data: data.slice(), shape }));
      if (key === undefined || value === undefined) throw new Error("no step");
      const call = heed.attention(q, key, value, { cache: hasty });
      key.data.fill(0);
      value.data.fill(0);
      return call;
    });
    for (const [index, { output }] of (await Promise.all(calls)).entries()) {
      expect(differentIndex(output.data, wanted[index] ?? new Float32Array(0)), `step ${index}`).toBe(-1);
    }
  });

  test("a call that is aborted or fails leaves the cache as it was", async () => {
    const random = new Random(67);
    const [heads, dim] = [4, 64];
    const draw = (count: number): TensorLike => ({
      data: random.floats(heads * count * dim),
      shape: [heads, count, dim],
    });
    using cache = await heed.createCache({ kvHeads: heads, headDim: dim, maxLength: 5000 });
    const [key, value] = [draw(300), draw(300)];
    await cache.append(key, value);
    const before = heed.memory();
    const controller = new AbortController();
    const call = errorOf(() =>
      heed.attention(draw(2000), draw(2000), draw(2000), { cache, signal: controller.signal }),
    );
    controller.abort();
    expect((await call).code).toBe("aborted");
    const late = await errorOf(() => heed.attention(draw(1), draw(1), draw(1), { cache, signal: AbortSignal.abort() }));
    expect(late.code).toBe("aborted");
    const mask = { data: new Uint8Array(300), shape: [1, 300 + 2] };
    expect((await errorOf(() => heed.attention(draw(1), draw(1), draw(1), { cache, mask }))).code).toBe("shape");
    const small = new Float32Array(1);
    expect((await errorOf(() => heed.attentionSync(draw(1), draw(1), draw(1), { cache, out: small }))).code).toBe(
      "shape",
    );
    expect(cache.length).toBe(300);
    const [query, none] = [draw(1), draw(0)];
    const { output } = await heed.attention(query, none, none, { cache });
    const plain = await heed.attention(query, key, value);
    const score = scoreBound(undefined, 1 / 8, { query, key, queryDim: dim, headDim: dim });
    const bounds = boundsFor(300, { value }, score);
    expect(
      output.data.findIndex(
        (number, at) => !withinOutput(number, plain.output.data[at] ?? 0, { ...bounds, output: 2 * bounds.output }),
      ),
    ).toBe(-1);
    expect(heed.memory().tensorBytes).toBe(before.tensorBytes);
  });

  test("a window that begins anywhere has the same bits, whatever else is asked for", async () => {
    const random = new Random(70);
    const [window, dim] = [300, 64];
    const draw = (count: number): TensorLike => ({ data: random.floats(count * dim), shape: [1, count, dim] });
    const filled = async (key: TensorLike, value: TensorLike) => {
      const cache = await heed.createCache({ kvHeads: 1, headDim: dim, window });
      await cache.append(key, value);
      return cache;
    };
    const [keys, values] = [draw(900), draw(900)];
    using plain = await filled(keys, values);
    using asked = await filled(keys, values);
    for (let step = 0; step < 60; step++) {
      const [query, key, value] = [draw(1), draw(1), draw(1)];
      const options = { causal: true, window: [window - 1 - ((37 * step) % 250), -1] } as const;
      const { output } = await heed.attention(query, key, value, { ...options, cache: plain });
      const also = { ...options, cache: asked, return: { scores: "raw" } } as const;
      const same = await heed.attention(query, key, value, also);
      expect(differentIndex(same.output.data, output.data), `step ${step}`).toBe(-1);
    }
  });

  test("int8 numbers are within half a scale of each row, and results within the error that follows", async () => {
    const random = new Random(68);
    const [heads, length, dim] = [2, 300, 64];
    const draw = (count: number): TensorLike => ({
      data: random.floats(heads * count * dim),
      shape: [heads, count, dim],
    });
    const [query, key, value, none] = [draw(3), draw(length), draw(length), draw(0)];
    const exact = reference(query, key, value);
    using cache = await heed.createCache({ kvHeads: heads, headDim: dim, maxLength: length, dtype: "i8" });
    await cache.append(key, value);
    const options: CachedOptions = { ...EVERYTHING, cache };
    const got: EverythingResult = await heed.attention(query, none, none, options);
    const score = withInt16Query(scoreBound(undefined, 1 / 8, { query, key, queryDim: dim, headDim: dim }), dim);
    const bounds = boundsFor(length, { value }, score);
    const scaleOf = (tensor: TensorLike, head: number, token: number): number => {
      const first = (head * length + token) * dim;
      return Math.max(...tensor.data.subarray(first, first + dim).map(Math.abs)) / 127;
    };
    let largest = 0;
    for (let row = 0; row < heads * 3; row++) {
      const head = Math.floor(row / 3);
      const numbers = query.data.subarray(row * dim, (row + 1) * dim);
      const magnitude = numbers.reduce((sum, number) => sum + Math.abs(number), 0) / 8;
      // A score changes by at most |q|_1 scale * (scale of the key) / 2. Weights change by the exponential of that, and are normalized.
      let shift = 0;
      let valueScale = 0;
      let valueSize = 0;
      for (let token = 0; token < length; token++) {
        const off = (magnitude * scaleOf(key, head, token)) / 2;
        shift = Math.max(shift, off);
        valueScale = Math.max(valueScale, scaleOf(value, head, token));
        valueSize = Math.max(valueSize, scaleOf(value, head, token) * 127);
        const at = row * length + token;
        const difference = Math.abs((got.scores.data[at] ?? Number.NaN) - (exact.scores.masked.data[at] ?? 0));
        expect(difference).toBeLessThanOrEqual(off + bounds.scores);
        largest = Math.max(largest, difference / off);
      }
      const allowed = Math.expm1(2 * shift) * valueSize + valueScale / 2 + bounds.output;
      for (let at = row * dim; at < (row + 1) * dim; at++) {
        expect(Math.abs((got.output.data[at] ?? Number.NaN) - (exact.output.data[at] ?? 0))).toBeLessThanOrEqual(
          allowed,
        );
      }
    }
    // If keys were stored more exactly than int8, the bound would be meaningless.
    expect(largest).toBeGreaterThan(0.1);
  });

  test("10,000 tokens in a window, and 1,000 caches that were disposed of, take no more than a few", async () => {
    const draw = (count: number): TensorLike => ({
      data: new Float32Array(count * 32).fill(0.5),
      shape: [2, count, 16],
    });
    const [query, key, value] = [draw(1), draw(1), draw(1)];
    const cache = await heed.createCache({ kvHeads: 2, headDim: 16, window: 200, dtype: "f16" });
    const isRecent = { tensors: 0, total: 0 };
    for (let token = 0; token < 10_000; token++) {
      if (token % 50 === 0) await heed.attention(query, key, value, { cache });
      else heed.attentionSync(query, key, value, { cache });
      if (token === 1000) Object.assign(isRecent, heed.memory());
    }
    expect(heed.memory().total).toBe(isRecent.total);
    expect(heed.memory().tensors).toBeLessThanOrEqual(4);
    cache.dispose();
    expect(heed.memory().tensors).toBe(0);
    for (let round = 0; round < 1000; round++) {
      using short = await heed.createCache({ kvHeads: 2, headDim: 16, maxLength: 300, dtype: "i8" });
      await short.append(draw(100), draw(100));
    }
    expect(heed.memory()).toMatchObject({ tensors: 0, tensorBytes: 0, total: isRecent.total });
  });
});

describe.each(FEW_KINDS.filter(({ worker }) => worker !== "shared-memory"))(
  "in slices: $variant, $worker worker",
  (kind) => {
    test.each([1, 3])("give the bits of the whole, %i threads", async (threads) => {
      const grain = { least: 1, most: 1, count: 1, upTo: 12 };
      const backend = await openBackend(kind, threads, { grain });
      const random = new Random(69);
      try {
        for (const plain of problems) {
          const dtype = random.pick(TYPES);
          const one = kept(random, plain, dtype);
          using cache = await createCache(backend, [], cacheFor(one, { dtype, maxLength: 1000 }));
          const layout = one.options.layout ?? "bhnd";
          const options = { ...one.options, return: { weights: true, lse: true, entropy: true }, cache };
          const middle = random.whole(0, one.sizes.keyLength);
          await cache.append(tokens(one.key, layout, 0, middle), tokens(one.value, layout, 0, middle), { layout });
          const rest = {
            query: one.query,
            key: tokens(one.key, layout, middle, one.sizes.keyLength),
            value: tokens(one.value, layout, middle, one.sizes.keyLength),
          };
          const sliced = await attend(backend, rest, options);
          await cache.truncate(middle);
          const whole = attendSync(backend, rest, options);
          for (const name of ["output", "weights", "lse", "entropy"] as const) {
            const [got, wanted] = [sliced[name], whole[name]];
            if (got === undefined || wanted === undefined || !("data" in got && "data" in wanted))
              throw new Error(name);
            expect(differentIndex(got.data, wanted.data), `${one.name}: ${name}`).toBe(-1);
          }
        }
      } finally {
        backend.dispose();
      }
    });
  },
);

describe("misuse", async () => {
  const heed = await openKind({ variant: "simd", worker: null });
  afterAll(() => heed.dispose());

  const draw = (...shape: number[]): TensorLike => ({
    data: new Float32Array(shape.reduce((total, size) => total * size, 1)).fill(0.25),
    shape,
  });
  const made = (options: Partial<CacheOptions> = {}): Promise<KVCache> =>
    heed.createCache({ batch: 2, kvHeads: 2, headDim: 8, maxLength: 10, ...options });

  test.each([
    ["nothing", undefined],
    ["no heads", { headDim: 8, maxLength: 4 }],
    ["no head size", { kvHeads: 1, maxLength: 4 }],
    ["no length", { kvHeads: 1, headDim: 8 }],
    ["a length of zero", { kvHeads: 1, headDim: 8, maxLength: 0 }],
    ["a length that is no number of 32 bits", { kvHeads: 1, headDim: 8, maxLength: 2 ** 31 }, "up to 16777216"],
    ["a length beyond all positions", { kvHeads: 1, headDim: 8, maxLength: 2 ** 25 }],
    ["an unknown type", { kvHeads: 1, headDim: 8, maxLength: 4, dtype: "f64" }],
    ["half a window", { kvHeads: 1, headDim: 8, window: 0.5 }],
    ["an unknown option", { kvHeads: 1, headDim: 8, maxLength: 4, lenght: 1 }],
  ])("createCache with %s is refused", async (_, options, rule = "") => {
    const error = await errorOf(() => Reflect.apply(heed.createCache, heed, [options]));
    expect(error.code).toBe("option");
    expect(error.message).toMatch(/^createCache: /);
    expect(error.message).toContain(rule);
  });

  test("tensors that do not fit the cache are refused, and change nothing", async () => {
    using cache = await made();
    await cache.append(draw(2, 2, 6, 8), draw(2, 2, 6, 8));
    const refusals: readonly (readonly [string, () => unknown, string, RegExp])[] = [
      ["too many tokens", () => cache.append(draw(2, 2, 5, 8), draw(2, 2, 5, 8)), "shape", /10 tokens.* has 6, got 5/],
      ["other heads", () => cache.append(draw(2, 3, 1, 8), draw(2, 3, 1, 8)), "shape", /the cache takes/],
      ["another batch", () => cache.append(draw(1, 2, 1, 8), draw(1, 2, 1, 8)), "shape", /the cache takes/],
      ["another head size", () => cache.append(draw(2, 2, 1, 4), draw(2, 2, 1, 8)), "shape", /the cache takes/],
      ["fewer values", () => cache.append(draw(2, 2, 2, 8), draw(2, 2, 1, 8)), "shape", /the cache takes/],
      ["one number", () => cache.append(draw(8), draw(8)), "shape", /rank/],
      ["truncating beyond", () => cache.truncate(7), "option", /0 to the cache's 6, got 7/],
      ["truncating to less than nothing", () => cache.truncate(-1), "option", /truncate/],
      ["entries out of range", () => cache.reorder([0, 2]), "option", /0 to 1/],
      ["too few entries", () => cache.reorder([0]), "option", /2 whole numbers/],
      [
        "packed sequences",
        () => heed.attention(draw(2, 2, 1, 8), draw(2, 2, 1, 8), draw(2, 2, 1, 8), { cache, cuSeqlensQ: [0, 1] }),
        "unsupported",
        /packed sequences/,
      ],
      [
        "a mask of the new keys alone",
        () =>
          heed.attention(draw(2, 2, 1, 8), draw(2, 2, 2, 8), draw(2, 2, 2, 8), {
            cache,
            mask: { data: new Uint8Array(2 * 9), shape: [2, 1, 1, 9] },
          }),
        "shape",
        /\[2, 2, 1, 8\]/,
      ],
    ];
    for (const [name, call, code, message] of refusals) {
      const error = await errorOf(call);
      expect(error.code, name).toBe(code);
      expect(error.message, name).toMatch(message);
      expect(cache.length, name).toBe(6);
    }
  });

  test("a cache of i8 refuses numbers that are not finite", async () => {
    using cache = await made({ dtype: "i8" });
    for (const bad of [Number.NaN, Infinity, -Infinity]) {
      const key = draw(2, 2, 1, 8);
      key.data[13] = bad;
      expect((await errorOf(() => cache.append(key, draw(2, 2, 1, 8)))).message).toMatch(/finite/);
      expect((await errorOf(() => cache.append(draw(2, 2, 1, 8), key))).message).toMatch(/finite/);
      expect(cache.length).toBe(0);
    }
  });

  test("a cache that is disposed of, or another engine's, is refused", async () => {
    const cache = await made();
    const row = draw(2, 2, 1, 8);
    const other = await openKind({ variant: "simd", worker: null });
    expect((await errorOf(() => other.attention(row, row, row, { cache }))).message).toMatch(/another engine/);
    const others = await other.createCache({ batch: 2, kvHeads: 2, headDim: 8, maxLength: 10 });
    other.dispose();
    expect((await errorOf(() => others.append(row, row))).code).toBe("disposed");
    cache.dispose();
    cache.dispose();
    for (const call of [
      () => cache.append(row, row),
      () => cache.truncate(0),
      () => cache.reorder([0, 1]),
      () => heed.attention(row, row, row, { cache }),
      () => heed.attentionSync(row, row, row, { cache }),
    ]) {
      const error = await errorOf(call);
      expect([error.code, error.message]).toEqual(["disposed", expect.stringMatching(/the cache was disposed/)]);
    }
  });

  test("a cache with a window refuses options that change positions", async () => {
    using cache = await made({ window: 4 });
    const row = draw(2, 2, 1, 8);
    await cache.append(draw(2, 2, 6, 8), draw(2, 2, 6, 8));
    expect([cache.start, cache.length]).toEqual([3, 6]);
    for (const options of [
      { qOffset: 0 },
      { kvLengths: [1, 1] },
      { qLengths: [1, 1] },
      { causal: "upper-left" },
    ] as const) {
      expect((await errorOf(() => heed.attention(row, row, row, { cache, ...options }))).message).toMatch(/positions/);
    }
    expect((await errorOf(() => heed.attention(draw(2, 2, 2, 8), row, row, { cache }))).message).toMatch(/queries/);
    expect((await errorOf(() => cache.truncate(5))).message).toMatch(/has freed/);
  });

  test("a window of no more than maxLength makes room for any number of tokens, a longer one for none", async () => {
    using cache = await made({ window: 10 });
    await cache.append(draw(2, 2, 25, 8), draw(2, 2, 25, 8));
    expect([cache.start, cache.length, cache.maxLength]).toEqual([16, 25, 10]);
    using longer = await made({ window: 11 });
    await longer.append(draw(2, 2, 10, 8), draw(2, 2, 10, 8));
    const error = await errorOf(() => longer.append(draw(2, 2, 1, 8), draw(2, 2, 1, 8)));
    expect(error).toMatchObject({ code: "shape", message: expect.stringMatching(/holds 10 tokens.* has 10, got 1/) });
  });

  test("a call that is aborted while it waits for the cache is rejected at once, and the one behind it goes on", async () => {
    using cache = await made();
    const lock = cache[LOCK]();
    await lock.acquired;
    const call = (token: number, signal?: AbortSignal) => {
      const row = { data: new Float32Array(2 * 2 * 8).fill(token), shape: [2, 2, 1, 8] };
      return heed.attention(row, row, row, { cache, signal });
    };
    const controller = new AbortController();
    const [aborted, behind] = [call(1, controller.signal), call(2)];
    const reason = new Error("no more of this");
    controller.abort(reason);
    // Nothing releases the lock that they wait for before both rejections are there.
    expect(await errorOf(() => aborted)).toMatchObject({ code: "aborted", cause: reason });
    expect(await errorOf(() => call(3, AbortSignal.abort()))).toMatchObject({ code: "aborted" });
    const last = call(4);
    expect(cache.length).toBe(0);
    await lock.release(true);
    // The query of fours scores its own key higher than that of twos by 8 * 4 * 2 / sqrt(8), which leaves nothing of the other.
    expect([...(await behind).output.data]).toEqual(new Array(32).fill(2));
    expect([...(await last).output.data]).toEqual(new Array(32).fill(4));
    expect(cache.length).toBe(2);
    const none = draw(2, 2, 0, 8);
    expect(heed.attentionSync(draw(2, 2, 1, 8), none, none, { cache }).output.shape).toEqual([2, 2, 1, 8]);
  });

  test("a call that waits for the cache takes its options as they were", async () => {
    using cache = await made();
    const lock = cache[LOCK]();
    const row = (number: number) => ({ data: new Float32Array(2 * 2 * 8).fill(number), shape: [2, 2, 1, 8] });
    // Scores of 1 and 0 beside sinks of 0 leave e / (e + 1) and a half of the value 3.
    const sinks = { data: Float64Array.of(0, 0), shape: [2] };
    const bare = { data: Int32Array.of(0, 0) };
    const call = (key: number, options: object): Promise<{ output: TensorLike }> =>
      Reflect.apply(heed.attention, heed, [row(1), row(key), row(3), { cache, scale: 1 / 8, ...options }]);
    const calls = [call(1, { sinks }), call(0, { sinks: bare, window: [0, 0] })];
    sinks.data.fill(50);
    bare.data.fill(50);
    await lock.release(true);
    for (const [at, expected] of [(3 * Math.E) / (Math.E + 1), 1.5].entries()) {
      for (const number of (await calls[at])?.output.data ?? [Number.NaN]) expect(number).toBeCloseTo(expected, 6);
    }
  });

  test("tensors of calls that wait for the cache may be disposed of", async () => {
    const [q, k, v, w] = [draw(2, 2, 1, 8), draw(2, 2, 1, 8), draw(2, 2, 1, 8), draw(8, 8)] as const;
    using plain = await made();
    await plain.append(v, k);
    const expected = await heed.attention(q, k, v, { cache: plain, score: { type: "general", w } });
    using cache = await made();
    const lock = cache[LOCK]();
    const tensors = [q, k, v, w].map(({ data, shape }) => heed.tensor(data, shape));
    const [query, key, value, weight] = tensors as [Tensor, Tensor, Tensor, Tensor];
    const appended = cache.append(value, key);
    const called = heed.attention(query, key, value, { cache, score: { type: "general", w: weight } });
    for (const tensor of tensors) tensor.dispose();
    const late = errorOf(() => cache.append(value, key));
    await lock.release(true);
    await appended;
    expect((await called).output).toEqual(expected.output);
    expect(await late).toMatchObject({ code: "disposed", message: expect.stringMatching(/append: key/) });
    for (const one of [plain, cache]) one.dispose();
    expect(heed.memory().tensors).toBe(0);
  });

  test("a sync call is refused while another is under way", async () => {
    const busy = await openKind({ variant: "simd", worker: "private-memory" });
    try {
      using cache = await busy.createCache({ batch: 2, kvHeads: 2, headDim: 8, maxLength: 10 });
      const row = draw(2, 2, 1, 8);
      const call = busy.attention(row, row, row, { cache });
      expect((await errorOf(() => busy.attentionSync(row, row, row, { cache }))).message).toMatch(/under way/);
      await call;
      busy.attentionSync(row, row, row, { cache });
      expect(cache.length).toBe(2);
    } finally {
      busy.dispose();
    }
  });
});

test("a call that does not fit into a worker's memory leaves the worker's cached pages valid", async () => {
  const rows = drawnBy(new Random(71));
  const narrow = `{
    const { grow } = WebAssembly.Memory.prototype;
    WebAssembly.Memory.prototype.grow = function (pages) {
      if (this.buffer.byteLength + pages * 65536 > 2 ** 24) throw new RangeError("no room");
      return grow.call(this, pages);
    };
  }`;
  const workerFactory = (): never => new NodeWorker(narrow + workerSource, { eval: true }) as never;
  using heed = await openKind({ variant: "simd", worker: "private-memory" }, { threads: 1, wasm: { workerFactory } });
  const [query, first, second, third] = [rows(1, 1, 1, 64), rows(1, 1, 4, 64), rows(1, 1, 4, 64), rows(1, 1, 1, 64)];
  using cache = await heed.createCache({ kvHeads: 1, headDim: 64, maxLength: 50_000 });
  await cache.append(first, first);
  await heed.attention(query, third, third, { cache });
  // Rows of a page that the worker has, on the way to it with a call that fails there.
  await cache.append(second, second);
  const large = rows(1, 1, 40_000, 64);
  expect(await errorOf(() => heed.attention(large, third, third, { cache }))).toMatchObject({ code: "memory" });
  const { output } = await heed.attention(query, third, third, { cache });
  const all = [first, third, second, third].flatMap(({ data }) => Array.from(data as Float32Array));
  const keys = { data: Float32Array.from(all), shape: [1, 1, all.length / 64, 64] };
  const { output: expected } = reference(query, keys, keys);
  for (const [i, number] of output.data.entries())
    expect(Math.abs(number - (expected.data[i] ?? 0))).toBeLessThan(1e-6);
});
