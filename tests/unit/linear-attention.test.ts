// linearAttention on every kind of engine against heed/reference, by its rules, layouts and states, and every call that it must refuse.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, linearAttention, type TensorLike } from "../../web/src/index.js";
import { linearAttention as reference } from "../../web/src/reference/index.js";
import list from "../cases/linear-rejects.json";
import { errorOf } from "../support/cases.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { type LinearCall, linearCall, RULES, worstError } from "../support/linear.js";
import { Random } from "../support/random.js";
import { drawnBy, zeros } from "../support/tensors.js";

const random = new Random(420);

describe.each(ENGINE_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  const run = ({ query, key, value, options }: LinearCall) =>
    heed.linearAttention(query, key, value, { ...options, keep: false });

  test.each(RULES)("computes rule %s", async (rule) => {
    for (const length of [1, 12, 13, 40]) {
      for (const hasState of [false, true]) {
        const call = linearCall(random, rule, length, hasState);
        expect(worstError(call, await run(call))).toBeLessThan(1);
      }
    }
  });

  test("computes calls that are too large for the calling thread", async () => {
    const call = linearCall(random, "gated-delta", 700);
    expect(worstError(call, await run(call))).toBeLessThan(4);
  });

  test("takes and keeps tensors", async () => {
    const { query, key, value, options } = linearCall(random, "delta", 9, true);
    const own = (tensor: TensorLike) => heed.tensor(tensor.data, tensor.shape);
    const state = options.state as TensorLike;
    const plain = await heed.linearAttention(query, key, value, { ...options, keep: false });
    const kept = await heed.linearAttention(own(query), key, own(value), { ...options, state: own(state), keep: true });
    expect(await kept.output.read()).toEqual(plain.output.data);
    expect(await kept.state.read()).toEqual(plain.state.data);
    expect(kept.state.shape).toEqual(plain.state.shape);
  });
});

/** [B, H, L, D] as [B, L, H, D]. */
function swapped({ data, shape }: TensorLike): TensorLike {
  const [batch = 0, heads = 0, length = 0, dim = 1] = shape;
  const result = new Float32Array(data.length);
  for (let at = 0; at < data.length; at++) {
    const [d, l] = [at % dim, Math.floor(at / dim) % length];
    const [h, b] = [Math.floor(at / dim / length) % heads, Math.floor(at / dim / length / heads)];
    result[((b * length + l) * heads + h) * dim + d] = data[at] ?? 0;
  }
  return { data: result, shape: [batch, length, heads, ...shape.slice(3)] };
}

const packed = (tensor: TensorLike): TensorLike => {
  const [batch = 0, length = 0, heads = 0, dim = 1] = tensor.shape;
  return { data: tensor.data, shape: [batch, length, heads * dim] };
};

test.each(RULES)("every layout gives the same for rule %s", async (rule) => {
  const call = linearCall(random, rule, 7);
  const { decay, beta, ...options } = call.options;
  const permuted = (permute: (tensor: TensorLike) => TensorLike): object => ({
    ...(decay === undefined ? {} : { decay: permute(decay as TensorLike) }),
    ...(beta === undefined ? {} : { beta: permute(beta as TensorLike) }),
  });
  const wanted = await linearAttention(call.query, call.key, call.value, { ...call.options, keep: false });
  const [query, key, value] = [call.query, call.key, call.value].map(swapped) as [TensorLike, TensorLike, TensorLike];
  const bnhd = await linearAttention(query, key, value, {
    ...options,
    ...permuted(swapped),
    layout: "bnhd",
    keep: false,
  });
  expect(bnhd.output).toEqual(swapped(wanted.output as TensorLike) && { ...swapped(wanted.output), dtype: "f32" });
  expect(bnhd.state).toEqual(wanted.state);
  const flat = await linearAttention(packed(query), packed(key), packed(value), {
    ...options,
    ...permuted((tensor) => packed(swapped(tensor))),
    layout: "packed",
    heads: call.query.shape[1] ?? 0,
    kvHeads: 4,
    keep: false,
  });
  expect(flat.output.data).toEqual(bnhd.output.data);
  expect(flat.output.shape).toEqual([2, 7, 6 * Math.max(call.query.shape[1] ?? 0, 4)]);
  expect(flat.state).toEqual(wanted.state);
});

test.each(RULES)("rule %s continues from a state at any token with the result of the whole call", async (rule) => {
  const call = linearCall(random, rule, 20, true);
  const part = (tensor: TensorLike, from: number, to: number): TensorLike => {
    const [batch = 0, heads = 0, length = 0, dim = 1] = tensor.shape;
    const data = new Float32Array(batch * heads * (to - from) * dim);
    for (let head = 0; head < batch * heads; head++) {
      data.set(
        tensor.data.subarray((head * length + from) * dim, (head * length + to) * dim),
        head * (to - from) * dim,
      );
    }
    return { data, shape: [batch, heads, to - from, ...tensor.shape.slice(3)] };
  };
  const parts = (from: number, to: number, state: TensorLike) => {
    const { query, key, value, options } = call;
    const { decay, beta } = options;
    return linearAttention(part(query, from, to), part(key, from, to), part(value, from, to), {
      ...options,
      ...(decay === undefined ? {} : { decay: part(decay as TensorLike, from, to) }),
      ...(beta === undefined ? {} : { beta: part(beta as TensorLike, from, to) }),
      state,
      keep: false,
    });
  };
  for (const cut of [1, 5, 12, 19]) {
    const before = await parts(0, cut, call.options.state as TensorLike);
    const after = await parts(cut, 20, before.state);
    const [batch = 0, heads = 0] = after.output.shape;
    const joined = new Float32Array(batch * heads * 20 * 6);
    for (let head = 0; head < batch * heads; head++) {
      joined.set(before.output.data.subarray(head * cut * 6, (head + 1) * cut * 6), head * 20 * 6);
      joined.set(after.output.data.subarray(head * (20 - cut) * 6, (head + 1) * (20 - cut) * 6), (head * 20 + cut) * 6);
    }
    expect(
      worstError(call, { output: { data: joined, shape: [batch, heads, 20, 6] }, state: after.state }),
    ).toBeLessThan(1);
  }
});

