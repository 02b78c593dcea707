// SmolLM3: Llama with layers without rotary embedding.

import { readBoolean } from "../../base/read-values.js";
import type { ModelConfig, ModelOptions } from "./config.js";
import { type DecoderFamily, DecoderModel } from "./decoder-model.js";
import { lastTokens, readLayerTypes } from "./layer-types.js";
import { readLlamaLike } from "./llama.js";
import { LLAMA_NAMES } from "./names.js";

const SMOLLM3: DecoderFamily = {
  where: "SmolLM3Model",
  types: ["smollm3"],
  names: LLAMA_NAMES,
  read(read) {
    const { stack, ...shape } = readLlamaLike(read, { theta: 2e6 });
    const { layers } = stack;
    const interval = read.count("no_rope_layer_interval", 4);
    // 1 and true: the layer has a rope, in spite of the field's name.
    const given = read.each("no_rope_layers", layers, (value, called) =>
      readBoolean("SmolLM3Model", called, value === 0 ? false : value === 1 ? true : value, false),
    );
    const hasRope = given ?? Array.from({ length: layers }, (_, layer) => (layer + 1) % interval !== 0);
    const isOn = read.flag("use_sliding_window", false) && read.value("sliding_window") !== undefined;
    const types = readLayerTypes(read, layers, (layer) =>
      isOn && !hasRope[layer] ? "sliding_attention" : "full_attention",
    );
    const isWindowed = (layer: number): boolean => isOn && types[layer] === "sliding_attention";
    const byLayer = hasRope.map((has, layer) => ({
      ...(has ? {} : { rope: false as const }),
      ...(isWindowed(layer) ? { window: lastTokens(read.count("sliding_window")) } : {}),
    }));
    return { ...shape, isTied: read.flag("tie_word_embeddings", true), stack: { ...stack, byLayer } };
  },
};

/** SmolLM3, from its config.json and its published parameters, whose names may begin with `model.`. */
export class SmolLM3Model extends DecoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(SMOLLM3, config, options);
  }
}
