// A run's state as one safetensors file: parameters, what the optimizer keeps, and how many steps were taken.

import { showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { guardAsync } from "../api/guard.js";
import { readRecord } from "../api/read-values.js";
import type { FileSource } from "../layers/io/byte-reader.js";
import { loadSafetensors, readSafetensorsHeader, saveSafetensors } from "../layers/io/index.js";
import { Layer } from "../layers/layer.js";
import type { ParameterTensor } from "../layers/parameters.js";
import { inProgram } from "./in-program.js";
import { Optimizer } from "./optimizers.js";
import { learn } from "./variables.js";

/** The names of what an optimizer keeps begin so. */
const PREFIX = "optimizer";

/** A run that goes on from this file has the bits of one that was never interrupted. */
export function saveCheckpoint(
  model: Layer,
  optimizer: Optimizer,
  options?: { readonly step?: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const where = "saveCheckpoint";
  return guardAsync("option", `${where}: reading its arguments`, async () => {
    const { step } = readRecord(where, "options", options, ["step"]);
    check(where, model, optimizer);
    const tensors = new Map<string, ParameterTensor>();
    for (const [name, tensor] of await model.readParameters()) tensors.set(name, tensor);
    await inProgram(model, where, async ({ root }) => {
      for (const learning of learn(model, root)) {
        const [name = ""] = learning.parameters.keys();
        for (const [part, resident] of Object.entries(optimizer.stateOf(learning) ?? {})) {
          const data = Float32Array.from(await root.download(resident));
          tensors.set(`${PREFIX}.${part}.${name}`, { data, shape: learning.variable.shape });
        }
      }
    });
    return saveSafetensors(tensors, { step: String(step ?? optimizer.steps), steps: String(optimizer.steps) });
  });
}

/** Gives the model and the optimizer what was saved. Resolves to the step from which to go on. */
export function loadCheckpoint(
  source: FileSource,
  model: Layer,
  optimizer: Optimizer,
): Promise<{ readonly step: number }> {
  const where = "loadCheckpoint";
  return guardAsync("option", `${where}: reading its arguments`, async () => {
    check(where, model, optimizer);
    const file = await loadSafetensors(source);
    const { metadata } = await readSafetensorsHeader(source);
    const [step, steps] = ["step", "steps"].map((name) => Number(metadata.get(name) ?? Number.NaN));
    if (step === undefined || steps === undefined || !Number.isInteger(step) || !Number.isInteger(steps)) {
      throw new HeedError("load", `${where}: the file must be one of saveCheckpoint, got one without its steps`);
    }
    model.load(file);
    optimizer.steps = steps;
    await inProgram(model, where, async ({ root }) => {
      for (const learning of learn(model, root)) {
        const [name = ""] = learning.parameters.keys();
        const parts = optimizer.names.map((part) => [part, file.get(`${PREFIX}.${part}.${name}`)?.data] as const);
        const state = parts.flatMap(([part, data]) =>
          data instanceof Float32Array ? [[part, root.upload(data)] as const] : [],
        );
        optimizer.restore(learning, Object.fromEntries(state));
      }
    });
    return { step };
  });
}

function check(where: string, model: unknown, optimizer: unknown): void {
  if (!(model instanceof Layer)) {
    throw new HeedError("option", `${where}: model must be a layer or a model, got ${showValue(model)}`);
  }
  if (optimizer instanceof Optimizer && optimizer.model === model) return;
  throw new HeedError("option", `${where}: optimizer must be one of this model, got ${showValue(optimizer)}`);
}
