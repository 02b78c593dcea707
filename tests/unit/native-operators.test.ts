// JavaScript's own operators in scoreMod, maskMod and probMod: they see objects, so none is taken for an expression.

import { afterAll, describe, expect, test } from "vitest";
import { and, constant, type Expr, less, lessEqual, mod, mul, select, sub, table } from "../../web/src/expr/index.js";
import { type AttentionOptions, createHeed, HeedError } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import { Random } from "../support/random.js";

const heed = await createHeed({ backend: "wasm" });
afterAll(() => heed.dispose());

const x = { data: new Random(71).floats(16), shape: [4, 4] };

/** Any two arguments, the first of which is the score or the weight where there is one. */
type Body = (a: never, b: never) => unknown;
type Args = Readonly<Record<string, never>>;

const optionsOf = (name: string, body: Body): AttentionOptions => ({
  [name]: (args: Args) =>
    name === "maskMod"
      ? body(args["k"] as never, args["q"] as never)
      : body(args[name === "scoreMod" ? "score" : "prob"] as never, args["q"] as never),
});

// What JavaScript gives, in comments: at best NaN or a text, at worst what looks like a result.
const CONVERTED: Readonly<Record<string, Body>> = {
  "a <= b": (a, b) => a <= b, // true
  "a < b": (a, b) => a < b, // false
  "a >= b": (a, b) => a >= b,
  "a > b": (a, b) => a > b,
  // biome-ignore lint/suspicious/noDoubleEquals: it is what is tested
  "a == 1": (a) => a == 1,
  // biome-ignore lint/suspicious/noDoubleEquals: likewise
  "a != 1": (a) => a != 1,
  "a + b": (a, b) => a + b, // "[object Object][object Object]"
  "a - b": (a, b) => a - b, // NaN
  "a * 2": (a) => a * 2,
  "a / 2": (a) => a / 2,
  "a % 2": (a) => a % 2,
  "a ** 2": (a) => a ** 2,
  "a & 1": (a) => a & 1, // 0
  "~a": (a) => ~a, // -1
  "a << 1": (a) => a << 1, // 0
  "-a": (a) => -a,
  "+a": (a) => +a,
  "Math.abs(a)": (a) => Math.abs(a),
  "[1, 2][a]": (a) => [1, 2][a], // undefined
  "a text": (a) => `${a}`,
  "a <= b for a choice": (a, b) => (a <= b ? a : -1),
  "an operand": (a, b) => select(a <= b, 1, 0),
  "a node's difference": (a, b) => (sub(a, b) as never) - 1,
  "a node's comparison": (a, b) => (sub(a, b) as never) < 2,
  "a table's number": (a) => table({ data: Int32Array.of(1, 2), shape: [2] }).at(0) + (a as string),
};

const SEEN_AS_OBJECTS: Readonly<Record<string, Body>> = {
  "a === b": (a, b) => a === b, // false
  "a !== b": (a, b) => a !== b, // true
  "!a": (a) => !a,
  "a && 3": (a) => a && 3,
  "a ? 1 : 0": (a) => (a ? 1 : 0),
  "!(a < b)": (a, b) => !less(a, b),
  "typeof a": (a) => typeof a === "number",
};

const IN_VAIN: Readonly<Record<string, Body>> = {
  "a && b": (a, b) => less(1, b) && less(a, 2),
  "a ? b : c": (a, b) => (less(a, b) ? less(a, 1) : less(a, 2)),
  "a remainder": (a, b) => (mod(b, 2) ? less(a, 1) : less(a, 2)),
};

