// What layers do beside computing: parameters in and out, tensors that stay, memory that goes, refusals.

import { afterAll, describe, expect, test } from "vitest";
import { fromF16, toF16 } from "../../../web/src/base/f16.js";
import { createHeed, HeedError } from "../../../web/src/index.js";
import {
  AdditiveAttention,
  BertModel,
  Embedding,
  Encoder,
  EncoderDecoder,
  type FileTensor,
  fromKerasAttention,
  fromTorchAttention,
  GPT2Model,
  GRU,
  type Layer,
  LayerNorm,
  Linear,
  LlamaModel,
  loadSafetensors,
  MLP,
  MultiHeadAttention,
  type ParameterTensor,
  Pooling,
  RMSNorm,
  saveSafetensors,
  TransformerBlock,
} from "../../../web/src/layers/index.js";
import { Random } from "../../support/random.js";
import { drawnBy } from "../../support/tensors.js";

const engine = await createHeed();
afterAll(() => engine.dispose());

const random = new Random(900);
const numbers = drawnBy(random);

/** Code and text of the HeedError that a call throws. */
function refusalOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error instanceof HeedError ? [error.code, error.message] : error;
  }
  return null;
}

const linearParameters = (): Map<string, ParameterTensor> =>
  new Map([
    ["weight", numbers(3, 4)],
    ["bias", numbers(3)],
  ]);

/** Parameters and tensors in the engine. */
function held(): number {
  return engine.memory().tensors;
}

test("parameters come out under the names and with the numbers that went in", () => {
  const names = ["up_proj.weight", "up_proj.bias", "down_proj.weight", "down_proj.bias"];
  const shapes = [[6, 4], [6], [4, 6], [4]];
  const given = new Map(names.map((name, at) => [`block.${name}`, numbers(...(shapes[at] ?? []))]));
  const layer = new MLP({ dim: 4, hidden: 6, engine }).load(given, "block.");
  const got = layer.parameters();
  expect([...got.keys()].sort()).toEqual([...names].sort());
  for (const name of names) expect(got.get(name)?.data.buffer).toBe(given.get(`block.${name}`)?.data.buffer);
});

test("parameters that are missing, of another shape or of another type are refused by name", () => {
  const layer = new Linear({ inFeatures: 4, outFeatures: 3, engine });
  const fails = (parameters: Map<string, unknown>): unknown => {
    try {
      layer.load(parameters as Map<string, ParameterTensor>, "head.");
    } catch (error) {
      if (error instanceof HeedError) return [error.code, error.message];
    }
    return null;
  };
  const missing = fails(new Map([["head.weight", numbers(3, 4)]]));
  expect(missing).toEqual(["option", "Linear: parameter head.bias is missing among the 1 that were given"]);
  const turned = fails(
    new Map([
      ["head.weight", numbers(4, 3)],
      ["head.bias", numbers(3)],
    ]),
  );
  expect(turned).toEqual(["shape", "Linear: parameter head.weight must be [3, 4], got [4, 3]"]);
  const short = fails(
    new Map([
      ["head.weight", { data: new Float32Array(5), shape: [3, 4] }],
      ["head.bias", numbers(3)],
    ]),
  );
  expect(short).toEqual(["shape", "Linear: parameter head.weight of shape [3, 4] must have 12 elements, got 5"]);
  expect(fails(new Map([["head.weight", { data: [1], shape: [1] }]]))).toMatchObject(["dtype", expect.any(String)]);
  expect(fails(new Map([["head.weight", 7]]))).toMatchObject(["dtype", expect.any(String)]);
});

