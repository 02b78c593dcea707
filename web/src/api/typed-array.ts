// What a typed array is by its internals: subclasses and own properties can say anything of length, buffer and name.

import { fromF16 } from "./f16.js";

const PROTOTYPE: object = Object.getPrototypeOf(Uint8Array.prototype);
const tag = getter(Symbol.toStringTag);
const length = getter("length");
const byteOffset = getter("byteOffset");
const buffer = getter("buffer");

/** `Float32Array` and the like, of any realm; undefined for anything else. */
export function typedArrayName(value: unknown): string | undefined {
  return tag(value) as string | undefined;
}

export function isFloat32Array(value: unknown): value is Float32Array {
  return typedArrayName(value) === "Float32Array";
}

/** A Float16Array as far as heed reads one: the class is newer than many compilers' libraries. */
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

/** Its elements; 0 when its buffer was transferred away. */
export function lengthOf(array: Float32Array | HalfArray | Uint16Array | Uint8Array): number {
  return length(array) as number;
}

/** The same elements as an array of this realm's own class, which nobody has tampered with. */
export function plainF32(array: Float32Array): Float32Array {
  const size = lengthOf(array);
  // A buffer that was transferred away takes no view, not even an empty one.
  if (size === 0) return new Float32Array(0);
  return new Float32Array(buffer(array) as ArrayBuffer, byteOffset(array) as number, size);
}

/** The bits of halves, where they lie. */
export function plainF16(array: HalfArray | Uint16Array): Uint16Array {
  const size = lengthOf(array);
  if (size === 0) return new Uint16Array(0);
  return new Uint16Array(buffer(array) as ArrayBuffer, byteOffset(array) as number, size);
}

/** A copy of halves that is of the class that they are. */
export function copyF16(array: HalfArray | Uint16Array): HalfArray | Uint16Array {
  const bits = plainF16(array).slice();
  const { Float16Array: Halves } = globalThis as { readonly Float16Array?: new (buffer: ArrayBuffer) => HalfArray };
  return isFloat16Array(array) && Halves !== undefined ? new Halves(bits.buffer) : bits;
}

export function plainBytes(array: Uint8Array): Uint8Array {
  const size = lengthOf(array);
  if (size === 0) return new Uint8Array(0);
  return new Uint8Array(buffer(array) as ArrayBuffer, byteOffset(array) as number, size);
}

/** A precision as heed names it, of one that may be named as NumPy and onnxruntime do: "float16" is "f16". */
export function plainDType(given: unknown): unknown {
  return typeof given === "string" ? given.replace("float", "f") : given;
}

/** The numbers of an array, a typed array or a tensor's data; null for anything else. */
export function numbersOf(given: unknown): readonly number[] | null {
  if (typeof given === "object" && given !== null && "data" in given) {
    const { data } = given;
    return numbersOf(
      isUint16Array(data) && "dtype" in given && plainDType(given.dtype) === "f16" ? fromF16(plainF16(data)) : data,
    );
  }
  if (!Array.isArray(given) && !isTypedArray(given)) return null;
  const numbers = [...given];
  return numbers.every((number) => typeof number === "number") ? numbers : null;
}

export function isTypedArray(value: unknown): value is Iterable<unknown> & ArrayBufferView {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** An intrinsic getter of %TypedArray%.prototype: for typed arrays the language fixes what each returns. */
function getter(name: PropertyKey): (value: unknown) => unknown {
  const get = Object.getOwnPropertyDescriptor(PROTOTYPE, name)?.get;
  return (value) => get?.call(value);
}
