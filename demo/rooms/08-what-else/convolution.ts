// A convolution, and attention that is one: as many heads as the kernel has weights, each looking one step to a side.

import { at, fill, type Matrix, multiply, transpose } from "../../src/model/matrix.js";
import { PIXELS, SIZE } from "./images.js";

const MIDDLE = (SIZE - 1) / 2;

export interface Shift {
  readonly x: number;
  readonly y: number;
}

/** One a head, row by row of the kernel. */
export function shiftsOf({ rows: size }: Matrix): readonly Shift[] {
  const reach = (size - 1) / 2;
  return Array.from({ length: size * size }, (_, head) => ({
    x: (head % size) - reach,
    y: Math.floor(head / size) - reach,
  }));
}

/** As its definition has it; beyond the border lies the border's own pixel. No kernel is flipped: what machine learning calls so. */
export function convolve(grey: ArrayLike<number>, kernel: Matrix): Float64Array {
  const shifts = shiftsOf(kernel);
  return Float64Array.from({ length: PIXELS }, (_, pixel) =>
    shifts.reduce((sum, shift, head) => sum + (kernel.data[head] ?? 0) * (grey[seenFrom(pixel, shift)] ?? 0), 0),
  );
}

/** The pixel that a head looks at. */
export function seenFrom(pixel: number, { x, y }: Shift): number {
  const inside = (place: number): number => Math.min(SIZE - 1, Math.max(0, place));
  return inside(Math.floor(pixel / SIZE) + y) * SIZE + inside((pixel % SIZE) + x);
}

/** Of a pixel: its place, and the 1 that lets a matrix shift it. */
export function placeOf(pixel: number): readonly [number, number, 1] {
  return [(pixel % SIZE) - MIDDLE, Math.floor(pixel / SIZE) - MIDDLE, 1];
}

interface Factor {
  readonly name: string;
  readonly value: number;
}

/** Of each query weight, what it is the product of; undefined: nothing, it is 0. */
export function queryFactors({ x, y }: Shift, sharpness: number): readonly (readonly Factor[] | undefined)[] {
  const s = { name: "s", value: sharpness };
  const twice = [{ name: "2", value: 2 }, s];
  const [right, down] = [
    [...twice, { name: "Δx", value: x }],
    [...twice, { name: "Δy", value: y }],
  ];
  const none = undefined;
  return [twice, none, none, none, twice, none, right, down, [{ name: "−1", value: -1 }, s]];
}

/** [x y 1] times this is the query: 2s (x + dx), 2s (y + dy), -s. */
export function queryWeights(shift: Shift, sharpness: number): Matrix {
  const factors = queryFactors(shift, sharpness);
  return fill(3, 3, (row, col) => factors[row * 3 + col]?.reduce((product, { value }) => product * value, 1) ?? 0);
}

/** One head below the other. */
export function queriesOf(kernel: Matrix, sharpness: number): Float32Array<ArrayBuffer> {
  const shifts = shiftsOf(kernel);
  const queries = new Float32Array(shifts.length * PIXELS * 3);
  shifts.forEach((shift, head) => {
    const weights = queryWeights(shift, sharpness);
    for (let pixel = 0; pixel < PIXELS; pixel++) {
      const place = placeOf(pixel);
      for (let col = 0; col < 3; col++) {
        queries[(head * PIXELS + pixel) * 3 + col] = place.reduce(
          (sum, part, row) => sum + part * at(weights, row, col),
          0,
        );
      }
    }
  });
  return queries;
}

/** x, y and x² + y², so that q . k is the negative squared distance to the shifted place, but for what no key changes. */
export function keys(): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: PIXELS * 3 }, (_, index) => {
    const [x, y] = placeOf(Math.floor(index / 3));
    return [x, y, x * x + y * y][index % 3] ?? 0;
  });
}

/**
 * What each head reads, in double precision: e^(-s dx² - s dy²) is a product, so a softmax over places is one over columns times one
 * over rows. One head after the other; those that look equally far to the side have the first in common.
 */
export function* readByHand(grey: Matrix, shifts: readonly Shift[], sharpness: number): Generator<Float64Array> {
  const across = new Map<number, Matrix>();
  for (const { x, y } of shifts) {
    const read = across.get(x) ?? multiply(grey, transpose(sharesAlong(x, sharpness)));
    across.set(x, read);
    yield multiply(sharesAlong(y, sharpness), read).data;
  }
}

export function sharesAlong(shift: number, sharpness: number): Matrix {
  const nearest = (from: number): number => Math.min(SIZE - 1, Math.max(0, from + shift));
  const powers = fill(SIZE, SIZE, (from, to) =>
    Math.exp(-sharpness * ((from + shift - to) ** 2 - (from + shift - nearest(from)) ** 2)),
  );
  const sums = Array.from({ length: SIZE }, (_, from) => {
    let sum = 0;
    for (let other = 0; other < SIZE; other++) sum += at(powers, from, other);
    return sum;
  });
  return fill(SIZE, SIZE, (from, to) => at(powers, from, to) / (sums[from] ?? Number.NaN));
}

/** The output matrix at work: each head's reading times its weight of the kernel. */
export function mixed(readings: (head: number, pixel: number) => number, kernel: Matrix): Float64Array {
  return Float64Array.from({ length: PIXELS }, (_, pixel) => {
    let sum = 0;
    for (let head = 0; head < kernel.data.length; head++) sum += (kernel.data[head] ?? 0) * readings(head, pixel);
    return sum;
  });
}