test("a file is loaded as it was read: what a layer does not need may be of any type, what it needs is of floats", async () => {
  const [weight, bias] = [numbers(3, 4), numbers(3)];
  const ids = { data: BigInt64Array.of(0n, 1n), shape: [2] };
  const read = (tensors: Parameters<typeof saveSafetensors>[0]): Promise<Map<string, FileTensor>> =>
    loadSafetensors(saveSafetensors(tensors));
  const layer = new Linear({ inFeatures: 4, outFeatures: 3, engine });
  expect(
    layer
      .load(await read({ weight, bias, ids }))
      .parameters()
      .get("weight")?.data,
  ).toEqual(weight.data);
  const kept = await loadSafetensors(
    saveSafetensors({ weight, bias: { data: bias.data.fill(1.5), shape: [3], dtype: "f16" } }),
    {
      keepHalves: true,
    },
  );
  expect(kept.get("bias")?.data).toBeInstanceOf(Uint16Array);
  expect(layer.load(kept).parameters().get("bias")?.data).toEqual(new Float32Array(3).fill(1.5));
  // f16 and bf16 are widened: 1.5 is 0x3e00 and 0x3fc0.
  for (const [dtype, bits] of [
    ["f16", 0x3e00],
    ["bf16", 0x3fc0],
  ] as const) {
    const bias = { data: new Uint16Array(3).fill(bits), shape: [3], dtype };
    expect(
      layer
        .load(await read({ weight, bias }))
        .parameters()
        .get("bias")?.data,
    ).toEqual(new Float32Array(3).fill(1.5));
  }
  const whole = await read({ weight, bias: { data: new BigInt64Array(3), shape: [3] } });
  expect(refusalOf(() => layer.load(whole))).toEqual([
    "dtype",
    "Linear: parameter bias.data must be a Float32Array, got a BigInt64Array",
  ]);
});

