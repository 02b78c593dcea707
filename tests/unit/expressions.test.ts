// scoreMod and maskMod: FlexAttention's published recipes against plain loops, what is refused, and what a program comes to.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  abs,
  add,
  and,
  type Expr,
  equal,
  exp,
  floor,
  floorDiv,
  greaterEqual,
  less,
  lessEqual,
  log,
  max,
  min,
  mod,
  mul,
  neg,
  not,
  notEqual,
  or,
  select,
  sub,
  table,
  tanh,
} from "../../web/src/expr/index.js";
import type { AttentionOptions, Heed, TensorLike } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import { EVERYTHING, errorOf } from "../support/cases.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { boundsFor, withinLse, withinOutput, withinWeight } from "../support/error-model.js";
import { Random } from "../support/random.js";
import { scoreBound } from "../support/score-error.js";

const random = new Random(55);

const tensor = (...shape: number[]): TensorLike => ({
  data: random.floats(shape.reduce((total, size) => total * size, 1)),
  shape,
});

const [BATCH, HEADS, GROUPS, QUERIES, KEYS, DIM] = [2, 4, 2, 140, 200, 16] as const;
const Q = tensor(BATCH, HEADS, QUERIES, DIM);
const K = tensor(BATCH, GROUPS, KEYS, DIM);
const V = tensor(BATCH, GROUPS, KEYS, DIM);

const whole = (...numbers: number[]) => table({ data: Int32Array.from(numbers), shape: [numbers.length] });
const upTo = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

type Rule = (b: number, h: number, q: number, k: number) => boolean;
type MaskMod = NonNullable<AttentionOptions["maskMod"]>;

const documents = upTo(KEYS, (n) => Math.floor(n / 45));
const shuffled = upTo(KEYS, (n) => (n * 7) % 5);
const prefixes = [30, 97];
const lengths = [55, 130];

const MASKS: readonly (readonly [string, MaskMod, Rule])[] = [
  ["causal", ({ q, k }) => lessEqual(k, q), (_b, _h, q, k) => k <= q],
  [
    "a prefix language model",
    ({ b, q, k }) => or(lessEqual(k, q), less(k, whole(...prefixes).at(b))),
    (b, _h, q, k) => k <= q || k < (prefixes[b] ?? 0),
  ],
  [
    "documents",
    ({ q, k }) => {
      const of = whole(...documents);
      return equal(of.at(q), of.at(k));
    },
    (_b, _h, q, k) => documents[q] === documents[k],
  ],
  [
    "documents out of order, causal",
    ({ q, k }) => {
      const of = whole(...shuffled);
      return and(equal(of.at(q), of.at(k)), greaterEqual(q, k));
    },
    (_b, _h, q, k) => shuffled[q] === shuffled[k] && q >= k,
  ],
  [
    "a dilated sliding window",
    ({ q, k }) => and(lessEqual(abs(sub(q, k)), 24), equal(mod(sub(q, k), 4), 0)),
    (_b, _h, q, k) => Math.abs(q - k) <= 24 && (q - k) % 4 === 0,
  ],
  [
    "jagged batch entries",
    ({ b, q, k }) => and(less(q, whole(...lengths).at(b)), less(k, whole(...lengths).at(b))),
    (b, _h, q, k) => q < (lengths[b] ?? 0) && k < (lengths[b] ?? 0),
  ],
  [
    "a neighbourhood in two dimensions",
    ({ q, k }) =>
      and(lessEqual(abs(sub(mod(q, 15), mod(k, 15))), 3), lessEqual(abs(sub(floorDiv(q, 15), floorDiv(k, 15))), 2)),
    (_b, _h, q, k) => Math.abs((q % 15) - (k % 15)) <= 3 && Math.abs(Math.floor(q / 15) - Math.floor(k / 15)) <= 2,
  ],
  ["some heads", ({ h }) => notEqual(mod(h, 2), 0), (_b, h) => h % 2 !== 0],
];

type ScoreMod = NonNullable<AttentionOptions["scoreMod"]>;
const slopes = [0.5, 0.25, 0.125, 0.0625];
const biases = random.floats(HEADS * 61);

