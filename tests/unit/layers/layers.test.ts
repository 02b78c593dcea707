// Layers against PyTorch's, on every kind of engine.

import { afterAll, describe, expect, test } from "vitest";
import {
  AdditiveAttention,
  Embedding,
  fromKerasAttention,
  GRU,
  LayerNorm,
  Linear,
  MLP,
  type MLPOptions,
  MultiHeadAttention,
  RMSNorm,
} from "../../../web/src/layers/index.js";
import { ENGINE_KINDS, openKind } from "../../support/engines.js";
import { type LayerCase, type PackedCase, readFixture, unpackCase, worstDifference } from "../../support/fixtures.js";

const fixture = readFixture("layers.json");
const caseOf = (name: string): LayerCase => unpackCase(fixture[name] as PackedCase);

describe.each(ENGINE_KINDS)("layers, $variant, $worker worker", async (kind) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());

  test("Linear is PyTorch's", async () => {
    const { parameters, inputs, outputs } = caseOf("linear");
    const layer = new Linear({ inFeatures: 7, outFeatures: 13, engine }).load(parameters);
    expect(worstDifference(await layer.forward(inputs("x")), outputs("y"), 1)).toBeLessThan(1);
  });

  test.each(
    (fixture["mlp"] as (PackedCase & { activation: MLPOptions["activation"] })[]).map((one) => [one.activation, one]),
  )("MLP with %s is PyTorch's", async (activation, one) => {
    const { parameters, inputs, outputs } = unpackCase(one as PackedCase);
    const layer = new MLP({ dim: 6, hidden: 10, activation: activation as never, engine }).load(parameters);
    expect(worstDifference(await layer.forward(inputs("x")), outputs("y"), 2)).toBeLessThan(1);
  });

  test("LayerNorm and RMSNorm are PyTorch's", async () => {
    const { layer, rms } = fixture["norms"] as Record<"layer" | "rms", PackedCase>;
    const centred = unpackCase(layer);
    const norm = new LayerNorm({ shape: [3, 5], epsilon: 1e-3, engine }).load(centred.parameters);
    expect(worstDifference(await norm.forward(centred.inputs("x")), centred.outputs("y"), 1)).toBeLessThan(1);
    const plain = unpackCase(rms);
    const other = new RMSNorm({ shape: 9, epsilon: 1e-6, engine }).load(plain.parameters);
    expect(worstDifference(await other.forward(plain.inputs("x")), plain.outputs("y"), 1)).toBeLessThan(1);
  });

  test("Embedding gives the rows of its table", async () => {
    const data = Float32Array.from({ length: 12 }, (_, i) => i);
    const layer = new Embedding({ count: 4, dim: 3, engine }).load(new Map([["weight", { data, shape: [4, 3] }]]));
    const rows = await layer.forward({ data: [3, 0, 0, 2], shape: [2, 2] });
    expect(rows.shape).toEqual([2, 2, 3]);
    expect([...rows.data]).toEqual([9, 10, 11, 0, 1, 2, 0, 1, 2, 6, 7, 8]);
    await expect(layer.forward([4])).rejects.toMatchObject({
      code: "option",
      message: expect.stringContaining("number 0 is 4"),
    });
  });

  test("GRU is PyTorch's, forwards and backwards", async () => {
    const { parameters, inputs, outputs } = caseOf("gru");
    const layer = new GRU({ inputSize: 5, hiddenSize: 9, engine }).load(parameters);
    const state = inputs("state");
    const { output, state: last } = await layer.forward(inputs("x"), { state: { data: state.data, shape: [3, 9] } });
    expect(worstDifference(output, outputs("output"), 8)).toBeLessThan(1);
    expect(worstDifference({ ...last, shape: [1, 3, 9] }, outputs("state"), 8)).toBeLessThan(1);

    const both = caseOf("biGru");
    const states = both.inputs("state");
    const results = [];
    for (const at of [0, 1]) {
      const one = new GRU({ inputSize: 5, hiddenSize: 9, reverse: at === 1, engine }).load(both.parameters);
      const before = { data: states.data.slice(at * 27, (at + 1) * 27), shape: [3, 9] };
      results.push(await one.forward(both.inputs("x"), { state: before }));
    }
    const joined = new Float32Array(3 * 6 * 18);
    for (let row = 0; row < 18; row++) {
      for (const [at, result] of results.entries())
        joined.set(result.output.data.subarray(row * 9, row * 9 + 9), row * 18 + at * 9);
    }
    expect(worstDifference({ data: joined, shape: [3, 6, 18] }, both.outputs("output"), 8)).toBeLessThan(1);
  });

  test.each(["multiHead", "multiHeadSeparate", "multiHeadNoBias"])(
    "MultiHeadAttention is PyTorch's: %s",
    async (name) => {
      const { parameters, inputs, outputs } = caseOf(name);
      const separate = name === "multiHeadSeparate" ? { keyDim: 5, valueInputDim: 7 } : {};
      const bias = name !== "multiHeadNoBias";
      const layer = new MultiHeadAttention({ embedDim: 12, heads: 3, bias, engine, ...separate }).load(parameters);
      const options = { return: { weights: true } } as const;
      const { output, weights } = await layer.forward(inputs("q"), inputs("k"), inputs("v"), options);
      expect(worstDifference(output, outputs("output"), 4)).toBeLessThan(1);
      expect(worstDifference(weights, outputs("weights"), 4)).toBeLessThan(1);
    },
  );

  test("MultiHeadAttention with grouped heads, rope and causal is the definition", async () => {
    const { parameters, inputs, outputs } = caseOf("grouped");
    const layer = new MultiHeadAttention({
      embedDim: 10,
      heads: 4,
      kvHeads: 2,
      headDim: 6,
      bias: false,
      rope: { base: 500 },
      engine,
    }).load(parameters);
    const x = inputs("x");
    const { output, weights } = await layer.forward(x, x, x, { causal: true, return: { weights: true } });
    expect(worstDifference(output, outputs("output"), 4)).toBeLessThan(1);
    expect(worstDifference(weights, outputs("weights"), 4)).toBeLessThan(1);
    // One batch entry, without its axis.
    const single = await layer.forward({ data: x.data.slice(0, 50), shape: [5, 10] }, undefined, undefined, {
      causal: true,
      return: { weights: true },
    });
    expect(single.output.shape).toEqual([5, 10]);
    expect(single.weights.shape).toEqual([4, 5, 5]);
    expect([...single.output.data]).toEqual([...output.data.slice(0, 50)]);
  });

  test("MultiHeadAttention takes Keras's layouts", async () => {
    const { parameters, inputs, outputs } = caseOf("keras");
    const options = { embedDim: 5, heads: 3, headDim: 4, valueDim: 2, engine } as const;
    const layer = new MultiHeadAttention(options).load(fromKerasAttention(parameters));
    const { output, weights } = await layer.forward(inputs("x"), undefined, undefined, { return: { weights: true } });
    expect(worstDifference(output, outputs("output"), 4)).toBeLessThan(1);
    expect(worstDifference(weights, outputs("weights"), 4)).toBeLessThan(1);
  });

  test("AdditiveAttention is the definition", async () => {
    const { parameters, inputs, outputs } = caseOf("additive");
    const layer = new AdditiveAttention({ queryDim: 4, keyDim: 5, hidden: 6, engine }).load(parameters);
    const options = { return: { weights: true } } as const;
    const { output, weights } = await layer.forward(inputs("q"), inputs("k"), inputs("v"), options);
    expect(worstDifference(output, outputs("output"), 4)).toBeLessThan(1);
    expect(worstDifference({ ...weights, shape: [2, 3, 7] }, outputs("weights"), 4)).toBeLessThan(1);
  });
});
