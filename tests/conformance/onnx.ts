// ONNX's Attention cases said in heed's words, and their own tolerance. What heed cannot say yet is in not-covered.json.

import type { AttentionOptions, MaskLike, TensorLike } from "../../web/src/index.js";

export interface CaseTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly length: number;
}

export interface OnnxCase {
  readonly name: string;
  readonly op: string;
  readonly attributes: Readonly<Record<string, number | string>>;
  readonly inputs: readonly (CaseTensor | null)[];
  readonly outputs: readonly (CaseTensor | null)[];
}

export interface CaseIndex {
  readonly format: string;
  readonly tolerance: { readonly rtol: number; readonly atol: number };
  readonly cases: readonly OnnxCase[];
}

export interface Set {
  readonly index: CaseIndex;
  readonly base64: string;
}

/** An Attention case as a call of heed's, with what it must give. */
export interface Call {
  readonly name: string;
  readonly query: TensorLike;
  readonly key: TensorLike;
  readonly value: TensorLike;
  readonly options: AttentionOptions;
  readonly output: TensorLike;
  /** Where the case wants the probabilities. */
  readonly weights: TensorLike | null;
}

const FLOAT32 = 1;

/** Attributes that change nothing at these values, whatever else a case sets. */
const NEUTRAL: Readonly<Record<string, number>> = {
  softcap: 0,
  left_window_size: -1,
  right_window_size: -1,
  softmax_precision: FLOAT32,
};

const KNOWN = ["scale", "is_causal", "q_num_heads", "kv_num_heads", "qk_matmul_output_mode"];

/** How many there are: for saying how many a run without the folder could not see. */
export const ATTENTION_CASES = 49;

export const attentionCases = ({ index }: Set): readonly OnnxCase[] =>
  index.cases.filter(({ op }) => op === "Attention");

/** Why heed cannot compute a case yet; null: it can. */
export function whyNot({ attributes, inputs, outputs }: OnnxCase): string | null {
  const other = Object.keys(attributes).find((name) => !KNOWN.includes(name) && NEUTRAL[name] !== attributes[name]);
  if (other !== undefined) return `attribute ${other}`;
  const [query, key, value, mask, ...rest] = inputs;
  const later = rest.find((input) => input !== null);
  if (later) return `input ${later.name}`;
  const half = [query, key, value, mask].find((input) => input?.dtype === "float16");
  if (half) return "half precision";
  if (outputs[3] && attributes["qk_matmul_output_mode"] !== 3) return "scores as a result";
  return null;
}

/** A covered case in heed's words. */
export function callOf(one: OnnxCase, { base64 }: Set): Call {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const floats = (tensor: CaseTensor | null | undefined): TensorLike => {
    if (tensor?.dtype !== "float32") throw new Error(`${one.name}: wanted float32, got ${tensor?.dtype}`);
    return {
      data: new Float32Array(bytes.slice(tensor.offset, tensor.offset + tensor.length).buffer),
      shape: tensor.shape,
    };
  };
  const bools = ({ offset, length, shape }: CaseTensor): MaskLike => ({
    data: bytes.slice(offset, offset + length),
    shape,
  });
  const { attributes, inputs, outputs } = one;
  const mask = inputs[3];
  const weights = outputs[3];
  return {
    name: one.name,
    query: floats(inputs[0]),
    key: floats(inputs[1]),
    value: floats(inputs[2]),
    options: {
      ...(attributes["scale"] === undefined ? {} : { scale: Number(attributes["scale"]) }),
      ...(attributes["is_causal"] === 1 ? { causal: "upper-left" } : {}),
      ...(inputs[0]?.shape.length === 3
        ? { layout: "packed", heads: Number(attributes["q_num_heads"]), kvHeads: Number(attributes["kv_num_heads"]) }
        : {}),
      ...(mask?.dtype === "bool" ? { mask: bools(mask) } : {}),
      ...(mask?.dtype === "float32" ? { bias: floats(mask) } : {}),
    },
    output: floats(outputs[0]),
    weights: weights ? floats(weights) : null,
  };
}

/** The first number outside ONNX's tolerance, in words; null when all are within. */
export function firstDifference(name: string, got: TensorLike, wanted: TensorLike, { index }: Set): string | null {
  if (String(got.shape) !== String(wanted.shape)) return `${name} has shape [${got.shape}], not [${wanted.shape}]`;
  const { atol, rtol } = index.tolerance;
  for (const [at, expected] of wanted.data.entries()) {
    const is = got.data[at] ?? Number.NaN;
    if (is === expected || Math.abs(is - expected) <= atol + rtol * Math.abs(expected)) continue;
    return `${name}[${at}] is ${is}, not ${expected}`;
  }
  return null;
}
