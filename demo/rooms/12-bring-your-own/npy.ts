// Arrays as NumPy saves them. What a header says is believed only after it was held against the bytes that are there.

import { countOf, type NamedArray, refuse } from "./arrays.js";

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const HEADER = /^\{.*\}\s*$/s;
const DESCR = /'descr'\s*:\s*'([<>|=])([a-z])(\d{1,2})'/;
const ORDER = /'fortran_order'\s*:\s*(True|False)/;
const SHAPE = /'shape'\s*:\s*\(([\d\s,]*)\)/;

/** What a view of the bytes gives for each type; halves are read from their bits. */
const READERS = {
  ...({ f2: "getUint16", f4: "getFloat32", f8: "getFloat64", b1: "getUint8" } as const),
  ...({ i1: "getInt8", i2: "getInt16", i4: "getInt32", u1: "getUint8", u2: "getUint16", u4: "getUint32" } as const),
};

const isKnown = (type: string): type is keyof typeof READERS => Object.hasOwn(READERS, type);

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
  if (!isKnown(type)) return refuse(`“${name}” is of the type ${type}; read are ${Object.keys(READERS).join(", ")}.`);
  const shape = (dims[1] ?? "").split(",").flatMap((part) => (part.trim() === "" ? [] : [Number(part)]));
  const [count, bytes] = [countOf(name, shape), Number(digits)];
  if (there !== count * bytes) {
    refuse(`“${name}” says ${count} numbers of ${bytes} bytes, which is ${count * bytes}, and holds ${there}.`);
  }
  const little = endian !== ">";
  const numberAt = (_: unknown, index: number): number => {
    const number = view[READERS[type]](first + index * bytes, little);
    return type === "f2" ? fromHalf(number) : number;
  };
  const isHere = type === "f4" && little;
  const data = isHere ? new Float32Array(buffer.slice(first)) : Float32Array.from({ length: count }, numberAt);
  return { name, shape, data: order[1] === "True" ? fromFortran(shape, data) : data };
}

/** The file of an array in single precision. */
export function writeNpy(shape: readonly number[], data: Float32Array): Blob {
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const said = `{'descr': '<f4', 'fortran_order': False, 'shape': (${dims}), }`;
  const length = Math.ceil((10 + said.length + 1) / 64) * 64 - 10;
  const head = Uint8Array.from([...MAGIC, 1, 0, length & 0xff, length >> 8]);
  const parts = [head, `${said.padEnd(length - 1)}\n`, Float32Array.from(data)];
  return new Blob(parts, { type: "application/octet-stream" });
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
