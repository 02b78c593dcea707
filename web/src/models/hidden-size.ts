// The size of a model's hidden states.

import { Layer } from "../layers/layer.js";

/** How many numbers the hidden state of a token has: as many as its embedding. */
export function hiddenSizeOf(model: Layer): number {
  return new Map(Layer.allOf(model)).get("words.weight")?.shape[1] ?? 0;
}
