// The backward call of attention: what it reads and when, tables of functions, refusals. Gradients of any options are in tests/fuzz.

import { afterAll, describe, expect, test } from "vitest";
import { add, floor, less, lessEqual, mul, select, sub, table, tanh } from "../../web/src/expr/index.js";
import { type AttentionVjpOptions, createHeed, type Tensor } from "../../web/src/index.js";
import { FEW_KINDS, openKind } from "../support/engines.js";
import { Random } from "../support/random.js";
import { fromSlope } from "../support/slopes.js";

interface Plain {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

function draw(random: Random, ...shape: number[]): Plain {
  return { data: random.floats(shape.reduce((a, b) => a * b, 1)), shape };
}

describe.each(FEW_KINDS)("attentionVjp, $variant, $worker worker", async (kind) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());

  test("tensors, those of options too, may be disposed of before the backward call, in an engine's first call too", async () => {
    using fresh = await openKind(kind);
    const random = new Random(79);
    const plain = [draw(random, 2, 7, 4), draw(random, 2, 9, 4), draw(random, 2, 9, 5), draw(random, 4, 4)] as const;
    const outputGradient = draw(random, 2, 7, 5);
    const call = ([q, k, v, w]: readonly (Tensor | Plain)[], options: AttentionVjpOptions = {}) =>
      fresh.attentionVjp(q as Plain, k as Plain, v as Plain, { score: { type: "general", w: w as Plain }, ...options });
    const gradients = [];
    for (const isRefused of [false, false, true]) {
      const tensors = plain.map(({ data, shape }) => fresh.tensor(data, shape));
      const called = call(tensors, isRefused ? { temperature: -1 } : {});
      for (const tensor of tensors) tensor.dispose();
      if (isRefused) await expect(called).rejects.toMatchObject({ code: "option" });
      else gradients.push(await (await called).backward(outputGradient));
      expect(fresh.memory().tensors).toBe(0);
    }
    const expected = await (await call(plain)).backward(outputGradient);
    expect(gradients).toEqual([expected, expected]);
  });

  test("a backward call reads its gradient at once, runs once, and is not touched by a release", async () => {
    const random = new Random(80);
    const [q, k, v, g] = [draw(random, 2, 7, 4), draw(random, 2, 9, 4), draw(random, 2, 9, 5), draw(random, 2, 7, 5)];
    const expected = await (await engine.attentionVjp(q, k, v)).backward(g);
    const tensor = engine.tensor(g.data, g.shape);
    const ofTensor = (await engine.attentionVjp(q, k, v)).backward(tensor);
    tensor.dispose();
    const copy = { data: g.data.slice(), shape: g.shape };
    const { backward, release } = await engine.attentionVjp(q, k, v);
    const ofArray = backward(copy);
    copy.data.fill(7);
    release();
    await expect(backward(g)).rejects.toMatchObject({ code: "disposed" });
    expect(await Promise.all([ofTensor, ofArray])).toEqual([expected, expected]);
    expect(engine.memory().tensors).toBe(0);
    const sinks = draw(random, 2, 1);
    const withSinks = await engine.attentionVjp(q, k, v, { sinks });
    expect((await withSinks.backward(g)).dsinks?.shape).toEqual([2, 1]);
  });

  test("kept results are the tensors that the backward call reads, without a copy", async () => {
    const random = new Random(85);
    const [q, k, v, g] = [draw(random, 2, 7, 4), draw(random, 2, 9, 4), draw(random, 2, 9, 5), draw(random, 2, 7, 5)];
    const plain = await engine.attentionVjp(q, k, v);
    const expected = await plain.backward(g);
    const first = await engine.attentionVjp(q, k, v, { keep: true });
    const again = await engine.attentionVjp(q, k, v, { keep: true, saved: { output: first.output, lse: first.lse } });
    expect(engine.memory().tensors).toBe(2);
    for (const { output, lse, backward } of [first, again]) {
      output.dispose();
      expect(await backward(g)).toEqual(expected);
      expect(await lse?.read()).toEqual(plain.lse?.data);
      lse?.dispose();
    }
    expect(engine.memory().tensors).toBe(0);
  });

