// Scores, normalizers and other options: what has no reason not to runs on the GPU and gives right results by each kernel, and the rest runs
// on wasm.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NORMALIZERS, SCORE_PARAMETERS, SCORE_STAGES } from "../../web/src/api/options.js";
import { UNSUPPORTED } from "../../web/src/backends/webgpu/support.js";
import { kernelClass } from "../../web/src/backends/webgpu/tuning.js";
import { mul, type ProbModArguments } from "../../web/src/expr/index.js";
import type { AttentionOptions, ScoreParameter, TensorLike } from "../../web/src/index.js";
import { type ReferenceOptions, type ReferenceResult, attention as reference } from "../../web/src/reference/index.js";
import { boundsFor, UNIT_ROUNDOFF, WGSL } from "../support/error-model.js";
import { openTested, shareKernels } from "../support/gpu-engine.js";
import { Random } from "../support/random.js";
import { scoreBound } from "../support/score-error.js";

const [HEADS, QUERIES, KEYS, DIM, SLOPE] = [2, 7, 11, 6, 0.25];
const random = new Random(31);
const tensor = (...shape: number[]): TensorLike => ({
  data: random.floats(
    shape.reduce((total, size) => total * size, 1),
    0.5,
  ),
  shape,
});
const [query, key, value] = [tensor(HEADS, QUERIES, DIM), tensor(HEADS, KEYS, DIM), tensor(HEADS, KEYS, DIM)] as const;

/** Options that every row is combined with. */
const COMMON = { causal: true, softcap: 4, alibiSlopes: [SLOPE, SLOPE / 2], dropout: { p: 0.2, seed: 9 } } as const;
const w = tensor(DIM, DIM);
const PARAMETERS = { general: { w }, gated: { w: tensor(2 * DIM) }, rbf: { bandwidth: 1.5 } } as const;

type Row = readonly [name: string, reason: string | undefined, options: AttentionOptions & ReferenceOptions];

function scoreOf(type: string): { readonly score: never } {
  const parameters = Object.entries(PARAMETERS).find(([name]) => name === type)?.[1] ?? {};
  // The list names the type.
  return { score: { type, ...parameters } as never };
}

const rows: readonly Row[] = [
  ...Object.keys(SCORE_PARAMETERS).map((type): Row => [`score ${type}`, undefined, scoreOf(type)]),
  ...NORMALIZERS.map((normalize): Row => [`normalize ${normalize}`, UNSUPPORTED.normalize[normalize], { normalize }]),
  ["topK", UNSUPPORTED.option.topK, { topK: 3 }],
  ["probMod", UNSUPPORTED.option.probMod, { probMod: ({ prob }: ProbModArguments) => mul(0.5, prob) }],
  [
    "blocks",
    UNSUPPORTED.option.blocks,
    { blocks: { size: [4, 4], keep: { data: new Uint8Array(6).fill(1), shape: [2, 3] } } },
  ],
  ["retry", undefined, { retry: false }],
];

const { heed, tested, close } = await openTested();
afterAll(close);

/** Absolute bounds of weights and outputs: those of softmax come from its error model, the others from the slope of their curve. */
function boundsOf(
  { score, normalize = "softmax" }: Row[2],
  queries = query,
): { readonly weight: number; readonly output: number } {
  const given = score as { readonly type: "general"; readonly w: ScoreParameter } | undefined;
  const type = given?.type as string | undefined;
  const scale = type === undefined || type === "scaled-dot" ? 1 / Math.sqrt(DIM) : 1;
  const ofScore = scoreBound(given, scale, { query: queries, key, queryDim: DIM, headDim: DIM });
  const { p } = COMMON.dropout;
  const alibi = SLOPE * (2 * KEYS + (queries.shape[1] ?? 0));
  const bounds = boundsFor(KEYS, { value }, ofScore, alibi, p, WGSL, COMMON.softcap);
  if (normalize === "softmax") return { weight: bounds.weights / (1 - p), output: bounds.output };
  // sigmoid's slope is at most 1 / 4, that of "none" is 1; scores are below the softcap and ALiBi's part.
  const largest = normalize === "none" ? COMMON.softcap + alibi : 1;
  const weight = (bounds.scores + WGSL.curve + 8 * UNIT_ROUNDOFF * largest) / (1 - p);
  const most = Math.max(...value.data.map(Math.abs));
  return { weight, output: KEYS * most * (weight + 8 * UNIT_ROUNDOFF * largest) };
}

