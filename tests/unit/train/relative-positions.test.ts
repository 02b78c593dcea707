// Gradients of relative positions: PyTorch's, and the transposes of the maps that they belong to.

import { afterAll, expect, test } from "vitest";
import { createHeed, relativeBias, type TensorLike } from "../../../web/src/index.js";
import { relativeBiasVjp, relativeKeysVjp, relativeValuesVjp } from "../../../web/src/train/index.js";
import { errorOf } from "../../support/cases.js";
import { openKind } from "../../support/engines.js";
import { readFixture, unpack, unpackAll, worstDifference } from "../../support/fixtures.js";
import { Random } from "../../support/random.js";
import { drawnBy } from "../../support/tensors.js";

type Packed = Parameters<typeof unpackAll>[0];

/** tests/fixtures/relative.py. */
const torch = readFixture("relative.json") as unknown as {
  readonly shaw: {
    readonly given: Packed;
    readonly ofOutput: Packed[string];
    readonly output: Packed[string];
    readonly gradients: Packed;
  };
  readonly buckets: readonly (Readonly<Record<"table" | "ofBias" | "gradient", Packed[string]>> & {
    readonly bidirectional: boolean;
  })[];
  readonly maxDistance: number;
};

/** The sums of attention, and those of its backward pass. */
const DEPTH = 8;

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

const random = new Random(450);
const tensor = drawnBy(random);
const sum = (a: TensorLike, b: TensorLike): TensorLike => ({
  data: a.data.map((x, at) => x + (b.data[at] ?? 0)),
  shape: a.shape,
});

test("attention with Shaw's keys and values has PyTorch's gradients", async () => {
  const { given, gradients, ...packed } = torch.shaw;
  const named = unpackAll(given);
  const of = (name: string) => named.get(name) ?? tensor();
  const [q, k, v, ofKeys, ofValues] = [of("q"), of("k"), of("v"), of("ofKeys"), of("ofValues")];
  const outputGradient = unpack(packed.ofOutput);
  const bias = await engine.relativeKeys(q, ofKeys, { length: k.shape[1] });
  const options = { bias, window: [-1, 1] as const };
  const { output, weights, lse } = await engine.attention(q, k, v, {
    ...options,
    return: { weights: true, lse: true },
  });
  const added = await engine.relativeValues(weights, ofValues);
  expect(worstDifference(sum(output, added), unpack(packed.output), DEPTH)).toBeLessThan(1);

  const ofAdded = await relativeValuesVjp(weights, ofValues, { engine, outputGradient });
  const { backward } = await engine.attentionVjp(q, k, v, { ...options, saved: { output, lse } });
  const { dq, dk, dv, dbias } = await backward(outputGradient, { weightsGradient: ofAdded.weights });
  const ofBias = await relativeKeysVjp(q, ofKeys, { engine, outputGradient: dbias ?? tensor() });
  const got = { q: sum(dq, ofBias.q), k: dk, v: dv, ofKeys: ofBias.table, ofValues: ofAdded.table };
  for (const [name, gradient] of Object.entries(got)) {
    expect(worstDifference(gradient, unpack(gradients[name] as Packed[string]), DEPTH), name).toBeLessThan(1);
  }
});

test.each(torch.buckets)("T5's table has PyTorch's gradient, bidirectional: $bidirectional", async (one) => {
  const [table, outputGradient] = [unpack(one.table), unpack(one.ofBias)];
  const [, length = 0, keyLength] = outputGradient.shape;
  const { maxDistance } = torch;
  const options = { length, keyLength, maxDistance, bidirectional: one.bidirectional };
  const got = await relativeBiasVjp(table, { ...options, outputGradient });
  expect(worstDifference(got.table, unpack(one.gradient), 1)).toBeLessThan(1);
});

