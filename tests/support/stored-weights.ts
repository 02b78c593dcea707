// Weights in formats of 16, 8 and 4 bits: of any bits, decoded by the definitions, with the bound of what products with them may be off.

import type { StoredTensor, WeightFormat } from "../../web/src/layers/index.js";
import type { Random } from "./random.js";

export type Narrow = Exclude<WeightFormat, "f32">;

/** The numbers of a block, and its bytes. */
export const BLOCKS: Readonly<Record<Narrow, readonly [numbers: number, bytes: number]>> = {
  f16: [1, 2],
  bf16: [1, 2],
  int8: [32, 34],
  int4: [32, 18],
  "int4-min": [32, 20],
  "q4-k": [256, 144],
};

/** Rows of any bytes, but for scales and numbers of 16 bits, which are finite and of the size of weights. */
export function randomStored(random: Random, format: Narrow, rows: number, inputs: number): StoredTensor {
  const [numbers, bytes] = BLOCKS[format];
  const count = (rows * inputs) / numbers;
  const shape = [rows, inputs];
  if (bytes === 2) {
    const data = Uint16Array.from({ length: count }, () => {
      const exponent = format === "f16" ? random.whole(0, 16) << 10 : random.whole(100, 128) << 7;
      return exponent | random.whole(0, format === "f16" ? 1023 : 127) | (random.whole(0, 1) << 15);
    });
    return { data, shape, format };
  }
  const data = Uint8Array.from({ length: count * bytes }, () => random.whole(0, 255));
  const view = new DataView(data.buffer);
  const scales = format === "int4-min" || format === "q4-k" ? 2 : 1;
  for (let block = 0; block < count; block++) {
    for (let scale = 0; scale < scales; scale++) {
      const bits = (random.whole(0, 1) << 15) | (random.whole(4, 10) << 10) | random.whole(0, 1023);
      view.setUint16(block * bytes + 2 * scale, bits, true);
    }
  }
  return { data, shape, format };
}

/** An f16 number by its definition. */
export function f16(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function bf16(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint16(0, bits);
  return view.getFloat32(0);
}

/** A group of 32 numbers: scale * number + offset. */
interface Group {
  readonly scale: number;
  readonly offset: number;
  readonly numbers: readonly number[];
}

/** The groups of a block, by the comments of ggml-common.h and dequantize_row of ggml-quants.c. */
function groupsOf(format: Narrow, block: DataView): Group[] {
  const byte = (at: number): number => block.getUint8(at);
  const half = (at: number): number => f16(block.getUint16(at, true));
  const range = Array.from({ length: 32 }, (_, i) => i);
  const nibbles = (at: number): number[] => range.map((i) => (i < 16 ? byte(at + i) & 15 : byte(at + i - 16) >> 4));
  if (format === "int8") return [{ scale: half(0), offset: 0, numbers: range.map((i) => block.getInt8(2 + i)) }];
  if (format === "int4") return [{ scale: half(0), offset: -8 * half(0), numbers: nibbles(2) }];
  if (format === "int4-min") return [{ scale: half(0), offset: half(2), numbers: nibbles(4) }];
  // get_scale_min_k4
  const scales = (j: number): readonly [number, number] =>
    j < 4
      ? [byte(4 + j) & 63, byte(8 + j) & 63]
      : [(byte(8 + j) & 15) | ((byte(j) >> 6) << 4), (byte(8 + j) >> 4) | ((byte(4 + j) >> 6) << 4)];
  return Array.from({ length: 8 }, (_, j) => {
    const [scale, minimum] = scales(j);
    const from = 16 + 32 * Math.floor(j / 2);
    const numbers = range.map((i) => (j % 2 === 0 ? byte(from + i) & 15 : byte(from + i) >> 4));
    return { scale: half(0) * scale, offset: -half(2) * minimum, numbers };
  });
}

/** All groups of a tensor in blocks, in the order of its numbers. */
function allGroups({ data, format }: StoredTensor): Group[] {
  const [, bytes] = BLOCKS[format as Narrow];
  const groups: Group[] = [];
  for (let at = 0; at < data.byteLength; at += bytes) {
    groups.push(...groupsOf(format as Narrow, new DataView(data.buffer, data.byteOffset + at, bytes)));
  }
  return groups;
}

/** The numbers of a tensor. */
export function decoded(tensor: StoredTensor): Float64Array {
  const { data, format } = tensor;
  if (format === "f32") return Float64Array.from(data);
  if (BLOCKS[format][1] === 2) return Float64Array.from(data, format === "f16" ? f16 : bf16);
  return Float64Array.from(
    allGroups(tensor).flatMap(({ scale, offset, numbers }) =>
      numbers.map((number) => Math.fround(scale * number + offset)),
    ),
  );
}

const EPSILON = 2 ** -24;

/** Activations of a group that is smaller are taken for zeros. */
const LEAST_GROUP = 2 ** -100;

/**
 * How far a product x W^T of a row may be from that of the dequantized weights. Activations are rounded to whole numbers of at most 8191, or
 * 127 for weights of 4 bits, times the scale of their group: that is half a scale for each weight. The sums of groups are then added in f32.
 */
export function productBounds(tensor: StoredTensor, x: ArrayLike<number>): Float64Array {
  const [rows = 0, inputs = 0] = tensor.shape;
  const numbers = decoded(tensor);
  const isHalf = tensor.format === "f16" || tensor.format === "bf16";
  const groups = isHalf ? [] : allGroups(tensor);
  const most = tensor.format === "int8" ? 8191 : 127;
  return Float64Array.from({ length: rows }, (_, row) => {
    let [rounding, sizes] = [0, 0];
    for (let first = 0; first < inputs; first += 32) {
      const count = Math.min(32, inputs - first);
      let [largest, weight, product] = [0, 0, 0];
      for (let i = first; i < first + count; i++) {
        const [a, w] = [Math.abs(x[i] ?? 0), Math.abs(numbers[row * inputs + i] ?? 0)];
        largest = Math.max(largest, a);
        weight += w;
        product += a * w;
      }
      if (isHalf) {
        sizes += product;
        continue;
      }
      rounding += weight * (largest < LEAST_GROUP ? largest : (largest / most) * 0.501);
      // A scale and an offset are multiplied apart, and may be larger than what they make together.
      const { scale, offset, numbers: whole } = groups[(row * inputs + first) / 32] as Group;
      const parts = whole.reduce((sum, number) => sum + Math.abs(scale * number) + Math.abs(offset), 0);
      sizes += parts * largest;
    }
    const additions = isHalf ? inputs : inputs / 32 + 8;
    return rounding + additions * EPSILON * sizes + 2 ** -140;
  });
}

/** x W^T in double precision. */
export function product(weights: Float64Array, inputs: number, x: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: weights.length / inputs }, (_, row) => {
    let sum = 0;
    for (let i = 0; i < inputs; i++) sum += (x[i] ?? 0) * (weights[row * inputs + i] ?? 0);
    return sum;
  });
}

