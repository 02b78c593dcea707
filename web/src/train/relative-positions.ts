// Gradients of relative positions: T5's buckets, and Shaw's vectors of keys and values. It is loaded at the first call of one.

import { perHeadShape, readLayout, viewOf } from "../api/layout.js";
import { product, type ReadTensor, readF32 } from "../api/operands.js";
import { distanceRow, floatsOf, readDistances, sumsByDistance } from "../api/operations/distances.js";
import type { TensorLike } from "../api/options.js";
import { relativeBias } from "../api/positions/relative-bias.js";
import type { ArrayTensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard, guardAsync } from "../base/guard.js";
import { readCount, readFinite, readSignal } from "../base/read-values.js";
import type { LayerEngine } from "../layers/engine-of.js";
import { readOnce } from "../layers/read.js";
import type { RelativeBiasVjpOptions, RelativeKeysVjpOptions, RelativeValuesVjpOptions } from "./relative-options.js";

/** Options with the engine that the caller's was read to. */
type On<O> = Omit<O, "engine"> & { readonly engine: LayerEngine };

/** The gradient of a loss in the table of `relativeBias`. Throws a HeedError. */
export function relativeBiasVjp(table: TensorLike, options: RelativeBiasVjpOptions): { readonly table: ArrayTensor } {
  const where = "relativeBiasVjp";
  return guard("option", `${where}: reading its arguments`, () => {
    const { outputGradient, ...rest } = options;
    const { shape } = readF32(where, "table", table, null);
    const [buckets = 0, heads = 0] = shape;
    // The bias of a table whose rows hold their own numbers tells the row of each pair.
    const numbers = Float32Array.from({ length: product(shape) }, (_, at) => Math.floor(at / heads));
    const rowOf = relativeBias({ data: numbers, shape }, rest);
    const gradient = gradientOf(where, outputGradient, rowOf.shape);
    const sums = new Float64Array(buckets * heads);
    for (const [pair, number] of gradient.entries()) {
      const at = (rowOf.data[pair] ?? 0) * heads + Math.floor((pair / gradient.length) * heads);
      sums[at] = (sums[at] ?? 0) + number;
    }
    return { table: arrayOf(Float32Array.from(sums), shape) };
  });
}

/** The gradients of a loss in the queries and the table of `relativeKeys`. Rejects with a HeedError. */
export function relativeKeysVjp(
  q: TensorLike,
  table: TensorLike,
  options: On<RelativeKeysVjpOptions>,
): Promise<{ readonly q: ArrayTensor; readonly table: ArrayTensor }> {
  const where = "relativeKeysVjp";
  return guardAsync("option", `${where}: reading its arguments`, async () => {
    const given = read(where, options, ["scale", "layout", "heads"]);
    const query = readF32(where, "q", q, null);
    const layout = readLayout(where, given.options["layout"]);
    const view = viewOf(where, "q", query.shape, layout, readCount(where, "heads", given.options["heads"], 1));
    const [batch, heads, queries, dim] = view.shape;
    const distances = readDistances(where, table);
    checkDim(where, distances, dim);
    const [rows = 0] = distances.shape;
    const keys = readF32(where, "outputGradient", given.options["outputGradient"], null).shape.at(-1) ?? 0;
    const shape = perHeadShape([batch, heads, queries, keys], query.shape.length, layout);
    const gradient = gradientOf(where, given.options["outputGradient"], shape);
    const offset = readOffset(where, given.options["offset"], keys - queries);
    const scale = readFinite(where, "scale", given.options["scale"], 1 / Math.sqrt(dim));
    const sums = sumsByDistance(gradient, [batch * heads, queries, keys], { rows, offset }).map((sum) => sum * scale);
    // In the order of the queries.
    const ordered = new Float32Array(sums.length);
    for (let row = 0; row < batch * heads * queries; row++) {
      const [b, h, i] = [Math.floor(row / queries / heads), Math.floor(row / queries) % heads, row % queries];
      const place = (b * view.strides[0] + h * view.strides[1] + i * view.strides[2]) / dim;
      ordered.set(sums.subarray(row * rows, (row + 1) * rows), place * rows);
    }
    const made = await productVjp(given, {
      x: floatsOf(query),
      factor: transposed(floatsOf(distances), rows, dim),
      gradient: ordered,
      sizes: [batch * heads * queries, dim, rows],
    });
    return { q: arrayOf(made.x, query.shape), table: arrayOf(transposed(made.factor, dim, rows), distances.shape) };
  });
}

