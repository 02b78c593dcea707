// What the bench in the browser concludes from its samples: which shapes, which peer, which aims.

import { describe, expect, test } from "vitest";
import { judgeAims } from "../../bench/web/lib/aims.js";
import { bestPeer, lead, requireAll } from "../../bench/web/lib/findings.js";
import { modelOf, stepFlopsOf } from "../../bench/web/lib/models.js";
import { flopsOf, keyBytesOf, shapeOf } from "../../bench/web/lib/shapes.js";
import { median, summarise } from "../../bench/web/lib/summary.js";
import { requireAlike } from "../../bench/web/lib/training-report.js";
import { judgeWeights } from "../../bench/web/lib/weights-report.js";

const result = (name: string, ms: number | null, more: { rate?: number; error?: number } = {}) => ({
  name,
  ms,
  rate: more.rate ?? null,
  samples: [],
  error: more.error ?? null,
  firstMs: null,
  prepareMs: null,
  failure: null as string | null,
});

const study = (shape: string, results: ReturnType<typeof result>[]) => {
  const problem = shapeOf(shape);
  return { shape, flops: flopsOf(problem), keyBytes: keyBytesOf(problem), results };
};

const findings = (shapes: ReturnType<typeof study>[], threads = 2) => ({
  run: {
    date: "",
    browser: "",
    isolated: true,
    machine: "",
    summary: "median" as const,
    heed: { "heed@2": { threads } },
  },
  machine: [],
  shapes,
  costs: [],
  firstCalls: [],
  firstResults: [],
  stalls: [],
  memory: [],
});

const aim = (name: string, given: ReturnType<typeof findings>) => judgeAims(given).find((one) => one.aim === name);

describe("a look whether the bench works", () => {
  const right = result("heed@1", 1, { error: 1e-7 });

  test("is content with loops, which have no error, and with results that are right", () => {
    expect(() => requireAll([study("1x64x64", [right, result("tile-simd@1", null, { rate: 1 })])])).not.toThrow();
  });

  test.each([
    ["is missing", { ...right, failure: "no such page" }, "heed@1 at 1x64x64: no such page"],
    ["is wrong", { ...right, error: 0.5 }, "heed@1 at 1x64x64: off by 0.5"],
    ["is no number", { ...right, error: Number.NaN }, "heed@1 at 1x64x64: off by NaN"],
  ])("fails when somebody %s", (_, one, message) => {
    expect(() => requireAll([study("1x64x64", [right, one])])).toThrow(message);
  });
});

describe("a shape's name", () => {
  test("says heads, lengths, dim and causal", () => {
    expect(shapeOf("32/8x1:4096x128")).toEqual({
      heads: 32,
      kvHeads: 8,
      queries: 1,
      keys: 4096,
      dim: 128,
      causal: false,
    });
    expect(shapeOf("1x64x32c")).toEqual({ heads: 1, kvHeads: 1, queries: 64, keys: 64, dim: 32, causal: true });
    expect(() => shapeOf("64x64")).toThrow("64x64");
  });

  test("gives operations and bytes by hand", () => {
    expect(flopsOf(shapeOf("2x3:5x7"))).toBe(4 * 2 * 3 * 5 * 7);
    expect(flopsOf(shapeOf("2x3x7c"))).toBe(2 * 2 * 3 * 3 * 7);
    expect(keyBytesOf(shapeOf("4/2x1:10x3"))).toBe(2 * 4 * 2 * 10 * 3);
  });
});

describe("training", () => {
  test("counts the products of a step by hand", () => {
    // In each of two layers: three projections and one, two of the hidden layer, scores and contexts. Then logits.
    const layer = 4 * 8 * 8 + 2 * 8 * 32 + 2 * 64 * 8;
    expect(stepFlopsOf(modelOf("8x2"))).toBe(3 * 2 * 1024 * (2 * layer + 8 * 256));
  });

  test("is right where losses are alike", () => {
    const learnt = (apart: number) => ({ ...result("jax:training@1", 1), bytes: 1, taskMs: 1, apart });
    const studyOf = (apart: number) => [{ model: "8x2", flops: 1, results: [learnt(apart)] }];
    expect(() => requireAlike(studyOf(1e-6))).not.toThrow();
    expect(() => requireAlike(studyOf(1e-3))).toThrow("jax:training@1 at 8x2: losses apart by 0.001");
    expect(() => requireAlike(studyOf(Number.NaN))).toThrow("NaN");
  });
});

test("the median is the middle, or between the two middle ones", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 9, 2])).toBe(3);
});

test("the best is the shortest time, or the highest rate", () => {
  expect(summarise([9, 1, 5], "best", false)).toBe(1);
  expect(summarise([9, 1, 5], "best", true)).toBe(9);
  expect(summarise([9, 1, 5], "median", true)).toBe(5);
});

