// The number formats of safetensors files: their sizes, and the arrays that they are read into.

import { fromBf16, toBf16 } from "../../base/bf16.js";
import { fromF16, toF16 } from "../../base/f16.js";

/** A tensor's numbers as `loadSafetensors` returns them. */
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

/** The types of numbers in files. */
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
  /** The format's name in files. */
  readonly name: string;
  readonly dtype: FileDType;
  readonly bytes: number;
  /** A view of the numbers. */
  view(bytes: Bytes): FileArray;
  /** The numbers converted to f32, for formats that are read so. */
  floats?(bytes: Bytes): Float32Array<ArrayBuffer>;
  /** Rounds f32 to this format, ties to even, for formats in which f32 can be saved. */
  round?(floats: Float32Array): Uint16Array<ArrayBuffer>;
}

type Bytes = Uint8Array<ArrayBuffer>;

const viewAs =
  <T>(Kind: { new (buffer: ArrayBuffer, at: number, length: number): T; readonly BYTES_PER_ELEMENT: number }) =>
  ({ buffer, byteOffset, byteLength }: Bytes): T =>
    new Kind(buffer, byteOffset, byteLength / Kind.BYTES_PER_ELEMENT);
const bits = viewAs(Uint16Array<ArrayBuffer>);
const doubles = viewAs(Float64Array<ArrayBuffer>);
const bytes = viewAs(Uint8Array<ArrayBuffer>);

/** In the order of tensors in a file, which is that of the Rust library: wide formats first, so that all are aligned. */
const ALL: readonly Format[] = [
  { name: "U64", dtype: "u64", bytes: 8, view: viewAs(BigUint64Array<ArrayBuffer>) },
  { name: "I64", dtype: "i64", bytes: 8, view: viewAs(BigInt64Array<ArrayBuffer>) },
  {
    name: "F64",
    dtype: "f64",
    bytes: 8,
    view: doubles,
    floats: (b) => Float32Array.from(doubles(b)),
  },
  { name: "F32", dtype: "f32", bytes: 4, view: viewAs(Float32Array<ArrayBuffer>) },
  { name: "U32", dtype: "u32", bytes: 4, view: viewAs(Uint32Array<ArrayBuffer>) },
  { name: "I32", dtype: "i32", bytes: 4, view: viewAs(Int32Array<ArrayBuffer>) },
  {
    name: "BF16",
    dtype: "bf16",
    bytes: 2,
    view: bits,
    floats: (b) => fromBf16(bits(b)),
    round: toBf16,
  },
  { name: "F16", dtype: "f16", bytes: 2, view: bits, floats: (b) => fromF16(bits(b)), round: toF16 },
  { name: "U16", dtype: "u16", bytes: 2, view: bits },
  { name: "I16", dtype: "i16", bytes: 2, view: viewAs(Int16Array<ArrayBuffer>) },
  { name: "I8", dtype: "i8", bytes: 1, view: viewAs(Int8Array<ArrayBuffer>) },
  { name: "U8", dtype: "u8", bytes: 1, view: bytes },
  { name: "BOOL", dtype: "bool", bytes: 1, view: bytes },
];

export const FORMATS: ReadonlyMap<string, Format> = new Map(ALL.map((format) => [format.name, format]));