  test("a call can start from results at hand, and ends with its backward call or its release", async () => {
    const random = new Random(78);
    const [q, k, v] = [draw(random, 2, 7, 4), draw(random, 2, 9, 4), draw(random, 2, 9, 5)];
    const first = await engine.attentionVjp(q, k, v, { causal: true, temperature: 2 });
    const outputGradient = { data: first.output.data.map((x) => 1 - x), shape: first.output.shape };
    const saved = { output: first.output, lse: first.lse as Plain };
    const expected = await first.backward(outputGradient);
    const again = await engine.attentionVjp(q, k, v, { causal: true, temperature: 2, saved });
    expect(await again.backward(outputGradient)).toEqual(expected);
    const kept = await engine.attention(q, k, v, { causal: true, temperature: 2, keep: true, return: { lse: true } });
    const { output, lse } = kept;
    const third = await engine.attentionVjp(q, k, v, { causal: true, temperature: 2, saved: { output, lse } });
    expect(await third.backward(outputGradient)).toEqual(expected);
    for (const tensor of [output, lse]) tensor.dispose();
    await expect(engine.attentionVjp(q, k, v, { saved: { output: first.output } })).rejects.toMatchObject({
      code: "dtype",
    });
    expect(expected.dtemperature).toBeTypeOf("number");
    expect(expected.dbias).toBeUndefined();
    await expect(first.backward(outputGradient)).rejects.toMatchObject({ code: "disposed" });
    const released = await engine.attentionVjp(q, k, v);
    released.release();
    await expect(released.backward(outputGradient)).rejects.toMatchObject({ code: "disposed" });
    expect(engine.memory().tensors).toBe(0);
  });

  test("a wrong gradient is refused, and the call can still be made", async () => {
    const random = new Random(79);
    const [q, k, v] = [draw(random, 3, 4), draw(random, 5, 4), draw(random, 5, 4)];
    const { backward } = await engine.attentionVjp(q, k, v);
    for (const shape of [[3], [4, 3], [1, 3, 4]]) {
      const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
      await expect(backward({ data, shape })).rejects.toMatchObject({
        code: "shape",
        message: expect.stringMatching(/^attentionVjp.backward: outputGradient must be \[3, 4\], got/),
      });
    }
    const outputGradient = { data: new Float32Array(12).fill(1), shape: [3, 4] };
    for (const shape of [
      [5, 3],
      [1, 3, 5],
    ]) {
      await expect(
        backward(outputGradient, { weightsGradient: { data: new Float32Array(15), shape } }),
      ).rejects.toMatchObject({
        code: "shape",
        message: `attentionVjp.backward: weightsGradient must be [3, 5], got [${shape.join(", ")}]`,
      });
    }
    const { dq } = await backward(outputGradient);
    expect(dq.shape).toEqual([3, 4]);
    await expect(engine.attentionVjp(q, k, v, { return: { lse: true } } as never)).rejects.toMatchObject({
      message: expect.stringMatching(/^attentionVjp: .*return/),
    });
  });
});

test("functions of scores and weights, and their tables, have gradients", async () => {
  const random = new Random(82);
  const [q, k, v] = [draw(random, 2, 5, 4), draw(random, 2, 7, 4), draw(random, 2, 7, 3)];
  const slopesTable = draw(random, 2);
  const byDistance = draw(random, 12);
  using engine = await createHeed({ backend: "wasm" });
  const [first, second] = [table(slopesTable), table(byDistance)];
  const { output, backward } = await engine.attentionVjp(q, k, v, {
    scoreMod: ({ score, h, q, k }) => add(mul(tanh(score), first.at(h)), second.at(add(sub(q, k), 7))),
    probMod: ({ prob, h }) => mul(prob, add(prob, first.at(h))),
    maskMod: ({ q, k }) => lessEqual(k, add(q, 3)),
  });
  const outputGradient = random.floats(output.data.length);
  const got = await backward({ data: outputGradient, shape: output.shape });
  const loss = ({ q, k, v, first, second }: Record<"q" | "k" | "v" | "first" | "second", Float64Array>): number => {
    let sum = 0;
    for (let h = 0; h < 2; h++) {
      for (let i = 0; i < 5; i++) {
        const scores = Array.from({ length: 7 }, (_, j) => {
          let dot = 0;
          for (let d = 0; d < 4; d++) dot += (q[(h * 5 + i) * 4 + d] ?? 0) * (k[(h * 7 + j) * 4 + d] ?? 0);
          const score = Math.tanh(dot / 2) * (first[h] ?? 0) + (second[i - j + 7] ?? 0);
          return j <= i + 3 ? score : Number.NEGATIVE_INFINITY;
        });
        const total = scores.reduce((all, score) => all + Math.exp(score), 0);
        for (const [j, score] of scores.entries()) {
          const p = Math.exp(score) / total;
          const weight = p * (p + (first[h] ?? 0));
          for (let e = 0; e < 3; e++) {
            sum += weight * (v[(h * 7 + j) * 3 + e] ?? 0) * (outputGradient[(h * 5 + i) * 3 + e] ?? 0);
          }
        }
      }
    }
    return sum;
  };
  const wide = (one: Plain) => Float64Array.from(one.data);
  const at = { q: wide(q), k: wide(k), v: wide(v), first: wide(slopesTable), second: wide(byDistance) };
  const [dfirst, dsecond] = got.dtables ?? [];
  for (const [name, gradient] of Object.entries({ q: got.dq, k: got.dk, v: got.dv, first: dfirst, second: dsecond })) {
    const numbers = at[name as keyof typeof at];
    expect(gradient?.data.length, name).toBe(numbers.length);
    for (let i = 0; i < numbers.length; i++) {
      const shifted = (shift: number): number => {
        const moved = Float64Array.from(numbers);
        moved[i] = (moved[i] ?? 0) + shift;
        return loss({ ...at, [name]: moved });
      };
      expect(fromSlope(gradient?.data[i] ?? Number.NaN, shifted, 2e-5), `${name} at ${i}`).toBeLessThan(2e-5);
    }
  }
  expect(engine.memory().tensors).toBe(0);
});

