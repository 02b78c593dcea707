// Calls cut into slices: the slices cover the call, and give its bits wherever they are computed.

import { describe, expect, test } from "vitest";
import { attend, attendSync, check } from "../../web/src/api/attention.js";
import { type Grain, type Range, slicesOf } from "../../web/src/backends/wasm/slices.js";
import type { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import { type AttentionOptions, createHeed, type ReturnOptions, type TensorLike } from "../../web/src/index.js";
import { ATTENTION } from "../../web/src/operations/attention.js";
import { type Case, caseOf, cases, differentIndex } from "../support/cases.js";
import { FEW_KINDS, openBackend } from "../support/engines.js";
import { Random } from "../support/random.js";
import { counted } from "../support/tasks-done.js";

const SEED = 31;
const random = new Random(SEED);

/** Slices as small as they can be, several of each axis, and more than there are workers. */
const FINE: Grain = { least: 1, most: 1, count: 1, upTo: 12 };
const FINEST: Grain = { least: 1, most: 1, count: 1, upTo: 1000 };

/** Cases with so many queries that these are cut too. */
const LONGER: readonly Case[] = [
  { batch: 1, heads: 1, kvHeads: 1, queryLength: 250, keyLength: 130, headDim: 16, valueDim: 24 },
  { batch: 2, heads: 4, kvHeads: 2, queryLength: 100, keyLength: 60, headDim: 8, valueDim: 8 },
  { batch: 3, heads: 3, kvHeads: 1, queryLength: 70, keyLength: 97, headDim: 8, valueDim: 5 },
  { batch: 1, heads: 6, kvHeads: 3, queryLength: 64, keyLength: 200, headDim: 32, valueDim: 8 },
].flatMap((sizes) => Array.from({ length: 8 }, (_, n) => caseOf(random, `longer ${n}`, sizes)));

/** Each case asks for some of the results that a call can return. */
function returns({ sizes: { queryLength } }: Case, index: number): ReturnOptions {
  const from = Math.floor(queryLength / 3);
  const weights = [true, "mean", { rows: [from, Math.max(from + 1, queryLength - 1)] }, false] as const;
  return {
    weights: weights[index % weights.length] ?? false,
    lse: index % 2 === 0,
    entropy: index % 3 === 0,
    scores: index % 5 === 0 ? "masked" : index % 7 === 0 ? "raw" : false,
  };
}

const RESULTS = ["output", "weights", "lse", "scores", "entropy"] as const;

/** Where the async results of a backend differ from the sync ones, which are never sliced. */
async function firstDifference(backend: WasmBackend, one: Case, options: AttentionOptions): Promise<string | null> {
  const [whole, sliced] = [attendSync(backend, one, options), await attend(backend, one, options)];
  for (const name of RESULTS) {
    const [wanted, got] = [whole[name], sliced[name]];
    if (wanted === undefined && got === undefined) continue;
    if (wanted === undefined || got === undefined || !("data" in wanted) || !("data" in got))
      return `${name} is missing`;
    const index = differentIndex(got.data, wanted.data);
    if (index !== -1) return `${one.name}: ${name}[${index}] is ${got.data[index]}, not ${wanted.data[index]}`;
  }
  return null;
}

describe.each(FEW_KINDS.filter(({ worker }) => worker !== "shared-memory"))("$variant, $worker worker", (kind) => {
  test.each([
    [1, FINE],
    [2, FINE],
    [3, FINEST],
  ])("%i threads and the finest slices give the bits of the whole call, with every option", async (threads, grain) => {
    const count = kind.worker === null ? 1 : threads;
    const { backend, tasksDone } = await counted(count, (modules) => openBackend(kind, count, { grain, modules }));
    for (const [index, one] of [...cases(SEED, 80), ...LONGER].entries()) {
      const options = { ...one.options, return: returns(one, index) };
      expect(await firstDifference(backend, one, options)).toBeNull();
    }
    if (kind.worker !== null) expect(tasksDone(0)).toBeGreaterThan(LONGER.length);
    backend.dispose();
  });
});

const tensor = (...shape: number[]): TensorLike => ({ data: random.floats(shape.reduce((a, b) => a * b, 1)), shape });

describe("slices", () => {
  const cut = (query: TensorLike, key: TensorLike, options: AttentionOptions, grain: Grain) => {
    const { problem } = check("test", null, { query, key, value: key }, options).checked;
    return slicesOf(ATTENTION.cut(problem, 0, grain.most), ATTENTION.work(problem), grain);
  };
  /** Without a range of heads a slice has all of them. */
  const covered = (times: Map<string, number>, ranges: readonly Range[], heads: number): void => {
    const [a, b, c] = ranges.length === 2 ? [ranges[0], { begin: 0, end: heads }, ranges[1]] : ranges;
    if (a === undefined || b === undefined || c === undefined) return;
    for (let i = a.begin; i < a.end; i++) {
      for (let j = b.begin; j < b.end; j++) {
        for (let k = c.begin; k < c.end; k++) times.set(`${i},${j},${k}`, (times.get(`${i},${j},${k}`) ?? 0) + 1);
      }
    }
  };

  test.each([
    [[1, 1, 100, 8], [1, 1, 9, 8], {}],
    [[3, 4, 33, 8], [3, 2, 9, 8], {}],
    [[2, 70, 3, 8], [2, 9, 1, 8], { layout: "bnhd" }],
    [[2, 6, 40, 8], [2, 3, 9, 8], { return: { weights: "mean" } }],
  ] as const)("of query %j and key %j cover each row once", (query, key, options) => {
    for (const upTo of [1, 2, 3, 5, 8, 1000]) {
      const times = new Map<string, number>();
      const [heads, rows] = "layout" in options ? [key[2], query[1]] : [key[1], query[2]];
      for (const slice of cut(tensor(...query), tensor(...key), options, { ...FINEST, upTo }))
        covered(times, slice, heads);
      expect(times.size).toBe(query[0] * heads * rows);
      expect(new Set(times.values())).toEqual(new Set([1]));
    }
  });

  test("are as many as asked for, if worth their cost, and whole heads where there are enough of them", () => {
    const inputs = [tensor(1, 8, 256, 8), tensor(1, 8, 256, 8), {}] as const;
    const groups = cut(...inputs, { ...FINEST, upTo: 8 }).map(([, groups]) => groups?.begin);
    expect(groups).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(cut(...inputs, { least: 2 ** 40, most: 1, count: 8, upTo: 8 })).toHaveLength(1);
    expect(cut(...inputs, { least: 1, most: 2 ** 40, count: 4, upTo: 8 })).toHaveLength(4);
  });

  test("have fewer than sixteen queries only where one query is much work", () => {
    const grain: Grain = { least: 2 ** 20, most: 2 ** 24, count: 1, upTo: 1000 };
    const inputs = [tensor(1, 1, 16, 8), tensor(1, 1, 2 ** 14, 8)] as const;
    const w = tensor(64, 8);
    expect(cut(...inputs, {}, grain)).toHaveLength(1);
    expect(cut(...inputs, { score: { type: "additive", wq: w, wk: w } }, grain)).toHaveLength(16);
    const few = cut(tensor(1, 1, 8, 8), inputs[1], { score: { type: "additive", wq: w, wk: w } }, grain);
    expect(few).toHaveLength(1);
  });

  test("keep all heads together when the mean of the weights is asked for", () => {
    const options = { return: { weights: "mean" } } as const;
    const slices = cut(tensor(1, 8, 256, 8), tensor(1, 8, 256, 8), options, FINEST);
    expect(slices.length).toBeGreaterThan(1);
    for (const slice of slices) expect(slice).toHaveLength(2);
  });
});

test("without workers a long call yields to the event loop, and can be aborted", async () => {
  const workerFactory = (): never => {
    throw new Error("worker-src is none");
  };
  using heed = await createHeed({ wasm: { workerFactory } });
  const long = [tensor(1, 8, 1024, 64), tensor(1, 8, 1024, 64), tensor(1, 8, 1024, 64)] as const;
  const whole = heed.attentionSync(...long);
  let tasks = 0;
  let computes = true;
  const count = (): void => {
    tasks += 1;
    if (computes) setImmediate(count);
  };
  setImmediate(count);
  const { output } = await heed.attention(...long);
  computes = false;
  expect(tasks).toBeGreaterThan(3);
  expect(differentIndex(output.data, whole.output.data)).toBe(-1);
  const controller = new AbortController();
  const aborted = heed.attention(...long, { signal: controller.signal });
  setImmediate(() => controller.abort("enough"));
  await expect(aborted).rejects.toMatchObject({ code: "aborted", cause: "enough" });
  expect((await heed.attention(...long)).output.data).toEqual(whole.output.data);
});
