// What becomes of narrow weights on their way: how they are loaded, kept, read back, given up by JavaScript, described and refused.

import { describe, expect, test } from "vitest";
import type { Heed } from "../../../web/src/index.js";
import {
  dequantize,
  Embedding,
  GRU,
  type Layer,
  Linear,
  LlamaModel,
  loadGguf,
  loadSafetensors,
  loadSafetensorsShards,
  type ParameterTensor,
  quantize,
  type RoundedFormat,
  type StoredTensor,
  saveSafetensors,
} from "../../../web/src/layers/index.js";
import { loadModel } from "../../../web/src/models/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";
import { Random } from "../../support/random.js";
import { decoded, type Narrow, randomStored } from "../../support/stored-weights.js";
import { drawnBy } from "../../support/tensors.js";

const random = new Random(29);
const tensor = drawnBy(random);
const FORMATS = ["f16", "bf16", "int8", "int4", "int4-min", "q4-k"] as const satisfies readonly Narrow[];
const MIB = 2 ** 20;

/** Until nothing in JavaScript holds the array. */
async function collected(array: WeakRef<object>): Promise<boolean> {
  for (let round = 0; round < 20 && array.deref() !== undefined; round++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    globalThis.gc?.();
  }
  return array.deref() === undefined;
}

const LAYERS: Record<
  string,
  (engine: Heed) => { layer: Layer; name: string; shape: [number, number]; run: () => Promise<unknown> }
> = {
  "a matrix of no whole number of panels": (engine) => {
    const layer = new Linear({ inFeatures: 256, outFeatures: 37, bias: false, engine });
    return { layer, name: "weight", shape: [37, 256], run: () => layer.forward(tensor(1, 256)) };
  },
  "a recurrence of three matrices": (engine) => {
    const layer = new GRU({ inputSize: 256, hiddenSize: 256, bias: false, engine });
    return { layer, name: "weight_hh_l0", shape: [768, 256], run: () => layer.forward(tensor(1, 2, 256)) };
  },
  "a table": (engine) => {
    const layer = new Embedding({ count: 19, dim: 256, engine });
    return { layer, name: "weight", shape: [19, 256], run: () => layer.forward([6]) };
  },
};

/** Zeros of both signs are one. */
const areAlike = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length && Array.from(a).every((number, at) => number === b[at]);

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  test.each(Object.entries(LAYERS))("%s", { timeout: 60_000 }, async (_, make) => {
    for (const format of FORMATS) {
      using engine = await openKind(kind);
      const { layer, name, shape, run } = make(engine);
      let given: StoredTensor | null = randomStored(random, format, ...shape);
      const wanted = decoded(given);
      const others = [...layer.init().parameters()].filter(([other]) => other !== name);
      layer.load(new Map<string, ParameterTensor | StoredTensor>([...others, [name, given]]), { weights: "as stored" });
      const array = new WeakRef(given.data.buffer);
      given = null;
      const read = (parameters: ReadonlyMap<string, ParameterTensor>) => parameters.get(name)?.data ?? [];
      expect(areAlike(read(layer.parameters()), wanted), `${format}, before`).toBe(true);
      await run();
      expect(await collected(array), format).toBe(true);
      expect(areAlike(read(layer.parameters()), wanted), `${format}, at once`).toBe(true);
      expect(areAlike(read(await layer.readParameters()), wanted), `${format}, after`).toBe(true);
      layer.dispose();
      expect(engine.memory().tensors).toBe(0);
      expect(() => layer.parameters()).toThrow("read it by readParameters");
      expect(areAlike(read(await layer.readParameters()), wanted), `${format}, disposed`).toBe(true);
      await run();
      expect(areAlike(read(layer.parameters()), wanted), `${format}, again`).toBe(true);
    }
  });
});

/** Groups that are hard to round: of halves, of equal sizes, of one huge number, of subnormal ones, of zeros. */
function hardRows(format: RoundedFormat): ParameterTensor {
  const { data, shape } = tensor(37, 256);
  const largest = { f16: 65504, bf16: 3e38, int8: 127 * 65519, int4: 8 * 65519 }[format];
  for (let i = 0; i < 32; i++) {
    data[i] = i === 3 ? 127 : (i - 16) / 2;
    data[32 + i] = i % 3 === 0 ? -2.5 : 2.5;
    data[64 + i] = i === 7 ? largest : i;
    data[96 + i] = (data[96 + i] ?? 0) * 2 ** -140;
    data[128 + i] = i % 2 === 0 ? 0 : -0;
    data[160 + i] = (data[160 + i] ?? 0) * 2 ** -14;
    data[192 + i] = i === 3 ? -8 : (i - 16) / 2;
  }
  return { data, shape };
}

