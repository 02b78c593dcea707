// Whatever a public function is given, it gives a result or throws a HeedError, and the engine works on.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as expr from "../../web/src/expr/index.js";
import * as heed from "../../web/src/index.js";
import * as layers from "../../web/src/layers/index.js";
import { autotune, remember } from "../../web/src/webgpu.js";
import { spoil } from "../support/abuse.js";
import { Random } from "../support/random.js";

/** Calls of each function. */
const CALLS = 200;

let engine: heed.Heed;
let cache: heed.KVCache;
let tokenizer: layers.Tokenizer;
beforeAll(async () => {
  engine = await heed.createHeed({ backend: "wasm", offload: false });
  cache = await engine.createCache({ kvHeads: 1, headDim: 2, maxLength: 1000 });
  tokenizer = await layers.loadTokenizer(TOKENIZER);
});
afterAll(() => engine.dispose());

const x = (...shape: number[]): { data: Float32Array; shape: number[] } => ({
  data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(0.5),
  shape,
});
const bits = (...shape: number[]): { data: Uint8Array; shape: number[] } => ({
  data: new Uint8Array(shape.reduce((a, b) => a * b, 1)).fill(1),
  shape,
});
const signal = (): AbortSignal => new AbortController().signal;

const TOKENIZER = {
  added_tokens: [{ id: 2, content: "[X]", special: true }],
  normalizer: { type: "Lowercase" },
  pre_tokenizer: { type: "Whitespace" },
  model: { type: "WordPiece", vocab: { a: 0, "[UNK]": 1 }, unk_token: "[UNK]", continuing_subword_prefix: "##" },
};

const attention = (): unknown[] => [x(2, 2), x(3, 2), x(3, 2), attentionOptions()];
const attentionOptions = (): object => ({
  mask: bits(1, 3),
  bias: x(2, 3),
  score: { type: "general", w: x(2, 2) },
  window: [1, 0],
  dropout: { p: 0.5, seed: 1 },
  alibiSlopes: [1],
  return: { weights: { rows: [0, 1] }, lse: true },
  scoreMod: ({ score }: { score: expr.Expr }) => expr.mul(score, 2),
  blocks: { size: [1, 1], keep: bits(1, 1) },
  signal: signal(),
});

type Call = (...given: never[]) => unknown;
type Entry = readonly [name: string, call: Call, valid: () => unknown[]];

const of = (name: keyof heed.Heed, valid: () => unknown[]): Entry => [
  `heed.${String(name)}`,
  (...given) => Reflect.apply(Reflect.get<object, PropertyKey>(engine, name), engine, given),
  valid,
];

const ENGINE: readonly Entry[] = [
  of("attention", attention),
  of("attentionSync", attention),
  of("explain", attention),
  of("tensor", () => [new Float32Array(2), [2], { dtype: "f16" }]),
  of("zeros", () => [[1, 2], { dtype: "f32" }]),
  of("createCache", () => [{ kvHeads: 1, headDim: 2, maxLength: 3, dtype: "f16" }]),
  ["append", (...given) => Reflect.apply(cache.append, cache, given), () => [x(1, 2), x(1, 2), { layout: "bhnd" }]],
  ["truncate", (length) => cache.truncate(length), () => [0]],
  ["reorder", (indices) => cache.reorder(indices), () => [[0]]],
  [
    "heed.attention with a cache",
    of("attention", attention)[1],
    () => [x(1, 2), x(1, 2), x(1, 2), { cache, signal: signal() }],
  ],
  ["attention", heed.attention, attention],
  [
    "linearAttention",
    heed.linearAttention,
    () => [x(1, 2, 2), x(1, 2, 2), x(1, 2, 2), { rule: "gated", decay: x(1, 2, 1) }],
  ],
  ["rope", heed.rope, () => [x(2, 2), { positions: [0, 1], scaling: { type: "linear", factor: 2 }, signal: signal() }]],
  ["relativeKeys", heed.relativeKeys, () => [x(1, 2, 2), x(3, 2), {}]],
  ["relativeValues", heed.relativeValues, () => [x(1, 2, 2), x(3, 2), {}]],
  ["alibiSlopes", heed.alibiSlopes, () => [2]],
  ["learnedPositions", heed.learnedPositions, () => [x(3, 2), { positions: [0, 1] }]],
  ["relativeBias", heed.relativeBias, () => [x(4, 1), { length: 2, keyLength: 3, offset: 0 }]],
  ["sinusoidal", heed.sinusoidal, () => [2, 3, { base: 10, offset: 1 }]],
  [
    "createHeed",
    async (options) => (await heed.createHeed(options)).dispose(),
    () => [{ backend: "wasm", threads: 1, offload: false, wasm: {} }],
  ],
  ["autotune", autotune, () => [{ device: {}, heads: 1 }]],
  ["remember", remember, () => [{ adapter: "a", kernel: "k", tuning: { rows: 1 }, ms: 1, untunedMs: 1 }]],
];