test.each(rows)("%s", async (_name, reason, own) => {
  const options = { ...COMMON, ...own };
  const { backend, reasons } = heed.explain(query, key, value, options);
  expect(backend).toBe(reason === undefined ? "webgpu" : "wasm");
  if (reason !== undefined) expect(reasons.join()).toContain(reason);
  const exact = reference(query, key, value, options);
  const { weight, output } = boundsOf(own);
  const got = await heed.attention(query, key, value, { ...options, keep: false, return: { weights: true } });
  expectNear(got.output, exact.output, output);
  expectNear(got.weights, exact.weights, weight);
});

describe.each([
  { kind: "tiles of 32 rows", queries: 19 },
  { kind: "eight threads a key", queries: QUERIES },
])("by $kind", ({ kind, queries }) => {
  const many = tensor(HEADS, queries, DIM);
  const classes = [2, 3].map((vectors) => kernelClass(vectors, 2, queries > 8 ? 32 : 8));
  let end: () => void;
  beforeAll(() => {
    end = shareKernels(tested, classes);
  });
  afterAll(() => end());
  // The other scores are products of rows that a kernel prepared, as above.
  const computed = rows.filter(
    ([name, reason]) => reason === undefined && /^normalize|scaled-dot|additive|gated|rbf|distance/.test(name),
  );

  test.each(computed)("%s", async (name, _reason, own) => {
    const options = { ...COMMON, ...own };
    // The decode kernel takes only products.
    const isOther = queries === QUERIES && /additive|gated|rbf|distance/.test(name);
    expect(heed.explain(many, key, value, options).reasons.join()).toContain(isOther ? "each thread a row" : kind);
    const exact = reference(many, key, value, options);
    const got = await heed.attention(many, key, value, { ...options, keep: false });
    expectNear(got.output, exact.output, boundsOf(own, many).output);
  });
});

test.each(SCORE_STAGES)("scores %s", async (stage) => {
  const options = { ...COMMON, return: { scores: stage } } as const;
  expect(heed.explain(query, key, value, options).backend).toBe("webgpu");
  const { scores } = await heed.attention(query, key, value, options);
  const ofScore = scoreBound(undefined, 1 / Math.sqrt(DIM), { query, key, queryDim: DIM, headDim: DIM });
  const bounds = boundsFor(KEYS, { value }, ofScore, SLOPE * (2 * KEYS + QUERIES), 0, WGSL, COMMON.softcap);
  expectNear(scores, exactOf().scores[stage], bounds.scores + UNIT_ROUNDOFF * 8);
});

test("weights: their mean, and those of some rows", async () => {
  const exact = exactOf();
  const { weight } = boundsOf({});
  const mean = await heed.attention(query, key, value, { ...COMMON, return: { weights: "mean" } });
  expectNear(mean.weights, exact.meanWeights, weight);
  const some = await heed.attention(query, key, value, { ...COMMON, return: { weights: { rows: [2, 5] } } });
  const wanted = [0, 1].flatMap((h) => [
    ...exact.weights.data.subarray((h * QUERIES + 2) * KEYS, (h * QUERIES + 5) * KEYS),
  ]);
  expectNear(some.weights, { data: Float64Array.from(wanted), shape: [HEADS, 3, KEYS] }, weight);
});

test("an empty input runs on wasm, and says why", async () => {
  const none = { data: new Float32Array(0), shape: [HEADS, 0, DIM] };
  expect(heed.explain(query, none, none).reasons.join()).toContain(UNSUPPORTED.size.none);
  expect((await heed.attention(query, none, none)).output.data).toEqual(new Float32Array(HEADS * QUERIES * DIM));
});

function exactOf(): ReferenceResult {
  return reference(query, key, value, COMMON);
}

function expectNear(
  got: { readonly data: Float32Array; readonly shape: readonly number[] },
  wanted: { readonly data: Float64Array; readonly shape: readonly number[] },
  bound: number,
): void {
  expect(got.shape).toEqual(wanted.shape);
  const wrong = got.data.findIndex((number, index) => {
    const exact = wanted.data[index] ?? Number.NaN;
    return number !== exact && !(Math.abs(number - exact) <= bound);
  });
  expect(
    wrong === -1 ? "all near" : `[${wrong}] is ${got.data[wrong]}, not ${wanted.data[wrong]}, bound ${bound}`,
  ).toBe("all near");
}
