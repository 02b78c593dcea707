// Parameters of PyTorch's nn.MultiheadAttention, which has one matrix for queries, keys and values or three, under heed's names.

import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { type AnyTensor, floatsOf, type ParameterTensor, rowsOf } from "./formats/stored.js";
import { type GivenParameters, type ParameterSource, readParameters, requireParameter } from "./read-parameters.js";

const WHERE = "fromTorchAttention";
const PARTS = ["q", "k", "v"] as const;

export function isTorchAttention(parameters: GivenParameters, prefix: string): boolean {
  return parameters.has(`${prefix}in_proj_weight`) || parameters.has(`${prefix}q_proj_weight`);
}

/** `in_proj_weight` [3 E, E], or `q_proj_weight`, `k_proj_weight`, `v_proj_weight`; `in_proj_bias`; `out_proj`. f32 is not copied. */
export function fromTorchAttention(parameters: ParameterSource, prefix = ""): Map<string, ParameterTensor> {
  const doing = `${WHERE}: reading parameters`;
  return guard("option", doing, () => {
    const made = renamedFromTorch(readParameters(WHERE, parameters, prefix), prefix);
    return new Map([...made].map(([name, tensor]) => [name, floatsOf(tensor)]));
  });
}

export function renamedFromTorch(parameters: GivenParameters, prefix: string): Map<string, AnyTensor> {
  for (const name of ["bias_k", "bias_v"]) {
    if ((parameters.get(prefix + name) ?? null) === null) continue;
    throw new HeedError(
      "unsupported",
      `${WHERE}: a key and a value for every sequence are not computed, got ${prefix}${name}`,
    );
  }
  const made = new Map<string, AnyTensor>();
  for (const part of ["weight", "bias"]) {
    const name = `out_proj.${part}`;
    if (parameters.has(prefix + name)) made.set(name, requireParameter(WHERE, parameters, prefix + name));
  }
  const joined = parameters.has(`${prefix}in_proj_weight`)
    ? requireParameter(WHERE, parameters, `${prefix}in_proj_weight`)
    : null;
  const bias = parameters.has(`${prefix}in_proj_bias`)
    ? requireParameter(WHERE, parameters, `${prefix}in_proj_bias`)
    : null;
  for (const [at, part] of PARTS.entries()) {
    const weight =
      joined === null ? requireParameter(WHERE, parameters, `${prefix}${part}_proj_weight`) : third(joined, at);
    made.set(`${part}_proj.weight`, weight);
    if (bias !== null) made.set(`${part}_proj.bias`, third(bias, at));
  }
  return made;
}

/** One third of the rows. */
export function third<T extends AnyTensor>(all: T, at: number): T {
  const [rows = 0] = all.shape;
  if (rows % 3 !== 0) {
    throw new HeedError("shape", `${WHERE}: query, key and value must have as many rows each, got ${rows} in all`);
  }
  return rowsOf(all, (at * rows) / 3, ((at + 1) * rows) / 3);
}
