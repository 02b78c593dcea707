// Whatever a public function is given, it gives a result or throws a HeedError, and the engine works on.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as expr from "../../web/src/expr/index.js";
import * as heed from "../../web/src/index.js";
import * as layers from "../../web/src/layers/index.js";
import { CausalModel } from "../../web/src/layers/models/causal.js";
import { renderChat } from "../../web/src/layers/text/index.js";
import * as train from "../../web/src/train/index.js";
import * as webgpu from "../../web/src/webgpu.js";
import { spoilers } from "../support/abuse.js";

let engine: heed.Heed;
let cache: heed.KVCache;
let tokenizer: layers.Tokenizer;
let stream: ReturnType<layers.Tokenizer["decodeStream"]>;
let checkpoint: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  engine = await heed.createHeed({ backend: "wasm", offload: false });
  cache = await engine.createCache({ kvHeads: 1, headDim: 2, maxLength: 1000 });
  tokenizer = await layers.loadTokenizer(TOKENIZER);
  stream = tokenizer.decodeStream();
  checkpoint = await train.saveCheckpoint(...optimized());
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
  pre_tokenizer: {
    type: "Sequence",
    pretokenizers: [{ type: "Whitespace" }, { type: "Split", pattern: { Regex: "a+" }, behavior: "Isolated" }],
  },
  post_processor: { type: "RobertaProcessing", cls: ["a", 0], sep: ["a", 0] },
  decoder: { type: "Sequence", decoders: [{ type: "WordPiece" }, { type: "Strip", content: "a", start: 1, stop: 0 }] },
  model: { type: "WordPiece", vocab: { a: 0, "[UNK]": 1 }, unk_token: "[UNK]", continuing_subword_prefix: "##" },
};

const attention = (): unknown[] => [x(2, 2), x(3, 2), x(3, 2), attentionOptions()];
const tuning = (): object => ({ shared: true, subgroups: true, memory: 1, rows: 1, step: 1, groups: 1 });
const gated = (): object => ({ rule: "gated", decay: x(1, 2, 1), state: x(1, 2, 2), signal: signal() });
const linear = (): unknown[] => [x(1, 2, 2), x(1, 2, 2), x(1, 2, 2), gated()];
const vjpOptions = (): object => ({
  bias: x(2, 3),
  score: { type: "general", w: x(2, 2) },
  scoreMod: ({ score }: { score: expr.Expr }) => expr.mul(score, 2),
  alibiSlopes: [1],
  signal: signal(),
});
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
/** `code`: that of the error which good arguments give where the machine has not what they need. */
type Entry = readonly [name: string, call: Call, valid: () => unknown[], code?: string];

const of = (name: keyof heed.Heed, valid: () => unknown[]): Entry => [
  `heed.${String(name)}`,
  (...given) => Reflect.apply(Reflect.get<object, PropertyKey>(engine, name), engine, given),
  valid,
];

const ENGINE: readonly Entry[] = [
  of("attention", attention),
  of("attentionSync", attention),
  of("explain", attention),
  of("attentionVjp", () => [x(2, 2), x(3, 2), x(3, 2), vjpOptions()]),
  [
    "backward",
    async (...given) => {
      const made = await engine.attentionVjp(x(2, 2), x(3, 2), x(3, 2));
      return Reflect.apply(made.backward, made, given);
    },
    () => [x(2, 2), { weightsGradient: x(2, 3), signal: signal() }],
  ],
  of("rope", () => [x(2, 2), { positions: [0, 1], rotaryDim: 2 }]),
  of("linearAttention", linear),
  of("linearAttentionVjp", () => [...linear().slice(0, 3), { ...gated(), outputGradient: x(1, 2, 2) }]),
  of("relativeKeys", () => [x(1, 2, 2), x(3, 2), { scale: 1, offset: 0, length: 2, signal: signal() }]),
  of("relativeValues", () => [x(1, 2, 2), x(3, 2), { offset: 0, signal: signal() }]),
  of("memory", () => []),
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
  ["linearAttention", heed.linearAttention, linear],
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
  ["autotune", webgpu.autotune, () => [{ heads: 1, queries: 1, keys: 1, headDim: 1 }], "unsupported"],
  ["remember", webgpu.remember, () => [{ adapter: "a", kernel: "k", tuning: tuning(), ms: 1, untunedMs: 1 }]],
];

