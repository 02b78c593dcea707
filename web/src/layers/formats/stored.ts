// Tensors as they are stored: numbers in a format, row after row.

import { showShape } from "../../base/describe.js";
import { HeedError, type HeedErrorCode } from "../../base/errors.js";
import { bytesIn } from "../../memory/heap-view.js";
import type { WeightFormat } from "./format.js";
import { FORMATS } from "./table.js";

/** The numbers of a tensor in f32, row-major, and its shape. */
export interface ParameterTensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** A tensor in a format of weights. */
export interface StoredTensor {
  /** Floats for "f32", the bits of "f16" and "bf16", and the blocks of the other formats. */
  readonly data: Float32Array | Uint16Array | Uint8Array;
  readonly shape: readonly number[];
  /** Of GGML's names: "int8" is Q8_0, "int4" Q4_0, "int4-min" Q4_1, "q4-k" Q4_K. */
  readonly format: WeightFormat;
}

/** Either of them. */
export type AnyTensor = ParameterTensor | StoredTensor;

export const formatOf = (tensor: AnyTensor): WeightFormat => ("format" in tensor ? tensor.format : "f32");

/** Whether rows of so many numbers can have a format. */
export function fits(format: WeightFormat, inputs: number): boolean {
  return inputs > 0 && inputs % FORMATS[format].numbers === 0;
}

/** The bytes of so many numbers. */
export function bytesOf(format: WeightFormat, numbers: number): number {
  const { numbers: each, bytes } = FORMATS[format];
  return (numbers / each) * bytes;
}

/** The numbers of a tensor in f32, which is not copied where it is that already. */
export function floatsOf(tensor: AnyTensor): ParameterTensor {
  const { data, shape } = tensor;
  if (data instanceof Float32Array) return { data, shape };
  return { data: FORMATS[formatOf(tensor)].dequantize(bytesIn(data)), shape };
}

/** Rows of a tensor, along its first axis, of which nothing is copied. */
export function rowsOf<T extends AnyTensor>(tensor: T, from: number, to: number): T {
  const { data, shape } = tensor;
  const [rows = 1, ...rest] = shape;
  const width = data.length / rows;
  return { ...tensor, data: data.subarray(from * width, to * width), shape: [to - from, ...rest] };
}

/** The transpose, for the matrices of GPT-2 and Keras, which are [in, out]. What lies in blocks becomes f32. */
export function transposed(tensor: AnyTensor): AnyTensor {
  const { data, shape } = tensor.data instanceof Uint8Array ? floatsOf(tensor) : tensor;
  const [rows = 0, columns = 0] = shape;
  const swapped = data instanceof Uint16Array ? new Uint16Array(data.length) : new Float32Array(data.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) swapped[j * rows + i] = data[i * columns + j] ?? 0;
  if (swapped instanceof Float32Array) return { data: swapped, shape: [columns, rows] };
  return { data: swapped, shape: [columns, rows], format: formatOf(tensor) };
}

/** Whether two tensors have the same numbers in the same format. */
export function areEqual(a: AnyTensor, b: AnyTensor): boolean {
  if (formatOf(a) !== formatOf(b) || a.data.length !== b.data.length) return false;
  return a.data.every((number: number, at: number) => number === b.data[at]);
}

/** The tensor in another format. Throws where its rows, or its numbers, cannot have it. */
export function stored(where: string, tensor: AnyTensor, format: WeightFormat): StoredTensor {
  const { data, shape } = tensor;
  if (formatOf(tensor) === format) return { data, shape, format };
  const { array, rounding, numbers } = FORMATS[format];
  if (!fits(format, shape.at(-1) ?? 1)) {
    const rule = `a tensor must have rows with a multiple of ${numbers} numbers to become ${format}`;
    throw new HeedError("shape", `${where}: ${rule}, got ${showShape(shape)}`);
  }
  const { data: floats } = floatsOf(tensor);
  if (rounding === undefined) return { data: floats, shape, format: "f32" };
  assertFit(where, floats, format);
  return { data: array(rounding.quantize(floats)), shape, format };
}

/** Throws where a number cannot have a format. */
export function assertFit(
  where: string,
  floats: Float32Array,
  format: WeightFormat,
  code: HeedErrorCode = "option",
): void {
  const { rounding } = FORMATS[format];
  if (rounding === undefined) return;
  const { limit, isOpen } = rounding;
  // A closure for each number would take longer than to round it.
  let at = 0;
  while (at < floats.length && doesFit(floats[at] ?? 0, limit, isOpen)) at++;
  if (at === floats.length) return;
  const rule = `numbers must be ${isOpen ? "" : "finite and "}below ${limit} to become ${format}`;
  throw new HeedError(code, `${where}: ${rule}, number ${at} is ${floats[at]}`);
}

const doesFit = (number: number, limit: number, isOpen: boolean): boolean =>
  Math.abs(number) < limit || (isOpen && !Number.isFinite(number));
