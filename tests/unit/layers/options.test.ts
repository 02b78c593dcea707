// Options of blocks and stacks against what they are made of: norms of heads, of outputs, and what differs by layer.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, HeedError, relativeBias } from "../../../web/src/index.js";
import {
  Decoder,
  Encoder,
  Linear,
  MLP,
  MultiHeadAttention,
  type ParameterTensor,
  RMSNorm,
  TransformerBlock,
} from "../../../web/src/layers/index.js";
import { tokens } from "../../support/cached.js";
import { worstDifference } from "../../support/fixtures.js";
import { Random } from "../../support/random.js";
import { drawnBy, zeros } from "../../support/tensors.js";

const engine = await createHeed();
afterAll(() => engine.dispose());

const numbers = drawnBy(new Random(914));

/** Sums of one after another, of which a block has about eight. */
const DEPTH = 24;

const SIZES = { dim: 8, heads: 4, kvHeads: 2, hidden: 12 } as const;
const ROPE = { base: 100 };

/** Parameters of a layer, all of them random. */
const drawn = (layer: { init(): { parameters(): Map<string, ParameterTensor> } }): Map<string, ParameterTensor> =>
  new Map([...layer.init().parameters()].map(([name, { shape }]) => [name, numbers(...shape)]));

const plus = (a: ParameterTensor, b: ParameterTensor): ParameterTensor => ({
  data: a.data.map((number, at) => number + (b.data[at] ?? Number.NaN)),
  shape: a.shape,
});

const part = (parameters: ReadonlyMap<string, ParameterTensor>, start: string): Map<string, ParameterTensor> =>
  new Map(
    [...parameters].flatMap(([name, value]) => (name.startsWith(start) ? [[name.slice(start.length), value]] : [])),
  );

/** x / sqrt(mean square + epsilon) * weight of each run of numbers as long as the weight, in double precision. */
function normed({ data, shape }: ParameterTensor, weight: Float32Array, epsilon: number): ParameterTensor {
  const { length } = weight;
  const made = new Float32Array(data.length);
  for (let from = 0; from < data.length; from += length) {
    let squares = 0;
    for (let at = 0; at < length; at++) squares += (data[from + at] ?? 0) ** 2;
    const factor = 1 / Math.sqrt(squares / length + epsilon);
    for (let at = 0; at < length; at++) made[from + at] = (data[from + at] ?? 0) * factor * (weight[at] ?? 0);
  }
  return { data: made, shape };
}

test("qkNorm is a norm of each head's queries and keys, before rope", async () => {
  const options = { embedDim: 8, heads: 4, kvHeads: 2, headDim: 6, engine } as const;
  const layer = new MultiHeadAttention({ ...options, qkNorm: { epsilon: 1e-3 }, rope: ROPE });
  const parameters = drawn(layer);
  expect(parameters.get("q_norm.weight")?.shape).toEqual([6]);
  layer.load(parameters);
  const x = numbers(2, 5, 8);
  const project = async (name: string, outFeatures: number) =>
    new Linear({ inFeatures: 8, outFeatures, engine }).load(parameters, `${name}_proj.`).forward(x);
  const weightOf = (name: string) => parameters.get(`${name}_norm.weight`)?.data ?? new Float32Array(0);
  const [q, k] = [
    normed(await project("q", 24), weightOf("q"), 1e-3),
    normed(await project("k", 12), weightOf("k"), 1e-3),
  ];
  const inPairs = { layout: "packed", ...ROPE } as const;
  const { output } = await engine.attention(
    await engine.rope(q, { ...inPairs, heads: 4 }),
    await engine.rope(k, { ...inPairs, heads: 2 }),
    await project("v", 12),
    { layout: "packed", heads: 4, kvHeads: 2, causal: true },
  );
  const out = new Linear({ inFeatures: 24, outFeatures: 8, engine }).load(parameters, "out_proj.");
  const got = await layer.forward(x, undefined, undefined, { causal: true });
  expect(worstDifference(got.output, await out.forward(output), DEPTH)).toBeLessThan(1);
});

