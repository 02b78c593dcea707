// An engine on the GPU refuses what one on wasm refuses, with the same code and message, and works on.

import { afterAll, expect, test } from "vitest";
import { errorOf } from "../support/cases.js";
import { openTested } from "../support/gpu-engine.js";
import { argumentsOf, rejects } from "../support/reject-cases.js";

const { heed, close } = await openTested();
afterAll(close);

test.each(rejects)("refuses: $name", async (one) => {
  const error = await errorOf(() => Reflect.apply(heed.attention, heed, argumentsOf(one)));
  expect(error).toMatchObject({ name: "HeedError", code: one.code });
  expect(error.message).toContain(one.message);
  const ones = { data: new Float32Array(4).fill(1), shape: [2, 2] };
  expect((await heed.attention(ones, ones, ones)).output.data).toEqual(ones.data);
});