describe("a parameter that would make a layer another one", () => {
  const sizes = { dim: 8, heads: 2 } as const;
  const shapesOf: Readonly<Record<string, readonly number[]>> = {
    "self_attn.in_proj_weight": [24, 8],
    "self_attn.in_proj_bias": [24],
    "self_attn.out_proj.weight": [8, 8],
    "self_attn.out_proj.bias": [8],
    "linear1.weight": [32, 8],
    "linear1.bias": [32],
    "linear2.weight": [8, 32],
    "linear2.bias": [8],
    "norm1.weight": [8],
    "norm1.bias": [8],
    "norm2.weight": [8],
    "norm2.bias": [8],
  };
  const named = (shapes: Readonly<Record<string, readonly number[]>>, prefix = "") =>
    Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [prefix + name, numbers(...shape)]));
  const block = named(shapesOf);
  const attention = named(
    Object.fromEntries(
      Object.entries(shapesOf)
        .filter(([name]) => name.startsWith("self_attn."))
        .map(([name, shape]) => [name.replace("self_attn.", ""), shape]),
    ),
  );
  const gru = named({ weight_ih_l0: [12, 3], weight_hh_l0: [12, 4] });

  const rule = (where: string, name: string): [string, string] => [
    "option",
    `${where}: with its options it must have no parameter ${name}, got one`,
  ];
  const beside = (name: string): [string, string] => [
    "unsupported",
    `fromTorchAttention: a key and a value for every sequence are not computed, got ${name}`,
  ];
  const cases: readonly [string, () => Layer, Record<string, ParameterTensor>, string, [string, string]][] = [
    [
      "a bias",
      () => new Linear({ inFeatures: 2, outFeatures: 3, bias: false }),
      named({ weight: [3, 2] }),
      "bias",
      rule("Linear", "bias"),
    ],
    [
      "a bias beside separate projections",
      () => new MultiHeadAttention({ embedDim: 8, heads: 2, bias: false }),
      named(Object.fromEntries(["q_proj", "k_proj", "v_proj", "out_proj"].map((part) => [`${part}.weight`, [8, 8]]))),
      "bias_k",
      rule("MultiHeadAttention", "bias_k"),
    ],
    [
      "a norm's bias",
      () => new LayerNorm({ shape: 3, bias: false }),
      named({ weight: [3] }),
      "bias",
      rule("LayerNorm", "bias"),
    ],
    [
      "a norm's weight",
      () => new LayerNorm({ shape: 3, weight: false, bias: false }),
      {},
      "weight",
      rule("LayerNorm", "weight"),
    ],
    ["a LayerNorm's bias", () => new RMSNorm({ shape: 3 }), named({ weight: [3] }), "bias", rule("RMSNorm", "bias")],
    [
      "a gate",
      () => new MLP({ dim: 2, hidden: 3, bias: false }),
      named({ "up_proj.weight": [3, 2], "down_proj.weight": [2, 3] }),
      "gate_proj.weight",
      rule("MLP", "gate_proj.weight"),
    ],
    [
      "a second layer",
      () => new GRU({ inputSize: 3, hiddenSize: 4, bias: false }),
      gru,
      "weight_ih_l1",
      rule("GRU", "weight_ih_l1"),
    ],
    [
      "a unit's bias",
      () => new GRU({ inputSize: 3, hiddenSize: 4, bias: false }),
      gru,
      "bias_hh_l0",
      rule("GRU", "bias_hh_l0"),
    ],
    [
      "an additive bias",
      () => new AdditiveAttention({ queryDim: 2, keyDim: 2, hidden: 3 }),
      named({ "query_proj.weight": [3, 2], "key_proj.weight": [3, 2], "score_proj.weight": [1, 3] }),
      "bias",
      rule("AdditiveAttention", "bias"),
    ],
    [
      "a key beside the others",
      () => new MultiHeadAttention({ embedDim: 8, heads: 2 }),
      attention,
      "bias_k",
      beside("bias_k"),
    ],
    [
      "a value beside the others",
      () => new TransformerBlock(sizes),
      block,
      "self_attn.bias_v",
      beside("self_attn.bias_v"),
    ],
    [
      "a cross attention",
      () => new TransformerBlock(sizes),
      block,
      "multihead_attn.out_proj.weight",
      rule("TransformerBlock", "multihead_attn.out_proj.weight"),
    ],
    [
      "a third norm",
      () => new TransformerBlock(sizes),
      block,
      "norm3.weight",
      rule("TransformerBlock", "norm3.weight"),
    ],
    [
      "a final norm",
      () => new Encoder({ ...sizes, layers: 1, normFirst: false }),
      named(shapesOf, "layers.0."),
      "norm.weight",
      rule("Encoder", "norm.weight"),
    ],
  ];
  test.each(cases)("%s is refused", (_, make, parameters, name, [code, message]) => {
    for (const prefix of ["", "part.3."]) {
      const given = new Map(Object.entries(parameters).map(([key, value]) => [prefix + key, value]));
      expect(make().load(given, prefix).parameters().size).toBeGreaterThanOrEqual(given.size);
      // Of another layer it says nothing.
      make().load(new Map(given).set(`other.${name}`, numbers(8)), prefix);
      const without = make();
      Reflect.apply(without.load, without, [new Map<string, unknown>(given).set(prefix + name, undefined), prefix]);
      const layer = make();
      const refusal = refusalOf(() => layer.load(new Map(given).set(prefix + name, numbers(8)), prefix));
      expect(refusal).toEqual([code, message.replace(name, prefix + name)]);
      expect(layer.parameters().size).toBe(0);
    }
  });

  test("and an encoder-decoder has PyTorch's norms after both of its stacks, unless it is to have none", () => {
    const options = { ...sizes, normFirst: false, encoderLayers: 1, decoderLayers: 1 } as const;
    const cross = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"];
    const decoder = {
      ...shapesOf,
      ...Object.fromEntries(cross.map((name) => [`multihead_attn.${name}`, shapesOf[`self_attn.${name}`] ?? []])),
      "norm3.weight": [8],
      "norm3.bias": [8],
    };
    const bare = { ...named(shapesOf, "encoder.layers.0."), ...named(decoder, "decoder.layers.0.") };
    const norms = named({
      "encoder.norm.weight": [8],
      "encoder.norm.bias": [8],
      "decoder.norm.weight": [8],
      "decoder.norm.bias": [8],
    });
    const torch = new EncoderDecoder(options).load({ ...bare, ...norms }).parameters();
    for (const [name, { data }] of Object.entries(norms)) expect(torch.get(name)?.data).toEqual(data);
    expect(refusalOf(() => new EncoderDecoder(options).load(bare))).toEqual([
      "option",
      expect.stringMatching(/^LayerNorm: parameter encoder.norm.weight is missing/),
    ]);
    const without = new EncoderDecoder({ ...options, finalNorm: false });
    expect(without.load(bare).parameters().size).toBeGreaterThan(30);
    expect(refusalOf(() => without.load({ ...bare, ...norms }))).toEqual(rule("Encoder", "encoder.norm.weight"));
  });
});