const OPERANDS: Readonly<Record<string, () => unknown[]>> = {
  constant: () => [1],
  table: () => [x(2, 2)],
  not: () => [true],
  and: () => [true, expr.constant(false), true],
  or: () => [true, expr.constant(false), true],
  select: () => [true, 1, 2],
  ...Object.fromEntries(["neg", "abs", "floor", "sqrt", "exp", "log", "tanh"].map((name) => [name, () => [1]])),
};
const EXPR: readonly Entry[] = [
  ...Object.entries(expr).map(([name, operator]): Entry => {
    const operands = OPERANDS[name] ?? (() => [1, { type: "int", op: "const", args: [], value: 1 }]);
    return [`expr.${name}`, (...given) => Reflect.apply(operator, null, given), operands];
  }),
  [
    "a table of a tensor",
    (...given) => Reflect.apply(expr.table, null, given),
    () => [{ shape: [2], isFrozen: false }],
  ],
  ["expr.table.at", (...given) => Reflect.apply(expr.table(x(2, 2)).at, null, given), () => [0, 1]],
];

const logits = (): Float32Array => Float32Array.of(1, 2);
const sampling = (): unknown[] => [logits, [0, 1], { maxTokens: 2, eos: [1], signal: signal() }];
const collect = async (made: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of made);
};
const file = (): Uint8Array<ArrayBuffer> => layers.saveSafetensors({ w: x(2) });
/** A template that is written as it is. */
class Template {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  render(): string {
    return this.#text;
  }
}
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

const gemma3 = (): object => ({
  ...{
    hidden_size: 2,
    vocab_size: 2,
    num_hidden_layers: 2,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    head_dim: 2,
  },
  ...{ intermediate_size: 2, model_type: "gemma3_text", layer_types: ["sliding_attention", "full_attention"] },
  ...{ sliding_window: 2, final_logit_softcapping: 3, architectures: ["Gemma3ForCausalLM"] },
  rope_parameters: { full_attention: { rope_theta: 10 }, sliding_attention: { rope_theta: 5 } },
});
const ofType = (type: string, config: () => object) => (): object => ({ ...config(), model_type: type });
const embeddinggemma = (): object => ({
  ...gemma3(),
  use_bidirectional_attention: true,
  architectures: ["Gemma3TextModel"],
});
const roberta = (): object => ({ ...bert(), model_type: "roberta", max_position_embeddings: 4, pad_token_id: 1 });
const distilbert = (): object => ({
  ...{ dim: 2, vocab_size: 2, n_layers: 1, max_position_embeddings: 2, n_heads: 1, hidden_dim: 2 },
  ...{ activation: "gelu", model_type: "distilbert" },
});
const smollm3 = (): object => ({ ...llama(), model_type: "smollm3", no_rope_layers: [0] });
const modernbert = (): object => ({
  ...{ hidden_size: 2, vocab_size: 2, num_hidden_layers: 1, num_attention_heads: 1, intermediate_size: 2 },
  ...{ model_type: "modernbert", architectures: ["XForSequenceClassification"], id2label: { 0: "no", 1: "yes" } },
});

const ggufs = JSON.parse(readFileSync(new URL("../fixtures/gguf.json", import.meta.url), "utf8"));
const gguf = (): Uint8Array => Uint8Array.from(Buffer.from(ggufs.qwen3.file, "base64"));
const reading = (): object => ({ onProgress: () => {}, signal: signal() });