describe("norms of a block", async () => {
  const x = numbers(2, 5, 8);
  const common = { ...SIZES, norm: "rms", bias: false, activation: "geglu", epsilon: 1e-4, engine } as const;

  const partsOf = (parameters: ReadonlyMap<string, ParameterTensor>) => {
    const attention = new MultiHeadAttention({ embedDim: 8, heads: 4, kvHeads: 2, bias: false, engine }).load(
      part(parameters, "self_attn."),
    );
    const mlp = new MLP({ dim: 8, hidden: 12, activation: "geglu", engine }).load(part(parameters, "mlp."));
    return {
      attend: async (y: ParameterTensor) => (await attention.forward(y)).output,
      feed: (y: ParameterTensor) => mlp.forward(y),
      norm: (name: string, y: ParameterTensor) =>
        new RMSNorm({ shape: 8, epsilon: 1e-4, engine }).load(parameters, `${name}.`).forward(y),
    };
  };

  test("sandwichNorm has one of each output, before the residual sum", async () => {
    const block = new TransformerBlock({ ...common, sandwichNorm: true });
    const parameters = drawn(block);
    const { attend, feed, norm } = partsOf(parameters);
    const middle = plus(x, await norm("post_norm1", await attend(await norm("norm1", x))));
    const wanted = plus(middle, await norm("post_norm2", await feed(await norm("norm2", middle))));
    const { output } = await block.load(parameters).forward(x);
    expect(worstDifference(output, wanted, DEPTH)).toBeLessThan(1);
  });

  test("attentionNorm: false has none before attention", async () => {
    const block = new TransformerBlock({ ...common, attentionNorm: false });
    const parameters = drawn(block);
    expect(parameters.has("norm1.weight")).toBe(false);
    const { attend, feed, norm } = partsOf(parameters);
    const middle = plus(x, await attend(x));
    const wanted = plus(middle, await feed(await norm("norm2", middle)));
    const { output } = await block.load(parameters).forward(x);
    expect(worstDifference(output, wanted, DEPTH)).toBeLessThan(1);
  });

  test("layer norms have no bias with bias.norm: false, that of the stack neither", () => {
    const stack = new Encoder({ layers: 1, dim: 8, heads: 2, bias: { norm: false }, engine });
    const names = [...stack.init().parameters().keys()];
    expect(names.filter((name) => name.includes("norm"))).toEqual([
      "layers.0.norm1.weight",
      "layers.0.norm2.weight",
      "norm.weight",
    ]);
    expect(names).toContain("layers.0.self_attn.q_proj.bias");
  });
});

describe("what differs by layer", () => {
  const x = numbers(2, 7, 8);
  const variants = [{ rope: ROPE, window: [2, 0] }, { rope: false }, { window: [1, 0] }] as const;
  const stackOf = (): Decoder =>
    new Decoder({ layers: 3, ...SIZES, rope: { base: 50 }, byLayer: variants, finalNorm: false, engine });
  const parameters = drawn(stackOf());

  test("a stack is its blocks, each with its rope and its window", async () => {
    const ropes = [ROPE, undefined, { base: 50 }];
    let wanted: ParameterTensor = x;
    for (const [layer, rope] of ropes.entries()) {
      const block = new TransformerBlock({ ...SIZES, rope, engine }).load(parameters, `layers.${layer}.`);
      const [left] = [2, 6, 1].slice(layer);
      const seen = Array.from({ length: 49 }, (_, at) => {
        const distance = Math.floor(at / 7) - (at % 7);
        return distance >= 0 && distance <= (left ?? 0);
      });
      const mask = { data: Uint8Array.from(seen, Number), shape: [7, 7] };
      wanted = (await block.forward(wanted, { self: { mask } })).output;
    }
    const { output } = await stackOf().load(parameters).forward(x);
    expect(worstDifference(output, wanted, 3 * DEPTH)).toBeLessThan(1);
  });

  test("and goes on from caches, with windows of their own or without", async () => {
    const stack = stackOf().load(parameters);
    const { output: whole } = await stack.forward(x);
    for (const windows of [[], [3, undefined, 2]]) {
      const caches = await Promise.all(
        [0, 1, 2].map((layer) =>
          engine.createCache({ batch: 2, kvHeads: 2, headDim: 2, maxLength: 8, window: windows[layer] }),
        ),
      );
      for (const [from, to] of [
        [0, 4],
        [4, 5],
        [5, 7],
      ] as const) {
        const { output } = await stack.forward(tokens(x, "packed", from, to), { caches });
        expect(worstDifference(output, tokens(whole, "packed", from, to), 3 * DEPTH)).toBeLessThan(1);
      }
      for (const cache of caches) cache.dispose();
    }
  });

  test("a window that a call gives is every layer's", async () => {
    const stack = stackOf().load(parameters);
    const all = new Decoder({
      layers: 3,
      ...SIZES,
      rope: { base: 50 },
      byLayer: [{ rope: ROPE }, { rope: false }, {}],
      finalNorm: false,
      engine,
    }).load(parameters);
    const self = { window: [1, 0] } as const;
    expect((await stack.forward(x, { self })).output.data).toEqual((await all.forward(x, { self })).output.data);
  });
});