/** What a linear map of `given` has as its gradient, by its definition: each number's part in the result, times the result's gradient. */
async function transpose(
  given: TensorLike,
  map: (moved: TensorLike) => Promise<TensorLike> | TensorLike,
  { data: gradient }: TensorLike,
): Promise<TensorLike> {
  const data = new Float32Array(given.data.length);
  for (let at = 0; at < data.length; at++) {
    const one = { data: new Float32Array(data.length).fill(1, at, at + 1), shape: given.shape };
    data[at] = (await map(one)).data.reduce((total, x, i) => total + x * (gradient[i] ?? 0), 0);
  }
  return { data, shape: given.shape };
}

test.each([
  ["bhnd", [2, 3, 4, 5], undefined, undefined],
  ["bnhd", [2, 4, 3, 5], -1, 0.7],
  ["bnhd", [4, 3, 5], undefined, 1],
  ["packed", [2, 4, 15], 3, undefined],
  ["bhnd", [4, 5], 0, undefined],
] as const)("relativeKeysVjp is the transpose of relativeKeys, %s %j", async (layout, shape, offset, scale) => {
  const [q, table] = [tensor(...shape), tensor(7, 5)];
  const options = { layout, offset, scale, ...(layout === "packed" ? { heads: 3 } : {}) };
  const forward = (q: TensorLike, table: TensorLike) => engine.relativeKeys(q, table, { ...options, length: 6 });
  const outputGradient = tensor(...(await forward(q, table)).shape);
  const got = await relativeKeysVjp(q, table, { ...options, engine, outputGradient });
  const ofQ = await transpose(q, (moved) => forward(moved, table), outputGradient);
  expect(worstDifference(got.q, ofQ, DEPTH)).toBeLessThan(1);
  const ofTable = await transpose(table, (moved) => forward(q, moved), outputGradient);
  expect(worstDifference(got.table, ofTable, DEPTH)).toBeLessThan(1);
});

test.each([
  [[2, 3, 4, 6], undefined],
  [[3, 4, 6], -2],
  [[4, 6], 9],
] as const)("relativeValuesVjp is the transpose of relativeValues, %j", async (shape, offset) => {
  const [weights, table] = [tensor(...shape), tensor(5, 3)];
  const forward = (weights: TensorLike, table: TensorLike) => engine.relativeValues(weights, table, { offset });
  const outputGradient = tensor(...shape.slice(0, -1), 3);
  const got = await relativeValuesVjp(weights, table, { engine, offset, outputGradient });
  const ofWeights = await transpose(weights, (moved) => forward(moved, table), outputGradient);
  expect(worstDifference(got.weights, ofWeights, DEPTH)).toBeLessThan(1);
  const ofTable = await transpose(table, (moved) => forward(weights, moved), outputGradient);
  expect(worstDifference(got.table, ofTable, DEPTH)).toBeLessThan(1);
});

test("what stands at a query without a key reaches no table", async () => {
  const [q, weights] = [tensor(2, 4, 5), tensor(2, 4, 6)];
  const [ofBias, ofOutput] = [tensor(2, 4, 6), tensor(2, 4, 3)];
  for (const { data, shape } of [weights, ofBias]) data.fill(0, 0, shape[2]);
  const gradientsOf = async () => [
    (await relativeKeysVjp(q, keyTable, { engine, outputGradient: ofBias })).table.data,
    (await relativeValuesVjp(weights, valueTable, { engine, outputGradient: ofOutput })).table.data,
  ];
  const [keyTable, valueTable] = [tensor(7, 5), tensor(7, 3)];
  for (const { data, shape } of [q, ofOutput]) data.fill(0, 0, shape[2]);
  const wanted = await gradientsOf();
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
    for (const { data } of [q, ofOutput]) data[1] = bad;
    expect(await gradientsOf()).toEqual(wanted);
  }
});

test.each([
  [{ positions: 3 }, 1],
  [{ interleaved: true, rotaryDim: 4 }, 1],
  [{ cos: tensor(5, 3), sin: tensor(5, 3) }, 1],
  [{ scaling: { type: "yarn", factor: 4, originalLength: 8, attentionFactor: 1.5 } as const }, 1.5 ** 2],
] as const)("the gradient of rope is the rotation back, %j", async (options, factor) => {
  const [x, outputGradient] = [tensor(2, 5, 6), tensor(2, 5, 6)];
  const { data, shape } = await engine.rope(outputGradient, { ...options, inverse: true });
  const wanted = await transpose(x, (moved) => engine.rope(moved, options), outputGradient);
  expect(worstDifference({ data: data.map((number) => number * factor), shape }, wanted, DEPTH)).toBeLessThan(1);
});