test.each(FEW_KINDS)("an engine rounds f32 and 16 bits as JavaScript does: $variant, $worker worker", async (kind) => {
  using engine = await openKind(kind);
  for (const format of ["f16", "bf16", "int8", "int4"] as const) {
    const hard = hardRows(format);
    const sources: readonly (ParameterTensor | StoredTensor)[] = [
      hard,
      ...(["f16", "bf16"] as const).flatMap((source) => {
        const numbers = { ...hard, data: hard.data.map((number) => (Math.abs(number) < 65504 ? number : 60000)) };
        return source === format ? [] : [quantize(numbers, source)];
      }),
    ];
    for (const source of sources) {
      const layer = new Linear({ inFeatures: 256, outFeatures: 37, bias: false, engine });
      layer.load({ weight: source }, { weights: format });
      await layer.forward(tensor(1, 256));
      const wanted = dequantize(quantize(source, format)).data;
      expect(areAlike(layer.parameters().get("weight")?.data ?? [], wanted), format).toBe(true);
      layer.dispose();
    }
  }
});

test("a layer of one engine computes on another, which copies what the first packed", async () => {
  using engine = await openKind({ variant: "simd", worker: null });
  const other = await openKind({ variant: "simd", worker: null });
  const weight = randomStored(random, "q4-k", 20, 256);
  const inner = new Linear({ inFeatures: 256, outFeatures: 20, bias: false, engine }).load(
    { weight },
    { weights: "as stored" },
  );
  class Outer extends Linear {
    readonly inner = this.part("inner", inner);
  }
  const outer = new Outer({ inFeatures: 256, outFeatures: 1, bias: false, engine: other });
  outer.load({ weight: tensor(1, 256), "inner.weight": weight }, { weights: "as stored" });
  const x = tensor(3, 256);
  const first = await inner.forward(x);
  await outer.forward(x);
  other.dispose();
  expect(areAlike((await inner.forward(x)).data, first.data)).toBe(true);
});

test("what was in an engine that is disposed of is missed by name", async () => {
  const engine = await openKind({ variant: "simd", worker: null });
  const layer = new Linear({ inFeatures: 32, outFeatures: 20, bias: false, engine });
  layer.load({ weight: tensor(20, 32) }, { weights: "int8" });
  await layer.forward(tensor(1, 32));
  engine.dispose();
  const rule = "Linear: parameter weight was in the memory of an engine that is disposed of";
  expect(() => layer.parameters()).toThrow(rule);
  await expect(layer.readParameters()).rejects.toMatchObject({ code: "disposed", message: rule });
});

