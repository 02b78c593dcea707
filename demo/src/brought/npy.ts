// Arrays as NumPy saves them. What a header says is believed only after it was held against the bytes that are there.

import { countOf, type NamedArray, refuse } from "./arrays.js";

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const HEADER = /^\{.*\}\s*$/s;
const DESCR = /'descr'\s*:\s*'([<>|=])([a-z])(\d{1,2})'/;
const ORDER = /'fortran_order'\s*:\s*(True|False)/;
const SHAPE = /'shape'\s*:\s*\(([\d\s,]*)\)/;

type Reader = (view: DataView, at: number, little: boolean) => number;

const READERS: Readonly<Record<string, Reader>> = {
  f2: (view, at, little) => fromHalf(view.getUint16(at, little)),
  f4: (view, at, little) => view.getFloat32(at, little),
  f8: (view, at, little) => view.getFloat64(at, little),
  b1: (view, at) => view.getUint8(at),
  i1: (view, at) => view.getInt8(at),
  i2: (view, at, little) => view.getInt16(at, little),
  i4: (view, at, little) => view.getInt32(at, little),
  u1: (view, at) => view.getUint8(at),
  u2: (view, at, little) => view.getUint16(at, little),
  u4: (view, at, little) => view.getUint32(at, little),
};

export function readNpy(name: string, buffer: ArrayBuffer): NamedArray {
  const view = new DataView(buffer);
  const isNpy = view.byteLength >= 10 && MAGIC.every((byte, index) => view.getUint8(index) === byte);
  if (!isNpy) refuse(`“${name}” does not begin as npy files do.`);
  const [major, start] = view.getUint8(6) === 1 ? [1, 10] : [view.getUint8(6), 12];
  if (major > 3 || view.byteLength < start) refuse(`“${name}” is npy of a version unknown here: ${major}.`);
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const first = start + length;
  const there = view.byteLength - first;
  if (there < 0) refuse(`“${name}” ends within its header: ${length} bytes are said, ${length + there} there.`);
  const header = new TextDecoder().decode(new Uint8Array(buffer, start, length));
  const [descr, order, dims] = [DESCR.exec(header), ORDER.exec(header), SHAPE.exec(header)];
  if (!HEADER.test(header) || descr === null || order === null || dims === null) {
    refuse(`“${name}” has a header that cannot be read: ${header.slice(0, 80).trim()}`);
  }
  const [, endian, letter = "", digits = ""] = descr;
  const type = letter + digits;
  const known = Object.keys(READERS).join(", ");
  const read = READERS[type] ?? refuse(`“${name}” is of the type ${type}; read are ${known}.`);
  const shape = (dims[1] ?? "").split(",").flatMap((part) => (part.trim() === "" ? [] : [Number(part)]));
  const [count, bytes] = [countOf(name, shape), Number(digits)];
  if (there !== count * bytes) {
    refuse(`“${name}” says ${count} numbers of ${bytes} bytes, which is ${count * bytes}, and holds ${there}.`);
  }
  const little = endian !== ">";
  const numberAt = (_: unknown, index: number): number => read(view, first + index * bytes, little);
  const isHere = type === "f4" && little;
  const data = isHere ? new Float32Array(buffer.slice(first)) : Float32Array.from({ length: count }, numberAt);
  return { name, shape, data: order[1] === "True" ? fromFortran(shape, data) : data };
}

/** First axis fastest, as it lies, to last axis fastest. */
function fromFortran(shape: readonly number[], lying: Float32Array): Float32Array<ArrayBuffer> {
  const data = new Float32Array(lying.length);
  lying.forEach((value, index) => {
    let [rest, at] = [index, 0];
    for (const size of shape) {
      at = at * size + (rest % size);
      rest = Math.floor(rest / size);
    }
    data[at] = value;
  });
  return data;
}

/** Of IEEE 754's 16 bits. */
function fromHalf(bits: number): number {
  const [sign, power, part] = [bits >> 15 === 0 ? 1 : -1, (bits >> 10) & 31, bits & 1023];
  if (power === 31) return part === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (power === 0 ? part * 2 ** -24 : (1 + part / 1024) * 2 ** (power - 15));
}
