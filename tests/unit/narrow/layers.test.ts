// Layers and models with weights of 16, 8 and 4 bits: close to double precision or to the same model of dequantized weights, of the same
// bits on every engine and in every batch, tied where they were tied.

import { describe, expect, test } from "vitest";
import type { Heed } from "../../../web/src/index.js";
import {
  BertModel,
  dequantize,
  Embedding,
  GPT2Model,
  GRU,
  Linear,
  LlamaModel,
  MultiHeadAttention,
  type ParameterTensor,
  Pooling,
  quantize,
  type RoundedFormat,
  TransformerBlock,
  type Weights,
} from "../../../web/src/layers/index.js";
import { ENGINE_KINDS, type EngineKind, nameOf, openKind } from "../../support/engines.js";
import { Random } from "../../support/random.js";
import { decoded, product, productBounds } from "../../support/stored-weights.js";
import { drawnBy } from "../../support/tensors.js";

const random = new Random(57);
const tensor = drawnBy(random);

const FORMATS = ["f16", "bf16", "int8", "int4"] as const satisfies readonly RoundedFormat[];

const LLAMA = {
  model_type: "llama",
  vocab_size: 100,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 128,
  max_position_embeddings: 128,
  tie_word_embeddings: true,
};
const BERT = {
  model_type: "bert",
  vocab_size: 60,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 128,
  max_position_embeddings: 64,
};
const GPT2 = { model_type: "gpt2", vocab_size: 70, n_positions: 40, n_embd: 64, n_layer: 2, n_head: 4 };

/** The parameters of a model, rounded, in f32: what has no whole number of blocks, and vectors, are as they were. */
const rounded = (
  parameters: ReadonlyMap<string, ParameterTensor>,
  format: RoundedFormat,
): Map<string, ParameterTensor> =>
  new Map(
    [...parameters].map(([name, { data, shape }]) => {
      const fits = shape.length === 2 && (format.endsWith("f16") || (shape[1] ?? 0) % 32 === 0);
      return [name, fits ? dequantize(quantize({ data, shape }, format)) : { data, shape }];
    }),
  );

/** How far results may be apart, of the largest, where activations are rounded to 14 or 8 bits in each of some layers. */
const APART = { f16: 1e-5, bf16: 1e-5, int8: 2e-3, int4: 6e-2 } as const;

function expectAlike(got: Float32Array, wanted: Float32Array, format: RoundedFormat): void {
  const largest = wanted.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const worst = got.reduce((most, number, at) => Math.max(most, Math.abs(number - (wanted[at] ?? 0))), 0);
  expect(worst / largest).toBeLessThan(APART[format]);
  expect(got.length).toBe(wanted.length);
}

