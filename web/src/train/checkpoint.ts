// A run's state as one safetensors file: parameters, what the optimizer keeps, and how many steps were taken.

import type { Resident } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { asF32 } from "../base/f16.js";
import { guardAsync } from "../base/guard.js";
import { isOptions, readCount, readRecord } from "../base/read-values.js";
import type { ParameterTensor } from "../layers/formats/stored.js";
import { ByteReader, type FileSource } from "../layers/io/byte-reader.js";
import { loadSafetensors, readSafetensorsHeader, saveSafetensors } from "../layers/io/index.js";
import { Layer } from "../layers/layer.js";
import { required } from "../layers/read.js";
import { requireFloats } from "../layers/read-parameters.js";
import { inProgram, inTurn } from "./in-program.js";
import { alphasOf } from "./lora.js";
import { Optimizer } from "./optimizers.js";
import { checkModel, type Learning, learnt } from "./variables.js";

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
  /** The optimizer's kind. Older files have neither this nor the alphas. */
  readonly optimizer: string;
  /** The alphas of adapters, by the paths of their A. */
  readonly alphas: Readonly<Record<string, number>>;
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
        for (const learning of learnt(model, root)) {
          const { value, shape } = learning.variable;
          const add = async (name: string, resident: Resident): Promise<void> => {
            tensors.set(name, { data: asF32(await root.download(resident)), shape });
          };
          const name = firstName(learning);
          const { parts, steps } = optimizer.stateOf(learning.variable) ?? { parts: {}, steps: 0 };
          await add(name, value);
          for (const [part, resident] of Object.entries(parts)) await add(`${PREFIX}.${part}.${name}`, resident);
          if (steps > 0) stepsOf[name] = steps;
          const others = [...learning.parameters.keys()].slice(1);
          if (others.length > 0) tied[name] = others;
        }
        const alphas = Object.fromEntries(alphasOf(model));
        const all = { steps: optimizer.steps, stepsOf, tied, optimizer: kindOf(optimizer), alphas };
        const notes: Notes = { step: step ?? optimizer.steps, ...all };
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
    const { step, steps, stepsOf, tied } = readNotes(where, metadata.get("checkpoint"), model, optimizer);
    const states = readStates(where, file, model, optimizer, stepsOf);
    return inTurn(model, () =>
      inProgram(model, where, async ({ root }) => {
        const tensors = new Map(file);
        for (const [name, others] of tied) {
          const tensor = file.get(name);
          if (tensor !== undefined) for (const other of others) tensors.set(other, tensor);
        }
        const filled = [...Layer.allOf(model)].flatMap(([name, parameter]) => {
          // What is in a format of weights does not change, and the file lacks it.
          if (parameter.format !== "f32") return [];
          const tensor = requireFloats(where, tensors, name);
          return [[parameter, parameter.fitting(`${where}: parameter ${name}`, tensor)] as const];
        });
        for (const [parameter, tensor] of filled) parameter.set(tensor);
        optimizer.dispose();
        optimizer.steps = steps;
        for (const learning of learnt(model, root)) {
          const name = firstName(learning);
          const parts = states.get(name)?.map(([part, data]) => [part, root.upload(data)] as const);
          // What keeps nothing begins anew at any step.
          if (parts === undefined) continue;
          optimizer.restore(learning.variable, { parts: Object.fromEntries(parts), steps: stepsOf.get(name) ?? 0 });
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

/** The notes of a file, checked. Throws as well where they are of another optimizer, or of adapters with another alpha. */
function readNotes(where: string, text: string | undefined, model: Layer, optimizer: Optimizer) {
  const notes = recordIn(where, "notes", text === undefined ? undefined : parsed(text));
  const read = (name: string, value: unknown): number =>
    required(where, `${name} of the file`, readCount(where, `${name} of the file`, value, null, ALL, 0));
  const [step, steps] = [read("step", notes["step"]), read("steps", notes["steps"])];
  const stepsOf = new Map<string, number>();
  for (const [name, value] of Object.entries(recordIn(where, "stepsOf", notes["stepsOf"]))) {
    stepsOf.set(name, read(`stepsOf ${name}`, value));
  }
  const tied = new Map<string, readonly string[]>();
  for (const [name, others] of Object.entries(recordIn(where, "tied", notes["tied"]))) {
    if (!Array.isArray(others)) throw refusal(where, `tied ${name} of the file must be an array of names`, others);
    tied.set(name, others);
  }
  const kind = kindOf(optimizer);
  const { optimizer: noted = kind, alphas = {} } = notes;
  if (noted !== kind) throw refusal(where, `the file must be of the optimizer's kind, ${kind}`, noted);
  const own = alphasOf(model);
  for (const [path, alpha] of Object.entries(recordIn(where, "alphas", alphas))) {
    const rule = `the model must have an adapter ${path} of alpha ${showValue(alpha)}, as in the file`;
    if (own.get(path) !== alpha) throw refusal(where, rule, own.get(path));
  }
  return { step, steps, stepsOf, tied };
}

/** What the optimizer keeps, by the first names of parameters. Throws unless the file has all of it, and nothing unknown. */
function readStates(
  where: string,
  file: ReadonlyMap<string, unknown>,
  model: Layer,
  optimizer: Optimizer,
  stepsOf: ReadonlyMap<string, number>,
) {
  const states = new Map<string, (readonly [string, Float32Array])[]>();
  const parameters = new Map(Layer.allOf(model));
  const known = new Set(parameters.keys());
  const keeps = [...file.keys()].some((name) => name.startsWith(`${PREFIX}.`));
  for (const [name, parameter] of keeps ? parameters : []) {
    if (!stepsOf.has(name)) continue;
    const state = optimizer.names.map((part) => {
      const key = `${PREFIX}.${part}.${name}`;
      known.add(key);
      const { data } = parameter.fitting(`${where}: parameter ${key}`, requireFloats(where, file, key));
      return [part, data] as const;
    });
    states.set(name, state);
  }
  const other = [...file.keys()].find((name) => !known.has(name));
  if (other === undefined) return states;
  throw new HeedError("load", `${where}: the file must have only tensors of the model and the optimizer, got ${other}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function recordIn(where: string, name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isOptions(value)) return value;
  throw refusal(where, `${name} of the file must be an object, as saveCheckpoint writes them`, value);
}

function refusal(where: string, rule: string, got: unknown): HeedError {
  return new HeedError("load", `${where}: ${rule}, got ${showValue(got)}`);
}

/** Its class's name in messages, which no minifier has shortened. */
function kindOf(optimizer: Optimizer): string {
  return optimizer["where"];
}

function check(where: string, model: unknown, optimizer: unknown): void {
  checkModel(where, model);
  Optimizer.check(where, optimizer, model);
}
