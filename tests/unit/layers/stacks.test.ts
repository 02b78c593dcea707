// Blocks, stacks and pooling against PyTorch's, and what holds between them.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type KVCache } from "../../../web/src/index.js";
import {
  Decoder,
  Encoder,
  EncoderDecoder,
  type ParameterTensor,
  Pooling,
  TransformerBlock,
} from "../../../web/src/layers/index.js";
import { tokens } from "../../support/cached.js";
import { type PackedCase, readFixture, unpackCase, worstDifference } from "../../support/fixtures.js";
import { Random } from "../../support/random.js";
import { drawnBy } from "../../support/tensors.js";

type NormCase = PackedCase & { readonly normFirst: boolean };

const fixture = readFixture("layers.json");
const encoders = fixture["encoders"] as readonly NormCase[];
const decoders = fixture["decoders"] as readonly NormCase[];

const engine = await createHeed();
afterAll(() => engine.dispose());

const random = new Random(910);
const numbers = drawnBy(random);

test.each(encoders.map((one) => [one.normFirst ? "before" : "after", one] as const))(
  "an encoder with norms %s its parts is PyTorch's",
  async (_, one) => {
    const { parameters, inputs, outputs } = unpackCase(one);
    const { normFirst } = one;
    const encoder = new Encoder({ layers: 2, dim: 8, heads: 2, hidden: 12, normFirst, engine }).load(parameters);
    const { output, attentions } = await encoder.forward(inputs("x"));
    expect(worstDifference(output, outputs("y"), 12)).toBeLessThan(1);
    expect(attentions).toBeUndefined();
  },
);