describe.each(FORMATS)("%s", (format) => {
  test("a linear layer adds its bias and follows its rule, within the product's bound", async () => {
    using engine = await openKind({ variant: "simd", worker: null });
    const [weight, bias, x, addend] = [tensor(41, 96), tensor(41), tensor(3, 96), tensor(3, 41)];
    const layer = new Linear({ inFeatures: 96, outFeatures: 41, engine }).load({ weight, bias }, { weights: format });
    const { data } = await layer.forward(x, { addend });
    const stored = quantize(weight, format);
    for (let row = 0; row < 3; row++) {
      const own = x.data.subarray(row * 96, (row + 1) * 96);
      const [sums, bounds] = [product(decoded(stored), 96, own), productBounds(stored, own)];
      for (let output = 0; output < 41; output++) {
        const wanted = (sums[output] ?? 0) + (bias.data[output] ?? 0) + (addend.data[row * 41 + output] ?? 0);
        const off = Math.abs((data[row * 41 + output] ?? 0) - wanted);
        expect(off).toBeLessThanOrEqual((bounds[output] ?? 0) + 4 * 2 ** -24 * (Math.abs(wanted) + 8));
      }
    }
  });

  test("a GRU is within what its products' errors grow to", async () => {
    using engine = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 2 });
    const [hidden, inputs, steps] = [32, 32, 3];
    const parameters = {
      weight_ih_l0: { data: random.floats(3 * hidden * inputs, 0.1), shape: [3 * hidden, inputs] },
      weight_hh_l0: { data: random.floats(3 * hidden * hidden, 0.02), shape: [3 * hidden, hidden] },
      bias_ih_l0: tensor(3 * hidden),
      bias_hh_l0: tensor(3 * hidden),
    };
    const layer = new GRU({ inputSize: inputs, hiddenSize: hidden, engine }).load(parameters, { weights: format });
    const x = tensor(2, steps, inputs);
    const { output, state } = await layer.forward(x);
    const [ofInput, ofState] = [quantize(parameters.weight_ih_l0, format), quantize(parameters.weight_hh_l0, format)];
    const [wi, wh] = [decoded(ofInput), decoded(ofState)];
    const sigmoid = (number: number): number => 1 / (1 + Math.exp(-number));
    // The largest sum of a row: how much an error of the state becomes in a gate.
    const gain = Math.max(
      ...Array.from({ length: 3 * hidden }, (_, row) => {
        return wh.subarray(row * hidden, (row + 1) * hidden).reduce((sum, number) => sum + Math.abs(number), 0);
      }),
    );
    for (let entry = 0; entry < 2; entry++) {
      let h = new Float64Array(hidden);
      let apart = 0;
      for (let step = 0; step < steps; step++) {
        const own = x.data.subarray((entry * steps + step) * inputs, (entry * steps + step + 1) * inputs);
        const [gates, recurrent] = [product(wi, inputs, own), product(wh, hidden, h)];
        const off = Math.max(...productBounds(ofInput, own));
        const offState = Math.max(...productBounds(ofState, h)) * 1.01 + gain * apart;
        const at = (gate: number, i: number) => gate * hidden + i;
        const sum = (gate: number, i: number): number =>
          (gates[at(gate, i)] ?? 0) + (parameters.bias_ih_l0.data[at(gate, i)] ?? 0);
        const part = (gate: number, i: number): number =>
          (recurrent[at(gate, i)] ?? 0) + (parameters.bias_hh_l0.data[at(gate, i)] ?? 0);
        let largest = 0;
        h = h.map((before, i) => {
          const [r, z] = [sigmoid(sum(0, i) + part(0, i)), sigmoid(sum(1, i) + part(1, i))];
          largest = Math.max(largest, Math.abs(part(2, i)));
          const n = Math.tanh(sum(2, i) + r * part(2, i));
          return (1 - z) * n + z * before;
        });
        // A sigmoid's slope is at most a quarter, tanh's one.
        const ofGate = (off + offState) / 4;
        apart = off + offState + largest * ofGate + 2 * ofGate + apart + 1e-5;
        const got = output.data.subarray((entry * steps + step) * hidden, (entry * steps + step + 1) * hidden);
        for (let i = 0; i < hidden; i++) expect(Math.abs((got[i] ?? 0) - (h[i] ?? 0))).toBeLessThanOrEqual(apart);
      }
      expect(apart).toBeLessThan(format === "int4" ? 1 : 0.02);
      expect(differs(state.data.subarray(entry * hidden, (entry + 1) * hidden), h, apart)).toBe(false);
    }
  });

  test.each([
    ["Llama", (engine: Heed) => new LlamaModel(LLAMA, { engine })],
    ["GPT-2", (engine: Heed) => new GPT2Model(GPT2, { engine })],
  ] as const)("%s computes what its dequantized weights do", async (_, make) => {
    using engine = await openKind({ variant: "relaxed", worker: "shared-memory" }, { threads: 2 });
    const parameters = make(engine).init({ seed: 4 }).parameters();
    const narrow = make(engine).load(parameters, { weights: format });
    const plain = make(engine).load(rounded(parameters, format));
    const tokens = [3, 14, 15, 9, 26, 5, 35];
    const [got, wanted] = [await narrow.forward(tokens), await plain.forward(tokens)];
    expectAlike(got.logits.data, wanted.logits.data, format);
    expect(narrow.describe().formats[format]).toBeGreaterThan(0);
  });

  test("BERT computes what its dequantized weights do, its head for masked words included", async () => {
    using engine = await openKind({ variant: "simd", worker: "private-memory" }, { threads: 2 });
    const parameters = new BertModel(BERT, { engine }).init({ seed: 4 }).parameters();
    const narrow = new BertModel(BERT, { engine }).load(parameters, { weights: format });
    const plain = new BertModel(BERT, { engine }).load(rounded(parameters, format));
    const tokens = [
      [1, 2, 3, 4, 5],
      [6, 7],
    ];
    const [got, wanted] = [
      await narrow.forward(tokens, { logits: true }),
      await plain.forward(tokens, { logits: true }),
    ];
    for (const name of ["hidden", "logits", "pooled"] as const) {
      const [of, from] = [got[name]?.data ?? new Float32Array(), wanted[name]?.data ?? new Float32Array()];
      expectAlike(of, from, format);
    }
  });
});

