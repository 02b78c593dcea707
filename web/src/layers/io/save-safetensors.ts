// Saves tensors as a safetensors file, byte for byte as the format's own library writes it.

import { MOST_AXES } from "../../api/operands.js";
import { showClass, showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard } from "../../base/guard.js";
import { isOptions, isRecord } from "../../base/read-values.js";
import { isFloat32Array, isTypedArray, listOf, plainDType, plainF32, typedArrayName } from "../../base/typed-array.js";
import { type FileArray, type FileDType, FORMATS, type Format } from "./dtypes.js";
import { METADATA, readMetadata } from "./safetensors-header.js";

/** A tensor for `saveSafetensors`. */
export interface TensorToSave {
  readonly data: FileArray | ArrayBufferView;
  readonly shape: readonly number[];
  /**
   * The type, where `data` has several: a Uint16Array "u16" (default), "f16" or "bf16", a Uint8Array "u8" (default) or "bool". A
   * Float32Array is rounded to "f16" or "bf16".
   */
  readonly dtype?: FileDType | "float16" | "float32" | "float64" | undefined;
}

interface Written {
  readonly name: string;
  readonly format: Format;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** The types that an array may have, the default first. */
const DTYPES: Readonly<Record<string, readonly FileDType[]>> = {
  Float64Array: ["f64"],
  Float32Array: ["f32", "f16", "bf16"],
  Float16Array: ["f16"],
  Int8Array: ["i8"],
  Uint8Array: ["u8", "bool"],
  Int16Array: ["i16"],
  Uint16Array: ["u16", "f16", "bf16"],
  Int32Array: ["i32"],
  Uint32Array: ["u32"],
  BigInt64Array: ["i64"],
  BigUint64Array: ["u64"],
};

const ORDER = [...FORMATS.values()];

/** Returns the bytes of the file. `metadata` are texts by name. Throws a HeedError. */
export function saveSafetensors(
  tensors: ReadonlyMap<string, TensorToSave> | Readonly<Record<string, TensorToSave>>,
  metadata?: Readonly<Record<string, string>> | ReadonlyMap<string, string>,
): Uint8Array<ArrayBuffer> {
  return guard("option", "saveSafetensors", () => {
    const written = [...entriesOf("tensors", tensors)].map(([name, tensor]) => readTensor(name, tensor));
    const orderOf = ({ format }: Written): number => ORDER.indexOf(format);
    written.sort((a, b) => orderOf(a) - orderOf(b) || (a.name < b.name ? -1 : 1));
    const header = new TextEncoder().encode(headerOf(written, metadata));
    const size = written.reduce((total, { bytes }) => total + bytes.length, 0);
    // Data starts at a multiple of 8, so that views of the widest formats are aligned.
    const start = 8 + 8 * Math.ceil(header.length / 8);
    const file = new Uint8Array(start + size).fill(0x20, 8, start);
    new DataView(file.buffer).setBigUint64(0, BigInt(start - 8), true);
    file.set(header, 8);
    let at = start;
    for (const { bytes } of written) {
      file.set(bytes, at);
      at += bytes.length;
    }
    return file;
  });
}

/** Written by hand, because an object would sort names that look like numbers. */
function headerOf(written: readonly Written[], metadata: unknown): string {
  const parts: string[] = [];
  if (metadata !== undefined) {
    const texts = readMetadata("saveSafetensors", isMap(metadata) ? Object.fromEntries(metadata) : metadata);
    const pairs = [...texts].map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`);
    parts.push(`"${METADATA}":{${pairs.join(",")}}`);
  }
  let start = 0;
  for (const { name, format, shape, bytes } of written) {
    const entry = { dtype: format.name, shape, data_offsets: [start, start + bytes.length] };
    parts.push(`${JSON.stringify(name)}:${JSON.stringify(entry)}`);
    start += bytes.length;
  }
  return `{${parts.join(",")}}`;
}

function readTensor(name: unknown, tensor: unknown): Written {
  const what = `saveSafetensors: tensor ${showValue(name)}`;
  if (typeof name !== "string" || name === METADATA) {
    throw new HeedError("option", `${what}: a name must be a string, and not ${showValue(METADATA)}`);
  }
  const { data, shape, dtype } = isRecord(tensor) ? tensor : { data: tensor };
  const choices = DTYPES[typedArrayName(data) ?? ""];
  if (choices === undefined || !isTypedArray(data)) {
    const got = isRecord(data) ? showClass(data) : showValue(data);
    throw new HeedError("dtype", `${what}: data must be a typed array of numbers, got ${got}`);
  }
  const chosen = choices.find((one) => one === (plainDType(dtype) ?? choices[0]));
  const format = ORDER.find((one) => one.dtype === chosen);
  if (format === undefined) {
    throw new HeedError(
      "dtype",
      `${what}: ${showClass(data)} holds ${choices.join(", ")}, got dtype ${showValue(dtype)}`,
    );
  }
  const { buffer, byteOffset, byteLength } = format.round && isFloat32Array(data) ? format.round(plainF32(data)) : data;
  const sizes = listOf<number>(shape, MOST_AXES, (size) => Number.isSafeInteger(size) && Number(size) >= 0);
  if (sizes === null || sizes.reduce((total, size) => total * size, format.bytes) !== byteLength) {
    const given = Array.isArray(shape) ? showShape(shape) : showValue(shape);
    throw new HeedError("shape", `${what}: shape must be that of ${byteLength / format.bytes} numbers, got ${given}`);
  }
  return { name, format, shape: sizes, bytes: new Uint8Array(buffer, byteOffset, byteLength) };
}

/** A Map of any realm. */
export const isMap = (value: unknown): value is ReadonlyMap<unknown, unknown> =>
  Object.prototype.toString.call(value) === "[object Map]";

function entriesOf(what: string, value: unknown): Iterable<[unknown, unknown]> {
  if (isMap(value)) return value.entries();
  if (isOptions(value)) return Object.entries(value);
  throw new HeedError("option", `saveSafetensors: ${what} must be a Map or an object, got ${showValue(value)}`);
}