test.each(decoders.map((one) => [one.normFirst ? "before" : "after", one] as const))(
  "a decoder with norms %s its parts is PyTorch's",
  async (_, one) => {
    const { parameters, inputs, outputs } = unpackCase(one);
    const options = {
      layers: 2,
      dim: 8,
      heads: 2,
      hidden: 12,
      activation: "relu",
      cross: true,
      finalNorm: true,
    } as const;
    const decoder = new Decoder({ ...options, normFirst: one.normFirst, engine }).load(parameters);
    const result = await decoder.forward(inputs("x"), { memory: inputs("memory"), attentions: true });
    expect(worstDifference(result.output, outputs("y"), 16)).toBeLessThan(1);
    expect(result.attentions?.map(({ self, cross }) => [self.shape, cross?.shape])).toEqual([
      [
        [2, 2, 4, 4],
        [2, 2, 4, 6],
      ],
      [
        [2, 2, 4, 4],
        [2, 2, 4, 6],
      ],
    ]);
    for (const { self, cross } of result.attentions ?? []) {
      for (const { data, shape } of [self, cross ?? self]) {
        const keys = shape[3] ?? 1;
        for (let row = 0; row < data.length; row += keys) {
          expect(data.subarray(row, row + keys).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
        }
      }
      // Keys after the query have no weight.
      expect([self.data[1], self.data[2], self.data[3], self.data[7]]).toEqual([0, 0, 0, 0]);
    }
  },
);

/** The parameters of a pre-norm encoder and decoder. */
function bothParameters(): Map<string, ParameterTensor> {
  const [encoder, decoder] = [encoders[1], decoders[1]];
  if (encoder === undefined || decoder === undefined) throw new Error("the fixture has both");
  return new Map(
    [...unpackCase(encoder).parameters]
      .map(([name, value]): [string, ParameterTensor] => [`encoder.${name}`, value])
      .concat([...unpackCase(decoder).parameters].map(([name, value]) => [`decoder.${name}`, value])),
  );
}

test("an encoder-decoder is its encoder, and its decoder on what that made", async () => {
  const options = { dim: 8, heads: 2, hidden: 12, activation: "relu", engine } as const;
  const parameters = bothParameters();
  const both = new EncoderDecoder({ ...options, encoderLayers: 2, decoderLayers: 2 }).load(parameters);
  const [source, target] = [numbers(2, 6, 8), numbers(2, 3, 8)];
  const got = await both.forward(source, target, { attentions: true });
  const { output: memory } = await new Encoder({ ...options, layers: 2 }).load(parameters, "encoder.").forward(source);
  const alone = new Decoder({ ...options, layers: 2, cross: true }).load(parameters, "decoder.");
  expect([...got.memory.data]).toEqual([...memory.data]);
  expect([...got.output.data]).toEqual([...(await alone.forward(target, { memory })).output.data]);
  expect(got.encoderAttentions?.[1]?.self.shape).toEqual([2, 2, 6, 6]);
  expect(got.attentions?.[1]?.cross?.shape).toEqual([2, 2, 3, 6]);
});

describe("token by token, with a cache for each block", () => {
  const CUTS = [
    [0, 3],
    [3, 4],
    [4, 6],
  ] as const;
  const cachesFor = (batch: number): Promise<KVCache[]> =>
    Promise.all([0, 1].map(() => engine.createCache({ batch, kvHeads: 2, headDim: 4, maxLength: 6 })));

  test("a decoder is what it is on all tokens at once, with its positions", async () => {
    const options = { layers: 2, dim: 8, heads: 2, hidden: 12, rope: { base: 50 }, engine } as const;
    const decoder = new Decoder(options).load(bothParameters(), "encoder.");
    const x = numbers(2, 6, 8);
    const whole = await decoder.forward(x);
    const caches = await cachesFor(2);
    for (const [from, to] of CUTS) {
      const { output, attentions } = await decoder.forward(tokens(x, "packed", from, to), { caches, attentions: true });
      expect(worstDifference(output, tokens(whole.output, "packed", from, to), 16)).toBeLessThan(1);
      expect(attentions?.map(({ self }) => self.shape)).toEqual([0, 1].map(() => [2, 2, to - from, to]));
    }
    expect(caches.map(({ length }) => length)).toEqual([6, 6]);
    for (const cache of caches) cache.dispose();
  });

  test("an encoder-decoder is what it is on the whole target, from a source that was encoded once", async () => {
    const options = { dim: 8, heads: 2, hidden: 12, activation: "relu", engine } as const;
    const both = new EncoderDecoder({ ...options, encoderLayers: 2, decoderLayers: 2 }).load(bothParameters());
    const [source, target] = [numbers(2, 5, 8), numbers(2, 6, 8)];
    const seen = { mask: { data: Uint8Array.of(1, 1, 1, 1, 1, 1, 1, 1, 0, 0), shape: [2, 1, 1, 5] } };
    const whole = await both.forward(source, target, { encoder: seen, cross: seen, attentions: true });
    const { output: memory, attentions } = await both.encode(source, { self: seen, attentions: true, keep: true });
    expect([...(await memory.read())]).toEqual([...whole.memory.data]);
    expect([...((await attentions?.[1]?.self.read()) ?? [])]).toEqual([
      ...(whole.encoderAttentions?.[1]?.self.data ?? []),
    ]);
    for (const { self } of attentions ?? []) self.dispose();
    const caches = await cachesFor(2);
    for (const [from, to] of CUTS) {
      const { output } = await both.decode(tokens(target, "packed", from, to), memory, { cross: seen, caches });
      expect(worstDifference(output, tokens(whole.output, "packed", from, to), 16)).toBeLessThan(1);
    }
    for (const one of [memory, ...caches]) one.dispose();
  });

  test("refusals name the call, and leave the caches alone", async () => {
    const options = { dim: 8, heads: 2, hidden: 12, engine } as const;
    const both = new EncoderDecoder({ ...options, encoderLayers: 1, decoderLayers: 2 });
    const decoder = new Decoder({ ...options, layers: 1 }).load(bothParameters(), "encoder.");
    const x = numbers(1, 1, 8);
    const [cache, other] = await cachesFor(1);
    if (cache === undefined || other === undefined) throw new Error("two caches");
    const count = "caches must be one for each of";
    const rules: readonly [Promise<unknown>, string][] = [
      [both.decode(x, x, { caches: [cache] }), `EncoderDecoder: ${count} 2 layers, got [1]`],
      [both.decode(x, x, { caches: [cache, cache] }), `EncoderDecoder: ${count} 2 layers, got one of them twice`],
      [both.decode(x, undefined as never), "EncoderDecoder: memory must be given, for its cross attention"],
      [both.decode(numbers(1, 1, 9), x), "EncoderDecoder: the last axis of target must be 8, got [1, 1, 9]"],
      [both.encode(numbers(1, 1, 9)), "EncoderDecoder: the last axis of source must be 8, got [1, 1, 9]"],
      [decoder.forward(x, { caches: [cache, other] }), `Decoder: ${count} 1 layers, got [2]`],
      [
        decoder.forward(x, { caches: [cache], self: { cache: other } }),
        "Decoder: caches and self.cache exclude each other",
      ],
    ];
    for (const [call, message] of rules) await expect(call).rejects.toHaveProperty("message", message);
    expect([cache.length, other.length]).toEqual([0, 0]);
    for (const one of [cache, other]) one.dispose();
  });
});

test("an encoder-decoder is nn.Transformer, at once and token by token", async () => {
  const { parameters, inputs, outputs } = unpackCase(fixture["transformer"] as PackedCase);
  const options = { dim: 8, heads: 2, hidden: 12, activation: "relu", normFirst: false, engine } as const;
  const both = new EncoderDecoder({ ...options, encoderLayers: 2, decoderLayers: 2 }).load(parameters);
  const whole = await both.forward(inputs("source"), inputs("target"));
  expect(worstDifference(whole.memory, outputs("memory"), 12)).toBeLessThan(1);
  expect(worstDifference(whole.output, outputs("y"), 24)).toBeLessThan(1);
  const { output: memory } = await both.encode(inputs("source"));
  const caches = await Promise.all(
    [0, 1].map(() => engine.createCache({ batch: 2, kvHeads: 2, headDim: 4, maxLength: 4 })),
  );
  for (let at = 0; at < 4; at++) {
    const { output } = await both.decode(tokens(inputs("target"), "packed", at, at + 1), memory, { caches });
    expect(worstDifference(output, tokens(outputs("y"), "packed", at, at + 1), 24)).toBeLessThan(1);
  }
  for (const cache of caches) cache.dispose();
});

test("a decoder does not look ahead, and an encoder does not look at what a mask leaves out", async () => {
  const one = encoders[1];
  if (one === undefined) throw new Error("the fixture has two");
  const { parameters } = unpackCase(one);
  const options = { layers: 2, dim: 8, heads: 2, hidden: 12, engine } as const;
  const x = numbers(1, 5, 8);
  const changed = { data: x.data.slice(), shape: x.shape };
  changed.data.fill(3, 4 * 8);
  const decoder = new Decoder(options).load(parameters);
  const [before, after] = [await decoder.forward(x), await decoder.forward(changed)];
  expect([...before.output.data.slice(0, 32)]).toEqual([...after.output.data.slice(0, 32)]);
  expect([...before.output.data.slice(32)]).not.toEqual([...after.output.data.slice(32)]);
  const encoder = new Encoder(options).load(parameters);
  const self = { mask: { data: Uint8Array.of(1, 1, 1, 1, 0), shape: [1, 1, 1, 5] } };
  const masked = [await encoder.forward(x, { self }), await encoder.forward(changed, { self })];
  expect([...(masked[0]?.output.data.slice(0, 32) ?? [])]).toEqual([...(masked[1]?.output.data.slice(0, 32) ?? [])]);
});

test("blocks refuse a memory that they cannot use, and the lack of one that they need", async () => {
  const plain = new TransformerBlock({ dim: 8, heads: 2, engine });
  const crossed = new TransformerBlock({ dim: 8, heads: 2, cross: true, engine });
  const [x, memory] = [numbers(1, 2, 8), numbers(1, 3, 8)];
  await expect(plain.forward(x, { memory })).rejects.toMatchObject({ code: "option" });
  await expect(crossed.forward(x)).rejects.toMatchObject({ code: "option" });
  await expect(plain.forward(x, { self: { heads: 3 } as never })).rejects.toMatchObject({ code: "option" });
  await expect(plain.forward(x, { self: { return: { weights: true } } as never })).rejects.toMatchObject({
    code: "option",
  });
});

test("each dimension has a mean of its own: what is not finite stays where it is, and out where it is masked", async () => {
  const x = {
    data: Float32Array.of(1, 2, 3, 4, Infinity, -4, NaN, 6, 4, 0, -6, 3, -Infinity, Infinity, NaN, NaN),
    shape: [1, 4, 4],
  };
  const pooling = new Pooling({ kind: "mean", engine });
  expect([...(await pooling.forward(x)).data]).toEqual([NaN, Infinity, NaN, NaN]);
  const mean = async (...mask: number[]) => [...(await pooling.forward(x, { mask: Uint8Array.from(mask) })).data];
  expect(await mean(1, 1, 1, 0)).toEqual([Infinity, -2 / 3, NaN, 13 / 3].map(Math.fround));
  expect(await mean(1, 0, 1, 0)).toEqual([2.5, 1, -1.5, 3.5]);
  const last = async (...mask: number[]) => [
    ...(await new Pooling({ kind: "last", engine }).forward(x, { mask: Uint8Array.from(mask) })).data,
  ];
  expect(await last(1, 1, 0, 0)).toEqual([Infinity, -4, NaN, 6]);
  expect(await last(0, 0, 1, 0)).toEqual([4, 0, -6, 3]);
});

test("the mean is that of the tokens that a mask has, and of none zero; last is the last of them, cls the first token", async () => {
  const x = numbers(3, 4, 5);
  const at = (entry: number, token: number, i: number): number => x.data[(entry * 4 + token) * 5 + i] ?? Number.NaN;
  const mask = Uint8Array.of(1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0);
  const mean = await new Pooling({ kind: "mean", engine }).forward(x, { mask });
  expect(mean.shape).toEqual([3, 5]);
  for (let i = 0; i < 5; i++) {
    expect(mean.data[i]).toBeCloseTo((at(0, 0, i) + at(0, 1, i) + at(0, 2, i) + at(0, 3, i)) / 4, 5);
    expect(mean.data[5 + i]).toBeCloseTo((at(1, 0, i) + at(1, 2, i)) / 2, 5);
    expect(mean.data[10 + i]).toBe(0);
  }
  const last = await new Pooling({ kind: "last", engine }).forward(x, { mask });
  expect([...last.data]).toEqual(
    [3, 2, null].flatMap((token, entry) => [0, 1, 2, 3, 4].map((i) => (token === null ? 0 : at(entry, token, i)))),
  );
  const ends = await new Pooling({ kind: "last", engine }).forward(x);
  expect([...ends.data]).toEqual([0, 1, 2].flatMap((entry) => [0, 1, 2, 3, 4].map((i) => at(entry, 3, i))));
  const first = await new Pooling({ kind: "cls", engine }).forward(x);
  expect([...first.data]).toEqual([0, 1, 2].flatMap((entry) => [0, 1, 2, 3, 4].map((i) => at(entry, 0, i))));
  await expect(new Pooling({ kind: "cls", engine }).forward(x, { mask })).rejects.toMatchObject({ code: "option" });
  await expect(new Pooling({ kind: "mean", engine }).forward(numbers(4, 5))).rejects.toMatchObject({ code: "shape" });
  await expect(new Pooling({ kind: "mean", engine }).forward(x, { mask: "all" as never })).rejects.toMatchObject({
    code: "dtype",
  });
});
