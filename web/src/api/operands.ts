// Reads one tensor, mask or bias of the caller: a source of numbers with a checked shape, or a HeedError.

import type { Backend, Operand, OutputView, Source } from "../backends/backend.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { fromF16, toF16 } from "../base/f16.js";
import { isRecord } from "../base/read-values.js";
import {
  isFloat16Array,
  isFloat32Array,
  isUint8Array,
  isUint16Array,
  lengthOf,
  listOf,
  plainBytes,
  plainDType,
  plainF16,
  plainF32,
} from "../base/typed-array.js";
import { MAX_BLOCK_BYTES } from "../memory/arena.js";
import type { GivenTensors } from "./inputs.js";
import type { View } from "./layout.js";
import { Tensor } from "./tensor.js";

/** Sizes and strides cross into C++ as signed 32-bit numbers. */
export const MAX_ELEMENTS = 2 ** 31 - 1;

/** The most f32 numbers that an allocation of the engine can hold. */
const MAX_FLOATS = MAX_BLOCK_BYTES / 4;

export interface ReadTensor {
  readonly source: Source;
  readonly dtype: Operand["dtype"];
  readonly shape: readonly number[];
  readonly elements: number;
}

export function operandOf({ source, dtype, elements }: ReadTensor, { shape, strides }: View): Operand {
  return { source, dtype, elements, shape, strides };
}

/** Makes the view of a result. Throws where the result would be too large to address. */
export function roomFor(where: string, name: string, view: View): OutputView {
  const elements = product(view.shape);
  if (elements <= MAX_ELEMENTS) return { elements, ...view };
  throw new HeedError(
    "memory",
    `${where}: ${name} ${showShape(view.shape)} would have ${elements} elements, heed can address ${MAX_ELEMENTS}`,
  );
}

/** Reads a `{ data, shape }` or a tensor of this backend; without a backend every tensor is refused. `name` is its name in messages. */
export function readTensor(where: string, name: string, value: unknown, backend: Backend | null): ReadTensor {
  if (Tensor.is(value)) {
    const resident = Tensor.residentOf(value, backend, `${where}: ${name}`);
    const { elements, dtype } = resident;
    return { source: { kind: "resident", resident }, dtype, shape: value.shape, elements };
  }
  const { data, shape, dtype } = readFields(where, name, value);
  return withArray(where, name, readNumbers(where, name, data, dtype), readShape(where, name, shape));
}

export interface ReadTensors {
  readonly query: ReadTensor;
  readonly key: ReadTensor;
  readonly value: ReadTensor;
}

export function readTensors(where: string, { query, key, value }: GivenTensors, backend: Backend | null): ReadTensors {
  return {
    query: readTensor(where, "query", query, backend),
    key: readTensor(where, "key", key, backend),
    value: readTensor(where, "value", value, backend),
  };
}

/** Reads the data and the shape of a new tensor. `numbers` rounds f32 to f16 where that is asked for. */
export function readTensorData(
  where: string,
  data: unknown,
  shape: unknown,
  dtype: unknown,
): { readonly numbers: () => Float32Array | Uint16Array; readonly sizes: readonly number[] } {
  const isRounded = plainDType(dtype) === "f16" && isFloat32Array(data);
  const array = readNumbers(where, "data", data, isRounded ? "f32" : dtype);
  const read = withArray(where, "data", array, readShape(where, "data", shape));
  const numbers = (): Float32Array | Uint16Array => (isRounded && array instanceof Float32Array ? toF16(array) : array);
  return { numbers, sizes: read.shape };
}

/** Reads a tensor as f32. An f16 array is widened. */
export function readF32(where: string, name: string, value: unknown, backend: Backend | null): ReadTensor {
  const read = readTensor(where, name, value, backend);
  const { source, dtype } = read;
  if (dtype === "f32") return read;
  if (source.kind === "array" && source.array instanceof Uint16Array) {
    return { ...read, source: { kind: "array", array: fromF16(source.array) }, dtype: "f32" };
  }
  throw new HeedError("dtype", `${where}: ${name} must be f32, got f16`);
}

/** Reads an f32 array, or the bits of an f16 array. */
export function readNumbers(where: string, name: string, data: unknown, given: unknown): Float32Array | Uint16Array {
  const dtype = plainDType(given);
  if (dtype !== undefined && dtype !== "f32" && dtype !== "f16") {
    throw new HeedError("dtype", `${where}: ${name}.dtype must be "f32" or "f16", got ${showValue(given)}`);
  }
  if (isFloat32Array(data) && dtype !== "f16") return plainF32(data);
  if (isFloat16Array(data) && dtype !== "f32") return plainF16(data);
  if (isUint16Array(data) && dtype === "f16") return plainF16(data);
  const wanted = dtype === "f16" ? 'a Float16Array, or a Uint16Array with dtype "f16"' : "a Float32Array";
  throw new HeedError(
    "dtype",
    `${where}: ${name}.data must be ${wanted}, got ${showValue(data)}${hintFor(name, data)}`,
  );
}

function hintFor(name: string, data: unknown): string {
  if (name === "bias" && isUint8Array(data)) return "; what selects keys is a mask";
  return isUint16Array(data) || isFloat16Array(data) ? '; f16 numbers need dtype "f16"' : "";
}

/** Reads a `{ data, shape }` of bytes or booleans. Throws where a byte is neither 0 nor 1. */
export function readMask(where: string, name: string, value: unknown): ReadTensor {
  const { data, shape } = readFields(where, name, value, "{ data, shape }, a Uint8Array or boolean[]");
  const sizes = readShape(where, name, shape);
  return withArray(where, name, readMaskData(where, name, data, sizes), sizes);
}

