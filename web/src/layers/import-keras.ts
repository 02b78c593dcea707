// Keras's MultiHeadAttention in the names of heed's: kernels are [in, heads, dim], the output's [heads, dim, out].

import { showShape } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { type ParameterMap, type ParameterTensor, requireParameter, transposed } from "./parameters.js";

const WHERE = "fromKerasAttention";
const PARTS = { query: "q_proj", key: "k_proj", value: "v_proj", attention_output: "out_proj" } as const;

/** Takes `query/kernel`, `query/bias`, `key/...`, `value/...`, `attention_output/...`, with `/` or `.` between, and copies them. */
export function fromKerasAttention(parameters: ParameterMap, prefix = ""): Map<string, ParameterTensor> {
  const made = new Map<string, ParameterTensor>();
  for (const [theirs, ours] of Object.entries(PARTS)) {
    const separator = parameters.has(`${prefix}${theirs}.kernel`) ? "." : "/";
    const kernel = requireParameter(WHERE, parameters, `${prefix}${theirs}${separator}kernel`);
    made.set(`${ours}.weight`, transposed(asMatrix(kernel, ours === "out_proj", `${prefix}${theirs}`)));
    const bias = parameters.get(`${prefix}${theirs}${separator}bias`);
    if (bias !== undefined) made.set(`${ours}.bias`, { data: bias.data, shape: [bias.data.length] });
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
