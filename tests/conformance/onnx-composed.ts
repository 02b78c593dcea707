// ONNX's CausalConvWithState, Softmax and LogSoftmax cases, and SwiGLU with a factor in its sigmoid, composed of the small
// operations of a pass, as a layer of one's own would be.

import { fromF16, toF16 } from "../../web/src/base/f16.js";
import type { Heed, Tensor, TensorLike } from "../../web/src/index.js";
import { Layer } from "../../web/src/layers/index.js";
import { evaluate, type Pass } from "../../web/src/train/index.js";
import { bufferOf, type Set as CaseSet, type CaseTensor, type OnnxCase } from "./onnx.js";

type ComposedOperator = "CausalConvWithState" | "Softmax" | "LogSoftmax";

/** What a case gives, by ONNX's names of its outputs. */
type Outputs = Readonly<Record<string, Promise<Tensor> | Tensor>>;

/** A layer without parameters, for evaluating on an engine. */
class Bare extends Layer {
  constructor(engine: Heed) {
    super("Bare", engine);
  }
}

export async function computed(heed: Heed, one: OnnxCase, set: CaseSet): Promise<Readonly<Record<string, TensorLike>>> {
  const model = new Bare(heed);
  try {
    return await evaluate(model, (pass) => COMPOSED[one.op as ComposedOperator](pass, one, set));
  } finally {
    model.dispose();
  }
}

const COMPOSED: Readonly<Record<ComposedOperator, (pass: Pass, one: OnnxCase, set: CaseSet) => Promise<Outputs>>> = {
  CausalConvWithState: async (pass, { attributes, inputs }, set) => {
    const [input, weight, bias, past] = inputs;
    const [x, w] = [floatsOf(input, set), floatsOf(weight, set)];
    const [batch = 0, channels = 0, length = 0] = x.shape;
    const taps = w.shape[2] ?? 0;
    const zeros = { data: new Float32Array(batch * channels * (taps - 1)), shape: [batch, channels, taps - 1] };
    const padded = await pass.concat([past ? floatsOf(past, set) : zeros, x], { axis: 2 });
    let sum: Tensor | null = null;
    for (let tap = 0; tap < taps; tap++) {
      const column = { data: w.data.filter((_, at) => at % taps === tap), shape: [channels, 1] };
      const product = await pass.mul(await pass.slice(padded, { axis: 2, from: tap, to: tap + length }), column);
      sum = sum === null ? product : await pass.add(sum, product);
    }
    if (sum === null) throw new Error("a kernel has a tap at least");
    if (bias) sum = await pass.add(sum, { data: floatsOf(bias, set).data, shape: [channels, 1] });
    const isActivated = ["silu", "swish"].includes(String(attributes["activation"]));
    return {
      output: isActivated ? pass.mul(sum, pass.sigmoid(sum)) : sum,
      present_state: pass.slice(padded, { axis: 2, from: length, to: length + taps - 1 }),
    };
  },
  Softmax: async (pass, { attributes, inputs }, set) => ({
    output: pass.softmax(floatsOf(inputs[0], set), { axis: Number(attributes["axis"] ?? -1) }),
  }),
  LogSoftmax: async (pass, { attributes, inputs }, set) => {
    const x = floatsOf(inputs[0], set);
    const axis = Number(attributes["axis"] ?? -1);
    const shifted = await pass.sub(x, await pass.max(x, { axis, keepDims: true }));
    return { output: pass.sub(shifted, pass.log(await pass.sum(await pass.exp(shifted), { axis, keepDims: true }))) };
  },
};

/** A * sigmoid(alpha * A) * B. */
export async function swiglu(heed: Heed, a: TensorLike, b: TensorLike, alpha: number): Promise<TensorLike> {
  const model = new Bare(heed);
  try {
    const factor = { data: Float32Array.of(alpha), shape: [1] };
    const { output } = await evaluate(model, async (pass) => ({
      output: pass.mul(pass.mul(a, pass.sigmoid(pass.mul(a, factor))), b),
    }));
    return output;
  } finally {
    model.dispose();
  }
}

/** In single precision; halves are widened. */
export function floatsOf(tensor: CaseTensor | null | undefined, set: CaseSet): TensorLike {
  if (!tensor) throw new Error("a case lacks a tensor");
  const buffer = bufferOf(tensor, set);
  const data = tensor.dtype === "float16" ? fromF16(new Uint16Array(buffer)) : new Float32Array(buffer);
  return { data, shape: tensor.shape };
}

/** As the case wants it: halves are rounded. */
export const asWanted = ({ data, shape }: TensorLike, { dtype }: CaseTensor): TensorLike => ({
  data: dtype === "float16" ? fromF16(toF16(data)) : data,
  shape,
});