describe("what a person can check", () => {
  const one = (number: number): TensorLike => ({ data: Float32Array.of(number), shape: [1, 1] });
  const three = (...numbers: number[]): TensorLike => ({ data: Float32Array.from(numbers), shape: [3, 1] });
  const ones = three(1, 1, 1);

  test("linear adds values up", async () => {
    const { output, state } = await linearAttention(ones, ones, three(1, 10, 100), { rule: "linear", keep: false });
    expect([...output.data]).toEqual([1, 11, 111]);
    expect([state.shape, ...state.data]).toEqual([[1, 1], 111]);
  });

  test("gated forgets by e to the decay", async () => {
    const decay = { data: Float32Array.of(0, Math.log(0.5), Number.NEGATIVE_INFINITY), shape: [3] };
    const { output } = await linearAttention(ones, ones, three(8, 0, 3), { rule: "gated", decay, keep: false });
    expect(output.data[0]).toBe(8);
    expect(output.data[1]).toBeCloseTo(4, 5);
    expect(output.data[2]).toBe(3);
  });

  test("delta replaces what a key holds, beta of the way", async () => {
    const beta = { data: Float32Array.of(1, 0.5, 1), shape: [3] };
    const { output } = await linearAttention(ones, ones, three(8, 2, 3), { rule: "delta", beta, keep: false });
    expect([...output.data]).toEqual([8, 5, 3]);
  });

  test("decay and beta may be f16, and have a last axis of one", async () => {
    const f16Bits = (number: number): number => ({ 0.5: 0x3800, 1: 0x3c00 })[number] ?? 0;
    const options = { rule: "gated-delta", keep: false } as const;
    const decay = Float32Array.of(0, 0.5, 1);
    const beta = Float32Array.of(1, 0.5, 1);
    const values = three(8, 2, 3);
    const wanted = await linearAttention(ones, ones, values, {
      ...options,
      decay: { data: decay, shape: [3] },
      beta: { data: beta, shape: [3] },
    });
    // S' = e^g S, S = S' + b (v - S'): 8, then 8 e^0.5 / 2 + 1, then 3.
    for (const [t, number] of [8, 4 * Math.exp(0.5) + 1, 3].entries())
      expect(wanted.output.data[t]).toBeCloseTo(number, 4);
    const bits = (data: Float32Array) =>
      ({ data: Uint16Array.from(data, f16Bits), shape: [3, 1], dtype: "f16" }) as const;
    const same = { ...options, decay: bits(decay), beta: bits(beta) };
    expect(await linearAttention(ones, ones, values, same)).toEqual(wanted);
    const exact = reference(ones, ones, values, same).output.data;
    for (const [t, number] of exact.entries()) expect(wanted.output.data[t]).toBeCloseTo(number, 4);
  });

  test("packed heads may have that axis, too", async () => {
    const [x, beta] = [drawnBy(new Random(9))(2, 3, 4), drawnBy(new Random(9))(2, 3, 2)];
    const options = { rule: "delta", layout: "packed", heads: 2, keep: false } as const;
    const wanted = await linearAttention(x, x, x, { ...options, beta });
    const same = { ...options, beta: { ...beta, shape: [2, 3, 2, 1] } };
    expect(await linearAttention(x, x, x, same)).toEqual(wanted);
    expect(reference(x, x, x, same)).toEqual(reference(x, x, x, { ...options, beta }));
  });

  test("elu averages values by (elu(q) + 1) (elu(k) + 1)", async () => {
    const keys = three(0, 2, 0);
    const options = { rule: "elu", keep: false } as const;
    const both = await linearAttention(one(0), keys, three(1, 6, 11), options);
    expect([...both.output.data]).toEqual([6]);
    expect([both.state.shape, [...both.state.data]]).toEqual([
      [1, 2],
      [30, 5],
    ]);
    const causal = await linearAttention(ones, keys, three(1, 5, 15), { ...options, causal: true });
    expect(causal.output.data[0]).toBeCloseTo(1, 6);
    expect(causal.output.data[1]).toBeCloseTo(4, 6);
  });
});

describe("tests/cases/linear-rejects.json", async () => {
  const heed = await createHeed();
  afterAll(() => heed.dispose());

  test.each(list.cases)("refuses: $name", async ({ query, key, value, code, message, ...rest }) => {
    const options: Record<string, unknown> = { ...rest.options };
    if (options["scale"] === "NaN") options["scale"] = Number.NaN;
    if (rest.decay !== undefined) options["decay"] = zeros(...rest.decay);
    if (rest.beta !== undefined) options["beta"] = zeros(...rest.beta);
    if (rest.state !== undefined) options["state"] = zeros(...rest.state);
    const args = [zeros(...query), zeros(...key), zeros(...value), options];
    const error = await errorOf(() => Reflect.apply(heed.linearAttention, heed, args));
    expect(error).toMatchObject({ name: "HeedError", code });
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/^linearAttention: /);
  });
});
