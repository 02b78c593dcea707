// The number formats of safetensors files: their sizes, and the arrays that they are read into.

import { fromF16, toF16 } from "../../api/f16.js";

/** A tensor's numbers as `loadSafetensors` hands them out. */
export type FileArray =
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>
  | BigUint64Array<ArrayBuffer>;

export type FileDType =
  | "f64"
  | "f32"
  | "f16"
  | "bf16"
  | "i64"
  | "u64"
  | "i32"
  | "u32"
  | "i16"
  | "u16"
  | "i8"
  | "u8"
  | "bool";

export interface Format {
  /** As files spell it. */
  readonly name: string;
  readonly dtype: FileDType;
  readonly bytes: number;
  /** The numbers as they lie. */
  view(buffer: ArrayBuffer): FileArray;
  /** The same numbers in f32, for formats that are read so. */
  floats?(buffer: ArrayBuffer): Float32Array<ArrayBuffer>;
  /** The nearest of these numbers, the even one of two, for formats that f32 can be written in. */
  round?(floats: Float32Array): Uint16Array<ArrayBuffer>;
}

const bits = (buffer: ArrayBuffer): Uint16Array<ArrayBuffer> => new Uint16Array(buffer);
const bytes = (buffer: ArrayBuffer): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);

/** In the order in which tensors lie in a file, that of the Rust library: wide formats first, so that all are aligned. */
const ALL: readonly Format[] = [
  { name: "U64", dtype: "u64", bytes: 8, view: (b) => new BigUint64Array(b) },
  { name: "I64", dtype: "i64", bytes: 8, view: (b) => new BigInt64Array(b) },
  {
    name: "F64",
    dtype: "f64",
    bytes: 8,
    view: (b) => new Float64Array(b),
    floats: (b) => Float32Array.from(new Float64Array(b)),
  },
  { name: "F32", dtype: "f32", bytes: 4, view: (b) => new Float32Array(b) },
  { name: "U32", dtype: "u32", bytes: 4, view: (b) => new Uint32Array(b) },
  { name: "I32", dtype: "i32", bytes: 4, view: (b) => new Int32Array(b) },
  {
    name: "BF16",
    dtype: "bf16",
    bytes: 2,
    view: bits,
    floats: (b) => widenBf16(bits(b)),
    round: roundToBf16,
  },
  { name: "F16", dtype: "f16", bytes: 2, view: bits, floats: (b) => fromF16(bits(b)), round: toF16 },
  { name: "U16", dtype: "u16", bytes: 2, view: bits },
  { name: "I16", dtype: "i16", bytes: 2, view: (b) => new Int16Array(b) },
  { name: "I8", dtype: "i8", bytes: 1, view: (b) => new Int8Array(b) },
  { name: "U8", dtype: "u8", bytes: 1, view: bytes },
  { name: "BOOL", dtype: "bool", bytes: 1, view: bytes },
];

export const FORMATS: ReadonlyMap<string, Format> = new Map(ALL.map((format) => [format.name, format]));

/** bfloat16 is the upper half of a float. */
function widenBf16(bits: Uint16Array): Float32Array<ArrayBuffer> {
  const words = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) words[i] = (bits[i] ?? 0) << 16;
  return new Float32Array(words.buffer);
}

/** A carry out of the fraction into the exponent is right, up to infinity; a NaN stays one whatever bits it loses. */
function roundToBf16(floats: Float32Array): Uint16Array<ArrayBuffer> {
  const words = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  const rounded = new Uint16Array(words.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    const isNumber = (word & 0x7fffffff) <= 0x7f800000;
    rounded[i] = isNumber ? (word + 0x7fff + ((word >>> 16) & 1)) >>> 16 : (word >>> 16) | 0x40;
  }
  return rounded;
}
