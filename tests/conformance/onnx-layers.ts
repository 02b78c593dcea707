// ONNX's LayerNormalization, RMSNormalization and SwiGLU cases said in heed's words.

import { fromF16, toF16 } from "../../web/src/base/f16.js";
import type { TensorLike } from "../../web/src/index.js";
import type { ParameterTensor } from "../../web/src/layers/index.js";
import { bufferOf, type Set as CaseSet, type OnnxCase } from "./onnx.js";
import { floatsOf } from "./onnx-extra.js";

export interface NormCase {
  readonly x: TensorLike;
  /** Of the layer. */
  readonly options: { readonly shape: readonly number[]; readonly epsilon: number; readonly bias: boolean };
  readonly parameters: ReadonlyMap<string, ParameterTensor>;
  readonly output: TensorLike;
}

export function normCaseOf({ attributes, inputs, outputs }: OnnxCase, set: CaseSet): NormCase {
  const [given, weight, bias] = inputs;
  const x = floatsOf(given, set);
  const axis = Number(attributes["axis"] ?? -1);
  const parameters = new Map([["weight", floatsOf(weight, set)]]);
  if (bias) parameters.set("bias", floatsOf(bias, set));
  return {
    x,
    options: {
      shape: x.shape.slice(axis),
      epsilon: Number(attributes["epsilon"] ?? 1e-5),
      bias: parameters.has("bias"),
    },
    parameters,
    output: floatsOf(outputs[0], set),
  };
}

export interface GatedCase {
  /** Gate and factor beside each other: rows of the MLP. */
  readonly x: TensorLike;
  readonly options: { readonly dim: number; readonly hidden: number };
  readonly parameters: ReadonlyMap<string, ParameterTensor>;
  /** The MLP's rows of which the first half is the case's output. */
  readonly outputOf: (rows: TensorLike) => TensorLike;
  readonly output: TensorLike;
}

/** The matrices pick: the gate the first half of a row, the factor the second, and what is made of them goes to the first. */
export function gatedCaseOf({ inputs, outputs }: OnnxCase, set: CaseSet): GatedCase {
  const [gate, factor, output] = [inputs[0], inputs[1], outputs[0]].map((tensor) => {
    if (tensor?.dtype !== "float16") throw new Error(`wanted halves, got ${tensor?.dtype}`);
    return { data: fromF16(new Uint16Array(bufferOf(tensor, set))), shape: tensor.shape };
  });
  if (!gate || !factor || !output) throw new Error("a case lacks a tensor");
  const [rows = 0, width = 0] = gate.shape;
  const row = (data: Float32Array, at: number): number[] => Array.from(data.subarray(at * width, (at + 1) * width));
  const beside = Array.from({ length: rows }, (_, at) => [...row(gate.data, at), ...row(factor.data, at)]);
  const pick = (from: number): ParameterTensor => ({
    data: Float32Array.from({ length: 2 * width * width }, (_, i) =>
      Number(i % (2 * width) === from + Math.floor(i / (2 * width))),
    ),
    shape: [width, 2 * width],
  });
  const place = {
    data: Float32Array.from({ length: 2 * width * width }, (_, i) => Number(i % width === Math.floor(i / width))),
    shape: [2 * width, width],
  };
  return {
    x: { data: Float32Array.from(beside.flat()), shape: [rows, 2 * width] },
    options: { dim: 2 * width, hidden: width },
    parameters: new Map([
      ["gate_proj.weight", pick(0)],
      ["up_proj.weight", pick(width)],
      ["down_proj.weight", place],
    ]),
    outputOf: ({ data }) => {
      const kept = Array.from({ length: rows }, (_, at) =>
        Array.from(data.subarray(2 * at * width, (2 * at + 1) * width)),
      );
      return { data: fromF16(toF16(Float32Array.from(kept.flat()))), shape: output.shape };
    },
    output,
  };
}
