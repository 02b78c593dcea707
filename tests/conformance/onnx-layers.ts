// ONNX's LayerNormalization and RMSNormalization cases said in heed's words.

import type { TensorLike } from "../../web/src/index.js";
import type { ParameterTensor } from "../../web/src/layers/index.js";
import type { Set as CaseSet, OnnxCase } from "./onnx.js";
import { floatsOf } from "./onnx-extra.js";

/** How many there are of each, for a run without the folder. */
export const NORM_CASES = { LayerNormalization: 14, RMSNormalization: 10 } as const;

export const normCases = ({ index }: CaseSet): readonly OnnxCase[] => index.cases.filter(({ op }) => op in NORM_CASES);

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