test("any number of threads gives the same bits, and nothing has a gradient of zeros", async () => {
  const [q, table, weights] = [tensor(2, 130, 16), tensor(9, 16), tensor(2, 130, 150)];
  const run = async (worker: "shared-memory" | "private-memory" | null, threads: number) => {
    using engine = await openKind({ variant: "relaxed", worker }, { threads });
    return [
      await relativeKeysVjp(q, table, { engine, outputGradient: weights }),
      await relativeValuesVjp(weights, table, { engine, outputGradient: q }),
    ];
  };
  const expected = await run(null, 1);
  expect(await run("shared-memory", 3)).toEqual(expected);
  expect(await run("private-memory", 2)).toEqual(expected);
  const none = await relativeKeysVjp(tensor(0, 4), tensor(3, 4), { engine, outputGradient: tensor(0, 6) });
  expect(none.q.shape).toEqual([0, 4]);
  expect(none.table.data).toEqual(new Float32Array(12));
  const keyless = await relativeValuesVjp(tensor(2, 0), tensor(3, 4), { engine, outputGradient: tensor(2, 4) });
  expect(keyless.weights.shape).toEqual([2, 0]);
  expect(keyless.table.data).toEqual(new Float32Array(12));
});

test("what does not fit is refused, with the rule and what arrived", async () => {
  const [q, table, gradient] = [tensor(3, 4), tensor(5, 4), tensor(3, 6)];
  const refused = async (act: () => unknown, code: string, message: string) => {
    const error = await errorOf(async () => act());
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(message);
  };
  const keys = (options: object, of = table) =>
    relativeKeysVjp(q, of, { engine, outputGradient: gradient, ...options } as never);
  await refused(
    () => keys({ outputGradient: tensor(2, 6) }),
    "shape",
    "relativeKeysVjp: outputGradient must be [3, 6], got [2, 6]",
  );
  await refused(() => keys({}, tensor(4, 4)), "shape", "relativeKeysVjp: table must be [2 k + 1, dim]");
  await refused(
    () => keys({}, tensor(5, 3)),
    "shape",
    "relativeKeysVjp: table must have rows of 4 numbers, got [5, 3]",
  );
  await refused(() => keys({ offset: 0.5 }), "option", "relativeKeysVjp: offset must be a whole number");
  await refused(() => keys({ length: 6 }), "option", "relativeKeysVjp: options has no option");
  await refused(() => keys({ engine: {} }), "option", "relativeKeysVjp: engine must be one that createHeed made");
  await refused(() => keys({ signal: 1 }), "option", "relativeKeysVjp: signal must be an AbortSignal");
  await refused(() => keys({ signal: AbortSignal.abort() }), "aborted", "aborted");
  await refused(
    () => relativeValuesVjp(tensor(3), table, { engine, outputGradient: gradient }),
    "shape",
    "relativeValuesVjp: weights must be [B, H, L, S], [H, L, S] or [L, S], got [3]",
  );
  await refused(
    () => relativeValuesVjp(gradient, table, { engine, outputGradient: gradient }),
    "shape",
    "relativeValuesVjp: outputGradient must be [3, 4], got [3, 6]",
  );
  const bias = (options: object) => relativeBiasVjp(tensor(4, 2), { length: 3, outputGradient: gradient, ...options });
  await refused(() => bias({}), "shape", "relativeBiasVjp: outputGradient must be [2, 3, 3], got [3, 6]");
  await refused(() => bias({ buckets: 6 }), "shape", "table must have 6 rows, an even number, got [4, 2]");
  const { data, shape } = relativeBias(tensor(4, 2), { length: 3 });
  expect((await bias({ outputGradient: { data, shape } })).table.shape).toEqual([4, 2]);
});
