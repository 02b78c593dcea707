// Puts the tensors of a file into a model, in the format that was asked for.

import { throwIfAborted } from "../base/read-values.js";
import { Arrivals } from "../layers/arrivals.js";
import { whole } from "../layers/io/arriving-tensor.js";
import type { TensorStream } from "../layers/io/tensor-stream.js";
import type { Layer } from "../layers/layer.js";
import type { ParameterInput } from "../layers/read-parameters.js";
import { assertBytes, remedyOf } from "../layers/room.js";
import type { Weights } from "../layers/taking.js";
import { ClassifierHead } from "./classifier-head.js";

/** Fills a model as its tensors arrive, and returns those that a head may have. */
export async function fillModel(
  where: string,
  model: Layer,
  { names, bytes = 0, tensors }: TensorStream<ParameterInput>,
  { weights, signal }: { readonly weights: Weights; readonly signal: AbortSignal | null },
): Promise<ReadonlyMap<string, ParameterInput>> {
  if (weights === "as stored") {
    assertBytes(where, bytes, () => remedyOf((as) => model.describe({ weights: as }).bytes));
  }
  const rest = new Map<string, ParameterInput>();
  const arrivals = await Arrivals.at(model, where, names, weights, signal);
  for await (const [name, tensor] of tensors) {
    throwIfAborted(where, signal);
    if (arrivals.wants(name)) await arrivals.take(name, tensor);
    else if (ClassifierHead.hasPart(name)) rest.set(name, await whole(tensor));
  }
  arrivals.finish();
  throwIfAborted(where, signal);
  return rest;
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