test("parameters come as a map or as an object, and anything else is refused", () => {
  const layer = new Linear({ inFeatures: 4, outFeatures: 3, engine });
  const [weight, bias] = [numbers(3, 4), numbers(3)];
  expect(
    layer.load({ "head.weight": weight, "head.bias": bias }, "head.").parameters().get("weight")?.data.buffer,
  ).toBe(weight.data.buffer);
  const heads = new MultiHeadAttention({ embedDim: 8, heads: 2, engine });
  const torch = { in_proj_weight: numbers(24, 8), in_proj_bias: numbers(24) };
  const out = { "out_proj.weight": numbers(8, 8), "out_proj.bias": numbers(8) };
  expect(heads.load({ ...torch, ...out }).parameters().size).toBe(8);

  const block = new TransformerBlock({ dim: 8, heads: 2, engine });
  const bert = new BertModel(
    {
      model_type: "bert",
      hidden_size: 8,
      num_hidden_layers: 1,
      vocab_size: 5,
      max_position_embeddings: 4,
      num_attention_heads: 2,
      intermediate_size: 8,
    },
    { engine },
  );
  const loaders: readonly [string, (parameters: never, prefix?: never) => unknown][] = [
    ["Linear", (...given) => layer.load(...given)],
    ["MultiHeadAttention", (...given) => heads.load(...given)],
    ["TransformerBlock", (...given) => block.load(...given)],
    ["BertModel", (...given) => bert.load(...given)],
    ["fromKerasAttention", (...given) => fromKerasAttention(...given)],
    ["fromTorchAttention", (...given) => fromTorchAttention(...given)],
  ];
  for (const [where, load] of loaders) {
    for (const [wrong, got] of [
      [undefined, "undefined"],
      [null, "null"],
      ["weight", '"weight"'],
    ] as const) {
      expect(refusalOf(() => load(wrong as never))).toEqual([
        "option",
        `${where}: parameters must be a Map or an object, got ${got}`,
      ]);
    }
    expect(refusalOf(() => load(new Map() as never, 5 as never))).toEqual([
      "option",
      `${where}: prefix must be a string, got 5`,
    ]);
    expect(refusalOf(() => load({} as never))).toEqual(["option", expect.stringMatching(/: parameter .* is missing/)]);
  }
});

test("a layer without parameters says so when it is asked to compute", async () => {
  const layer = new Linear({ inFeatures: 4, outFeatures: 3, engine });
  await expect(layer.forward(numbers(2, 4))).rejects.toMatchObject({
    code: "option",
    message: "Linear: parameter weight has not been loaded",
  });
});

test("inputs of another width or type are refused, and the layer works on", async () => {
  const layer = new Linear({ inFeatures: 4, outFeatures: 3, engine }).load(linearParameters());
  await expect(layer.forward(numbers(2, 5))).rejects.toMatchObject({
    code: "shape",
    message: "Linear: the last axis of x must be 4, got [2, 5]",
  });
  await expect(layer.forward([1, 2, 3, 4] as never)).rejects.toMatchObject({ code: "dtype" });
  await expect(layer.forward(numbers(2, 4), { kept: true } as never)).rejects.toMatchObject({ code: "option" });
  const signal = AbortSignal.abort();
  await expect(layer.forward(numbers(2, 4), { signal })).rejects.toMatchObject({ code: "aborted" });
  expect((await layer.forward(numbers(2, 4))).shape).toEqual([2, 3]);
  expect((await layer.forward(numbers(0, 4))).shape).toEqual([0, 3]);
});

test("options that no layer can have are refused", () => {
  const codes = [
    () => new Linear({ inFeatures: 0, outFeatures: 3 }),
    () => new Linear({ inFeatures: 3 } as never),
    () => new Linear({ inFeatures: 3, outFeatures: 3, biass: true } as never),
    () => new Linear({ inFeatures: 3, outFeatures: 3, engine: {} as never }),
    () => new LayerNorm({ shape: 4, epsilon: -1 }),
    () => new MLP({ dim: 4, hidden: 4, activation: "swish" as never }),
    () => new MultiHeadAttention({ embedDim: 10, heads: 3 }),
    () => new MultiHeadAttention({ embedDim: 12, heads: 4, kvHeads: 3 }),
    () => new MultiHeadAttention({ embedDim: 12, heads: 4, bias: 1 as never }),
  ].map((make) => {
    try {
      make();
    } catch (error) {
      return error instanceof HeedError ? error.code : error;
    }
    return null;
  });
  expect(codes).toEqual(codes.map(() => "option"));
});

