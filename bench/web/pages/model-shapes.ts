// Models of usual shapes with random weights, under the names and in the layouts in which such models are published.

import type { ModelConfig, ParameterTensor } from "heed/layers";
import { normalNumbers } from "./inputs.js";

export interface ModelShape {
  readonly model: "bert" | "gpt2" | "llama" | "qwen2";
  readonly layers: number;
  readonly dim: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly hidden: number;
  readonly words: number;
  readonly batch: number;
  /** The tokens of a pass, and those in the caches before it. */
  readonly tokens: number;
  readonly past: number;
}

const LLAMA = {
  model: "llama",
  layers: 30,
  dim: 576,
  heads: 9,
  kvHeads: 3,
  hidden: 1536,
  words: 49152,
  batch: 1,
} as const;

const BERT = {
  model: "bert",
  layers: 6,
  dim: 384,
  heads: 12,
  kvHeads: 12,
  hidden: 1536,
  words: 30522,
  past: 0,
} as const;

const SHAPES: Readonly<Record<string, ModelShape>> = {
  bert: { ...BERT, batch: 8, tokens: 128 },
  // It has 512 positions, small or not.
  notes: { ...BERT, batch: 1, tokens: 16, past: 240 },
  gpt2: {
    model: "gpt2",
    layers: 12,
    dim: 768,
    heads: 12,
    kvHeads: 12,
    hidden: 3072,
    words: 50257,
    batch: 1,
    tokens: 1,
    past: 256,
  },
  "qwen-0.5b": {
    model: "qwen2",
    layers: 24,
    dim: 896,
    heads: 14,
    kvHeads: 2,
    hidden: 4864,
    words: 151936,
    batch: 1,
    tokens: 1,
    past: 128,
  },
  "llama-prefill": { ...LLAMA, tokens: 128, past: 0 },
  "llama-token": { ...LLAMA, tokens: 1, past: 128 },
};

/** A shape by its name; "minilm-8x128" has 8 texts of 128 tokens. A small one, which shows that the bench works, has one layer, few words and few tokens. */
export function modelShape(name: string, isSmall: boolean): ModelShape {
  const [, batch, tokens] = /^minilm-(\d+)x(\d+)$/.exec(name) ?? [];
  const shape = batch === undefined ? SHAPES[name] : { ...BERT, batch: Number(batch), tokens: Number(tokens) };
  if (shape === undefined) throw new Error(`no model has the shape ${name}`);
  return isSmall ? { ...shape, layers: 1, words: 1000, batch: 1, tokens: Math.min(shape.tokens, 16) } : shape;
}

export function configOf({ model, layers, dim, heads, kvHeads, hidden, words, tokens, past }: ModelShape): ModelConfig {
  const positions = 2 * (past + tokens);
  if (model === "gpt2")
    return {
      model_type: model,
      n_layer: layers,
      n_embd: dim,
      n_head: heads,
      n_inner: hidden,
      vocab_size: words,
      n_positions: positions,
    };
  return {
    model_type: model,
    num_hidden_layers: layers,
    hidden_size: dim,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    intermediate_size: hidden,
    vocab_size: words,
    max_position_embeddings: positions,
    ...(model === "qwen2" && { tie_word_embeddings: true }),
  };
}

/** The tokens of a pass, [batch, tokens]. */
export const idsOf = ({ batch, tokens, words }: ModelShape): Int32Array =>
  Int32Array.from({ length: batch * tokens }, (_, at) => (at * 37) % words);

/** The matrices of a block, [outputs, inputs], in the order in which a pass multiplies by them. */
export function matricesOf({ model, dim, heads, kvHeads, hidden }: ModelShape): readonly (readonly [number, number])[] {
  const narrow = (dim / heads) * kvHeads;
  const attention = [
    [dim, dim],
    [narrow, dim],
    [narrow, dim],
    [dim, dim],
  ] as const;
  const up = [hidden, dim] as const;
  return [...attention, ...(model === "llama" || model === "qwen2" ? [up, up] : [up]), [dim, hidden]];
}

/** The bytes of all matrices by which a pass multiplies. */
export function weightBytes(shape: ModelShape): number {
  const numbers = matricesOf(shape).reduce((sum, [outputs, inputs]) => sum + outputs * inputs, 0);
  const head = shape.model === "bert" ? 0 : shape.words * shape.dim;
  return Float32Array.BYTES_PER_ELEMENT * (shape.layers * numbers + head);
}

/** Of the random numbers, and between the beginnings of tensors. */
const [PERIOD, STEP] = [2 ** 16, 16];

/** Random numbers of which every tensor is a part, each from another number on: what begins at the same one is stored once. */
export class Weights {
  readonly #numbers: Float32Array;
  #tensors = 0;