const EXPR: readonly Entry[] = Object.entries(expr).map(([name, operator]) => [
  `expr.${name}`,
  (...given) => Reflect.apply(operator, null, given),
  () => (name === "table" ? [x(2, 2)] : [1, { type: "float", op: "const", args: [], value: 1 }, 2]),
]);

const logits = (): Float32Array => Float32Array.of(1, 2);
const sampling = (): unknown[] => [logits, [0, 1], { maxTokens: 2, eos: [1], signal: signal() }];
const collect = async (made: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of made);
};
const file = (): Uint8Array<ArrayBuffer> => layers.saveSafetensors({ w: x(2) });
const load = (): object => ({ only: ["w"], keepHalves: true, onProgress: () => {}, signal: signal() });
const shards = (): unknown[] => [
  new TextEncoder().encode('{"weight_map":{"w":"a.safetensors"}}'),
  { resolve: file, only: ["w"], signal: signal() },
];
const gpt2 = (): object => ({ n_embd: 2, vocab_size: 2, n_layer: 1, n_positions: 2, n_head: 1, model_type: "gpt2" });
const bert = (): object => ({
  ...{ hidden_size: 2, vocab_size: 2, num_hidden_layers: 1, max_position_embeddings: 2, num_attention_heads: 1 },
  ...{ intermediate_size: 2, hidden_act: "gelu", model_type: "bert" },
});
const llama = (): object => ({
  ...bert(),
  model_type: "llama",
  hidden_act: "silu",
  num_key_value_heads: 1,
  rope_scaling: { rope_type: "linear", factor: 2 },
});

const FILES: readonly Entry[] = [
  ["loadSafetensors", layers.loadSafetensors, () => [file(), load()]],
  [
    "streamSafetensors",
    (...given) => collect(Reflect.apply(layers.streamSafetensors, null, given)),
    () => [file(), load()],
  ],
  ["loadSafetensorsShards", layers.loadSafetensorsShards, shards],
  ["readSafetensorsHeader", layers.readSafetensorsHeader, () => [file(), { signal: signal() }]],
  ["saveSafetensors", layers.saveSafetensors, () => [{ w: { ...x(2), dtype: "f16" } }, { by: "test" }]],
  ["loadTokenizer", layers.loadTokenizer, () => [structuredClone(TOKENIZER), { signal: signal() }]],
  [
    "encode",
    (...given) => Reflect.apply(tokenizer.encode, tokenizer, given),
    () => ["a a", { pair: "a", maxLength: 3 }],
  ],
  [
    "decode",
    (...given) => Reflect.apply(tokenizer.decode, tokenizer, given),
    () => [[0, 1], { skipSpecialTokens: true }],
  ],
  ["idOf", (token) => tokenizer.idOf(token), () => ["a"]],
  ["tokenOf", (id) => tokenizer.tokenOf(id), () => [0]],
  ["greedy", layers.greedy, sampling],
  ["sample", layers.sample, sampling],
  ["beamSearch", layers.beamSearch, () => [logits, [0], { maxTokens: 2, beams: 1, signal: signal() }]],
  ["streamGreedy", (...given) => collect(Reflect.apply(layers.streamGreedy, null, given)), sampling],
  ["streamSample", (...given) => collect(Reflect.apply(layers.streamSample, null, given)), sampling],
  [
    "fromTorchAttention",
    layers.fromTorchAttention,
    () => [{ in_proj_weight: x(6, 2), "out_proj.weight": x(2, 2) }, ""],
  ],
  [
    "fromKerasAttention",
    layers.fromKerasAttention,
    () => [
      Object.fromEntries(["query", "key", "value", "attention_output"].map((name) => [`${name}/kernel`, x(1, 1, 1)])),
    ],
  ],
];

/** A layer's constructor, and `load` and `forward` of one that was made of good options. */
function layer(name: string, options: () => unknown[], parameters: () => object, inputs: () => unknown[]): Entry[] {
  const make = (given: readonly unknown[]): layers.Layer => Reflect.construct(Reflect.get(layers, name), given);
  const forward = (...given: never[]): unknown => {
    const made = make(options()).load(parameters() as never);
    return Reflect.apply(Reflect.get(made, "forward"), made, given);
  };
  return [
    [`new ${name}`, (...given) => make(given), options],
    [
      `${name}.load`,
      (...given) => Reflect.apply(make(options()).load, make(options()), given),
      () => [parameters(), ""],
    ],
    [`${name}.forward`, forward, inputs],
  ];
}

const proj = (...names: string[]): object => Object.fromEntries(names.map((name) => [`${name}.weight`, x(2, 2)]));
const heads = (): object => ({ ...proj("q_proj", "k_proj", "v_proj", "out_proj") });
const norms = (...names: string[]): object => Object.fromEntries(names.map((name) => [`${name}.weight`, x(2)]));
const prefixed = (prefix: string, all: object): object =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [prefix + name, value]));
const block = (): object => ({ dim: 2, heads: 1, hidden: 2, bias: false, norm: "rms", rope: { base: 10 }, engine });
const blockParameters = (): object => ({
  ...prefixed("self_attn.", heads()),
  ...proj("mlp.up_proj", "mlp.down_proj"),
  ...norms("norm1", "norm2"),
});
const inner = (): object => ({
  self: { causal: true, mask: bits(1, 1, 2) },
  attentions: true,
  keep: false,
  signal: signal(),
});