/** Each with what it adds to a score, or what it is as options. */
const SCORES: readonly (readonly [
  string,
  ScoreMod,
  ((h: number, q: number, k: number) => number) | AttentionOptions,
])[] = [
  [
    "ALiBi",
    ({ score, h, q, k }) =>
      sub(score, mul(table({ data: Float32Array.from(slopes), shape: [4] }).at(h), abs(sub(q, k)))),
    (h, q, k) => -(slopes[h] ?? 0) * Math.abs(q - k),
  ],
  [
    "relative biases",
    ({ score, h, q, k }) => add(score, table({ data: biases, shape: [HEADS, 61] }).at(h, add(sub(q, k), 30))),
    (h, q, k) => biases[h * 61 + Math.min(Math.max(q - k + 30, 0), 60)] ?? 0,
  ],
  ["distance", ({ score, q, k }) => add(score, mul(-0.01, sub(q, k))), (_h, q, k) => -0.01 * (q - k)],
  ["softcap", ({ score }) => mul(2, tanh(mul(score, 0.5))), { softcap: 2 }],
  [
    "causal by -Infinity",
    ({ score, q, k }) => select(greaterEqual(q, k), score, -Infinity),
    (_h, q, k) => (q >= k ? 0 : -Infinity),
  ],
];

/** The four axes of a mask or bias, filled by a rule. */
function filled<A extends Float32Array | Uint8Array>(
  data: A,
  fill: (b: number, h: number, q: number, k: number) => number,
): A {
  let index = 0;
  for (let b = 0; b < BATCH; b++)
    for (let h = 0; h < HEADS; h++)
      for (let q = 0; q < QUERIES; q++) for (let k = 0; k < KEYS; k++) data[index++] = fill(b, h, q, k);
  return data;
}

const SIZE = BATCH * HEADS * QUERIES * KEYS;
const SHAPE = [BATCH, HEADS, QUERIES, KEYS];

describe.each(ENGINE_KINDS)("$variant, $worker worker", (kind) => {
  let heed: Heed;
  beforeAll(async () => {
    heed = await openKind(kind);
  });
  afterAll(() => heed.dispose());

  /** Of options that hold expressions, against the reference with options that hold none. */
  /** `most` is the largest number that joins a score on the way. */
  async function check(options: AttentionOptions, plain: Parameters<typeof reference>[3], most = 0): Promise<void> {
    const got = await heed.attention(Q, K, V, { ...options, ...EVERYTHING, keep: false });
    const wanted = reference(Q, K, V, plain);
    const score = scoreBound("scaled-dot", 1 / Math.sqrt(DIM), { query: Q, key: K, queryDim: DIM, headDim: DIM });
    const bounds = boundsFor(KEYS, { value: V }, score, most);
    const differs = (
      a: Float32Array,
      b: Float64Array,
      within: (got: number, expected: number, of: typeof bounds) => boolean,
    ): number => a.findIndex((value, index) => !within(value, b[index] ?? Number.NaN, bounds));
    expect(differs(got.output.data, wanted.output.data, withinOutput)).toBe(-1);
    expect(differs(got.weights.data, wanted.weights.data, withinWeight)).toBe(-1);
    expect(differs(got.lse.data, wanted.lse.data, withinLse)).toBe(-1);
  }

  test.each(MASKS)("masks %s", async (_name, maskMod, rule) => {
    const mask = { data: filled(new Uint8Array(SIZE), (...at) => Number(rule(...at))), shape: SHAPE };
    await check({ maskMod }, { mask });
  });

  test.each(SCORES)("scores with %s", async (_name, scoreMod, rule) => {
    if (typeof rule !== "function") return check({ scoreMod }, { softcap: rule.softcap }, 4);
    const bias = { data: filled(new Float32Array(SIZE), (_b, h, q, k) => rule(h, q, k)), shape: SHAPE };
    return check({ scoreMod }, { bias }, 100);
  });

  test("computes expressions beside each other and beside other options", async () => {
    const scoreMod: ScoreMod = ({ score, b, h }) =>
      add(mul(score, exp(neg(h))), log(add(max(b, 1), 0.5)), min(0.5, floor(score)));
    const maskMod: MaskMod = ({ q, k }) => not(equal(floorDiv(q, 9), floorDiv(k, 7)));
    const rest = { causal: true, window: [100, 0], alibiSlopes: slopes, softcap: 5 } as const;
    await check({ scoreMod, maskMod, ...rest }, { scoreMod, maskMod, ...rest }, 100);
  });
});

