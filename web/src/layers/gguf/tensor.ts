// Tensors of a GGUF file in memory: as stored, requantized, or dequantized.

import { showValue } from "../../base/describe.js";
import type { ParameterTensor } from "../parameters.js";
import { quantizeQ8_0 } from "./blocks/q8-0.js";
import type { GgufEntry } from "./header.js";
import type { TensorType, WeightFormat } from "./tensor-types.js";

/** A tensor of a GGUF file, as its bytes are stored there, in its own memory. */
export interface GgufTensor {
  /** Floats for "f32", the bits of "f16" and "bf16", and the blocks of the other formats. */
  readonly data: Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
  readonly shape: readonly number[];
  /** Of GGML's names: "int8" is Q8_0, "int4" Q4_0, "int4-min" Q4_1, "q4-k" Q4_K. */
  readonly format: WeightFormat;
  /** What the tensor was in the file, "Q5_K" for example, where it was quantized again to int8. */
  readonly requantizedFrom?: string;
}

/** The blocks that are quantized again at a time, so that not all of a tensor's numbers are in memory. */
const PIECE = 2 ** 12;

export function stored(where: string, { name, type, shape }: GgufEntry, bytes: Uint8Array<ArrayBuffer>): GgufTensor {
  const { format } = type;
  if (format === null) {
    const data = requantized(`${where}: tensor ${showValue(name)}`, type, bytes);
    return { data, shape, format: "int8", requantizedFrom: type.name };
  }
  if (format === "f32") return { data: new Float32Array(bytes.buffer), shape, format };
  if (format === "f16" || format === "bf16") return { data: new Uint16Array(bytes.buffer), shape, format };
  return { data: bytes, shape, format };
}

export function dequantized(_: string, { type, shape }: GgufEntry, bytes: Uint8Array<ArrayBuffer>): ParameterTensor {
  return { data: type.dequantize(bytes), shape };
}

function requantized(what: string, type: TensorType, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const ratio = (type.numbers / 32) * 34;
  const data = new Uint8Array((bytes.length / type.bytes) * ratio);
  const step = PIECE * type.bytes;
  for (let at = 0; at < bytes.length; at += step) {
    data.set(quantizeQ8_0(what, type.dequantize(bytes.subarray(at, at + step))), (at / type.bytes) * ratio);
  }
  return data;
}