describe("load", () => {
  const linear = (inFeatures = 64): Linear => new Linear({ inFeatures, outFeatures: 8 });
  const weight = tensor(8, 64);
  const bias = tensor(8);

  test("takes a prefix alone, or with weights, and f32 without them", () => {
    const named = { "a.weight": weight, "a.bias": bias };
    expect(linear().load(named, "a.").describe().formats).toEqual({ f32: 4 * 520 });
    expect(linear().load(named, { prefix: "a." }).parameters().get("weight")?.data.buffer).toBe(weight.data.buffer);
    expect(linear().load(named, { prefix: "a.", weights: "int8" }).describe().formats).toEqual({
      int8: 8 * 68,
      f32: 32,
    });
    expect(() => linear().load(named, { prefix: 5 } as never)).toThrow("Linear: prefix must be a string, got 5");
    expect(() => linear().load(named, { weights: "int5" } as never)).toThrow(
      'Linear.load: weights must be one of "f32", "as stored", "f16", "bf16", "int8", "int4", got "int5", did you mean "int8"?',
    );
    expect(() => linear().load(named, { weight: "int8" } as never)).toThrow("options has no option");
  });

  test("rounds what is not rounded to it, and takes the rest as it is", () => {
    for (const format of ["f16", "bf16", "int8", "int4"] as const satisfies readonly RoundedFormat[]) {
      const stored = quantize(weight, format);
      for (const source of [weight, stored]) {
        const layer = linear().load({ weight: source, bias }, { weights: format });
        expect(layer.describe().layers).toMatchObject([{ name: "", parameters: 520, format }]);
        expect(layer.parameters().get("weight")).toEqual(dequantize(stored));
        expect(layer.parameters().get("bias")?.data.buffer).toBe(bias.data.buffer);
      }
      expect(
        linear().load({ weight: stored, bias }, { weights: "as stored" }).describe().formats[format],
      ).toBeGreaterThan(0);
      expect(linear().load({ weight: stored, bias }).describe().formats).toEqual({ f32: 4 * 520 });
    }
    const int8 = quantize(weight, "int8");
    const layer = linear().load({ weight: int8, bias }, { weights: "int4" });
    expect(layer.parameters().get("weight")).toEqual(dequantize(quantize(dequantize(int8), "int4")));
  });

  test("leaves vectors f32, and matrices without whole blocks", () => {
    const layer = linear(48).load({ weight: tensor(8, 48), bias }, { weights: "int8" });
    expect(layer.describe().formats).toEqual({ f32: 4 * (8 * 48 + 8) });
    const half = { data: quantize(bias, "f16").data as Uint16Array<ArrayBuffer>, shape: [8], dtype: "f16" as const };
    const kept = linear(48).load({ weight: tensor(8, 48), bias: half }, { weights: "f16" });
    expect(kept.describe().formats).toEqual({ f16: 2 * 8 * 48, f32: 32 });
    expect(kept.parameters().get("bias")).toEqual(dequantize(quantize(bias, "f16")));
  });

  test("refuses numbers that do not fit, takes none then, and reads no more of a tensor than it has", () => {
    const layer = linear().load({ weight, bias });
    const wrong = { data: weight.data.slice(), shape: [8, 64] };
    wrong.data[100] = Number.NaN;
    expect(() => layer.load({ weight: wrong, bias: tensor(8) }, { weights: "int4" })).toThrow(
      "Linear: parameter weight: numbers must be finite and below 524160 to become int4, number 100 is NaN",
    );
    expect(layer.parameters().get("weight")?.data.buffer).toBe(weight.data.buffer);
    const int8 = quantize(weight, "int8");
    expect(() => layer.load({ weight: { ...int8, data: int8.data.subarray(34) }, bias })).toThrow(
      "must have 544 bytes",
    );
    expect(() => layer.load({ weight: { ...int8, shape: [16, 32] }, bias })).toThrow("must be [8, 64], got [16, 32]");
    expect(() => layer.load({ weight: { ...int8, format: "constructor" } as never, bias })).toThrow(
      "of a format among",
    );
  });

  test("in several pieces, of matrices with more bytes than a piece", async () => {
    using engine = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 1 });
    const [inputs, outputs] = [4096, 2500];
    const stored = randomStored(random, "int8", outputs, inputs);
    const layer = new Linear({ inFeatures: inputs, outFeatures: outputs, bias: false, engine });
    layer.load({ weight: stored }, { weights: "as stored" });
    await layer.forward(tensor(1, inputs));
    const packed = (2512 * inputs * 576) / 512;
    expect(engine.memory().tensorBytes).toBe(packed);
    // What was packed at a time has left no more than this.
    expect(engine.memory().engine - packed).toBeLessThan(32 * MIB);
    const [first, last] = [0, outputs - 1].map((row) => decoded(rowOf(stored, row)));
    const { data } = await layer.readParameters().then((read) => read.get("weight") ?? { data: [] });
    expect(areAlike(Array.from(data).slice(0, inputs), first ?? [])).toBe(true);
    expect(areAlike(Array.from(data).slice(-inputs), last ?? [])).toBe(true);
  });
});

function rowOf({ data, shape: [rows = 1, inputs = 0], format }: StoredTensor, row: number): StoredTensor {
  const width = data.length / rows;
  return { data: data.slice(row * width, (row + 1) * width), shape: [1, inputs], format };
}

