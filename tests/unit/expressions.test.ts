// scoreMod and maskMod: FlexAttention's published recipes against plain loops, what is refused, and what a program comes to.

import { afterAll, describe, expect, test } from "vitest";
import {
  add,
  type Expr,
  equal,
  exp,
  floor,
  floorDiv,
  less,
  lessEqual,
  log,
  max,
  min,
  mod,
  mul,
  neg,
  not,
  select,
  sub,
  table,
  tanh,
} from "../../web/src/expr/index.js";
import { type AttentionOptions, createHeed } from "../../web/src/index.js";
import { type ReferenceOptions, attention as reference } from "../../web/src/reference/index.js";
import { EVERYTHING, errorOf } from "../support/cases.js";
import { FEW_KINDS, openKind } from "../support/engines.js";
import { checkMods } from "../support/mods-check.js";
import { Random } from "../support/random.js";
import { BATCH, biasOf, HEADS, KEYS, MASKS, maskOf, QUERIES, SCORES, SLOPES } from "../support/recipes.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(55);

const tensor = drawnBy(random);

const [GROUPS, DIM] = [2, 16] as const;
const Q = tensor(BATCH, HEADS, QUERIES, DIM);
const K = tensor(BATCH, GROUPS, KEYS, DIM);
const V = tensor(BATCH, GROUPS, KEYS, DIM);

type ScoreMod = NonNullable<AttentionOptions["scoreMod"]>;
type MaskMod = NonNullable<AttentionOptions["maskMod"]>;

describe("on every kind of engine", async () => {
  const engines = await Promise.all(FEW_KINDS.map((kind) => openKind(kind)));
  afterAll(() => {
    for (const heed of engines) heed.dispose();
  });

  const check = (options: AttentionOptions, plain: ReferenceOptions, most = 0): Promise<void> =>
    checkMods(engines, { query: Q, key: K, value: V }, options, plain, { most });

  test.each(MASKS)("masks %s", async (_name, maskMod, rule) => {
    await check({ maskMod }, { mask: maskOf(rule) });
  });

  test.each(SCORES)("scores with %s", async (_name, scoreMod, rule) => {
    if (typeof rule !== "function") return check({ scoreMod }, { softcap: rule.softcap }, 4);
    return check({ scoreMod }, { bias: biasOf(rule) }, 100);
  });

  test("squares weights as in docs/semantics/expressions-and-gradients.md, and does not change lse", async () => {
    const [q, k, v] = [
      { data: Float32Array.of(Math.LN2, 0), shape: [1, 2] },
      { data: Float32Array.of(1, 0, 0, 1), shape: [2, 2] },
      { data: Float32Array.of(9, 0, 0, 9), shape: [2, 2] },
    ];
    const probMod: AttentionOptions["probMod"] = ({ prob }) => mul(prob, prob);
    for (const heed of engines) {
      const { output, weights, lse } = await heed.attention(q, k, v, { scale: 1, probMod, ...EVERYTHING, keep: false });
      for (const [at, wanted] of [4 / 9, 1 / 9].entries()) {
        expect(weights.data[at]).toBeCloseTo(wanted, 6);
        expect(output.data[at]).toBeCloseTo(9 * wanted, 5);
      }
      expect(lse.data[0]).toBeCloseTo(Math.log(3), 6);
    }
  });

  test.each(["softmax", "sparsemax", "sigmoid", "none"] as const)("rewrites the weights of %s", async (normalize) => {
    const probMod: AttentionOptions["probMod"] = ({ prob, h, k }) => mul(0.5, add(prob, select(less(k, h), 0.25, 0)));
    const options = { normalize, probMod, causal: true, topK: 20, dropout: { p: 0.25, seed: 3 } } as const;
    const wanted = reference(Q, K, V, options);
    // Weights are below 8, and half of their error is left: 1e-5 is far above the error model's for these sizes.
    const wrong = (a: Float32Array, b: Float64Array, bound: number): number =>
      a.findIndex((value, at) => !(Math.abs(value - (b[at] ?? Number.NaN)) <= bound));
    for (const heed of engines) {
      const got = await heed.attention(Q, K, V, { ...options, keep: false, return: { weights: true } });
      expect(wrong(got.weights.data, wanted.weights.data, 1e-5)).toBe(-1);
      expect(wrong(got.output.data, wanted.output.data, 2e-4)).toBe(-1);
      const mean = await heed.attention(Q, K, V, { ...options, keep: false, return: { weights: "mean" } });
      expect(wrong(mean.weights.data, wanted.meanWeights.data, 1e-5)).toBe(-1);
    }
  });

  test("takes constants for expressions", async () => {
    const flat = (fill: number) => ({ bias: { data: Float32Array.of(fill), shape: [1] } });
    await check({ maskMod: () => true }, {});
    await check({ maskMod: () => false }, { mask: maskOf(() => false) });
    await check({ scoreMod: () => 0.5 }, { scale: 0, ...flat(0.5) });
    await check(
      { scoreMod: () => 0.5, maskMod: ({ k }) => less(k, 9) },
      { scale: 0, ...flat(0.5), mask: maskOf((_b, _h, _q, k) => k < 9) },
    );
    for (const heed of engines) {
      const { weights } = await heed.attention(Q, K, V, { probMod: () => 1, keep: false, return: { weights: true } });
      expect(new Set(weights.data)).toEqual(new Set([1]));
    }
  });

  test("computes expressions beside each other and beside other options", async () => {
    const scoreMod: ScoreMod = ({ score, b, h }) =>
      add(mul(score, exp(neg(h))), log(add(max(b, 1), 0.5)), min(0.5, floor(score)));
    const maskMod: MaskMod = ({ q, k }) => not(equal(floorDiv(q, 9), floorDiv(k, 7)));
    const rest = { causal: true, window: [100, 0], alibiSlopes: SLOPES, softcap: 5 } as const;
    await check({ scoreMod, maskMod, ...rest }, { scoreMod, maskMod, ...rest }, 100);
  });
});