const { fround } = Math;

/** The sum of a group's activations as whole numbers, and the scale of these. */
function rounded(
  x: ArrayLike<number>,
  first: number,
  most: number,
): { readonly scale: number; readonly numbers: number[] } {
  const own = Array.from({ length: 32 }, (_, i) => x[first + i] ?? 0);
  const largest = own.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  if (largest < LEAST_GROUP) return { scale: 0, numbers: own.map(() => 0) };
  const inverse = fround(most / largest);
  // Added to a small number, 1.5 * 2^23 rounds it to a whole one, ties to even.
  const rounder = 12582912;
  return { scale: fround(largest / most), numbers: own.map((a) => fround(fround(a * inverse) + rounder) - rounder) };
}

/**
 * x W^T of whole formats, bit for bit: exact sums of whole numbers by groups, scaled and added in their order, each step rounded to f32 by
 * itself. JavaScript has the same arithmetic in every browser, so where a browser gives these bits, all do.
 */
export function exactProduct(tensor: StoredTensor, x: ArrayLike<number>): Float32Array {
  const [rows = 0, inputs = 0] = tensor.shape;
  const groups = allGroups(tensor);
  const { format } = tensor;
  const activations = Array.from({ length: inputs / 32 }, (_, at) =>
    rounded(x, 32 * at, format === "int8" ? 8191 : 127),
  );
  return Float32Array.from({ length: rows }, (_, row) => {
    let y = 0;
    for (const [at, { scale, numbers }] of activations.entries()) {
      const group = groups[(row * inputs) / 32 + at] as Group;
      const products = group.numbers.reduce((sum, number, i) => sum + number * (numbers[i] ?? 0), 0);
      const sum = numbers.reduce((a, b) => a + b, 0);
      const scaled =
        format === "int8"
          ? fround(fround(products) * group.scale)
          : format === "int4"
            ? fround((products - 8 * sum) * group.scale)
            : fround(fround(products * group.scale) + fround(group.offset * sum));
      y = fround(y + fround(scaled * scale));
    }
    return y;
  });
}
