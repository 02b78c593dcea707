// Expressions as shaders: FlexAttention's recipes against plain masks and biases in double precision, and against wasm.

import { afterAll, expect, test } from "vitest";
import {
  abs,
  add,
  div,
  type Expr,
  exp,
  floor,
  floorDiv,
  less,
  log,
  max,
  mod,
  mul,
  neg,
  select,
  sub,
  table,
  tanh,
} from "../../web/src/expr/index.js";
import { type AttentionOptions, createHeed, type TensorLike } from "../../web/src/index.js";
import type { ReferenceOptions } from "../../web/src/reference/index.js";
import { WGSL } from "../support/error-model.js";
import { openTested } from "../support/gpu-engine.js";
import { checkMods } from "../support/mods-check.js";
import { Random } from "../support/random.js";
import { BATCH, biasOf, HEADS, KEYS, MASKS, maskOf, QUERIES, SCORES } from "../support/recipes.js";

const DIM = 8;
const random = new Random(57);
const tensor = (heads: number, length: number): TensorLike => ({
  data: random.floats(BATCH * heads * length * DIM),
  shape: [BATCH, heads, length, DIM],
});
const [Q, K, V] = [tensor(HEADS, QUERIES), tensor(2, KEYS), tensor(2, KEYS)];

const { heed, close } = await openTested();
afterAll(close);

/** Checks that the call runs on the GPU, and its results. */
async function check(options: AttentionOptions, plain: ReferenceOptions, most = 0): Promise<void> {
  expect(heed.explain(Q, K, V, options).backend).toBe("webgpu");
  await checkMods([heed], { query: Q, key: K, value: V }, options, plain, { most, arithmetic: WGSL });
}

test.each(MASKS)("masks %s", async (_name, maskMod, rule) => {
  await check({ maskMod }, { mask: maskOf(rule) });
});

test.each(SCORES)("scores with %s", async (_name, scoreMod, rule) => {
  if (typeof rule !== "function") return check({ scoreMod }, { softcap: rule.softcap }, 4);
  return check({ scoreMod }, { bias: biasOf(rule) }, 100);
});

test("takes constants for expressions", async () => {
  await check({ maskMod: () => true }, {});
  await check({ maskMod: () => false }, { mask: maskOf(() => false) });
  await check({ scoreMod: () => 0.5 }, { scale: 0, bias: { data: Float32Array.of(0.5), shape: [1] } });
});

test("reads no table beyond its ends, whatever the index", async () => {
  const numbers = table({ data: Float32Array.of(1, 2, 3), shape: [3] });
  const end = (value: number) => floor(mul(add(value, 0.5), 1e30));
  await check({ scoreMod: () => numbers.at(end(1)) }, { scale: 0, bias: { data: Float32Array.of(3), shape: [1] } });
  await check({ scoreMod: () => numbers.at(end(-1)) }, { scale: 0, bias: { data: Float32Array.of(1), shape: [1] } });
  // A device may read any number of the table for NaN.
  const scores = { scoreMod: ({ score }: { score: Expr }) => numbers.at(floor(log(neg(add(abs(score), 1))))) };
  const got = await heed.attention(Q, K, V, { ...scores, keep: false, return: { scores: "masked" } });
  expect([...got.scores.data].every((number) => [1, 2, 3].includes(number))).toBe(true);
});

test("computes every operator as wasm does, and keeps whole numbers whole", async () => {
  // Functions may differ in the last bits, so they are scaled down; a quotient or a remainder that is one off stays large.
  const options: AttentionOptions = {
    scoreMod: ({ score, b, h, q, k }) =>
      add(
        mul(0.01, add(tanh(score), exp(neg(abs(score))), log(add(1, abs(score))), div(score, add(h, 2)))),
        select(less(mod(sub(q, k), 7), 3), floorDiv(sub(k, q), 5), max(b, mod(k, add(h, 1)))),
      ),
    return: { scores: "masked" },
  };
  using wasm = await createHeed({ backend: "wasm" });
  const [got, wanted] = await Promise.all(
    [heed, wasm].map((one) => one.attention(Q, K, V, { ...options, keep: false })),
  );
  const wrong = got?.scores?.data.findIndex((score, at) => !(Math.abs(score - (wanted?.scores?.data[at] ?? 0)) < 1e-4));
  expect(wrong).toBe(-1);
});