test.each([false, true])("each table has its place among the gradients, keep: %s", async (keep) => {
  using engine = await createHeed({ backend: "wasm" });
  const [one, v] = [
    { data: Float32Array.of(1), shape: [1, 1] },
    { data: Float32Array.of(1, 0), shape: [2, 1] },
  ];
  const keys = { data: new Float32Array(2), shape: [2, 1] };
  const numbers = (...values: number[]) => table({ data: Float32Array.from(values), shape: [values.length] });
  const gradientsOf = async (options: AttentionVjpOptions): Promise<readonly (readonly number[])[]> => {
    const { backward } = await engine.attentionVjp(one, keys, v, options);
    const { dq, dk, dv, dtables = [] } = await backward(one, { keep });
    const all = await Promise.all(dtables.map(async (one) => [...("read" in one ? await one.read() : one.data)]));
    for (const made of [dq, dk, dv, ...dtables]) if ("dispose" in made) made.dispose();
    return all;
  };
  const [limits, kept, added] = [numbers(-1, -2), numbers(1), numbers(0, 0)];
  // Both weights are 1/2, and the output is the first of them.
  const scoreMod: AttentionVjpOptions["scoreMod"] = ({ score, k }) =>
    select(less(limits.at(k), score), add(score, added.at(k)), 0);
  const maskMod: AttentionVjpOptions["maskMod"] = () => less(0, kept.at(0));
  expect(await gradientsOf({ scoreMod, maskMod })).toEqual([[0, 0], [0.25, -0.25], [0]]);
  expect(await gradientsOf({ maskMod })).toEqual([[0]]);
  expect(await gradientsOf({ scoreMod: ({ score }) => score })).toEqual([]);
  expect(engine.memory().tensors).toBe(0);
});

test("a function without a derivative is refused by name", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const x = draw(new Random(83), 3, 4);
  await expect(engine.attentionVjp(x, x, x, { scoreMod: ({ score }) => floor(score) })).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(/^attentionVjp: scoreMod has no derivative, because floor/),
  });
  expect(engine.memory().tensors).toBe(0);
});

test.each([
  [1, false],
  [2, true],
  [3, true],
  [4, false],
])("the bits of one thread come out of %s, with a gradient of the weights: %s", async (threads, hasWeights) => {
  const random = new Random(80);
  const [q, k, v] = [draw(random, 2, 4, 300, 16), draw(random, 2, 2, 500, 16), draw(random, 2, 2, 500, 24)];
  const weightsGradient = hasWeights ? draw(random, 2, 4, 300, 500) : undefined;
  const run = async (worker: "shared-memory" | "private-memory" | null, count: number) => {
    using engine = await openKind({ variant: "relaxed", worker }, { threads: count });
    const { output, backward } = await engine.attentionVjp(q, k, v, { causal: true });
    return await backward({ data: output.data.map((x) => Math.sin(9 * x)), shape: output.shape }, { weightsGradient });
  };
  const expected = await run(null, 1);
  expect(await run("shared-memory", threads)).toEqual(expected);
  expect(await run("private-memory", Math.min(threads, 3))).toEqual(expected);
});

test("rows with no key left have gradients of zero", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const random = new Random(81);
  const [q, k, v] = [draw(random, 3, 4), draw(random, 5, 4), draw(random, 5, 4)];
  const mask = { data: Uint8Array.of(1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1), shape: [3, 5] };
  const { backward } = await engine.attentionVjp(q, k, v, { mask });
  const { dq } = await backward({ data: new Float32Array(12).fill(1), shape: [3, 4] });
  expect(dq.data.slice(4, 8)).toEqual(new Float32Array(4));
  expect(dq.data[0]).not.toBe(0);
});
