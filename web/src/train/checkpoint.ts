// A run's state as one safetensors file: parameters, what the optimizer keeps, and how many steps were taken.

import { showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { guardAsync } from "../api/guard.js";
import { readCount, readRecord } from "../api/read-values.js";
import type { Resident } from "../backends/backend.js";
import { ByteReader, type FileSource } from "../layers/io/byte-reader.js";
import { loadSafetensors, readSafetensorsHeader, saveSafetensors } from "../layers/io/index.js";
import { Layer } from "../layers/layer.js";
import type { ParameterTensor } from "../layers/parameters.js";
import { inProgram, inTurn } from "./in-program.js";
import { Optimizer } from "./optimizers.js";
import { type Learning, learn } from "./variables.js";

/** The names of what an optimizer keeps begin so. */
const PREFIX = "optimizer";

/** As many bytes as a source has. */
const ALL = Number.MAX_SAFE_INTEGER;

/** What the file says beside its tensors. Tied parameters are there once, under the first of their names. */
interface Notes {
  readonly step: number;
  /** The steps of the optimizer, in all and of each parameter. */
  readonly steps: number;
  readonly stepsOf: Readonly<Record<string, number>>;
  /** The other names of tied parameters, by their first. */
  readonly tied: Readonly<Record<string, readonly string[]>>;
}

/** A run that goes on from this file has the bits of one that was never interrupted. */
export function saveCheckpoint(
  model: Layer,
  optimizer: Optimizer,
  options?: { readonly step?: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const where = "saveCheckpoint";
  return guardAsync("option", `${where}: reading its arguments`, async () => {
    const given = readRecord(where, "options", options, ["step"]);
    const step = readCount(where, "step", given["step"], null, ALL, 0);
    check(where, model, optimizer);
    return inTurn(model, () =>
      inProgram(model, where, async ({ root }) => {
        const tensors = new Map<string, ParameterTensor>();
        const stepsOf: Record<string, number> = {};
        const tied: Record<string, readonly string[]> = {};
        for (const learning of learn(model, root)) {
          const { value, shape } = learning.variable;
          const add = async (name: string, resident: Resident): Promise<void> => {
            tensors.set(name, { data: Float32Array.from(await root.download(resident)), shape });
          };
          const name = firstName(learning);
          const { parts, steps } = optimizer.stateOf(learning.variable) ?? { parts: {}, steps: 0 };
          await add(name, value);
          for (const [part, resident] of Object.entries(parts)) await add(`${PREFIX}.${part}.${name}`, resident);
          if (steps > 0) stepsOf[name] = steps;
          const others = [...learning.parameters.keys()].slice(1);
          if (others.length > 0) tied[name] = others;
        }
        const notes: Notes = { step: step ?? optimizer.steps, steps: optimizer.steps, stepsOf, tied };
        return saveSafetensors(tensors, { checkpoint: JSON.stringify(notes) });
      }),
    );
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
    const bytes = await readAll(where, source);
    const file = await loadSafetensors(bytes);
    const { metadata } = await readSafetensorsHeader(bytes);
    const { step, steps, stepsOf, tied } = notesOf(where, metadata.get("checkpoint"));
    const statesOf = (name: string): (readonly [string, Float32Array])[] =>
      optimizer.names.flatMap((part) => {
        const data = file.get(`${PREFIX}.${part}.${name}`)?.data;
        return data instanceof Float32Array ? [[part, data] as const] : [];
      });
    const keepsOthers = [...file.keys()].some((name) => name.startsWith(`${PREFIX}.`));
    const lacking = Object.keys(stepsOf).find((name) => keepsOthers && statesOf(name).length === 0);
    if (lacking !== undefined) {
      const rule = `the file must have what this optimizer keeps of ${lacking}`;
      throw new HeedError("load", `${where}: ${rule}, got one of another optimizer`);
    }
    return inTurn(model, () =>
      inProgram(model, where, async ({ root }) => {
        const tensors = new Map(file);
        for (const [name, others] of Object.entries(tied)) {
          const tensor = file.get(name);
          if (tensor !== undefined) for (const other of others) tensors.set(other, tensor);
        }
        model.load(tensors);
        optimizer.dispose();
        optimizer.steps = steps;
        for (const learning of learn(model, root)) {
          const name = firstName(learning);
          const parts = statesOf(name).map(([part, data]) => [part, root.upload(data)] as const);
          // What keeps nothing begins anew at any step.
          if (parts.length === 0) continue;
          optimizer.restore(learning.variable, { parts: Object.fromEntries(parts), steps: stepsOf[name] ?? 0 });
        }
        return { step };
      }),
    );
  });
}

function firstName({ parameters }: Learning): string {
  const [name = ""] = parameters.keys();
  return name;
}

async function readAll(where: string, source: FileSource): Promise<Uint8Array<ArrayBuffer>> {
  const reader = await ByteReader.open(where, source, null);
  try {
    return await reader.read(ALL);
  } finally {
    reader.close();
  }
}

function notesOf(where: string, text: string | undefined): Notes {
  try {
    if (text !== undefined) return JSON.parse(text);
  } catch {}
  throw new HeedError("load", `${where}: the file must be one of saveCheckpoint, got one without its steps`);
}

function check(where: string, model: unknown, optimizer: unknown): void {
  if (!(model instanceof Layer)) {
    throw new HeedError("option", `${where}: model must be a layer or a model, got ${showValue(model)}`);
  }
  if (optimizer instanceof Optimizer && optimizer.model === model) return;
  throw new HeedError("option", `${where}: optimizer must be one of this model, got ${showValue(optimizer)}`);
}
