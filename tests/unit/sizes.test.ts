// Sizes and counts that nothing could be made of are refused before anything is made, with what would fit.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../web/src/index.js";
import {
  BertModel,
  Decoder,
  Embedding,
  Encoder,
  EncoderDecoder,
  GPT2Model,
  GRU,
  Linear,
  LlamaModel,
  MLP,
  MultiHeadAttention,
} from "../../web/src/layers/index.js";
import { errorOf } from "../support/cases.js";

const MOST = 2 ** 31 - 1;

describe("a cache", async () => {
  const heed = await createHeed({ offload: false });
  afterAll(() => heed.dispose());

  const sizes = { kvHeads: 1, headDim: 8, maxLength: 8 };

  test("has so many entries", async () => {
    const error = await errorOf(() => heed.createCache({ ...sizes, batch: MOST }));
    expect(error).toMatchObject({ name: "HeedError", code: "option" });
    expect(error.message).toBe(`createCache: batch must be a whole number, 1 or more, up to 65536, got ${MOST}`);
    (await heed.createCache({ ...sizes, batch: 65536 })).dispose();
  });

  test.each([
    ["heads", { ...sizes, kvHeads: MOST }],
    ["numbers of a head", { ...sizes, headDim: MOST }],
    ["entries", { batch: 2 ** 16, kvHeads: 8, headDim: 128, maxLength: 4096 }],
  ])("has no more %s than the engine has room for the first pages of", async (_, options) => {
    const error = await errorOf(() => heed.createCache(options));
    expect(error).toMatchObject({ name: "HeedError", code: "memory" });
    const rule = "must fit into the engine's memory, 536854528 numbers, got [";
    expect(error.message).toContain(`createCache: the first pages, [batch, numbers of a page], ${rule}`);
  });
});

const SMALL = { dim: 8, heads: 2 };
const GPT2 = { model_type: "gpt2", vocab_size: 10, n_positions: 10, n_embd: 8, n_layer: 1, n_head: 2 };
const LLAMA = {
  model_type: "llama",
  vocab_size: 10,
  hidden_size: 8,
  num_attention_heads: 2,
  intermediate_size: 16,
  num_hidden_layers: 1,
};
const BERT = { ...LLAMA, model_type: "bert", max_position_embeddings: 10 };

test.each<[string, () => unknown, string]>([
  ["GPT-2", () => new GPT2Model({ ...GPT2, n_layer: 1e6 }), "GPT2Model: config.n_layer"],
  ["Llama", () => new LlamaModel({ ...LLAMA, num_hidden_layers: 1e9 }), "LlamaModel: config.num_hidden_layers"],
  ["BERT", () => new BertModel({ ...BERT, num_hidden_layers: 1e9 }), "BertModel: config.num_hidden_layers"],
  ["an encoder", () => new Encoder({ ...SMALL, layers: 1e9 }), "Encoder: layers"],
  ["a decoder", () => new Decoder({ ...SMALL, layers: 1025 }), "Decoder: layers"],
  [
    "both",
    () => new EncoderDecoder({ ...SMALL, encoderLayers: 1, decoderLayers: 1e9 }),
    "EncoderDecoder: decoderLayers",
  ],
])("%s has no more than 1024 layers", async (_name, make, called) => {
  const error = await errorOf(make);
  expect(error).toMatchObject({ name: "HeedError", code: "option" });
  expect(error.message).toContain(`${called} must be a whole number, 1 or more, up to 1024, got 1`);
});

test("a stack may be as deep as the deepest that were published", () => {
  expect(new Encoder({ ...SMALL, layers: 1000 }).layers).toBe(1000);
});

test.each<[string, () => unknown, string]>([
  ["Linear", () => new Linear({ inFeatures: MOST, outFeatures: MOST }), "Linear: parameter weight"],
  ["Embedding", () => new Embedding({ count: MOST, dim: 2 }), "Embedding: parameter weight"],
  ["GRU", () => new GRU({ inputSize: MOST, hiddenSize: 1 }), "GRU: parameter weight_ih_l0"],
  ["MLP", () => new MLP({ dim: 2 ** 20, hidden: 2 ** 20 }), "Linear: parameter weight"],
  [
    "MultiHeadAttention",
    () => new MultiHeadAttention({ embedDim: 8, heads: 2 ** 15, headDim: 2 ** 15 }),
    "Linear: parameter weight",
  ],
  ["GPT-2", () => new GPT2Model({ ...GPT2, n_embd: 2 ** 30 }), "Embedding: parameter weight"],
  ["Llama", () => new LlamaModel({ ...LLAMA, vocab_size: MOST }), "Embedding: parameter weight"],
])("a parameter of %s that the engine could never hold is refused", async (_name, make, called) => {
  const error = await errorOf(make);
  expect(error).toMatchObject({ name: "HeedError", code: "memory" });
  expect(error.message).toContain(`${called} must fit into the engine's memory, 536854528 numbers, got [`);
});