describe("quantize", () => {
  test("rounds a model in place, where it is and wherever its numbers are", async () => {
    using engine = await openKind({ variant: "simd", worker: null });
    const x = tensor(2, 64);
    const weight = tensor(24, 64);
    const wanted = dequantize(quantize(weight, "int8"));
    for (const when of ["held", "packed", "disposed of"]) {
      const layer = new Linear({ inFeatures: 64, outFeatures: 24, bias: false, engine });
      layer.load({ weight: { data: weight.data.slice(), shape: [24, 64] } });
      if (when !== "held") await layer.forward(x);
      if (when === "disposed of") layer.dispose();
      globalThis.gc?.();
      expect(quantize(layer, "int8")).toBe(layer);
      expect(layer.parameters().get("weight"), when).toEqual(wanted);
      await layer.forward(x);
      expect(quantize(layer, "int8").parameters().get("weight"), when).toEqual(wanted);
      // From one format to another.
      quantize(layer, "int4");
      expect(layer.parameters().get("weight")).toEqual(dequantize(quantize(wanted, "int4")));
      await layer.forward(x);
      layer.dispose();
    }
    expect(engine.memory().tensors).toBe(0);
  });

  test("takes all or none", () => {
    const model = new LlamaModel(SMALL).init();
    const { data } = model.parameters().get("head.weight") ?? { data: new Float32Array() };
    data[70] = Number.POSITIVE_INFINITY;
    expect(() => quantize(model, "int8")).toThrow("quantize: parameter head.weight: numbers must be finite");
    expect(Object.keys(model.describe().formats)).toEqual(["f32"]);
    expect(() => quantize(7 as never, "int8")).toThrow("parameter tensor must be { data, shape }, got 7");
  });
});

const SMALL = {
  model_type: "llama",
  vocab_size: 50,
  hidden_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  intermediate_size: 96,
};

describe("describe", () => {
  /** Matrices of the block, tables and vectors. */
  const [MATRICES, TABLE, VECTORS] = [4 * 64 * 64 + 3 * 96 * 64, 50 * 64, 3 * 64];

  test("says what a model has, before and after it is loaded", () => {
    const model = new LlamaModel(SMALL);
    const all = MATRICES + 2 * TABLE + VECTORS;
    expect(model.describe()).toMatchObject({ parameters: all, bytes: 4 * all, formats: { f32: 4 * all } });
    const inInt8 = ((MATRICES + 2 * TABLE) / 32) * 34;
    expect(model.describe({ weights: "int8" })).toMatchObject({ formats: { int8: inInt8, f32: 4 * VECTORS } });
    const described = quantize(model.init(), "int8").describe();
    expect(described).toMatchObject({ parameters: all, bytes: inInt8 + 4 * VECTORS });
    expect(described.layers.length).toBe(1 + 7 + 3 + 1);
    const [words] = described.layers;
    expect(words).toEqual({ name: "words", parameters: TABLE, bytes: (TABLE / 32) * 34, format: "int8" });
    const sum = (of: "parameters" | "bytes"): number => described.layers.reduce((total, layer) => total + layer[of], 0);
    expect([sum("parameters"), sum("bytes")]).toEqual([described.parameters, described.bytes]);
    expect(() => model.describe({ weights: "x" } as never)).toThrow("LlamaModel.describe: weights must be one of");
  });

  test("counts what is tied once, known or foreseen", () => {
    const model = new LlamaModel({ ...SMALL, tie_word_embeddings: true });
    const all = MATRICES + TABLE + VECTORS;
    expect(model.describe().parameters).toBe(all);
    expect(model.init().describe().parameters).toBe(all);
    expect(quantize(model, "int4").describe().parameters).toBe(all);
  });
});

const HUGE = {
  model_type: "llama",
  vocab_size: 64,
  hidden_size: 4096,
  num_hidden_layers: 16,
  num_attention_heads: 32,
  intermediate_size: 8192,
};

describe("memory", () => {
  test("a model that cannot fit is refused before anything is read, with what would fit", () => {
    const model = new LlamaModel(HUGE);
    // One array for all that have its size: what is refused is never read.
    const arrays = new Map<number, Float32Array>();
    const source = new Map<string, ParameterTensor>();
    for (const [name, shape] of shapesOf(HUGE)) {
      const size = shape.reduce((a, b) => a * b, 1);
      const data = arrays.get(size) ?? new Float32Array(size);
      arrays.set(size, data);
      source.set(name, { data, shape });
    }
    expect(() => model.load(source)).toThrow(
      /^LlamaModel: the parameters must fit into 2\.08 GB of an engine's memory, and take 10\.\d\d GB: as option weights, /,
    );
    expect(() => model.load(source)).toThrow(expect.objectContaining({ code: "memory" }));
    expect(model.parameters().size).toBe(0);
  });

  test("loadModel looks at its configuration, and at no weights", async () => {
    const files = { "config.json": new Blob([JSON.stringify(HUGE)]), "model.safetensors": new Blob(["no such file"]) };
    await expect(loadModel(files)).rejects.toMatchObject({
      code: "memory",
      message: expect.stringMatching(/^loadModel: the parameters must fit into 2\.08 GB .* "int4" takes 1\.\d\d GB$/),
    });
    await expect(loadModel(files, { weights: "int4" })).rejects.toMatchObject({ code: "load" });
  });

  test("a GGUF file of such a model is refused by its header", async () => {
    let chunks = 0;
    const file = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        pull(controller) {
          chunks += 1;
          controller.enqueue(chunks === 1 ? headerOf("token_embd.weight", [4096, 200_000]) : new Uint8Array(2 ** 16));
        },
      });
    await expect(loadGguf(file())).rejects.toMatchObject({
      code: "memory",
      message:
        'loadGguf: the parameters must fit into 2.08 GB of an engine\'s memory, and take 3.28 GB: as option weights, "as stored" takes 0.87 GB',
    });
    // The file has a thousand times as many.
    expect(chunks).toBeLessThan(5);
  });
});

