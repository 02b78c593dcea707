// Small dense row-major matrices in double precision. No numbers are shown here and none are invented.

/** What is only read may lie in any array. */
export interface Readable {
  readonly rows: number;
  readonly cols: number;
  readonly data: ArrayLike<number>;
}

export interface Matrix extends Readable {
  readonly data: Float64Array;
}

export function fill(rows: number, cols: number, value: (row: number, col: number) => number): Matrix {
  const data = new Float64Array(rows * cols);
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) data[row * cols + col] = value(row, col);
  }
  return { rows, cols, data };
}

/** By its rows, rounded to f32, as the kernel gets them. */
export function singleRows(...rows: readonly (readonly number[])[]): Matrix {
  return toSingle(fill(rows.length, rows[0]?.length ?? 0, (row, col) => rows[row]?.[col] ?? Number.NaN));
}

/** The element, or NaN outside. */
export function at(matrix: Readable, row: number, col: number): number {
  return col < matrix.cols ? (matrix.data[row * matrix.cols + col] ?? Number.NaN) : Number.NaN;
}

/** The entries of a row, by their columns. */
export function along(matrix: Readable, row: number): (col: number) => number {
  return (col) => at(matrix, row, col);
}

/** The entries of a column, by their rows. */
export function down(matrix: Readable, col: number): (row: number) => number {
  return (row) => at(matrix, row, col);
}

export function multiply(a: Readable, b: Readable): Matrix {
  return fill(a.rows, b.cols, (row, col) => {
    let sum = 0;
    for (let i = 0; i < a.cols; i++) sum += at(a, row, i) * at(b, i, col);
    return sum;
  });
}

export const transpose = (a: Readable): Matrix => fill(a.cols, a.rows, (row, col) => at(a, col, row));

/** The elements rounded to f32, as the kernel gets them. */
export const toSingle = (a: Matrix): Matrix => ({ ...a, data: new Float64Array(new Float32Array(a.data)) });

export function rowsFrom(a: Matrix, first: number): Matrix {
  return { rows: a.rows - first, cols: a.cols, data: a.data.slice(first * a.cols) };
}

export function columns(a: Matrix, first: number, count: number): Matrix {
  return fill(a.rows, count, (row, col) => at(a, row, first + col));
}

/** With what was typed or pasted from this cell on; what reaches beyond the matrix is dropped. */
export function withBlock(a: Matrix, row: number, col: number, values: readonly (readonly number[])[]): Matrix {
  return fill(a.rows, a.cols, (r, c) => values[r - row]?.[c - col] ?? at(a, r, c));
}

export function largest({ data }: Pick<Readable, "data">): number {
  const sizes = Array.from(data, Math.abs).filter(Number.isFinite);
  return sizes.reduce((most, size) => Math.max(most, size), 0);
}

/** The column of a row's largest number, the first of equals. */
export function bestOf(matrix: Readable, row: number): number {
  let best = 0;
  for (let col = 1; col < matrix.cols; col++) if (at(matrix, row, col) > at(matrix, row, best)) best = col;
  return best;
}

/** The largest difference between two lists of numbers, or two matrices of one shape; NaN where one holds NaN. */
export function widest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((most, value, index) => {
    // Two equal infinities differ by NaN; and NaN must show, which Math.max hands on.
    return value === b[index] ? most : Math.max(most, Math.abs(value - (b[index] ?? Number.NaN)));
  }, 0);
}

export const widestGap = (a: Readable, b: Readable): number => widest(a.data, b.data);

/** Heads below each other as an f32 tensor, [1, heads, rows, cols]. */
export function stack(heads: readonly Matrix[]): { readonly data: Float32Array; readonly shape: readonly number[] } {
  const { rows, cols } = heads[0] ?? { rows: 0, cols: 0 };
  const data = new Float32Array(heads.length * rows * cols);
  for (const [index, head] of heads.entries()) data.set(head.data, index * rows * cols);
  return { data, shape: [1, heads.length, rows, cols] };
}

/** The matrix of one head out of such a stack. */
export function unstack(rows: number, cols: number, data: ArrayLike<number>, head = 0): Matrix {
  return fill(rows, cols, (row, col) => data[(head * rows + row) * cols + col] ?? Number.NaN);
}

export function rowsOf(a: Readable): readonly (readonly number[])[] {
  return Array.from({ length: a.rows }, (_, row) => Array.from({ length: a.cols }, (_, col) => at(a, row, col)));
}

/** Matrices, or views of them, by their names as rows, to be saved. */
export function rowsOfAll(named: Readonly<Record<string, Readable | { readonly matrix: Readable }>>) {
  const rows = Object.entries(named).map(([name, one]) => [name, rowsOf("matrix" in one ? one.matrix : one)] as const);
  return Object.fromEntries(rows);
}

export const identity = (size: number): Matrix => fill(size, size, (row, col) => (row === col ? 1 : 0));
