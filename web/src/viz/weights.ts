// Attention weights as heed returns them: the last two axes are queries and keys, those before them heads.

import { HeedError } from "../base/errors.js";

/** The `weights` of `heed.attention`, or any dense row-major array with its shape. */
export interface Weights {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

/** A matrix in row-major order. */
export interface Matrix {
  readonly rows: number;
  readonly cols: number;
  readonly data: ArrayLike<number>;
}

/** The element, or NaN outside. */
export function at(matrix: Matrix, row: number, col: number): number {
  return col < matrix.cols ? (matrix.data[row * matrix.cols + col] ?? Number.NaN) : Number.NaN;
}

/** `who` names the element and its property in messages. */
export function checkWeights(who: string, weights: unknown): Weights {
  const { data, shape } = typeof weights === "object" && weights !== null ? (weights as Partial<Weights>) : {};
  if (!Array.isArray(shape) || shape.length < 2 || !shape.every((size) => Number.isInteger(size) && size >= 0)) {
    throw new HeedError("shape", `${who} takes { data, shape } with a shape of two axes or more, got ${told(shape)}`);
  }
  const count = shape.reduce((product: number, size: number) => product * size, 1);
  if (typeof data !== "object" || data === null || data.length !== count) {
    const length = typeof data === "object" && data !== null ? `${data.length} numbers` : told(data);
    throw new HeedError("shape", `${who} needs ${count} numbers for the shape [${shape.join(", ")}], got ${length}`);
  }
  return { data, shape };
}

export function headCount({ shape }: Weights): number {
  return shape.slice(0, -2).reduce((product, size) => product * size, 1);
}

/** One head's weights; the nearest head there is. */
export function headOf({ data, shape }: Weights, head: number): Matrix {
  const [rows = 0, cols = 0] = shape.slice(-2);
  const first = Math.min(Math.max(0, head), Math.max(0, headCount({ data, shape }) - 1)) * rows * cols;
  return { rows, cols, data: Array.prototype.slice.call(data, first, first + rows * cols) };
}

function told(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(", ")}]`;
  return value === null ? "null" : typeof value;
}
