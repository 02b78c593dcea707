// The inputs of the reference: arrays of any kind of number, with and without a shape.

/** A Float16Array. Many compilers' libraries do not declare the class yet. */
export interface ReferenceHalves {
  readonly [Symbol.toStringTag]: "Float16Array";
  readonly length: number;
}

/** A dense row-major array and its shape, as `heed` takes them, or in double precision. */
export interface ReferenceTensor {
  readonly data: ArrayLike<number> | ReferenceHalves;
  readonly shape: readonly number[];
  /** "f16": a Uint16Array holds the bits of the numbers. */
  readonly dtype?: "f32" | "f16" | "float32" | "float16" | undefined;
}

/** A dense row-major array in double precision and its shape. */
export interface ReferenceResultTensor {
  readonly data: Float64Array;
  readonly shape: readonly number[];
}

/** Numbers of any kind: arrays, 16-bit floats, tensors. */
export type ReferenceNumbers = ArrayLike<number> | ReferenceHalves | ReferenceTensor;

/** Throws a RangeError for what has no readable numbers, such as an engine's tensor. */
export function numbersOf(given: ReferenceNumbers): ArrayLike<number> {
  const data = "data" in given ? given.data : given;
  const isF16 = "dtype" in given && (given.dtype === "f16" || given.dtype === "float16");
  if (isF16 && data instanceof Uint16Array) return Float64Array.from(data, numberOfF16);
  if (isList(data)) return data;
  throw new RangeError("heed/reference takes arrays and { data, shape }; read() gives the data of an engine's tensor");
}

function isList(value: unknown): value is ArrayLike<number> {
  return typeof value === "object" && value !== null && "length" in value;
}

/** IEEE 754: a sign, 5 bits of exponent, 10 of fraction. */
function numberOfF16(bits: number): number {
  const [sign, exponent, fraction] = [bits >= 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}
