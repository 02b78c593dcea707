// Puts the tensors of a file into a model, in the format that was asked for.

import type { Layer } from "../layers/layer.js";
import type { ParameterInput } from "../layers/read-parameters.js";
import { assertBytes, remedyOf } from "../layers/room.js";
import type { Weights } from "../layers/taking.js";

export function fillModel(model: Layer, tensors: ReadonlyMap<string, ParameterInput>, weights: Weights): void {
  model.load(tensors, { weights });
}

/** Refuses a model that no engine can hold before its weights are read. What is kept as it is stored tells its size then. */
export function assertModelFits(where: string, model: Layer, weights: Weights): void {
  const bytesIn = (as: Weights): number => model.describe({ weights: as }).bytes;
  if (weights !== "as stored") assertBytes(where, bytesIn(weights), () => remedyOf(bytesIn));
}

/** How a file is read for it: what is rounded again comes from f32. */
export function readingOf(weights: Weights): "f32" | "as stored" {
  return weights === "f32" ? "f32" : "as stored";
}