/** The gradients of a loss in the weights and the table of `relativeValues`. Rejects with a HeedError. */
export function relativeValuesVjp(
  weights: TensorLike,
  table: TensorLike,
  options: On<RelativeValuesVjpOptions>,
): Promise<{ readonly weights: ArrayTensor; readonly table: ArrayTensor }> {
  const where = "relativeValuesVjp";
  return guardAsync("option", `${where}: reading its arguments`, async () => {
    const given = read(where, options, []);
    const { shape, ...all } = readF32(where, "weights", weights, null);
    if (shape.length < 2 || shape.length > 4) {
      throw new HeedError(
        "shape",
        `${where}: weights must be [B, H, L, S], [H, L, S] or [L, S], got ${showShape(shape)}`,
      );
    }
    const [queries = 0, keys = 0] = shape.slice(-2);
    const heads = product(shape.slice(0, -2));
    const distances = readDistances(where, table);
    const [rows = 0, dim = 0] = distances.shape;
    const gradient = gradientOf(where, given.options["outputGradient"], [...shape.slice(0, -1), dim]);
    const offset = readOffset(where, given.options["offset"], keys - queries);
    const made = await productVjp(given, {
      x: sumsByDistance(floatsOf({ shape, ...all }), [heads, queries, keys], { rows, offset }),
      factor: floatsOf(distances),
      gradient,
      sizes: [heads * queries, rows, dim],
    });
    const rowOf = distanceRow(rows, offset);
    const data = new Float32Array(heads * queries * keys).map((_, at) => {
      const row = Math.floor(at / keys);
      return made.x[row * rows + rowOf(row % queries, at % keys)] ?? 0;
    });
    return { weights: arrayOf(data, shape), table: arrayOf(made.factor, distances.shape) };
  });
}

interface Product {
  readonly x: Float32Array;
  readonly factor: Float32Array;
  /** That of x times the factor. */
  readonly gradient: Float32Array;
  /** x is [rows, inner], the factor [inner, columns]. */
  readonly sizes: readonly [number, number, number];
}

/** The gradients of a product. Linear attention to which nothing is written multiplies queries by its state. */
async function productVjp(
  given: Checked,
  { x, factor, gradient, sizes: [rows, inner, columns] }: Product,
): Promise<Pick<Product, "x" | "factor">> {
  const engine = await given.engine.heed();
  const matrix = (data: Float32Array, [height, width]: readonly [number, number]) => ({
    data,
    shape: [1, height, width],
  });
  const nothing = (width: number) => matrix(new Float32Array(rows * width), [rows, width]);
  const { query, initialState } = await engine.linearAttentionVjp(
    matrix(unmasked(rows, x, gradient), [rows, inner]),
    nothing(inner),
    nothing(columns),
    {
      rule: "linear",
      scale: 1,
      state: matrix(factor, [inner, columns]),
      outputGradient: matrix(unmasked(rows, gradient, x), [rows, columns]),
      signal: given.signal,
    },
  );
  if (initialState === undefined) throw new TypeError("a state that was given has a gradient");
  return { x: query.data, factor: initialState.data };
}

/** The numbers, with zeros for a row that is not finite where the other's row is zeros: a query without a key is not read. */
function unmasked(rows: number, numbers: Float32Array, other: Float32Array): Float32Array {
  const rowOf = (of: Float32Array, row: number) =>
    of.subarray((row * of.length) / rows, ((row + 1) * of.length) / rows);
  if (numbers.every(Number.isFinite)) return numbers;
  const made = numbers.slice();
  for (let row = 0; row < rows; row++) {
    if (rowOf(other, row).every((number) => number === 0) && !rowOf(made, row).every(Number.isFinite)) {
      rowOf(made, row).fill(0);
    }
  }
  return made;
}

interface Checked {
  readonly options: Readonly<Record<string, unknown>>;
  readonly engine: LayerEngine;
  readonly signal: AbortSignal | undefined;
}

function read(where: string, given: { readonly engine: LayerEngine }, names: readonly string[]): Checked {
  const options = readOnce(where, "options", given, ["outputGradient", "offset", "engine", "signal", ...names]);
  return { options, engine: given.engine, signal: readSignal(where, options["signal"]) ?? undefined };
}

function readOffset(where: string, value: unknown, absent: number): number {
  return readCount(where, "offset", value, absent, 2 ** 24, -(2 ** 24));
}

function gradientOf(where: string, value: unknown, shape: readonly number[]): Float32Array {
  const gradient = readF32(where, "outputGradient", value, null);
  if (gradient.shape.join() === shape.join()) return floatsOf(gradient);
  const got = `got ${showShape(gradient.shape)}`;
  throw new HeedError("shape", `${where}: outputGradient must be ${showShape(shape)}, ${got}`);
}

function checkDim(where: string, { shape }: ReadTensor, dim: number): void {
  if (shape[1] === dim) return;
  throw new HeedError("shape", `${where}: table must have rows of ${dim} numbers, got ${showShape(shape)}`);
}

function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  return data.map((_, at) => data[(at % rows) * columns + Math.floor(at / rows)] ?? 0);
}

function arrayOf(data: Float32Array, shape: readonly number[]): ArrayTensor {
  return { data, shape, dtype: "f32" };
}