describe("what is refused", () => {
  let heed: Heed;
  beforeAll(async () => {
    const [kind] = ENGINE_KINDS;
    if (kind === undefined) throw new Error("no kind of engine");
    heed = await openKind(kind);
  });
  afterAll(() => heed.dispose());
  const x = tensor(2, 4);
  const run = (options: unknown): unknown => Reflect.apply(heed.attentionSync, heed, [x, x, x, options]);

  const deep = (score: Expr): Expr => upTo(300, (n) => n).reduce((sum, n) => tanh(add(sum, n)), score);

  test.each<[string, () => unknown, string, string]>([
    [
      "a mask that is a number",
      () => run({ maskMod: ({ q, k }: { q: Expr; k: Expr }) => sub(q, k) }),
      "option",
      "true or false",
    ],
    [
      "a score that is true",
      () => run({ scoreMod: ({ q, k }: { q: Expr; k: Expr }) => less(q, k) }),
      "option",
      "a number, got one of type bool",
    ],
    [
      "a number in place of an expression",
      () => run({ scoreMod: () => 3 }),
      "option",
      "must return an expression made with heed/expr",
    ],
    ["an expression in place of a function", () => run({ maskMod: lessEqual(1, 2) }), "option", "must be a function"],
    [
      "a score in a mask",
      () => run({ maskMod: () => less({ type: "float", op: "score", args: [] }, 1) }),
      "option",
      "maskMod has no score",
    ],
    [
      "an expression that is nested too deep",
      () => run({ scoreMod: ({ score }: { score: Expr }) => deep(score) }),
      "option",
      "nested deeper than",
    ],
    [
      "a function that throws",
      () =>
        run({
          scoreMod: () => {
            throw new Error("mine");
          },
        }),
      "option",
      "mine",
    ],
    ["probMod", () => run({ probMod: () => 1 }), "unsupported", "probMod"],
    ["a truth among numbers", () => add(1, true), "option", "add takes numbers"],
    ["a fraction among whole numbers", () => mod(5, 2.5), "option", "mod takes whole numbers"],
    ["a number as a condition", () => select(1, 2, 3), "option", "select takes what is true or false"],
    ["a number beside a truth", () => equal(1, true), "option", "two of a kind"],
    ["something else", () => Reflect.apply(add, undefined, [1, "2"]), "option", "takes expressions"],
    ["NaN", () => add(1, Number.NaN), "option", "a constant must be a number"],
    [
      "an index too few",
      () => table({ data: new Float32Array(6), shape: [2, 3] }).at(1),
      "option",
      "takes 2 indices, got 1",
    ],
    [
      "a fraction as an index",
      () => table({ data: new Float32Array(6), shape: [6] }).at(1.5),
      "option",
      "at takes whole numbers",
    ],
    ["a table of no numbers", () => table({ data: new Float32Array(0), shape: [0] }), "shape", "one to 4 axes"],
    [
      "a table of five axes",
      () => table({ data: new Float32Array(1), shape: [1, 1, 1, 1, 1] }),
      "shape",
      "one to 4 axes",
    ],
    [
      "a table of doubles",
      () => Reflect.apply(table, undefined, [{ data: new Float64Array(1), shape: [1] }]),
      "dtype",
      "must be a Float32Array",
    ],
    [
      "a table of large whole numbers",
      () => table({ data: Int32Array.of(2 ** 24 + 1), shape: [1] }),
      "option",
      "between -2^24 and 2^24",
    ],
  ])("refuses %s", async (_name, act, code, message) => {
    const error = await errorOf(async () => act());
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });
});