describe("the best peer", () => {
  const shape = study("8x1024x64", [
    result("heed@1", 10),
    result("heed@2", 5),
    result("heed-simd@1", 1),
    result("ort-attention:feed@1", 2),
    result("tile-relaxed@1", null, { rate: 1 }),
    result("jax@1", 15),
    result("ort-mha@1", 20),
    result("ort-mha@2", 25),
  ]);

  test("is the fastest that is neither heed, nor a loop, nor fed at each call", () => {
    expect(bestPeer(shape, 1)?.name).toBe("jax@1");
    expect(bestPeer(shape, 1, "ort")?.name).toBe("ort-mha@1");
  });

  test("for two threads may use one, where a second slows it down", () => {
    expect(bestPeer(shape, 2, "ort")?.name).toBe("ort-mha@1");
    expect(lead(shape, 2, "ort")).toBe(4);
  });
});

test("stalls and first results are heed's own worst, and a lead over the fastest peer", () => {
  const given = {
    ...findings([]),
    firstResults: [
      { name: "heed@1", ms: 40, failure: null },
      { name: "jax@1", ms: 100, failure: null },
      { name: "tfjs@1", ms: 90, failure: null },
      { name: "ort-unfused@1", ms: null, failure: "gone" },
    ],
    stalls: [
      { name: "heed@1", ms: 3, failure: null },
      { name: "heed:feed@1", ms: 12, failure: null },
      { name: "jax@1", ms: 200, failure: null },
    ],
  };
  const state = (name: string) => judgeAims(given).find((one) => one.aim === name);
  expect(state("from import to first result, ms")).toMatchObject({ state: "met", got: "40.0 (heed@1)" });
  expect(state("the fastest peer's, over that")).toMatchObject({ state: "met", got: "2.25 (tfjs@1)" });
  expect(state("longest task of the page's thread, ms")).toMatchObject({ state: "short", got: "12.0 (heed:feed@1)" });
});

describe("an aim", () => {
  const fast = study("8x1024x64", [result("heed@1", 10), result("heed@2", 5), result("ort-mha@1", 20)]);
  const slow = study("8x1024x128", [result("heed@1", 10), result("heed@2", 6), result("ort-mha@1", 16)]);
  const name = "over the best onnxruntime-web, 1 thr.";

  test("is decided by the worst figure", () => {
    expect(aim(name, findings([fast]))).toMatchObject({ state: "met" });
    expect(aim(name, findings([fast, slow]))).toMatchObject({ state: "short", got: "1.60 (8x1024x128)" });
    expect(aim("2 threads over 1", findings([fast, slow]))).toMatchObject({ state: "short", got: "1.67 (8x1024x128)" });
  });

  test("about threads is open when heed got one only", () => {
    expect(aim("2 threads over 1", findings([fast, slow], 1))).toMatchObject({ state: "open" });
  });

  test("without figures is open", () => {
    expect(aim(name, findings([]))).toMatchObject({ state: "open", got: "" });
  });

  test("about errors compares the largest of heed with the largest of onnxruntime-web", () => {
    const errors = study("8x128x64", [
      result("heed@1", 1, { error: 2e-7 }),
      result("heed-simd@1", 1, { error: 4e-7 }),
      result("ort-mha@1", 1, { error: 1e-7 }),
      result("ort-gqa@1", 1, { error: 3.2e-7 }),
    ]);
    expect(aim("error over onnxruntime-web's", findings([errors]))).toMatchObject({
      state: "met",
      got: "1.25 (8x128x64)",
    });
  });
});

describe("an aim about narrow weights", () => {
  const token = (read: number) => ({
    shape: "llama-token",
    threads: 1,
    bytes: { "heed int8@1": 2e8 },
    results: [result("heed f32@1", 20), result("heed int8@1", 8), result("read-memory@1", null, { rate: read })],
  });
  const judged = (read: number) =>
    judgeWeights({ ...findings([]), dotClass: "", rows: [], shapes: [token(read)], large: [] });
  const state = (read: number, name: string) => judged(read).find(({ aim }) => aim === name);

  test("is lower in proportion where memory is faster than 25 GB/s", () => {
    expect(state(20e9, "Llama: tokens in int8 over f32")).toMatchObject({
      state: "short",
      got: "2.50 (llama-token)",
    });
    expect(state(40e9, "Llama: tokens in int8 over f32")).toMatchObject({ state: "met", got: "4.00 (llama-token)" });
  });

  test("counts all memory of the page, and is open without figures", () => {
    expect(state(20e9, "Llama in int8: GB of the page")).toMatchObject({ state: "met" });
    expect(state(20e9, "Llama in int4: GB of the page")).toMatchObject({ state: "open" });
    expect(state(20e9, "MiniLM: int8 over transformers.js q8")).toMatchObject({ state: "open" });
  });

  test("holds a row to the slower of reading and the kernel", () => {
    const rows = [
      {
        format: "int8",
        bytes: 75e6,
        results: [
          result("heed 1@1", 3),
          result("heed 8@1", 6.6),
          result("kernel@1", null, { rate: 28e9 }),
          result("read@1", null, { rate: 40e9 }),
        ],
      },
    ];
    const found = judgeWeights({ ...findings([]), dotClass: "", rows, shapes: [], large: [] });
    // 25 GB/s of 28, and 6.6 ms of 3.
    expect(found[0]).toMatchObject({ state: "met", got: "0.893 (int8)" });
    expect(found[1]).toMatchObject({ state: "short", got: "2.20 (int8)" });
  });
});