/** The header of a GGUF file with one tensor of Q8_0. */
function headerOf(name: string, [inputs, rows]: readonly [number, number]): Uint8Array {
  const [u32, u64] = [
    (n: number) => Buffer.from(Uint32Array.of(n).buffer),
    (n: number) => Buffer.from(BigUint64Array.of(BigInt(n)).buffer),
  ];
  const parts = [
    Buffer.from("GGUF"),
    u32(3),
    u64(1),
    u64(0),
    u64(name.length),
    Buffer.from(name),
    u32(2),
    u64(inputs),
    u64(rows),
    u32(8),
    u64(0),
  ];
  return new Uint8Array(Buffer.concat(parts));
}

function* shapesOf(config: typeof HUGE): Generator<[string, number[]]> {
  const { hidden_size: dim, intermediate_size: hidden, vocab_size: count, num_hidden_layers: layers } = config;
  yield ["words.weight", [count, dim]];
  yield ["head.weight", [count, dim]];
  yield ["decoder.norm.weight", [dim]];
  for (let layer = 0; layer < layers; layer++) {
    const start = `decoder.layers.${layer}`;
    for (const norm of ["norm1", "norm2"]) yield [`${start}.${norm}.weight`, [dim]];
    for (const part of ["q", "k", "v", "out"]) yield [`${start}.self_attn.${part}_proj.weight`, [dim, dim]];
    for (const part of ["gate", "up"]) yield [`${start}.mlp.${part}_proj.weight`, [hidden, dim]];
    yield [`${start}.mlp.down_proj.weight`, [dim, hidden]];
  }
}

describe("files", () => {
  const weight = tensor(8, 64);
  const file = saveSafetensors({
    half: { ...weight, dtype: "f16" },
    brain: { ...weight, dtype: "bf16" },
    full: weight,
  });

  test("of F16 and BF16 are widened, or kept as they are for layers that keep them", async () => {
    const widened = await loadSafetensors(file);
    expect([...widened.values()].map(({ dtype }) => dtype)).toEqual(["f32", "f32", "f32"]);
    const kept = await loadSafetensors(file, { keepHalves: true });
    expect(["half", "brain"].map((name) => kept.get(name)?.dtype)).toEqual(["f16", "f32"]);
    const index = new Blob([JSON.stringify({ weight_map: { half: "a", brain: "a", full: "a" } })]);
    const shards = await loadSafetensorsShards(index, { weights: "as stored", resolve: () => file });
    const stored = await loadSafetensors(file, { weights: "as stored" });
    expect(shards).toEqual(stored);
    expect(["half", "brain", "full"].map((name) => stored.get(name)?.dtype)).toEqual(["f16", "bf16", "f32"]);
    for (const [name, format] of [
      ["half", "f16"],
      ["brain", "bf16"],
      ["full", "f32"],
    ] as const) {
      const from = stored.get(name);
      if (from === undefined) throw new Error(`no ${name}`);
      const layer = new Linear({ inFeatures: 64, outFeatures: 8, bias: false });
      expect(layer.load({ weight: from }, { weights: "as stored" }).describe().layers).toMatchObject([{ format }]);
      const wanted = format === "f32" ? weight : dequantize(quantize(weight, format));
      expect(layer.parameters().get("weight")).toEqual(wanted);
      expect(layer.load({ weight: from }).parameters().get("weight")).toEqual(wanted);
    }
    await expect(loadSafetensors(file, { weights: "int8" } as never)).rejects.toThrow(
      'weights must be one of "f32", "as stored"',
    );
  });
});
