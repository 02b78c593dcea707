// Small dense row-major matrices in double precision. No numbers are shown here and none are invented.

export interface Matrix {
  readonly rows: number;
  readonly cols: number;
  readonly data: Float64Array;
}

export function fill(rows: number, cols: number, value: (row: number, col: number) => number): Matrix {
  const data = new Float64Array(rows * cols);
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) data[row * cols + col] = value(row, col);
  }
  return { rows, cols, data };
}

/** The element, or NaN outside. */
export function at(matrix: Matrix, row: number, col: number): number {
  return col < matrix.cols ? (matrix.data[row * matrix.cols + col] ?? Number.NaN) : Number.NaN;
}

export function multiply(a: Matrix, b: Matrix): Matrix {
  return fill(a.rows, b.cols, (row, col) => {
    let sum = 0;
    for (let i = 0; i < a.cols; i++) sum += at(a, row, i) * at(b, i, col);
    return sum;
  });
}

export function transpose(a: Matrix): Matrix {
  return fill(a.cols, a.rows, (row, col) => at(a, col, row));
}

/** The elements that single precision can hold: what the kernel will be given. */
export function toSingle(a: Matrix): Matrix {
  return { ...a, data: Float64Array.from(a.data, Math.fround) };
}

export function rowsFrom(a: Matrix, first: number): Matrix {
  return { rows: a.rows - first, cols: a.cols, data: a.data.slice(first * a.cols) };
}

export function columns(a: Matrix, first: number, count: number): Matrix {
  return fill(a.rows, count, (row, col) => at(a, row, first + col));
}

export function withElement(a: Matrix, row: number, col: number, value: number): Matrix {
  const data = a.data.slice();
  data[row * a.cols + col] = value;
  return { ...a, data };
}

export function largest(a: Matrix): number {
  let most = 0;
  for (const value of a.data) if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
  return most;
}