test("tables hold booleans, f16 numbers, and doubles rounded to f32", async () => {
  using heed = await createHeed();
  const [q, k, v] = [tensor(1, 4), tensor(3, 4), tensor(3, 4)];
  const seen = table({ data: [true, false, true], shape: [3] });
  expect(heed.attentionSync(q, k, v, { maskMod: ({ k }) => seen.at(k) }).output).toEqual(
    heed.attentionSync(q, k, v, { mask: { data: [true, false, true], shape: [3] } }).output,
  );
  const third = Math.fround(1 / 3);
  const doubles = table({ data: Float64Array.of(1 / 3, -1, 0), shape: [3] });
  // The bits of 1, -2 and the smallest f16.
  const f16 = table({ data: Uint16Array.of(0x3c00, 0xc000, 1), shape: [3], dtype: "f16" });
  for (const [one, numbers] of [
    [doubles, [third, -1, 0]],
    [f16, [1, -2, 2 ** -24]],
  ] as const) {
    const options = { scoreMod: ({ k }: { k: Expr }) => one.at(k), return: { scores: "masked" } } as const;
    expect([...heed.attentionSync(q, k, v, options).scores.data]).toEqual(numbers);
  }
});

test("a function that returns its score or weight unchanged has no effect", async () => {
  const [kind] = FEW_KINDS;
  if (kind === undefined) throw new Error("no kind of engine");
  const heed = await openKind(kind);
  const x = tensor(5, 4);
  const same: AttentionOptions = { scoreMod: ({ score }) => score, probMod: ({ prob }) => prob };
  const { output } = heed.attentionSync(x, x, x, { ...same, causal: true });
  expect(output).toEqual(heed.attentionSync(x, x, x, { causal: true }).output);
  heed.dispose();
});

