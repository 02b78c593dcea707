// Tensors of a GGUF file in memory: as stored, requantized, or dequantized.

import { showValue } from "../../base/describe.js";
import { INT8 } from "../formats/int8.js";
import { assertFit, bytesOf, type ParameterTensor, type StoredTensor } from "../formats/stored.js";
import { FORMATS } from "../formats/table.js";
import type { GgufEntry } from "./header.js";
import type { TensorType } from "./tensor-types.js";

/** A tensor of a GGUF file, as its bytes are stored there, in its own memory. */
export interface GgufTensor extends StoredTensor {
  readonly data: Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
  /** What the tensor was in the file, "Q5_K" for example, where it was quantized again to int8. */
  readonly requantizedFrom?: string;
}

/** Makes a tensor of its bytes, or of those of some rows. */
export type TensorReading<Tensor> = (where: string, entry: GgufEntry, bytes: Uint8Array<ArrayBuffer>) => Tensor;

/** The blocks that are quantized again at a time, so that not all of a tensor's numbers are in memory. */
const PIECE = 2 ** 12;

export function stored(where: string, { name, type, shape }: GgufEntry, bytes: Uint8Array<ArrayBuffer>): GgufTensor {
  const { format } = type;
  if (format !== null) return { data: FORMATS[format].array(bytes), shape, format };
  const data = requantized(`${where}: tensor ${showValue(name)}`, type, bytes);
  return { data, shape, format: "int8", requantizedFrom: type.name };
}

export function dequantized(_: string, { type, shape }: GgufEntry, bytes: Uint8Array<ArrayBuffer>): ParameterTensor {
  return { data: type.dequantize(bytes), shape };
}

function requantized(what: string, type: TensorType, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const blocks = bytes.length / type.bytes;
  const data = new Uint8Array(bytesOf("int8", blocks * type.numbers));
  for (let block = 0; block < blocks; block += PIECE) {
    const floats = type.dequantize(bytes.subarray(block * type.bytes, (block + PIECE) * type.bytes));
    assertFit(what, floats, "int8", "load");
    data.set(INT8.rounding.quantize(floats), bytesOf("int8", block * type.numbers));
  }
  return data;
}