test("a layer or model without options, or with others than it has, is refused by name", () => {
  const config = { hidden_size: 8 };
  const makers: readonly [string, new (options: never) => unknown][] = [
    ["Linear", Linear],
    ["Embedding", Embedding],
    ["LayerNorm", LayerNorm],
    ["RMSNorm", RMSNorm],
    ["MLP", MLP],
    ["GRU", GRU],
    ["Pooling", Pooling],
    ["MultiHeadAttention", MultiHeadAttention],
    ["AdditiveAttention", AdditiveAttention],
    ["TransformerBlock", TransformerBlock],
    ["Encoder", Encoder],
    ["EncoderDecoder", EncoderDecoder],
  ];
  for (const [where, Made] of makers) {
    for (const wrong of [undefined, null, 5]) {
      const rule = `${where}: options must be an object, got ${wrong}`;
      expect(refusalOf(() => new Made(wrong as never))).toEqual(["option", rule]);
    }
  }
  const models = { BertModel, GPT2Model, LlamaModel };
  for (const [where, Model] of Object.entries(models)) {
    const rule = `${where}: options must be an object, got null`;
    expect(refusalOf(() => new Model(config, null as never))).toEqual(["option", rule]);
    expect(refusalOf(() => new Model(config, { enigne: engine } as never))).toEqual([
      "option",
      expect.stringContaining(`${where}: options has no option "enigne"`),
    ]);
  }
});

test("refusals name what the user called, not the part that found it", async () => {
  const [x, wrong] = [numbers(1, 2, 8), numbers(1, 2, 12)];
  const heads = new MultiHeadAttention({ embedDim: 8, heads: 2, engine });
  const block = new TransformerBlock({ dim: 8, heads: 2, cross: true, engine });
  const both = new EncoderDecoder({ dim: 8, heads: 2, encoderLayers: 1, decoderLayers: 1, engine });
  const mlp = new MLP({ dim: 8, hidden: 8, engine });
  const pooling = new Pooling({ kind: "mean", engine });
  const table = new Embedding({ count: 3, dim: 2, engine }).load({ weight: numbers(3, 2) });
  const linear = new Linear({ inFeatures: 2, outFeatures: 1, bias: false, engine });
  const long = { weight: { data: [1, 2], shape: [1, 2] } } as never;
  const width = "the last axis of";
  const rules: readonly [() => unknown, string][] = [
    [() => heads.forward(wrong), `MultiHeadAttention: ${width} query must be 8, got [1, 2, 12]`],
    [() => heads.forward(x, x, wrong), `MultiHeadAttention: ${width} value must be 8, got [1, 2, 12]`],
    [() => mlp.forward(wrong), `MLP: ${width} x must be 8, got [1, 2, 12]`],
    [() => block.forward(wrong, { memory: x }), `TransformerBlock: ${width} x must be 8, got [1, 2, 12]`],
    [() => block.forward(x, { memory: wrong }), `TransformerBlock: ${width} memory must be 8, got [1, 2, 12]`],
    [() => both.forward(wrong, x), `EncoderDecoder: ${width} source must be 8, got [1, 2, 12]`],
    [() => pooling.forward(x, { mask: [true] }), "Pooling: mask of shape [1, 2] must have 2 elements, got 1"],
    [() => table.forward([1, 3]), "Embedding: indices must be below 3, number 1 is 3"],
    [async () => linear.load(long), "Linear: parameter weight.data must be a Float32Array, got [1, 2]"],
  ];
  for (const [call, message] of rules) {
    await expect(call()).rejects.toBeInstanceOf(HeedError);
    await expect(call()).rejects.toHaveProperty("message", message);
  }
});