describe("what is refused", async () => {
  const [kind] = FEW_KINDS;
  if (kind === undefined) throw new Error("no kind of engine");
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());
  const x = tensor(2, 4);
  const run = (options: unknown): unknown => Reflect.apply(heed.attentionSync, heed, [x, x, x, options]);

  const deep = (score: Expr): Expr =>
    Array.from({ length: 300 }, (_, n) => n).reduce((sum, n) => tanh(add(sum, n)), score);

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
      "a truth in place of a number",
      () => run({ scoreMod: () => true }),
      "option",
      "returns an expression of heed/expr, as lessEqual(k, q), got true",
    ],
    [
      "nothing",
      () => run({ scoreMod: () => {} }),
      "option",
      "returns an expression of heed/expr, as lessEqual(k, q), got undefined",
    ],
    [
      "a table that is smaller than it says",
      () =>
        run({
          scoreMod: () =>
            JSON.parse(
              '{"type":"float","op":"at","args":[{"type":"int","op":"const","args":[],"value":16777216}],"table":{"data":[0,0],"shape":[2000000000],"type":"float"}}',
            ),
        }),
      "option",
      "scoreMod is no expression of heed/expr: the data of a table must be a Float32Array, got [0, 0]",
    ],
    [
      "a table that has shrunk",
      () => {
        const { args, op, type, table: data } = table({ data: new Float32Array(4), shape: [4] }).at(3);
        structuredClone(data?.data, { transfer: [data?.data.buffer as ArrayBuffer] });
        return run({ scoreMod: () => ({ args, op, type, table: data }) });
      },
      "option",
      "as many numbers, got [4] and 0",
    ],
    [
      "an object that compiles itself",
      () => run({ scoreMod: () => ({ compile: () => ({ words: Int32Array.of(4, 0, 0, 0), tables: [] }) }) }),
      "option",
      "there is no operator undefined",
    ],
    [
      "a truth that is a sum",
      () => run({ maskMod: ({ q, k }: { q: Expr; k: Expr }) => ({ type: "bool", op: "add", args: [q, k] }) }),
      "option",
      'add is of type int, got "bool"',
    ],
    [
      "an index too many",
      () => {
        const one = table({ data: new Float32Array(4), shape: [4] }).at(0);
        return run({ scoreMod: () => ({ ...one, args: [...one.args, ...one.args] }) });
      },
      "option",
      "at takes 1 operands, got 2",
    ],
    [
      "an expression without end",
      () =>
        run({
          scoreMod: () => {
            const endless = (): unknown => ({
              type: "int",
              op: "neg",
              get args() {
                return [endless()];
              },
            });
            return endless();
          },
        }),
      "option",
      "nested deeper than",
    ],
    [
      "a getter that throws",
      () =>
        run({
          scoreMod: () => ({
            get op() {
              throw new Error("mine");
            },
          }),
        }),
      "option",
      "attentionSync failed: mine",
    ],
    [
      "a function that throws",
      () =>
        run({
          scoreMod: () => {
            throw new Error("no table");
          },
        }),
      "option",
      "attentionSync: scoreMod failed: no table",
    ],
    [
      "an argument alone",
      () => run({ maskMod: ({ q }: { q: Expr }) => q }),
      "option",
      "true or false, got one of type int",
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
    [
      "a score in a function of weights",
      () => run({ probMod: () => add({ type: "float", op: "score", args: [] }, 1) }),
      "option",
      "probMod has no score",
    ],
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
      "takes 2 operands, got 1",
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
      "a table of large integers",
      () => Reflect.apply(table, undefined, [{ data: new BigInt64Array(1), shape: [1] }]),
      "dtype",
      "must be a Float32Array",
    ],
    [
      "a table of bits of what nobody says",
      () => Reflect.apply(table, undefined, [{ data: new Uint16Array(1), shape: [1] }]),
      "dtype",
      "f16 numbers or boolean[], got a Uint16Array",
    ],
    [
      "a table of numbers among booleans",
      () => Reflect.apply(table, undefined, [{ data: [true, 1], shape: [2] }]),
      "dtype",
      "f16 numbers or boolean[], got [true, 1]",
    ],
    ["a tensor of five axes as a table", () => table(heed.zeros([1, 1, 1, 1, 1])), "shape", "one to 4 axes"],
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
