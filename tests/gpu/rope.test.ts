// Rotary embedding on the GPU: every option against the reference in double precision, results that stay there and go into
// attention, and what wasm refuses.

import { afterAll, describe, expect, test } from "vitest";
import { fromF16, toF16 } from "../../web/src/base/f16.js";
import type { RopeOptions, TensorLike } from "../../web/src/index.js";
import { createHeed } from "../../web/src/index.js";
import { attention as attentionReference, rope as reference } from "../../web/src/reference/index.js";
import { errorOf } from "../support/cases.js";
import { openTested } from "../support/gpu-engine.js";
import { Random } from "../support/random.js";
import { firstWrongTurn, REFUSED_ROPES, ROPE_CALLS } from "../support/rope-cases.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(401);
const tensor = drawnBy(random);

const { heed, close } = await openTested();
const wasm = await createHeed({ backend: "wasm" });
afterAll(() => {
  wasm.dispose();
  close();
});

/** The result is kept, which shows that the GPU made it. */
async function rotatedOnGpu(x: object, options: RopeOptions): Promise<TensorLike> {
  const rotated = await heed.rope(x as TensorLike, { ...options, keep: true });
  expect(rotated.location).toBe("webgpu");
  const data = await rotated.read();
  rotated.dispose();
  return { data, shape: rotated.shape };
}

test.each(ROPE_CALLS)("rotates %s", async (_, x, options) => {
  const wanted = reference(x, options as never);
  expect(firstWrongTurn(await rotatedOnGpu(x, options), wanted)).toBe(-1);
  using resident = heed.tensor(x.data, x.shape);
  expect(firstWrongTurn(await heed.rope(resident, { ...options, keep: false }), wanted)).toBe(-1);
});

test.each([
  ["linear", { scaling: 4 }],
  ["ntk", { scaling: { type: "ntk", factor: 4 } }],
  ["llama3", { scaling: { type: "llama3", factor: 8, originalLength: 1000 } }],
  ["yarn", { scaling: { type: "yarn", factor: 8, originalLength: 1000 }, inverse: true }],
] as const)("scales by %s as wasm does", async (_, options) => {
  const x = tensor(2, 3, 9, 8);
  const wanted = await wasm.rope(x, { ...options, positions: 90 });
  const exact = { data: Float64Array.from(wanted.data), shape: wanted.shape };
  expect(firstWrongTurn(await rotatedOnGpu(x, { ...options, positions: 90 }), exact, 32)).toBe(-1);
});

describe("takes", () => {
  const x = tensor(2, 2, 3, 8);

  test("tables as arrays and as tensors, for all batch entries or for each", async () => {
    const [cos, sin] = [tensor(9, 3), tensor(9, 3)];
    const options = { cos, sin, positions: [8, 0, 4], inverse: true };
    const wanted = reference(x, options as never);
    expect(firstWrongTurn(await rotatedOnGpu(x, options), wanted, 32)).toBe(-1);
    using there = heed.tensor(cos.data, cos.shape);
    expect(firstWrongTurn(await rotatedOnGpu(x, { ...options, cos: there }), wanted, 32)).toBe(-1);
    const byBatch = { cos: tensor(2, 3, 4), sin: tensor(2, 3, 4) };
    expect(firstWrongTurn(await rotatedOnGpu(x, byBatch), reference(x, byBatch as never), 32)).toBe(-1);
    const both = { ...byBatch, positions: [2, 1, 0, 0, 0, 2] };
    expect(firstWrongTurn(await rotatedOnGpu(x, both), reference(x, both as never), 32)).toBe(-1);
  });

  test.each([8, 6])("f16 tensors, %i elements a row", async (dim) => {
    const bits = toF16(random.floats(3 * dim) as Float32Array<ArrayBuffer>);
    const wanted = reference({ data: fromF16(bits), shape: [3, dim] }, { positions: 7 });
    expect(
      firstWrongTurn(await rotatedOnGpu({ data: bits, shape: [3, dim], dtype: "f16" }, { positions: 7 }), wanted),
    ).toBe(-1);
    using resident = heed.tensor(bits, [3, dim], { dtype: "f16" });
    expect(firstWrongTurn(await rotatedOnGpu(resident, { positions: 7 }), wanted)).toBe(-1);
  });

  test("other angles after the same, and the same after others", async () => {
    for (const options of [{}, {}, { positions: 3 }, { base: 50 }, { positions: 3 }]) {
      expect(firstWrongTurn(await rotatedOnGpu(x, options), reference(x, options))).toBe(-1);
    }
  });
});