test("kept results go from layer to layer, and tensors of the engine are taken as well", async () => {
  const layer = new Linear({ inFeatures: 4, outFeatures: 3, engine }).load(linearParameters());
  const norm = new LayerNorm({ shape: 3, weight: false, bias: false, engine });
  const x = numbers(5, 4);
  const plain = await norm.forward(await layer.forward(x));
  const own = engine.tensor(x.data, x.shape);
  const kept = await layer.forward(own, { keep: true });
  const before = held();
  const result = await norm.forward(kept);
  expect([...result.data]).toEqual([...plain.data]);
  expect([...(await kept.read())]).toEqual([...(await layer.forward(x)).data]);
  kept.dispose();
  expect(held()).toBe(before - 1);
  own.dispose();
});

test("tensors of f16 are widened, for layers compute in f32", async () => {
  const x = numbers(5, 4);
  const rounded = toF16(x.data as Float32Array);
  using own = engine.tensor(rounded, x.shape, { dtype: "f16" });
  const layer = new Linear({ inFeatures: 4, outFeatures: 3, engine }).load(linearParameters());
  const wanted = await layer.forward({ data: fromF16(rounded), shape: x.shape });
  expect([...(await layer.forward(own)).data]).toEqual([...wanted.data]);
});

test("a pass leaves nothing behind but parameters, failed or not, and dispose frees those", async () => {
  const names = {
    "q_proj.weight": [8, 8],
    "k_proj.weight": [8, 8],
    "v_proj.weight": [8, 8],
    "out_proj.weight": [8, 8],
  };
  const parameters = new Map(Object.entries(names).map(([name, shape]) => [name, numbers(...shape)]));
  const start = held();
  const layer = new MultiHeadAttention({ embedDim: 8, heads: 2, bias: false, rope: {}, engine }).load(parameters);
  await layer.forward(numbers(2, 3, 8));
  expect(held()).toBe(start + 4);
  await expect(layer.forward(numbers(2, 3, 8), undefined, undefined, { causal: "sideways" as never })).rejects.toThrow(
    HeedError,
  );
  expect(held()).toBe(start + 4);
  layer.dispose();
  await Promise.resolve();
  expect(held()).toBe(start);
  expect((await layer.forward(numbers(1, 3, 8))).output.shape).toEqual([1, 3, 8]);
  layer.dispose();
});

test("a layer that is disposed of while it computes says so, or has computed", async () => {
  const layer = new MLP({ dim: 4, hidden: 6, bias: false, engine });
  layer.load(
    new Map([
      ["up_proj.weight", numbers(6, 4)],
      ["down_proj.weight", numbers(4, 6)],
    ]),
  );
  const x = numbers(3, 4);
  const expected = [...(await layer.forward(x)).data];
  const outcomes = Array.from({ length: 6 }, async (_, ticks) => {
    const pending = layer.forward(x).then(
      ({ data }) => [...data],
      (error: unknown) => Reflect.get(Object(error), "code"),
    );
    for (let tick = 0; tick < ticks; tick++) await null;
    layer.dispose();
    return pending;
  });
  for (const outcome of await Promise.all(outcomes)) expect([expected, "disposed"]).toContainEqual(outcome);
  expect([...(await layer.forward(x)).data]).toEqual(expected);
});

test("kept weights of a single batch entry have no batch axis either", async () => {
  const layer = new MultiHeadAttention({ embedDim: 8, heads: 2, bias: false, engine });
  layer.load(new Map(["q", "k", "v", "out"].map((name) => [`${name}_proj.weight`, numbers(8, 8)])));
  const x = numbers(3, 8);
  const options = { return: { weights: true, lse: true } } as const;
  const plain = await layer.forward(x, x, x, options);
  const kept = await layer.forward(x, x, x, { ...options, keep: true });
  expect([kept.output.shape, kept.weights.shape, kept.lse.shape]).toEqual([
    [3, 8],
    [2, 3, 3],
    [2, 3],
  ]);
  expect([...(await kept.weights.read())]).toEqual([...plain.weights.data]);
  for (const tensor of [kept.output, kept.weights, kept.lse]) tensor.dispose();
});

test("layers without an engine share one, and one that was disposed of says so", async () => {
  const layer = new Linear({ inFeatures: 4, outFeatures: 3 }).load(linearParameters());
  expect((await layer.forward(numbers(1, 4))).shape).toEqual([1, 3]);
  const other = await createHeed();
  const late = new Linear({ inFeatures: 4, outFeatures: 3, engine: other }).load(linearParameters());
  other.dispose();
  await expect(late.forward(numbers(1, 4))).rejects.toMatchObject({ code: "disposed" });
});

