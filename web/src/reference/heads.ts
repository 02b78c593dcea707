// Layouts of the reference: any of them as [batch, heads, length, dim], and back.

import { numbersOf, type ReferenceResultTensor, type ReferenceTensor } from "./numbers.js";

export type Dims = readonly [number, number, number, number];

/** A tensor in [batch, heads, length, dim]. */
export interface Heads {
  readonly data: ArrayLike<number>;
  readonly shape: Dims;
}

export function at({ data, shape }: Heads, [b, h, l, d]: Dims): number {
  return data[((b * shape[1] + h) * shape[2] + l) * shape[3] + d] ?? Number.NaN;
}

/** Copies any layout into [batch, heads, length, dim]. */
export function toHeads(tensor: ReferenceTensor, layout: string, heads: number | undefined): Heads {
  const { shape } = tensor;
  const data = numbersOf(tensor);
  const [a = 0, b = 0, c = 0, d = 0] = shape;
  if (layout === "packed") {
    if (heads === undefined || shape.length !== 3) throw new RangeError("packed needs rank 3 and heads");
    return swapped(data, [a, b, heads, c / heads]);
  }
  if (shape.length === 2) return { data, shape: [1, 1, a, b] };
  const full: Dims = shape.length === 3 ? [1, a, b, c] : [a, b, c, d];
  return layout === "bnhd" ? swapped(data, full) : { data, shape: full };
}

/** [batch, heads, length, dim] -> the caller's layout and rank. */
export function fromHeads(data: Float64Array, shape: Dims, layout: string, rank: number): ReferenceResultTensor {
  const [b, h, l, d] = shape;
  if (layout === "packed") return { data: swapped(data, shape).data, shape: [b, l, h * d] };
  if (layout === "bhnd" || rank === 2) return { data, shape: shape.slice(4 - rank) };
  return { data: swapped(data, shape).data, shape: [b, l, h, d].slice(4 - rank) };
}

/** Exchanges the two middle axes. */
function swapped(data: ArrayLike<number>, [a, b, c, d]: Dims): { data: Float64Array; shape: Dims } {
  const result = new Float64Array(a * b * c * d);
  let target = 0;
  for (let i = 0; i < a; i++) {
    for (let k = 0; k < c; k++) {
      for (let j = 0; j < b; j++) {
        for (let l = 0; l < d; l++) result[target++] = data[((i * b + j) * c + k) * d + l] ?? Number.NaN;
      }
    }
  }
  return { data: result, shape: [a, c, b, d] };
}