  constructor(shape: ModelShape) {
    // Normal numbers are slow to make, so the table of words repeats fewer.
    const some = normalNumbers(PERIOD, 1).map((number) => number / 32);
    const most = Math.max(shape.words * shape.dim, 3 * shape.dim * shape.dim, shape.hidden * shape.dim);
    this.#numbers = new Float32Array(most + some.length);
    for (let at = 0; at < most; at += some.length) this.#numbers.set(some, at);
  }

  tensor(...shape: readonly number[]): ParameterTensor {
    const from = (this.#tensors++ * STEP) % PERIOD;
    const length = shape.reduce((total, size) => total * size, 1);
    return { data: this.#numbers.subarray(from, from + length), shape };
  }
}

/** All parameters of a model. */
export function parametersOf(shape: ModelShape, weights: Weights): Map<string, ParameterTensor> {
  const all = new Map<string, ParameterTensor>();
  const put = (name: string, ...sizes: readonly number[]) => all.set(name, weights.tensor(...sizes));
  NAMES[shape.model](shape, put);
  return all;
}

type Put = (name: string, ...sizes: readonly number[]) => void;

/** A weight and a bias of as many numbers as the weight has outputs. */
const both = (put: Put, name: string, outputs: number, ...inputs: readonly number[]): void => {
  put(`${name}.weight`, outputs, ...inputs);
  put(`${name}.bias`, outputs);
};

const NAMES: Readonly<Record<ModelShape["model"], (shape: ModelShape, put: Put) => void>> = {
  bert({ layers, dim, hidden, words, tokens, past }, put) {
    put("embeddings.word_embeddings.weight", words, dim);
    put("embeddings.position_embeddings.weight", 2 * (past + tokens), dim);
    put("embeddings.token_type_embeddings.weight", 2, dim);
    both(put, "embeddings.LayerNorm", dim);
    for (let layer = 0; layer < layers; layer++) {
      const at = `encoder.layer.${layer}`;
      for (const part of ["query", "key", "value"]) both(put, `${at}.attention.self.${part}`, dim, dim);
      both(put, `${at}.attention.output.dense`, dim, dim);
      both(put, `${at}.attention.output.LayerNorm`, dim);
      both(put, `${at}.intermediate.dense`, hidden, dim);
      both(put, `${at}.output.dense`, dim, hidden);
      both(put, `${at}.output.LayerNorm`, dim);
    }
  },

  gpt2({ layers, dim, hidden, words, tokens, past }, put) {
    /** Its matrices are [inputs, outputs]. */
    const product = (name: string, inputs: number, outputs: number): void => {
      put(`${name}.weight`, inputs, outputs);
      put(`${name}.bias`, outputs);
    };
    put("wte.weight", words, dim);
    put("wpe.weight", 2 * (past + tokens), dim);
    for (let layer = 0; layer < layers; layer++) {
      const at = `h.${layer}`;
      both(put, `${at}.ln_1`, dim);
      product(`${at}.attn.c_attn`, dim, 3 * dim);
      product(`${at}.attn.c_proj`, dim, dim);
      both(put, `${at}.ln_2`, dim);
      product(`${at}.mlp.c_fc`, dim, hidden);
      product(`${at}.mlp.c_proj`, hidden, dim);
    }
    both(put, "ln_f", dim);
  },

  llama: putDecoder,

  qwen2(shape, put) {
    const { layers, dim, heads, kvHeads } = shape;
    putDecoder(shape, put);
    for (let layer = 0; layer < layers; layer++) {
      const at = `model.layers.${layer}.self_attn`;
      put(`${at}.q_proj.bias`, dim);
      for (const part of ["k", "v"]) put(`${at}.${part}_proj.bias`, (dim / heads) * kvHeads);
    }
  },
};

function putDecoder({ layers, dim, heads, kvHeads, hidden, words }: ModelShape, put: Put): void {
  const narrow = (dim / heads) * kvHeads;
  put("model.embed_tokens.weight", words, dim);
  for (let layer = 0; layer < layers; layer++) {
    const at = `model.layers.${layer}`;
    put(`${at}.input_layernorm.weight`, dim);
    put(`${at}.self_attn.q_proj.weight`, dim, dim);
    for (const part of ["k", "v"]) put(`${at}.self_attn.${part}_proj.weight`, narrow, dim);
    put(`${at}.self_attn.o_proj.weight`, dim, dim);
    put(`${at}.post_attention_layernorm.weight`, dim);
    for (const part of ["gate", "up"]) put(`${at}.mlp.${part}_proj.weight`, hidden, dim);
    put(`${at}.mlp.down_proj.weight`, dim, hidden);
  }
  put("model.norm.weight", dim);
}
