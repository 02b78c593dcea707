// Parameters of Keras's MultiHeadAttention under the names of heed's. Kernels are [in, heads, dim], that of the output is [heads, dim, out].

import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { floatsOf, type ParameterTensor, transposed } from "./formats/stored.js";
import { type ParameterSource, readParameters, requireFloats } from "./read-parameters.js";

const WHERE = "fromKerasAttention";
const PARTS = { query: "q_proj", key: "k_proj", value: "v_proj", attention_output: "out_proj" } as const;

/** Takes `query/kernel`, `query/bias`, `key/...`, `value/...`, `attention_output/...`, with `/` or `.` between, and copies them. */
export function fromKerasAttention(source: ParameterSource, prefix = ""): Map<string, ParameterTensor> {
  return guard("option", `${WHERE}: reading parameters`, () => renamedFromKeras(source, prefix));
}

function renamedFromKeras(source: ParameterSource, prefix: string): Map<string, ParameterTensor> {
  const parameters = readParameters(WHERE, source, prefix);
  const made = new Map<string, ParameterTensor>();
  for (const [theirs, ours] of Object.entries(PARTS)) {
    const separator = parameters.has(`${prefix}${theirs}.kernel`) ? "." : "/";
    const kernel = requireFloats(WHERE, parameters, `${prefix}${theirs}${separator}kernel`);
    made.set(`${ours}.weight`, floatsOf(transposed(asMatrix(kernel, ours === "out_proj", `${prefix}${theirs}`))));
    const name = `${prefix}${theirs}${separator}bias`;
    if (!parameters.has(name)) continue;
    const { data } = requireFloats(WHERE, parameters, name);
    made.set(`${ours}.bias`, { data, shape: [data.length] });
  }
  return made;
}

function asMatrix({ data, shape }: ParameterTensor, isOutput: boolean, name: string): ParameterTensor {
  const [first = 0, second = 0, last = 0] = shape;
  if (shape.length !== 3) {
    throw new HeedError("shape", `${WHERE}: the kernel of ${name} must have rank 3, got ${showShape(shape)}`);
  }
  return { data, shape: isOutput ? [first * second, last] : [first, second * last] };
}
