// Puts the tensors of a file into a model. All formats of weights pass here.

import type { Layer } from "../layers/layer.js";
import type { ParameterInput } from "../layers/parameters.js";

/** The formats in which weights may stay in memory. */
export const WEIGHT_FORMATS = ["f32"] as const;

export type Weights = (typeof WEIGHT_FORMATS)[number];

export function fillModel(model: Layer, tensors: ReadonlyMap<string, ParameterInput>, _weights: Weights): void {
  model.load(tensors);
}