test("options of attention are refused before anything is computed, by what the user called", async () => {
  const x = numbers(1, 3, 8);
  // Without parameters nothing can be computed.
  const heads = new MultiHeadAttention({ embedDim: 8, heads: 2, rope: {}, engine });
  const block = new TransformerBlock({ dim: 8, heads: 2, cross: true, engine });
  const encoder = new Encoder({ dim: 8, heads: 2, layers: 2, engine });
  const mask = { data: new Uint8Array(12), shape: [3, 4] };
  const rules: readonly [() => Promise<unknown>, string][] = [
    [() => heads.forward(x, x, x, { softcap: 0 }), "MultiHeadAttention: softcap must be between 1e-30 and 1e30, got 0"],
    [
      () => heads.forward(x, x, numbers(1, 2, 8)),
      "MultiHeadAttention: key and value lengths must match, got key [1, 3, 8] value [1, 2, 8]",
    ],
    [
      () => heads.forward(x, x, x, { positions: [1, 2] }),
      "MultiHeadAttention: positions must be a finite number, or one for each of 3 tokens or of the tokens of 1 batch entries, got [1, 2]",
    ],
    [
      () => heads.forward(x, x, x, { cache: {} as never }),
      "MultiHeadAttention: cache must be made by createCache, got an Object",
    ],
    [
      () => block.forward(x, { memory: x, cross: { mask } }),
      "TransformerBlock: mask must broadcast to [1, 2, 3, 3], got [3, 4]",
    ],
    [() => encoder.forward(x, { self: { topK: -1 } }), expect.stringMatching(/^Encoder: topK must be a whole number/)],
  ];
  for (const [call, message] of rules) await expect(call()).rejects.toHaveProperty("message", message);
  expect(refusalOf(() => new MultiHeadAttention({ embedDim: 8, heads: 2, rope: { rotaryDim: 6 } }))).toEqual([
    "option",
    "MultiHeadAttention: rotaryDim must be an even number from 2 to head_dim, got 6 for [2, 4]",
  ]);
});

test("options of attention are read once, however many blocks they are for", async () => {
  const layer = new Encoder({ dim: 4, heads: 2, layers: 3, hidden: 4, norm: "rms", bias: false, engine });
  const shapes = {
    "q_proj.weight": [4, 4],
    "k_proj.weight": [4, 4],
    "v_proj.weight": [4, 4],
    "out_proj.weight": [4, 4],
  };
  const blocks = [0, 1, 2].flatMap((at) => [
    ...Object.entries(shapes).map(([name, shape]) => [`layers.${at}.self_attn.${name}`, numbers(...shape)] as const),
    ...["up_proj", "down_proj"].map((name) => [`layers.${at}.mlp.${name}.weight`, numbers(4, 4)] as const),
    ...["norm1", "norm2"].map((name) => [`layers.${at}.${name}.weight`, numbers(4)] as const),
  ]);
  layer.load(new Map([...blocks, ["norm.weight", numbers(4)]]));
  const read: string[] = [];
  const noted = <T extends object>(given: T): T =>
    new Proxy(given, {
      get: (target, name) => {
        if (typeof name === "string" && name in target) read.push(name);
        return Reflect.get(target, name);
      },
    });
  const mask = noted({ data: Uint8Array.of(1, 1, 0), shape: [1, 3] });
  await layer.forward(numbers(1, 3, 4), { self: noted({ mask, scale: 0.5 }) });
  expect(read.sort()).toEqual(["data", "mask", "scale", "shape"]);
});

test("options of attention that heed does not have yet are refused by name", async () => {
  const layer = new MultiHeadAttention({ embedDim: 8, heads: 2, bias: false, engine });
  layer.load(new Map(["q", "k", "v", "out"].map((name) => [`${name}_proj.weight`, numbers(8, 8)])));
  const x = numbers(1, 3, 8);
  await expect(layer.forward(x, x, x, { layout: "bhnd" } as never)).rejects.toMatchObject({ code: "option" });
  await expect(layer.forward(x, x, x, { scaling: 3 } as never)).rejects.toMatchObject({ code: "option" });
});
