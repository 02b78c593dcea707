// A convolution, and attention that is one: as many heads as the filter has weights, each looking one step to a side.

import type { Matrix } from "../../src/model/matrix.js";
import type { WhatElseState } from "./state.js";

type Shift = Readonly<Record<"x" | "y", number>>;

export type Convolved = ReturnType<typeof convolved> extends Generator<unknown, infer Made> ? Made : never;

/** Head after head, with a pause after each. */
export function* convolved({ filter, sharpness }: WhatElseState, grey: Float32Array<ArrayBuffer>) {
  /** Pixels along a side of the picture, and the shift of each head. */
  const [size, shifts] = [Math.sqrt(grey.length), shiftsOf(filter)];
  const readings: Float64Array[] = [];
  /** The sum of the readings, times the filter's weights. */
  const attended = new Float64Array(grey.length);
  const across = new Map<number, Float64Array>();
  for (const [head, { x, y }] of shifts.entries()) {
    const level = across.get(x) ?? readAlong(grey, x, sharpness, 1);
    across.set(x, level);
    const reading = readAlong(level, y, sharpness, size);
    readings.push(reading);
    for (let pixel = 0; pixel < reading.length; pixel++) {
      attended[pixel] = (attended[pixel] ?? 0) + (filter.data[head] ?? 0) * (reading[pixel] ?? Number.NaN);
    }
    yield;
  }
  const direct = convolve(grey, filter);
  yield;
  const most = direct.reduce((best, value) => Math.max(best, Math.abs(value)), 1e-9);
  return { filter, sharpness, size, grey, shifts, readings, attended, direct, most };
}

/** One a head, row by row of the filter. */
function shiftsOf({ rows: size }: Matrix): readonly Shift[] {
  const reach = (size - 1) / 2;
  return Array.from({ length: size * size }, (_, head) => ({
    x: (head % size) - reach,
    y: Math.floor(head / size) - reach,
  }));
}

export function nameOf({ x, y }: Shift): string {
  const upright = y === 0 ? "" : `${Math.abs(y)} ${y < 0 ? "up" : "down"}`;
  const level = x === 0 ? "" : `${Math.abs(x)} ${x < 0 ? "left" : "right"}`;
  return [upright, level].filter(Boolean).join(", ") || "here";
}

/** An arrow for each pixel that it is away. */
export function arrowsOf({ x, y }: Shift): string {
  return `${(y < 0 ? "↑" : "↓").repeat(Math.abs(y))}${(x < 0 ? "←" : "→").repeat(Math.abs(x))}` || "here";
}

/** As its definition has it; beyond the border lies the border's own pixel. No filter is flipped: what machine learning calls so. */
export function convolve(grey: ArrayLike<number>, filter: Matrix): Float64Array {
  const [size, shifts] = [Math.sqrt(grey.length), shiftsOf(filter)];
  const inside = (place: number): number => Math.min(size - 1, Math.max(0, place));
  return Float64Array.from({ length: grey.length }, (_, pixel) => {
    const [row, col] = [Math.floor(pixel / size), pixel % size];
    let sum = 0;
    shifts.forEach(({ x, y }, head) => {
      sum += (filter.data[head] ?? 0) * (grey[inside(row + y) * size + inside(col + x)] ?? 0);
    });
    return sum;
  });
}

/** Of these pixels, one head below the other: 2s (x + dx), 2s (y + dy), -s. */
export function queriesOf({ sharpness: s, size, shifts }: Convolved, pixels: readonly number[]) {
  const queries = shifts.flatMap((shift) =>
    pixels.flatMap((pixel) => {
      const [x, y] = placeOf(pixel, size);
      return [2 * s * (x + shift.x), 2 * s * (y + shift.y), -s];
    }),
  );
  return Float32Array.from(queries);
}

/** x, y and x² + y², so that q . k is the negative squared distance to the shifted place, but for what no key changes. */
export function keysOf(size: number): Float32Array<ArrayBuffer> {
  const keys = Array.from({ length: size * size }, (_, pixel) => {
    const [x, y] = placeOf(pixel, size);
    return [x, y, x * x + y * y];
  });
  return Float32Array.from(keys.flat());
}

function placeOf(pixel: number, size: number): readonly [number, number] {
  const middle = (size - 1) / 2;
  return [(pixel % size) - middle, Math.floor(pixel / size) - middle];
}

/** A power of e that no sum in double precision notices. */
const NOTHING = Math.log(1e18);

/**
 * What a head reads, in double precision: e^(-s dx² - s dy²) is a product, so a softmax over places is one over columns times one
 * over rows, and this is one of the two. `step`: 1 along a row, the length of a row along a column.
 */
function readAlong(from: ArrayLike<number>, shift: number, sharpness: number, step: number): Float64Array {
  const size = Math.sqrt(from.length);
  const read = new Float64Array(from.length);
  for (let place = 0; place < size; place++) {
    const wanted = place + shift;
    const nearest = Math.min(size - 1, Math.max(0, wanted));
    const scores = Array.from({ length: size }, (_, to) => sharpness * ((nearest - wanted) ** 2 - (to - wanted) ** 2));
    const seen = scores.flatMap((score, to) => (score > -NOTHING ? [{ to, power: Math.exp(score) }] : []));
    const sum = seen.reduce((total, { power }) => total + power, 0);
    for (let line = 0; line < size; line++) {
      const first = line * (step === 1 ? size : 1);
      let mean = 0;
      for (const { to, power } of seen) mean += (power / sum) * (from[first + to * step] ?? Number.NaN);
      read[first + place * step] = mean;
    }
  }
  return read;
}