const LAYERS: readonly Entry[] = [
  ...layer(
    "Linear",
    () => [{ inFeatures: 2, outFeatures: 2, bias: false, engine }],
    () => ({ weight: x(2, 2) }),
    () => [x(1, 2), { signal: signal() }],
  ),
  ...layer(
    "RMSNorm",
    () => [{ shape: [2], epsilon: 0.1, engine }],
    () => ({ weight: x(2) }),
    () => [x(1, 2), { keep: false }],
  ),
  ...layer(
    "LayerNorm",
    () => [{ shape: 2, bias: false, engine }],
    () => ({ weight: x(2) }),
    () => [x(1, 2), {}],
  ),
  ...layer(
    "Embedding",
    () => [{ count: 2, dim: 2, engine }],
    () => ({ weight: x(2, 2) }),
    () => [{ data: [0, 1], shape: [2] }, {}],
  ),
  ...layer(
    "MLP",
    () => [{ dim: 2, hidden: 2, activation: "silu", bias: false, engine }],
    () => proj("up_proj", "down_proj"),
    () => [x(1, 2), {}],
  ),
  ...layer(
    "Pooling",
    () => [{ kind: "mean", engine }],
    () => ({}),
    () => [x(1, 2, 2), { mask: [true, false] }],
  ),
  ...layer(
    "GRU",
    () => [{ inputSize: 2, hiddenSize: 2, bias: false, engine }],
    () => ({ weight_ih_l0: x(6, 2), weight_hh_l0: x(6, 2) }),
    () => [x(1, 2, 2), { state: x(1, 2) }],
  ),
  ...layer(
    "AdditiveAttention",
    () => [{ queryDim: 2, keyDim: 2, hidden: 2, engine }],
    () => ({ ...proj("query_proj", "key_proj"), "score_proj.weight": x(1, 2) }),
    () => [x(1, 1, 2), x(1, 2, 2), x(1, 2, 2), { causal: true }],
  ),
  ...layer(
    "MultiHeadAttention",
    () => [{ embedDim: 2, heads: 1, bias: { qkv: false, out: false }, rope: { base: 10 }, engine }],
    heads,
    () => [x(2, 2), x(2, 2), x(2, 2), { mask: bits(1, 2), positions: [0, 1], return: { weights: true } }],
  ),
  ...layer(
    "TransformerBlock",
    () => [block()],
    blockParameters,
    () => [x(2, 2), inner()],
  ),
  ...layer(
    "Decoder",
    () => [{ ...block(), layers: 1, finalNorm: false }],
    () => prefixed("layers.0.", blockParameters()),
    () => [x(2, 2), inner()],
  ),
  ...(["GPT2Model", "BertModel", "LlamaModel"] as const).flatMap((name) => {
    const config = { GPT2Model: gpt2, BertModel: bert, LlamaModel: llama }[name];
    const given = (): unknown[] => [config(), { engine }];
    return layer(
      name,
      given,
      () => ({ "wte.weight": x(2, 2) }),
      () => [],
    ).slice(0, 2);
  }),
  [
    "EncoderDecoder.forward",
    (...given) => {
      const made = new layers.EncoderDecoder({ dim: 2, heads: 1, encoderLayers: 1, decoderLayers: 1, engine });
      return Reflect.apply(made.forward, made, given);
    },
    () => [x(2, 2), x(2, 2), { ...inner(), cross: {}, encoder: {} }],
  ],
];

/** What was thrown instead, and from where. */
const placeOf = (error: unknown): string => {
  const { stack = "" } = error instanceof Error ? error : new Error(typeof error);
  const [line = ""] = /web\/src\/\S*/.exec(stack) ?? [];
  return `${stack.split("\n")[0]} ${line}`;
};

const answer = async (call: Call, given: unknown[]): Promise<unknown> => {
  try {
    await Reflect.apply(call, null, given);
    return null;
  } catch (error) {
    return error;
  }
};

describe.each([...ENGINE, ...EXPR, ...FILES, ...LAYERS])("%s", (name, call, valid) => {
  test("gives a result or throws a HeedError, whatever part of its arguments is spoilt", async () => {
    const seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) >>> 0;
    const random = new Random(seed);
    const others = new Set<string>();
    for (let at = 0; at < CALLS; at++) {
      const given = valid();
      spoil(given, random);
      const error = await answer(call, given);
      if (error !== null && !(error instanceof heed.HeedError)) others.add(placeOf(error));
    }
    expect([...others]).toEqual([]);
  });
});

test("the engine works on", async () => {
  const { output } = await engine.attention(x(1, 2), x(3, 2), x(3, 2));
  expect(Array.from(output.data)).toEqual([0.5, 0.5]);
});