/** Gives bare values a shape: [L, S] or [B, H, L, S], by their number. */
export function withBareShape(where: string, name: string, value: unknown, target: readonly number[]): unknown {
  if (!ArrayBuffer.isView(value) && !Array.isArray(value)) return value;
  const length = isFloat32Array(value) || isUint8Array(value) ? lengthOf(value) : bareLength(value);
  const square = target.slice(2);
  if (length === product(square)) return { data: value, shape: square };
  if (length === product(target)) return { data: value, shape: target };
  throw new HeedError(
    "shape",
    `${where}: ${name} without a shape must hold ${showShape(square)} or ${showShape(target)} values, got ${length}; give it as { data, shape }`,
  );
}

function bareLength(value: object): number {
  return "length" in value && typeof value.length === "number" ? value.length : 0;
}

/** As many axes as PyTorch's tensors have at most. */
export const MOST_AXES = 64;

const isSize = (size: unknown): boolean =>
  typeof size === "number" && Number.isInteger(size) && size >= 0 && size <= MAX_ELEMENTS;

/** Throws unless heed can address an array of this shape. Returns a copy, because the caller may change its own. */
export function readShape(where: string, name: string, shape: unknown): readonly number[] {
  const sizes = Array.isArray(shape) ? listOf<number>(shape, MOST_AXES, isSize) : null;
  if (sizes === null) {
    throw new HeedError(
      "shape",
      `${where}: ${name}.shape must be an array of at most ${MOST_AXES} whole numbers from 0 to ${MAX_ELEMENTS}, got ${showValue(shape)}`,
    );
  }
  if (product(sizes) <= MAX_ELEMENTS) return sizes;
  throw new HeedError("shape", `${where}: ${name} must have at most ${MAX_ELEMENTS} elements, got ${showShape(sizes)}`);
}

/** Throws where an f32 array of these sizes could never fit into the engine. It is called before anything is allocated. */
export function checkRoom(where: string, name: string, sizes: readonly number[]): void {
  if (product(sizes) <= MAX_FLOATS) return;
  const rule = `must fit into the engine's memory, ${MAX_FLOATS} numbers`;
  throw new HeedError("memory", `${where}: ${name} ${rule}, got ${showShape(sizes)}`);
}

/** Exact up to 2^53. Larger products are rounded, but cannot wrap around. */
export function product(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total * size, 1);
}

function readFields(
  where: string,
  name: string,
  value: unknown,
  wanted = "{ data, shape } or a heed tensor",
): Readonly<Record<string, unknown>> {
  if (isRecord(value) && "data" in value && "shape" in value) return value;
  throw new HeedError("dtype", `${where}: ${name} must be ${wanted}, got ${showValue(value)}`);
}

function readMaskData(where: string, name: string, data: unknown, shape: readonly number[]): Uint8Array {
  if (Array.isArray(data)) return fromBooleans(where, name, data, checkCount(where, name, shape, data.length));
  if (!isUint8Array(data)) {
    const hint = isFloat32Array(data) ? "; numbers that are added to the scores are a bias" : "";
    throw new HeedError(
      "dtype",
      `${where}: ${name}.data must be a Uint8Array or boolean[], got ${showValue(data)}${hint}`,
    );
  }
  const bytes = plainBytes(data);
  if (!areBits(bytes)) {
    const value = bytes.find((byte) => byte > 1);
    throw new HeedError("option", `${where}: ${name} values must be 0 or 1 (1 = attend), got ${value}`);
  }
  return bytes;
}

/** Whether all bytes are 0 or 1. A mask of L x S is long, so where the alignment permits, four bytes are tested at a time. */
function areBits(bytes: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  const fours = byteOffset % 4 === 0 ? length >>> 2 : 0;
  let seen = 0;
  // Loops by index, because iterators take eight times as long.
  for (let i = fours * 4; i < length; i++) seen |= bytes[i] ?? 0;
  if (fours > 0) {
    const view = new Int32Array(buffer, byteOffset, fours);
    for (let i = 0; i < fours; i++) seen |= view[i] ?? 0;
  }
  return (seen & ~0x01010101) === 0;
}

function fromBooleans(where: string, name: string, data: readonly unknown[], count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  for (const [index, value] of data.entries()) {
    if (typeof value !== "boolean") {
      throw new HeedError("dtype", `${where}: ${name} values must be booleans, got ${showValue(value)} at ${index}`);
    }
    bytes[index] = value ? 1 : 0;
  }
  return bytes;
}

function withArray(
  where: string,
  name: string,
  array: Float32Array | Uint16Array | Uint8Array,
  shape: readonly number[],
): ReadTensor {
  // The buffer of a transferred array reads as empty, whatever it held.
  const detached = array.buffer.byteLength === 0 ? " (its buffer was transferred)" : "";
  const elements = checkCount(where, name, shape, array.length, detached);
  return { source: { kind: "array", array }, dtype: dtypeOf(array), shape, elements };
}

/** The number of elements of the shape. Throws unless the array has as many. */
function checkCount(where: string, name: string, shape: readonly number[], length: number, why = ""): number {
  const elements = product(shape);
  if (length === elements) return elements;
  throw new HeedError(
    "shape",
    `${where}: ${name} of shape ${showShape(shape)} must have ${elements} elements, got ${length}${why}`,
  );
}

function dtypeOf(array: Float32Array | Uint16Array | Uint8Array): Operand["dtype"] {
  if (array instanceof Uint16Array) return "f16";
  return array instanceof Float32Array ? "f32" : "bool";
}