test("results go into attention without leaving the GPU", async () => {
  const [q, k, v] = [tensor(2, 9, 8), tensor(2, 9, 8), tensor(2, 9, 8)];
  using there = heed.tensor(q.data, q.shape);
  using query = await heed.rope(there, { keep: true });
  using key = await heed.rope(k, { keep: true });
  expect([query.location, key.location]).toEqual(["webgpu", "webgpu"]);
  const { output } = await heed.attention(query, key, v, { causal: true });
  const rounded = (x: TensorLike): TensorLike => ({ data: Float32Array.from(reference(x).data), shape: x.shape });
  const wanted = attentionReference(rounded(q), rounded(k), v, { causal: true }).output;
  // Products of 8 numbers up to 8, rotated to within 2^-19, move scores by 2^-13 and weights by twice that.
  const wrong = output.data.findIndex((one, at) => !(Math.abs(one - (wanted.data[at] ?? Number.NaN)) <= 8 * 2 ** -12));
  expect(wrong).toBe(-1);
});

test("reads its arrays before it returns", async () => {
  const x = tensor(1, 2, 3, 8);
  const wanted = reference({ data: x.data.slice(), shape: x.shape });
  const promise = heed.rope(x, { keep: true });
  x.data.fill(Number.NaN);
  using rotated = await promise;
  expect(firstWrongTurn({ data: await rotated.read(), shape: rotated.shape }, wanted)).toBe(-1);
});

test("a tensor that is disposed of during the call is rotated all the same", async () => {
  const x = tensor(1, 2, 3, 8);
  const resident = heed.tensor(x.data, x.shape);
  const computing = heed.rope(resident, { keep: false });
  resident.dispose();
  expect(firstWrongTurn(await computing, reference(x))).toBe(-1);
  expect((await errorOf(() => heed.rope(resident))).code).toBe("disposed");
});

test("an aborted call rejects, and so does a call with another engine's tensor", async () => {
  const x = tensor(2, 8);
  const controller = new AbortController();
  const computing = heed.rope(x, { signal: controller.signal });
  controller.abort();
  expect(await errorOf(() => computing)).toMatchObject({ code: "aborted", message: expect.stringMatching(/^rope: /) });
  expect((await errorOf(() => heed.rope(wasm.zeros([2, 8])))).code).toBe("disposed");
});

test("an empty input runs on wasm, and so do other operations: both say why", async () => {
  expect((await heed.rope({ data: new Float32Array(0), shape: [0, 8] })).shape).toEqual([0, 8]);
  const ones = { data: new Float32Array(8).fill(1), shape: [2, 4] };
  using there = heed.tensor(ones.data, ones.shape);
  await heed.linearAttention(there, ones, ones, { rule: "linear" });
  heed.attentionSync(ones, ones, ones);
  const reasons = heed.capabilities.reasons.join();
  expect(reasons).toContain("rope runs on wasm: there is nothing to compute");
  expect(reasons).toContain("linearAttention runs on wasm: its state goes from token to token");
  expect(reasons).toContain("attentionSync runs on wasm: a GPU cannot be waited for");
});

test.each(REFUSED_ROPES)("refuses: $name", async ({ refused, code, message }) => {
  const error = await errorOf(() => Reflect.apply(heed.rope, heed, [...refused]));
  expect(error).toMatchObject({ name: "HeedError", code });
  expect(error.message).toContain(message);
});
