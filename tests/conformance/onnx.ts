// ONNX's Attention cases said in heed's words, and their own tolerance. What heed cannot say yet is in not-covered.json.

import { fromF16, toF16 } from "../../web/src/base/f16.js";
import type { AttentionOptions, HalfTensorLike, MaskLike, TensorLike } from "../../web/src/index.js";
import type { OperatorName } from "./operators.js";

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
  readonly bytes: Uint8Array;
}

/** An Attention case as a call of heed's, with what it must give. */
export interface Call {
  readonly name: string;
  readonly query: TensorLike | HalfTensorLike;
  readonly key: TensorLike | HalfTensorLike;
  readonly value: TensorLike | HalfTensorLike;
  readonly options: AttentionOptions;
  /** The scores that the case wants. */
  readonly stage: "raw" | "capped" | "masked" | null;
  readonly output: TensorLike;
  /** Where the case wants the probabilities. */
  readonly weights: TensorLike | null;
  /** Where it wants scores, at the stage that the options name. */
  readonly scores: TensorLike | null;
}

const FLOAT32 = 1;

/** Attributes that change nothing at these values, whatever else a case sets. */
const NEUTRAL: Readonly<Record<string, number>> = { softmax_precision: FLOAT32 };

const KNOWN = [
  "scale",
  "softcap",
  "is_causal",
  "left_window_size",
  "right_window_size",
  "q_num_heads",
  "kv_num_heads",
  "qk_matmul_output_mode",
];

/** What qk_matmul_output_mode says. */
const STAGES = ["raw", "capped", "masked"] as const;

export const casesOf = ({ index }: Set, ...operators: readonly OperatorName[]): readonly OnnxCase[] =>
  index.cases.filter(({ op }) => operators.some((one) => one === op));

export const attentionCases = (set: Set): readonly OnnxCase[] => casesOf(set, "Attention");

/** Why heed cannot compute a case yet; null: it can. */
export function whyNot({ attributes }: OnnxCase): string | null {
  const other = Object.keys(attributes).find((name) => !KNOWN.includes(name) && NEUTRAL[name] !== attributes[name]);
  return other === undefined ? null : `attribute ${other}`;
}

/** A tensor's bytes alone, which so lie where views of longer numbers may begin. */
export const bufferOf = ({ offset, length }: CaseTensor, { bytes }: Set): ArrayBuffer =>
  Uint8Array.from(bytes.subarray(offset, offset + length)).buffer;

/** A covered case in heed's words. */
export function callOf(one: OnnxCase, set: Set): Call {
  const floats = (tensor: CaseTensor | null | undefined): TensorLike => {
    if (tensor?.dtype === "float16") {
      return { data: fromF16(new Uint16Array(bufferOf(tensor, set))), shape: tensor.shape };
    }
    if (tensor?.dtype !== "float32") throw new Error(`${one.name}: wanted floats, got ${tensor?.dtype}`);
    return { data: new Float32Array(bufferOf(tensor, set)), shape: tensor.shape };
  };
  /** What the case gives in half precision heed is given in half precision. */
  const asGiven = (tensor: TensorLike): TensorLike | HalfTensorLike =>
    one.inputs[0]?.dtype === "float16" ? { data: toF16(tensor.data), shape: tensor.shape, dtype: "f16" } : tensor;
  const bools = (tensor: CaseTensor): MaskLike => ({
    data: new Uint8Array(bufferOf(tensor, set)),
    shape: tensor.shape,
  });
  const ints = (tensor: CaseTensor): number[] => Array.from(new BigInt64Array(bufferOf(tensor, set)), Number);
  const { attributes, inputs, outputs } = one;
  const [, , , mask, pastKey, pastValue, valid] = inputs;
  const packed = inputs[0]?.shape.length === 3;
  const heads = Number(attributes["q_num_heads"]);
  const kvHeads = Number(attributes["kv_num_heads"]);
  const joined = (past: CaseTensor | null | undefined, present: TensorLike): TensorLike =>
    past ? append(floats(past), packed ? unpacked(present, kvHeads) : present) : present;
  const query = floats(inputs[0]);
  const unpack = packed && pastKey != null;
  const queries = query.shape[packed ? 1 : 2] ?? 0;
  const mode = Number(attributes["qk_matmul_output_mode"] ?? 0);
  const window = [Number(attributes["left_window_size"] ?? -1), Number(attributes["right_window_size"] ?? -1)] as const;
  const lengths = valid && ints(valid);
  return {
    name: one.name,
    query: asGiven(unpack ? unpacked(query, heads) : query),
    key: asGiven(joined(pastKey, floats(inputs[1]))),
    value: asGiven(joined(pastValue, floats(inputs[2]))),
    options: {
      ...(attributes["scale"] === undefined ? {} : { scale: Number(attributes["scale"]) }),
      ...(Number(attributes["softcap"] ?? 0) === 0 ? {} : { softcap: Number(attributes["softcap"]) }),
      ...(attributes["is_causal"] === 1 ? { causal: true } : {}),
      // ONNX counts positions from the past, from the valid keys, or from 0.
      qOffset: lengths ? lengths.map((length) => length - queries) : (pastKey?.shape[2] ?? 0),
      window,
      ...(lengths ? { kvLengths: lengths } : {}),
      ...(packed && !unpack ? { layout: "packed" as const, heads, kvHeads } : {}),
      ...(mask?.dtype === "bool" ? { mask: bools(mask) } : {}),
      ...(mask?.dtype.startsWith("float") ? { bias: floats(mask) } : {}),
    },
    stage: outputs[3] && mode < 3 ? (STAGES[mode] ?? null) : null,
    output: unpack ? unpacked(floats(outputs[0]), heads) : floats(outputs[0]),
    weights: outputs[3] && mode === 3 ? floats(outputs[3]) : null,
    scores: outputs[3] && mode < 3 ? floats(outputs[3]) : null,
  };
}

/** [B, L, H*D] as [B, H, L, D]. */
function unpacked({ data, shape }: TensorLike, heads: number): TensorLike {
  const [batch = 0, length = 0, width = 0] = shape;
  const dim = width / heads;
  const result = new Float32Array(data.length);
  for (let b = 0; b < batch; b++) {
    for (let l = 0; l < length; l++) {
      for (let h = 0; h < heads; h++) {
        const from = ((b * length + l) * heads + h) * dim;
        result.set(data.subarray(from, from + dim), ((b * heads + h) * length + l) * dim);
      }
    }
  }
  return { data: result, shape: [batch, heads, length, dim] };
}

/** [B, H, P, D] and [B, H, L, D] one after the other: [B, H, P + L, D]. */
function append(past: TensorLike, present: TensorLike): TensorLike {
  const [batch = 0, heads = 0, before = 0, dim = 0] = past.shape;
  const after = present.shape[2] ?? 0;
  const result = new Float32Array(past.data.length + present.data.length);
  for (let group = 0; group < batch * heads; group++) {
    const start = group * (before + after) * dim;
    result.set(past.data.subarray(group * before * dim, (group + 1) * before * dim), start);
    result.set(present.data.subarray(group * after * dim, (group + 1) * after * dim), start + before * dim);
  }
  return { data: result, shape: [batch, heads, before + after, dim] };
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