const differs = (got: Float32Array, wanted: Float64Array, most: number): boolean =>
  wanted.some((number, at) => !(Math.abs(number - (got[at] ?? 0)) <= most));

const bitsOf = ({ data }: { readonly data: Float32Array }): string =>
  Buffer.from(data.slice().buffer).toString("base64");

/** What every layer makes, as bits. A row alone gives the bits of itself in a batch of seven. */
async function bitsOn(engine: Heed, weights: Weights): Promise<Record<string, string>> {
  const own = new Random(8);
  const draw = drawnBy(own);
  const made: Record<string, string> = {};
  const llama = new LlamaModel(LLAMA, { engine }).init({ seed: 1 });
  const bert = new BertModel(BERT, { engine }).init({ seed: 2 });
  const block = new TransformerBlock({ dim: 64, heads: 4, activation: "swiglu", engine }).init({ seed: 3 });
  const gru = new GRU({ inputSize: 64, hiddenSize: 32, engine }).init({ seed: 5 });
  for (const layer of [llama, bert, block, gru]) layer.load(layer.parameters(), { weights });
  const texts = Array.from({ length: 7 }, () => Array.from({ length: 9 }, () => own.whole(0, 59)));
  const together = await llama.forward(texts);
  const alone = await llama.forward([texts[3] ?? []]);
  made["llama"] = bitsOf(together.logits);
  const size = alone.logits.data.length;
  expect(bitsOf(alone.logits)).toBe(bitsOf({ data: together.logits.data.subarray(3 * size, 4 * size) }));
  // A text is written a token at a time.
  const caches = await Promise.all(
    Array.from({ length: 2 }, () => engine.createCache({ kvHeads: 2, headDim: 16, maxLength: 64 })),
  );
  let token = 7;
  const written: number[] = [];
  for (let step = 0; step < 24; step++) {
    const { logits } = await llama.forward([token], { caches });
    made[`llama, token ${step}`] = bitsOf(logits);
    token = logits.data.indexOf(logits.data.reduce((most, number) => Math.max(most, number)));
    written.push(token);
  }
  made["written"] = written.join();
  const pooling = new Pooling({ kind: "mean", engine });
  const hidden = await bert.forward(texts);
  const one = await bert.forward([texts[5] ?? []]);
  made["bert"] = bitsOf(hidden.hidden);
  const width = one.hidden.data.length;
  expect(bitsOf(one.hidden)).toBe(bitsOf({ data: hidden.hidden.data.subarray(5 * width, 6 * width) }));
  made["pooled"] = bitsOf(await pooling.forward(hidden.hidden));
  made["block"] = bitsOf((await block.forward(draw(2, 11, 64))).output);
  made["gru"] = bitsOf((await gru.forward(draw(3, 6, 64))).output);
  return made;
}

describe.each(["int8", "int4", "f16"] as const)("the bits of %s", (weights) => {
  test("are those of every other engine, whatever its threads", { timeout: 300_000 }, async () => {
    const kinds: (readonly [EngineKind, number | undefined])[] = ENGINE_KINDS.map((kind, at) => [
      kind,
      kind.worker === null ? undefined : 1 + (at % 4),
    ]);
    let wanted: Record<string, string> | null = null;
    for (const [kind, threads] of kinds) {
      using engine = await openKind(kind, { threads });
      const bits = await bitsOn(engine, weights);
      wanted ??= bits;
      for (const [name, own] of Object.entries(bits))
        expect(own === wanted[name], `${name} on ${nameOf(kind)}`).toBe(true);
    }
  });
});

