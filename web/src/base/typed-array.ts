// What a typed array is by its internal slots, because subclasses and own properties can lie about length, buffer and name.

import { fromF16 } from "./f16.js";

const PROTOTYPE: object = Object.getPrototypeOf(Uint8Array.prototype);
const tag = getter(Symbol.toStringTag);
const length = getter("length");
const byteOffset = getter("byteOffset");
const buffer = getter("buffer");

/** The name of a typed array's class, of any realm; undefined for anything else. */
export function typedArrayName(value: unknown): string | undefined {
  return tag(value) as string | undefined;
}

export function isFloat32Array(value: unknown): value is Float32Array {
  return typedArrayName(value) === "Float32Array";
}

/** The members of Float16Array that heed uses. Many compilers' libraries do not declare the class yet. */
export interface HalfArray {
  readonly [Symbol.toStringTag]: "Float16Array";
  readonly BYTES_PER_ELEMENT: number;
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly length: number;
}

export function isFloat16Array(value: unknown): value is HalfArray {
  return typedArrayName(value) === "Float16Array";
}

export function isUint16Array(value: unknown): value is Uint16Array {
  return typedArrayName(value) === "Uint16Array";
}

export function isUint8Array(value: unknown): value is Uint8Array {
  return typedArrayName(value) === "Uint8Array";
}

/** The number of elements; 0 when the buffer was transferred away. */
export function lengthOf(array: Float32Array | HalfArray | Uint16Array | Uint8Array): number {
  return length(array) as number;
}

/** A view of the same elements by this realm's own class, whose properties nobody has changed. */
export function plainF32(array: Float32Array): Float32Array {
  const size = lengthOf(array);
  // A buffer that was transferred away has no views, not even empty ones.
  if (size === 0) return new Float32Array(0);
  return new Float32Array(buffer(array) as ArrayBuffer, byteOffset(array) as number, size);
}

/** A view of the bits of f16 numbers. */
export function plainF16(array: HalfArray | Uint16Array): Uint16Array {
  const size = lengthOf(array);
  if (size === 0) return new Uint16Array(0);
  return new Uint16Array(buffer(array) as ArrayBuffer, byteOffset(array) as number, size);
}

/** A copy of f16 numbers, of the same class. */
export function copyF16(array: HalfArray | Uint16Array): HalfArray | Uint16Array {
  const bits = plainF16(array).slice();
  const { Float16Array } = globalThis as { readonly Float16Array?: new (buffer: ArrayBuffer) => HalfArray };
  return isFloat16Array(array) && Float16Array !== undefined ? new Float16Array(bits.buffer) : bits;
}

export function plainBytes(array: Uint8Array): Uint8Array {
  const size = lengthOf(array);
  if (size === 0) return new Uint8Array(0);
  return new Uint8Array(buffer(array) as ArrayBuffer, byteOffset(array) as number, size);
}

/** heed's name of a type that may be named as in NumPy and onnxruntime: "float16" is "f16". */
export function plainDType(given: unknown): unknown {
  return typeof given === "string" ? given.replace("float", "f") : given;
}

/** The most elements of a list whose length nothing else bounds. */
export const MOST_LISTED = 2 ** 26;

/** A copy of an array or a typed array; null for anything else. Its length is held against `most` before it is read, and what is not `good` ends the reading. */
export function listOf<T = unknown>(
  given: unknown,
  most = MOST_LISTED,
  good: (element: unknown) => boolean = (element) => element !== undefined,
): readonly T[] | null {
  if (!Array.isArray(given) && !isTypedArray(given)) return null;
  const { length } = given;
  if (length > most) return null;
  const list: T[] = [];
  for (let at = 0; at < length; at++) {
    const element: unknown = given[at];
    if (!good(element)) return null;
    list.push(element as T);
  }
  return list;
}

/** The numbers of an array, a typed array or a tensor's data, if there are at most so many; null for anything else. */
export function numbersOf(given: unknown, most = MOST_LISTED): readonly number[] | null {
  if (typeof given === "object" && given !== null && "data" in given) {
    const { data } = given;
    const isF16 = isUint16Array(data) && "dtype" in given && plainDType(given.dtype) === "f16";
    return numbersOf(isF16 ? fromF16(plainF16(data)) : data, most);
  }
  return listOf<number>(given, most, (number) => typeof number === "number");
}

export function isTypedArray(value: unknown): value is ArrayLike<unknown> & ArrayBufferView {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** A getter of %TypedArray%.prototype, which reads an internal slot. */
function getter(name: PropertyKey): (value: unknown) => unknown {
  const get = Object.getOwnPropertyDescriptor(PROTOTYPE, name)?.get;
  return (value) => get?.call(value);
}
