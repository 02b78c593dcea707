// Qwen2, which has biases of queries, keys and values, and Qwen3, which has norms of queries and keys.

import type { ConfigReader, ModelConfig, ModelOptions } from "./config.js";
import { type DecoderFamily, DecoderModel, type DecoderShape } from "./decoder-model.js";
import { lastTokens, readLayerTypes } from "./layer-types.js";
import { readLlamaLike } from "./llama.js";
import { LLAMA_NAMES } from "./names.js";

/** Windows of the last layers, which `use_sliding_window` switches on. */
function windowed(read: ConfigReader, { stack, ...shape }: DecoderShape): DecoderShape {
  const isOn = read.flag("use_sliding_window", false) && read.value("sliding_window") !== undefined;
  const first = isOn && read.value("layer_types") === undefined ? read.count("max_window_layers", 28) : 0;
  const types = readLayerTypes(read, stack.layers, (layer) =>
    isOn && layer >= first ? "sliding_attention" : "full_attention",
  );
  if (!types.includes("sliding_attention")) return { ...shape, stack };
  if (!isOn) throw read.unsupported("use_sliding_window", "be true where layer_types has sliding_attention");
  const window = lastTokens(read.count("sliding_window"));
  return { ...shape, stack: { ...stack, byLayer: types.map((type) => (type === "full_attention" ? {} : { window })) } };
}

const QWEN2: DecoderFamily = {
  where: "Qwen2Model",
  types: ["qwen2"],
  names: LLAMA_NAMES,
  read(read) {
    const shape = readLlamaLike(read.only({ mlp_bias: [false] }));
    return windowed(read, { ...shape, stack: { ...shape.stack, bias: { qkv: true, out: false, mlp: false } } });
  },
};

const QWEN3: DecoderFamily = {
  where: "Qwen3Model",
  types: ["qwen3"],
  names: LLAMA_NAMES,
  read(read) {
    const shape = readLlamaLike(read.only({ mlp_bias: [false] }), { headDim: 128 });
    return windowed(read, { ...shape, stack: { ...shape.stack, qkNorm: true } });
  },
};

/** Qwen2 or Qwen2.5, from its config.json and its published parameters, whose names may begin with `model.`. */
export class Qwen2Model extends DecoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(QWEN2, config, options);
  }
}

/** Qwen3, also as an embedding model or a reranker, likewise. */
export class Qwen3Model extends DecoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(QWEN3, config, options);
  }
}