test("tied parameters are packed once, whichever layer is first, and stay tied", async () => {
  using engine = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 1 });
  const model = new LlamaModel({ ...LLAMA, vocab_size: 5000 }, { engine }).init({ seed: 1 });
  const { formats } = model.describe();
  quantize(model, "int8");
  await model.forward([1, 2, 3]);
  const { tensorBytes } = engine.memory();
  const table = 5008 * 64 * (576 / 512);
  const rest = (formats.f32 ?? 0) / 4 - 5000 * 64;
  // Vectors, and panels in part, take somewhat more.
  expect(tensorBytes).toBeGreaterThan(table + rest);
  expect(tensorBytes).toBeLessThan(table + 1.25 * rest);
  const read = await model.readParameters();
  expect(read.get("head.weight")?.data).toBe(read.get("words.weight")?.data);
  const again = new LlamaModel({ ...LLAMA, vocab_size: 5000 }, { engine }).load(read, { weights: "int8" });
  const [first, second] = [await model.forward([1, 2, 3]), await again.forward([1, 2, 3])];
  expect(bitsOf(second.logits)).toBe(bitsOf(first.logits));
  model.dispose();
  again.dispose();
  expect(engine.memory().tensors).toBe(0);
});

test("layers that are loaded from one tensor share it, and each lives on when the other goes", async () => {
  using engine = await openKind({ variant: "simd", worker: null });
  const weight = quantize(tensor(40, 64), "int4");
  class Both extends TransformerBlock {
    readonly table = this.part("table", new Embedding({ count: 40, dim: 64, engine }));
    readonly head = this.part("head", new Linear({ inFeatures: 64, outFeatures: 40, bias: false, engine }));
  }
  const both = new Both({ dim: 64, heads: 4, engine }).init();
  const all = new Map<string, ParameterTensor | typeof weight>(both.parameters());
  both.load(all.set("table.weight", weight).set("head.weight", weight) as never, { weights: "as stored" });
  const x = tensor(2, 64);
  const rows = await both.table.forward([39, 0]);
  const { tensors } = engine.memory();
  const before = await both.head.forward(x);
  expect(engine.memory().tensors).toBe(tensors);
  both.table.dispose();
  expect(engine.memory().tensors).toBe(tensors);
  expect(bitsOf(await both.head.forward(x))).toBe(bitsOf(before));
  both.head.dispose();
  expect(engine.memory().tensors).toBe(0);
  expect(bitsOf(await both.table.forward([39, 0]))).toBe(bitsOf(rows));
});

test("attention takes PyTorch's joined matrix in any format", async () => {
  using engine = await openKind({ variant: "simd", worker: null });
  const torch = {
    in_proj_weight: { data: random.floats(192 * 64, 1 / 8), shape: [192, 64] },
    in_proj_bias: tensor(192),
    "out_proj.weight": { data: random.floats(64 * 64, 1 / 8), shape: [64, 64] },
    "out_proj.bias": tensor(64),
  };
  const layer = new MultiHeadAttention({ embedDim: 64, heads: 4, engine });
  const x = tensor(1, 5, 64);
  const quantized = await layer.load(torch, { weights: "int8" }).forward(x);
  const joined = quantize(torch.in_proj_weight, "int8");
  const stored = { ...torch, in_proj_weight: joined, "out_proj.weight": quantize(torch["out_proj.weight"], "int8") };
  const asStored = await layer.load(stored, { weights: "as stored" }).forward(x);
  expect(bitsOf(asStored.output)).toBe(bitsOf(quantized.output));
  expect(layer.describe().layers.map(({ format }) => format)).toEqual(["int8", "int8", "int8", "int8"]);
  // Without the option the blocks are dequantized.
  const plain = await layer.load(stored).forward(x);
  expect(layer.describe().formats).toEqual({ f32: 4 * (4 * 64 * 64 + 4 * 64) });
  expectAlike(plain.output.data, quantized.output.data, "int8");
});
