// The variables of a model: its parameters where they learn. Parameters that share their numbers are tied, and have one variable.

import type { RootBackend } from "../backends/backend.js";
import { Layer } from "../layers/layer.js";
import type { Parameter } from "../layers/parameters.js";
import { Variable } from "../layers/variable.js";

/** A variable with the parameters that it is, by their names in the model. */
export interface Learning {
  readonly variable: Variable;
  readonly parameters: Map<string, Parameter>;
}

/** All loaded parameters of a model as variables on this engine, which are made where they do not exist. */
export function learn(model: Layer, backend: RootBackend): readonly Learning[] {
  const all = [...Layer.allOf(model)].filter(([, { value }]) => value !== null);
  const byNumbers = new Map<unknown, Learning>();
  for (const [name, parameter] of all) {
    const numbers = parameter.value?.data;
    const known = byNumbers.get(numbers);
    if (known !== undefined) known.parameters.set(name, parameter);
    else byNumbers.set(numbers, { variable: variableOf(parameter, backend), parameters: new Map([[name, parameter]]) });
  }
  const learning = [...byNumbers.values()];
  for (const { variable, parameters } of learning) {
    for (const parameter of parameters.values()) if (parameter.variable !== variable) parameter.learn(variable);
  }
  return learning;
}

/** Whether some of its parameters are not frozen. */
export function isLearning({ parameters }: Learning): boolean {
  return [...parameters.values()].some(({ isFrozen }) => !isFrozen);
}

function variableOf(parameter: Parameter, backend: RootBackend): Variable {
  const { variable, value } = parameter;
  if (variable !== null && variable.backend === backend) return variable;
  if (value === null) throw new TypeError("a variable begins with a value");
  return new Variable(backend, backend.upload(value.data), value.shape);
}
