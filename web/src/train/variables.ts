// The variables of a model: its parameters where they learn. Parameters that share their numbers are tied, and have one variable.

import type { RootBackend } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { Layer } from "../layers/layer.js";
import { type AnyNumbers, onlyFloats, type Parameter } from "../layers/parameters.js";
import { Variable } from "../layers/variable.js";

/** A variable with the parameters that it is, by their names in the model. */
export interface Learning {
  readonly variable: Variable;
  readonly parameters: ReadonlyMap<string, Parameter>;
}

/** Throws unless it is a layer. */
export function checkModel(where: string, model: unknown): asserts model is Layer {
  if (Layer.is(model)) return;
  throw new HeedError("option", `${where}: model must be a layer or a model of heed/layers, got ${showValue(model)}`);
}

/** All loaded parameters of a model by their names, those that are tied together. */
export function groupsOf(model: Layer): readonly ReadonlyMap<string, Parameter>[] {
  const groups = new Map<AnyNumbers, Map<string, Parameter>>();
  for (const [name, parameter] of Layer.allOf(model)) {
    const { numbers } = parameter;
    if (numbers !== null) groups.set(numbers, (groups.get(numbers) ?? new Map()).set(name, parameter));
  }
  return [...groups.values()];
}

/** The same as variables on this engine, which are made where they do not exist. What is in a format of weights has none: it must be frozen. */
export function learn(where: string, model: Layer, backend: RootBackend): readonly Learning[] {
  for (const [name, { format, isFrozen }] of Layer.allOf(model)) {
    if (format !== "f32" && !isFrozen) throw onlyFloats(where, name, format);
  }
  return learnt(model, backend);
}

/** The same, frozen or not. */
export function learnt(model: Layer, backend: RootBackend): readonly Learning[] {
  const groups = groupsOf(model).filter((parameters) =>
    [...parameters.values()].every(({ format }) => format === "f32"),
  );
  return groups.map((parameters) => {
    const [first] = parameters.values();
    if (first === undefined) throw new TypeError("a group has a parameter");
    const variable = variableOf(first, backend);
    for (const parameter of parameters.values()) if (parameter.variable !== variable) parameter.learn(variable);
    return { variable, parameters };
  });
}

/** Whether it changes: none of its parameters is frozen. */
export function isLearning({ parameters }: Learning): boolean {
  return [...parameters.values()].every(({ isFrozen }) => !isFrozen);
}

function variableOf(parameter: Parameter, backend: RootBackend): Variable {
  const { variable, shape } = parameter;
  if (variable !== null && variable.backend === backend) return variable;
  const where = "heed/train: a parameter";
  return new Variable(backend, backend.upload(parameter.loadedFloats(where).read(where)), shape);
}