describe.each(["scoreMod", "maskMod", "probMod"])("%s", (name) => {
  const refusal = (body: Body): unknown => {
    try {
      heed.attentionSync(x, x, x, optionsOf(name, body));
    } catch (error) {
      return error;
    }
    return undefined;
  };

  test.each(Object.entries(CONVERTED))("%s is refused where operands are converted", (_, body) => {
    const error = refusal(body);
    expect(error).toBeInstanceOf(HeedError);
    expect(error).toMatchObject({ code: "option" });
    expect(String(error)).toMatch(
      /(attentionSync: \w+|heed\/expr): .*operators of heed\/expr, not JavaScript's: lessEqual/,
    );
    expect(() => reference(x, x, x, optionsOf(name, body) as never)).toThrow("not JavaScript's");
  });

  test.each(Object.entries(SEEN_AS_OBJECTS))("a constant is no result of %s", (_, body) => {
    const error = refusal(body);
    expect(error).toMatchObject({ name: "HeedError", code: "option" });
    expect(String(error)).toContain(
      `attentionSync: ${name} must be a function that returns an expression of heed/expr, as lessEqual(k, q), got`,
    );
    expect(() => reference(x, x, x, optionsOf(name, body) as never)).toThrow("must return an expression, got");
  });

  test.each(Object.entries(IN_VAIN))("%s leaves an expression out", (_, body) => {
    const typed: Body = name === "maskMod" ? body : (a, b) => select(body(a, b) as Expr, a, 0);
    const error = refusal(typed);
    expect(error).toMatchObject({ name: "HeedError", code: "option" });
    expect(String(error)).toContain(`attentionSync: ${name} must use every expression that it makes, got`);
  });

  test("a condition whose choice is an argument, or a constant, is not lost", () => {
    if (name !== "maskMod") expect(String(refusal((a, b) => (less(b, 2) ? a : b)))).toContain("got less unused");
    const chosen = constant(name === "maskMod" || 2);
    expect(String(refusal((_, b) => (less(b, 2) ? chosen : 1)))).toContain("got less unused");
  });
});

test("the engine computes on after a refusal", () => {
  const causal = heed.attentionSync(x, x, x, { causal: true }).output;
  expect(() =>
    heed.attentionSync(
      x,
      x,
      x,
      optionsOf("maskMod", (k, q) => k <= q),
    ),
  ).toThrow(HeedError);
  expect(heed.attentionSync(x, x, x, { maskMod: ({ q, k }) => lessEqual(k, q) }).output).toEqual(causal);
});

describe("what is meant stays", () => {
  const plain = () => heed.attentionSync(x, x, x).output;

  test("a constant of a function that takes no argument, or made by constant", () => {
    expect(heed.attentionSync(x, x, x, { maskMod: () => true }).output).toEqual(plain());
    const isCausal = Boolean(0);
    const maskMod = ({ q, k }: { q: Expr; k: Expr }) => (isCausal ? lessEqual(k, q) : constant(true));
    expect(heed.attentionSync(x, x, x, { maskMod }).output).toEqual(plain());
  });

  test("an expression that was made in an earlier call, is in a node by hand, or is there twice", () => {
    let tree: Expr | undefined;
    const causal = heed.attentionSync(x, x, x, { causal: true }).output;
    for (let call = 0; call < 2; call++) {
      const maskMod = ({ q, k }: { q: Expr; k: Expr }) => (tree ??= lessEqual(k, q));
      expect(heed.attentionSync(x, x, x, { maskMod }).output).toEqual(causal);
    }
    const byHand = ({ q, k }: { q: Expr; k: Expr }): Expr => ({ type: "bool", op: "not", args: [less(q, k)] });
    expect(heed.attentionSync(x, x, x, { maskMod: byHand }).output).toEqual(causal);
    const twice = ({ q, k }: { q: Expr; k: Expr }): Expr => and(byHand({ q, k }), byHand({ q, k }), lessEqual(k, q));
    expect(heed.attentionSync(x, x, x, { maskMod: twice }).output).toEqual(causal);
  });

  test("a backward pass of constants", async () => {
    const { output, release } = await heed.attentionVjp(x, x, x, { scoreMod: () => 0.5, maskMod: () => true });
    expect(output).toEqual(heed.attentionSync(x, x, x, { scoreMod: () => 0.5 }).output);
    release();
  });
});

test("types refuse a constant of a function that takes arguments", () => {
  const refused: AttentionOptions[] = [
    // @ts-expect-error JavaScript's <= gives a boolean
    { maskMod: ({ q, k }) => k <= q },
    // @ts-expect-error likewise
    { scoreMod: ({ score }) => Number(score) },
  ];
  const taken: AttentionOptions[] = [{ maskMod: () => true }, { scoreMod: ({ score }) => mul(score, 2) }];
  expect([refused.length, taken.length]).toEqual([2, 2]);
});