const FILES: readonly Entry[] = [
  ["loadGguf", layers.loadGguf, () => [gguf(), { weights: "as stored", tokenizer: true, ...reading() }]],
  [
    "streamGguf",
    (...given) => collect(Reflect.apply(layers.streamGguf, null, given)),
    () => [gguf(), { only: ["output_norm.weight"], ...reading() }],
  ],
  ["readGgufHeader", layers.readGgufHeader, () => [gguf(), { signal: signal() }]],
  ["quantize", layers.quantize, () => [x(2, 32), "int8"]],
  ["quantize a model", layers.quantize, () => [new layers.Linear({ inFeatures: 32, outFeatures: 2 }).init(), "int4"]],
  ["dequantize", layers.dequantize, () => [layers.quantize(x(2, 32), "int8")]],
  [
    "load with weights",
    (...given) =>
      Reflect.apply(layers.Linear.prototype.load, new layers.Linear({ inFeatures: 32, outFeatures: 2 }), given),
    () => [
      { "a.weight": layers.quantize(x(2, 32), "int4"), "a.bias": x(2) },
      { prefix: "a.", weights: "as stored" },
    ],
  ],
  [
    "Layer.describe",
    (...given) =>
      Reflect.apply(layers.Linear.prototype.describe, new layers.Linear({ inFeatures: 32, outFeatures: 2 }), given),
    () => [{ weights: "int8" }],
  ],
  ["loadSafetensors", layers.loadSafetensors, () => [file(), load()]],
  [
    "streamSafetensors",
    (...given) => collect(Reflect.apply(layers.streamSafetensors, null, given)),
    () => [file(), load()],
  ],
  ["loadSafetensorsShards", layers.loadSafetensorsShards, shards],
  ["readSafetensorsHeader", layers.readSafetensorsHeader, () => [file(), { signal: signal() }]],
  ["saveSafetensors", layers.saveSafetensors, () => [{ w: { ...x(2), dtype: "f16" } }, { by: "test" }]],
  ["new Tokenizer", (...given) => Reflect.construct(layers.Tokenizer, given), () => [structuredClone(TOKENIZER)]],
  ["loadTokenizer", layers.loadTokenizer, () => [structuredClone(TOKENIZER), { signal: signal() }]],
  [
    "Tokenizer.encode",
    (...given) => Reflect.apply(tokenizer.encode, tokenizer, given),
    () => ["a a", { pair: "a", maxLength: 9 }],
  ],
  [
    "Tokenizer.decode",
    (...given) => Reflect.apply(tokenizer.decode, tokenizer, given),
    () => [[0, 1], { skipSpecialTokens: true }],
  ],
  [
    "Tokenizer.encodeBatch",
    (...given) => Reflect.apply(tokenizer.encodeBatch, tokenizer, given),
    () => [["a", ["a", "b"]], { maxLength: 8, truncation: "only_first", truncationSide: "left" }],
  ],
  [
    "Tokenizer.decodeStream",
    (...given) => Reflect.apply(tokenizer.decodeStream, tokenizer, given),
    () => [{ skipSpecialTokens: true }],
  ],
  ["DecodeStream.push", (id) => Reflect.apply(stream.push, stream, [id]), () => [0]],
  ["Tokenizer.idOf", (token) => tokenizer.idOf(token), () => ["a"]],
  ["Tokenizer.tokenOf", (id) => tokenizer.tokenOf(id), () => [0]],
  ["greedy", layers.greedy, sampling],
  ["sample", layers.sample, sampling],
  ["beamSearch", layers.beamSearch, () => [logits, [0], { maxTokens: 2, beams: 1, signal: signal() }]],
  [
    "renderChat",
    renderChat,
    () => [
      "a",
      [{ role: "user", content: "b" }],
      { jinja: { Template }, variables: { bos_token: "<s>" }, signal: signal() },
    ],
  ],
  [
    "loadTokenizer of BPE",
    layers.loadTokenizer,
    () => [{ model: { type: "BPE", vocab: { a: 0, b: 1, ab: 2 }, merges: ["a b", ["a", "b"]], unk_token: "a" } }],
  ],
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

const made = (given: readonly unknown[], method: string, layer: layers.Layer): unknown =>
  Reflect.apply(Reflect.get(layer, method), layer, given);
const linearLayer = (): layers.Linear =>
  new layers.Linear({ inFeatures: 2, outFeatures: 2, engine }).init() as layers.Linear;

const BASE: readonly Entry[] = [
  ["Layer.load", (...given) => made(given, "load", linearLayer()), () => [{ weight: x(2, 2), bias: x(2) }, ""]],
  ["Layer.freeze", (...given) => made(given, "freeze", linearLayer()), () => [["weight", "bias"]]],
  ["Layer.unfreeze", (...given) => made(given, "unfreeze", linearLayer()), () => [["weight"]]],
  ["Layer.init", (...given) => made(given, "init", linearLayer()), () => [{ seed: 1 }]],
  ...["parameters", "readParameters", "readGradients", "dispose"].map((method): Entry => {
    return [`Layer.${method}`, (...given) => made(given, method, linearLayer()), () => []];
  }),
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

/** Options that only these methods have. */
const MORE: Readonly<Record<string, object>> = { forward: { cross: {}, encoder: {} }, decode: { cross: {} } };

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
  ...(
    [
      ["GPT2Model", layers.GPT2Model, gpt2],
      ["BertModel", layers.BertModel, bert],
      ["LlamaModel", layers.LlamaModel, llama],
      ["Qwen2Model", layers.Qwen2Model, ofType("qwen2", llama)],
      ["Qwen3Model", layers.Qwen3Model, ofType("qwen3", llama)],
      ["SmolLM3Model", layers.SmolLM3Model, smollm3],
      ["Gemma3Model", layers.Gemma3Model, gemma3],
      ["EmbeddingGemmaModel", layers.EmbeddingGemmaModel, embeddinggemma],
      ["RobertaModel", layers.RobertaModel, roberta],
      ["MPNetModel", layers.MPNetModel, ofType("mpnet", roberta)],
      ["DistilBertModel", layers.DistilBertModel, distilbert],
      ["ModernBertModel", layers.ModernBertModel, modernbert],
    ] as const
  ).flatMap(([name, model, config]): Entry[] => {
    const make = (given: readonly unknown[]): layers.Layer => Reflect.construct(model, given);
    const isCausal = model.prototype instanceof CausalModel;
    const types = name === "BertModel" ? { tokenTypes: [0, 0] } : {};
    const options = isCausal
      ? (): object => ({ mask: [true, true], last: true, hidden: true, attentions: true, signal: signal() })
      : (): object => ({ mask: [true, true], attentions: true, ...types });
    return [
      [`new ${name}`, (...given) => make(given), () => [config(), { engine }]],
      [
        `${name}.load`,
        (...given) => made(given, "load", make([config(), { engine }])),
        () => [Object.fromEntries(make([config(), { engine }]).init().parameters()), ""],
      ],
      [
        `${name}.forward`,
        (...given) => made(given, "forward", make([config(), { engine }]).init()),
        () => [[0, 1], options()],
      ],
      [`${name}.dispose`, () => make([config(), { engine }]).init().dispose(), () => []],
    ];
  }),
  ...layer(
    "Encoder",
    () => [{ ...block(), layers: 1, finalNorm: false }],
    () => prefixed("layers.0.", blockParameters()),
    () => [x(2, 2), inner()],
  ),
  ...["forward", "encode", "decode"].map((method): Entry => {
    const options = (): object => ({ dim: 2, heads: 1, encoderLayers: 1, decoderLayers: 1, hidden: 2, engine });
    return [
      `EncoderDecoder.${method}`,
      (...given) => made(given, method, new layers.EncoderDecoder(options() as never).init()),
      () => [x(2, 2), ...(method === "encode" ? [] : [x(2, 2)]), { ...inner(), ...MORE[method] }],
    ];
  }),
  [
    "new EncoderDecoder",
    (...given) => Reflect.construct(layers.EncoderDecoder, given),
    () => [{ dim: 2, heads: 1, encoderLayers: 1, decoderLayers: 1, engine }],
  ],
];

/** Calls within a pass, whose functions' own errors are the caller's. */
const inPass = (act: (pass: train.Pass, logits: heed.Tensor) => Promise<unknown>): Promise<unknown> => {
  const model = linearLayer();
  return train.gradients(model, async (pass) => {
    const logits = await model.forward(x(1, 2), { pass });
    await act(pass, logits);
    return { loss: await train.crossEntropy(logits, [0], { pass }) };
  });
};
/** Where a test puts what there is only within a pass. */
const PASS = Object.create({});
const LOGITS = Object.create({});
const inserted = (value: unknown, pass: train.Pass, logits: heed.Tensor): unknown => {
  if (value === LOGITS) return logits;
  const own = typeof value === "object" && value !== null && OPTIONS.has(value);
  const found = own ? Object.getOwnPropertyDescriptor(value, "pass") : undefined;
  if (found?.value === PASS) Reflect.set(value as object, "pass", pass);
  return value;
};
/** Options that this test made, which can be read. */
const OPTIONS = new WeakSet<object>();
const withPass = (more: object = {}): object => {
  const options = { pass: PASS, ...more };
  OPTIONS.add(options);
  return options;
};
const loss = (call: Call): Call => {
  return (...given) =>
    inPass((pass, logits) =>
      Promise.resolve(
        Reflect.apply(
          call,
          null,
          given.map((one) => inserted(one, pass, logits)),
        ),
      ),
    );
};
/** Methods of a pass, with arguments that are good. */
const OF_PASS: readonly (readonly [method: string, valid: () => unknown[]])[] = [
  ...["add", "sub", "mul", "div"].map((name) => [name, () => [x(1, 2), x(2)]] as const),
  ...["exp", "log", "sqrt", "tanh", "sigmoid", "relu"].map((name) => [name, () => [x(1, 2)]] as const),
  ...["sum", "mean", "max"].map((name) => [name, () => [x(1, 2), { axis: [1], keepDims: true }]] as const),
  ["input", () => [x(1, 2)]],
  ["where", () => [bits(1, 2), x(1, 2), 0]],
  ["matmul", () => [x(2, 1), x(2, 1), { transposeA: true, transposeB: false }]],
  ["reshape", () => [x(1, 2), [2, -1]]],
  ["transpose", () => [x(1, 2), [1, 0]]],
  ["concat", () => [[x(1, 2), x(1, 2)], { axis: 0 }]],
  ["slice", () => [x(1, 2), { axis: 1, from: 0, to: 1 }]],
  ["gather", () => [x(2, 2), { data: [0, 1], shape: [2] }, { axis: 0 }]],
  ["softmax", () => [x(1, 2), { axis: 1 }]],
  ["normalize", () => [x(1, 2), { axis: 1, epsilon: 1e-6 }]],
  ["dropout", () => [x(1, 2), { p: 0.5, seed: 1 }]],
  [
    "attention",
    () => [
      ...[x(2, 2), x(3, 2), x(3, 2)],
      { bias: x(2, 3), sinks: [1], temperature: x(1), alibiSlopes: [1], score: { type: "general", w: x(2, 2) } },
    ],
  ],
  [
    "linearAttention",
    () => [x(1, 2, 2), x(1, 2, 2), x(1, 2, 2), { rule: "gated", decay: x(1, 2, 1), state: x(1, 2, 2) }],
  ],
  ["rope", () => [x(2, 2), { positions: [0, 1], scaling: { type: "linear", factor: 2 } }]],
  ["relativeBias", () => [x(4, 1), { length: 2, keyLength: 3, offset: 0 }]],
  [
    "apply",
    () => [{ inputs: [x(2)], forward: ([{ data }]: [Numbers]) => ({ data, shape: [2] }), backward: () => [x(2)] }],
  ],
];
type Numbers = { readonly data: Float32Array };
const act = (model: layers.Linear) => async (pass: train.Pass) => {
  const logits = await model.forward(x(1, 2), { pass });
  return { loss: await train.crossEntropy(logits, [0], { pass }), more: 1 };
};
/** Whether a function cannot resolve to this: a promise asks every value for its `then`. */
const rejects = async (value: unknown): Promise<boolean> => {
  try {
    await value;
    return false;
  } catch {
    return true;
  }
};
const optimized = (): [layers.Linear, train.Optimizer] => {
  const model = linearLayer();
  return [model, new train.Adam(model)];
};
const mlp = (): layers.Layer => new layers.MLP({ dim: 2, hidden: 2, engine }).init();
const adapter = (): train.Lora => train.lora(mlp(), { rank: 1, targets: ["up_proj"] });

const TRAIN: readonly Entry[] = [
  ...Object.entries({ gradients: train.gradients, evaluate: train.evaluate }).flatMap(([name, run]): Entry[] => [
    [
      name,
      run,
      () => {
        const model = linearLayer();
        return [model, act(model), { scale: 1, checkpointing: true, signal: signal() }];
      },
    ],
    [
      `the result of the function of ${name}`,
      async (result) => {
        if (await rejects(result)) return;
        const model = linearLayer();
        await run(model, async (pass) => {
          const good = await act(model)(pass);
          return OPTIONS.has(result) ? Object.assign(result, good) : result;
        });
      },
      () => [withPass({ pass: [[1]] })],
    ],
  ]),
  ...OF_PASS.map(([method, valid]): Entry => {
    const call: Call = (...given) =>
      inPass((pass, logits) =>
        Promise.resolve(
          Reflect.apply(
            Reflect.get(pass, method),
            pass,
            given.map((one) => inserted(one, pass, logits)),
          ),
        ),
      );
    return [`Pass.${method}`, call, valid];
  }),
  [
    "Tensor.backward",
    (...given) => inPass((_, logits) => Reflect.apply(logits.backward, logits, given)),
    () => [x(1, 2)],
  ],
  [
    "new Sequential",
    (...given) => Reflect.construct(train.Sequential, given),
    () => [[linearLayer(), linearLayer()], { engine }],
  ],
  [
    "Sequential.forward",
    (...given) => made(given, "forward", new train.Sequential([linearLayer(), linearLayer()])),
    () => [x(1, 2), { keep: false, signal: signal() }],
  ],
  ["crossEntropy", loss(train.crossEntropy), () => [LOGITS, [0], withPass({ ignoreIndex: -1, labelSmoothing: 0.1 })]],
  ["crossEntropy with a shape", loss(train.crossEntropy), () => [LOGITS, { data: [0], shape: [1] }, withPass()]],
  ["crossEntropy with weights", loss(train.crossEntropy), () => [LOGITS, [0], withPass({ weights: [1, 2] })]],
  ["focal", loss(train.focal), () => [LOGITS, [0], withPass({ gamma: 1, weights: [1, 2], ignoreIndex: -1 })]],
  ["contrastive", loss(train.contrastive), () => [LOGITS, x(1, 2), withPass({ temperature: 0.1, symmetric: true })]],
  ["cosine", loss(train.cosine), () => [LOGITS, x(1, 2), withPass({ targets: [-1], margin: 0.1 })]],
  ["klDivergence", loss(train.klDivergence), () => [x(1, 2), x(1, 2), withPass({ temperature: 2 })]],
  ["accuracy", train.accuracy, () => [x(1, 2), [0], { ignoreIndex: 1 }]],
  ["perplexity", train.perplexity, () => [x(1, 2), [[0]], { ignoreIndex: 1 }]],
  ["f1", train.f1, () => [x(1, 2), [0], { average: "binary", ignoreIndex: 1 }]],
  [
    "batches",
    (...given) => collect(Reflect.apply(train.batches, null, given)),
    () => [[[1, 2], [3]], { size: 1, shuffle: true, seed: 1, collate: "padded", pad: 1 }],
  ],
  [
    "the batches of a function",
    (...given) => collect(Reflect.apply(train.batches, null, given)),
    () => [[1, 2], { size: 1, collate: () => 1 }],
  ],
  ["Batches.at", (step) => train.batches([1, 2], { size: 1 }).at(step), () => [1]],
  ["meanSquaredError", loss(train.meanSquaredError), () => [LOGITS, x(1, 2), withPass()]],
  ["binaryCrossEntropy", loss(train.binaryCrossEntropy), () => [LOGITS, x(1, 2), withPass()]],
  ["new Sgd", (...given) => Reflect.construct(train.Sgd, given), () => [linearLayer(), sgd()]],
  ["new Adam", (...given) => Reflect.construct(train.Adam, given), () => [linearLayer(), adam()]],
  ["new AdamW", (...given) => Reflect.construct(train.AdamW, given), () => [linearLayer(), adam()]],
  [
    "Optimizer.step",
    (...given) => {
      const [, optimizer] = optimized();
      return Reflect.apply(optimizer.step, optimizer, given);
    },
    () => [{ learningRate: 1 }],
  ],
  ["Optimizer.clear", () => optimized()[1].clear(), () => []],
  ["Optimizer.dispose", () => optimized()[1].dispose(), () => []],
  ["clipNorm", train.clipNorm, () => [linearLayer(), 1]],
  ["constant", train.constant, () => [1, { peak: 1 }]],
  ["linear", train.linear, () => [1, { peak: 1, warmup: 1, total: 3, floor: 0 }]],
  ["warmupCosine", train.warmupCosine, () => [1, { peak: 1, warmup: 1, total: 3, floor: 0 }]],
  ["lora", train.lora, () => [mlp(), { rank: 1, alpha: 2, targets: ["up_proj", /down/], seed: 1 }]],
  [
    "Lora.load",
    (...given) => made(given, "load", adapter()),
    () => [{ "up_proj.lora_A.weight": x(1, 2), "up_proj.lora_B.weight": x(2, 1) }, ""],
  ],
  ["Lora.save", () => adapter().save(), () => []],
  ["Lora.merge", () => adapter().merge(), () => []],
  ["saveCheckpoint", train.saveCheckpoint, () => [...optimized(), { step: 1 }]],
  ["loadCheckpoint", train.loadCheckpoint, () => [checkpoint.slice(), ...optimized()]],
  [
    "train",
    train.train,
    () => {
      const [model, optimizer] = optimized();
      const options = {
        ...{ optimizer, steps: 1, start: 0, clip: 1, accumulate: 1, checkpointing: false, signal: signal() },
        batch: () => [[0]],
        loss: async (of: layers.Linear, _batch: unknown, pass: train.Pass) => (await act(of)(pass)).loss,
        schedule: () => 1,
        onStep: () => {},
        norms: true,
        seed: 1,
        evaluation: { every: 1, run: () => 1, larger: true, patience: 2, minDelta: 0.1 },
        checkpoint: { every: 1, save: () => {} },
      };
      return [model, options];
    },
  ],
  [
    "the batch of train",
    async (batch) => {
      if (await rejects(batch)) return;
      const [model, optimizer] = optimized();
      const loss = async (of: layers.Linear, _batch: unknown, pass: train.Pass) => (await act(of)(pass)).loss;
      await train.train(model, { optimizer, steps: 1, batch: () => batch, loss });
    },
    () => [[{ data: [0], shape: [1] }]],
  ],
  [
    "relativeBiasVjp",
    train.relativeBiasVjp,
    () => [x(4, 1), { length: 2, keyLength: 3, offset: 0, outputGradient: x(1, 2, 3) }],
  ],
  [
    "relativeKeysVjp",
    train.relativeKeysVjp,
    () => [x(1, 2, 2), x(3, 2), { outputGradient: x(1, 2, 3), offset: 0, scale: 1, engine, signal: signal() }],
  ],
  [
    "relativeValuesVjp",
    train.relativeValuesVjp,
    () => [x(1, 2, 3), x(3, 2), { outputGradient: x(1, 2, 2), offset: 0, engine, signal: signal() }],
  ],
];
const sgd = (): object => ({ learningRate: 1, momentum: 0.5, nesterov: true, ...groups() });
const adam = (): object => ({ learningRate: 1, betas: [0.9, 0.99], epsilon: 1e-8, ...groups() });
const groups = (): object => ({ weightDecay: 0, groups: [{ match: /bias/, learningRate: 1, weightDecay: 0.1 }] });

/** Where the functions of a call's own may throw: those errors are the caller's. */
const PASSES_ON = /^(?:gradients|evaluate|train|Pass\.apply)$/;

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

const ALL = [...ENGINE, ...EXPR, ...FILES, ...BASE, ...LAYERS, ...TRAIN];

describe.each(ALL.map(([name, call, valid, code]) => ({ name, call, valid, code })))(
  "$name",
  ({ name, call, valid, code }) => {
    test("gives a result or throws a HeedError, whatever part of its arguments is spoilt", async () => {
      const others = new Set<string>();
      const onMore = (): void => {
        others.add("a long list was read");
      };
      const good = await answer(call, valid());
      expect(good).toEqual(code === undefined ? null : expect.objectContaining({ code }));
      for (const { spoil, isFunction } of spoilers(valid(), onMore)) {
        const given = valid();
        spoil(given);
        const error = await answer(call, given);
        if (error === null || error instanceof heed.HeedError) continue;
        if (!(isFunction && PASSES_ON.test(name))) others.add(placeOf(error));
      }
      expect([...others].join("\n")).toBe("");
    });
  },
);

/** Methods of layers that no declaration of the package has, or that only subclasses call. */
const INTERNAL =
  /\.(?:compute|rules|draw|drawBy|tie|ties|tying|unload|fill|names|parameter|without|part|withoutPart|resident|residentOrNull|pass|passOne|adapt|change|stateOf|restore|decode|logitsOf)$/;

/** The names of a test for each export: a function, or a class's constructor and its methods where they are declared. */
function* namesOf([name, value]: [string, unknown]): Generator<string> {
  if (typeof value !== "function") return;
  if (!/^class\b/.test(Function.prototype.toString.call(value))) yield name;
  else {
    if (!NOT_MADE.has(name)) yield `new ${name}`;
    const names = Object.entries(Object.getOwnPropertyDescriptors(value.prototype));
    for (const [method, { value }] of names) {
      if (method !== "constructor" && typeof value === "function") yield `${name}.${method}`;
    }
  }
}
/** Exports that users do not make, or call. */
const NOT_MADE = new Set(["Layer", "Optimizer", "Pass", "HeedError"]);

test("every function and every class of the package is among them, with its methods", () => {
  const tested = new Set(ALL.map(([name]) => name));
  const exports = [heed, layers, train].flatMap((module) => Object.entries<unknown>(module));
  const missing = exports
    .flatMap((one) => [...namesOf(one)])
    .filter((name) => !tested.has(name) && !INTERNAL.test(name));
  expect(missing).toEqual([]);
});

test("the engine works on", async () => {
  const { output } = await engine.attention(x(1, 2), x(3, 2), x(3, 2));
  expect(Array.from(output.data)).toEqual([0.5, 0.5]);
});