describe.each([true, false])("relativeBias, bidirectional: %s", (bidirectional) => {
  const rule = { buckets: 6, maxDistance: 9, bidirectional };
  const stackOf = (): Decoder => new Decoder({ layers: 2, ...SIZES, relativeBias: rule, engine });
  const parameters = drawn(stackOf());
  const x = numbers(2, 12, 8);

  test("is the bias of one table in every block", async () => {
    const table = parameters.get("relative_bias.weight") ?? zeros(6, 4);
    expect(table.shape).toEqual([6, 4]);
    const plain = new Decoder({ layers: 2, ...SIZES, engine }).load(
      new Map([...parameters].filter(([name]) => name !== "relative_bias.weight")),
    );
    const bias = relativeBias(table, { length: 12, maxDistance: 9, bidirectional });
    for (const causal of [true, false]) {
      const { output } = await stackOf().load(parameters).forward(x, { self: { causal } });
      const wanted = (await plain.forward(x, { self: { causal, bias } })).output;
      expect(output.data).toEqual(wanted.data);
    }
  });

  test("goes on from caches", async () => {
    const stack = stackOf().load(parameters);
    const { output: whole } = await stack.forward(x);
    const caches = await Promise.all(
      [0, 1].map(() => engine.createCache({ batch: 2, kvHeads: 2, headDim: 2, maxLength: 12 })),
    );
    for (const [from, to] of [
      [0, 5],
      [5, 6],
      [6, 12],
    ] as const) {
      const { output } = await stack.forward(tokens(x, "packed", from, to), { caches });
      expect(worstDifference(output, tokens(whole, "packed", from, to), 2 * DEPTH)).toBeLessThan(1);
    }
  });

  test("excludes another bias", async () => {
    const call = stackOf()
      .load(parameters)
      .forward(x, { self: { bias: zeros(12, 12) } });
    await expect(call).rejects.toMatchObject({
      code: "option",
      message: "Decoder: self.bias must not be given beside relativeBias, got both",
    });
  });
});

test.each<[() => unknown, string]>([
  [
    () => new Encoder({ layers: 2, dim: 4, heads: 1, byLayer: [{}], engine }),
    "Encoder: byLayer must be a list of options for each of 2 layers, got 1",
  ],
  [
    () => new Encoder({ layers: 1, dim: 4, heads: 1, byLayer: [{ heads: 2 }] as never, engine }),
    'Encoder: byLayer[0] has no option "heads"',
  ],
  [
    () => new Encoder({ layers: 1, dim: 4, heads: 1, byLayer: [{ window: [1.5, 0] }], engine }),
    "MultiHeadAttention: window must be [left, right]",
  ],
  [
    () => new Encoder({ layers: 1, dim: 4, heads: 1, relativeBias: { buckets: 5 }, engine }),
    "relativeBias: table must have 5 rows, an even number",
  ],
  [
    () => new TransformerBlock({ dim: 4, heads: 1, normFirst: false, attentionNorm: false, engine }),
    "TransformerBlock: attentionNorm: false is for normFirst: true, got both false",
  ],
  [
    () => new TransformerBlock({ dim: 4, heads: 1, sandwichNorm: 1 as never, engine }),
    "TransformerBlock: sandwichNorm must be",
  ],
  [
    () => new MultiHeadAttention({ embedDim: 4, heads: 1, qkNorm: 1 as never, engine }),
    "MultiHeadAttention: qkNorm must be",
  ],
  [
    () => new MultiHeadAttention({ embedDim: 4, heads: 1, window: null as never, engine }),
    "MultiHeadAttention: window must be",
  ],
  [
    () => new MultiHeadAttention({ embedDim: 4, heads: 1, engine }).load({ "q_norm.weight": zeros(4) }),
    "MultiHeadAttention: with its options it must have no parameter q_norm.weight, got one",
  ],
  [
    () => new TransformerBlock({ dim: 4, heads: 1, engine }).load({ "post_norm1.weight": zeros(4) }),
    "TransformerBlock: with its options it must have no parameter post_norm1.weight, got one",
  ],
])("what makes no sense is refused: %s", (act, message) => {
  expect(act).toThrow(HeedError);
  expect(act).toThrow(message);
});
