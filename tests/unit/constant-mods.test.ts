// Constants instead of expressions, on a page that never loads heed/expr.

import { afterAll, expect, test } from "vitest";
import type { Expr } from "../../web/src/expr/index.js";
import { createHeed, HeedError } from "../../web/src/index.js";
import { Random } from "../support/random.js";

const heed = await createHeed({ backend: "wasm" });
afterAll(() => heed.dispose());

const x = { data: new Random(71).floats(12), shape: [3, 4] };
const plain = () => heed.attentionSync(x, x, x).output;

test("true masks nothing, and false all", () => {
  expect(heed.attentionSync(x, x, x, { maskMod: () => true }).output).toEqual(plain());
  expect(heed.attentionSync(x, x, x, { maskMod: () => false }).output.data).toEqual(new Float32Array(12));
});

test("numbers are scores and weights", () => {
  const options = { scoreMod: () => 0.5, maskMod: () => true, probMod: () => -2, return: { weights: true } } as const;
  expect([...heed.attentionSync(x, x, x, options).weights.data]).toEqual(Array(9).fill(-2));
  const scores = heed.attentionSync(x, x, x, { scoreMod: () => 0.5, return: { scores: "masked", lse: true } });
  expect([...scores.scores.data]).toEqual(Array(9).fill(0.5));
  expect(scores.lse.data[0]).toBeCloseTo(0.5 + Math.log(3), 6);
});

test("a score and a weight may be given back, an expression by hand needs heed/expr", () => {
  const same = { scoreMod: ({ score }: { score: Expr }) => score, probMod: ({ prob }: { prob: Expr }) => prob };
  expect(heed.attentionSync(x, x, x, same).output).toEqual(plain());
  for (const maskMod of [() => 1, () => ({ type: "bool", op: "const", args: [], value: 1 })]) {
    const act = () => Reflect.apply(heed.attentionSync, heed, [x, x, x, { maskMod }]);
    expect(act).toThrow(HeedError);
    expect(act).toThrow("returns an expression of heed/expr, as lessEqual(k, q), got");
  }
});

test("what JavaScript's operators make of the arguments is no constant", () => {
  for (const maskMod of [({ q, k }: { q: Expr; k: Expr }) => k <= q, ({ k }: { k: Expr }) => !k]) {
    const act = () => Reflect.apply(heed.attentionSync, heed, [x, x, x, { maskMod }]);
    expect(act).toThrow("returns an expression of heed/expr, as lessEqual(k, q), got");
  }
});
