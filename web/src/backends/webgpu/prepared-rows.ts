// The rows of Q or K of a call as kernels read them: as given, or prepared for a score function. Pure.

import type { AttentionProblem, Operand, ScoreFunction } from "../backend.js";
import type { Load, PairKind, PrepareKernel } from "./kernel.js";
import { PREPARE_FIELDS } from "./shaders/prepare.js";
import { numbersOf } from "./tables.js";

/** Rows of [batch, heads, length], and where they lie. Strides count elements. */
export interface Rows {
  readonly load: Load;
  readonly heads: number;
  /** Elements of a row. */
  readonly dim: number;
  readonly strides: readonly [number, number, number];
  /** How the rows are prepared; null: kernels read them as given. */
  readonly preparation: Preparation | null;
}

export interface Preparation {
  readonly kernel: PrepareKernel;
  /** Weights and offsets, as the kernel reads them. */
  readonly matrix: Float32Array<ArrayBuffer>;
  readonly fields: Uint32Array<ArrayBuffer>;
  readonly threads: number;
  /** Elements of all rows. */
  readonly elements: number;
}

export const PAIR: Readonly<Record<ScoreFunction["kind"], PairKind>> = {
  "scaled-dot": "product",
  dot: "product",
  cosine: "product",
  general: "product",
  additive: "additive",
  gated: "gated",
  rbf: "rbf",
  distance: "distance",
};

export function loadOf({ dtype, shape, strides }: Pick<Operand, "dtype" | "shape" | "strides">): Load {
  const vec4 = shape[3] % 4 === 0 && strides.slice(0, 3).every((stride) => stride % 4 === 0);
  return { dtype: dtype === "f16" ? "f16" : "f32", vec4 };
}

export function queryRows({ query, score }: AttentionProblem): Rows {
  const { kind, w, wq, b } = score;
  if (kind === "cosine") return prepared(query, { what: "normalise" });
  if (kind === "general") return prepared(query, { what: "matrix", matrix: w, transposed: true });
  if (kind === "gated") return prepared(query, { what: "gate", matrix: w });
  if (kind === "additive" && (wq !== null || b !== null))
    return prepared(query, { what: "matrix", matrix: wq, offset: b });
  return asGiven(query);
}

/** If the parameters go by query head, each query head gets rows of K of its own. */
export function keyRows({ query, key, score }: AttentionProblem): Rows {
  const { kind, w, wk, b } = score;
  const heads = query.shape[1];
  if (kind === "cosine") return prepared(key, { what: "normalise" });
  if (kind === "gated") {
    const isPerHead = [w, b].some((parameter) => (parameter?.shape[1] ?? 1) > 1);
    return prepared(
      key,
      { what: "gate", matrix: w, first: query.shape[3], offset: b },
      isPerHead ? heads : key.shape[1],
    );
  }
  if (kind === "additive" && wk !== null) {
    return prepared(key, { what: "matrix", matrix: wk }, wk.shape[1] > 1 ? heads : key.shape[1]);
  }
  return asGiven(key);
}

function asGiven(operand: Operand): Rows {
  const { shape, strides } = operand;
  return {
    load: loadOf(operand),
    heads: shape[1],
    dim: shape[3],
    strides: [strides[0], strides[1], strides[2]],
    preparation: null,
  };
}

interface Wanted {
  readonly what: PrepareKernel["what"];
  readonly matrix?: Operand | null;
  readonly transposed?: boolean;
  readonly offset?: Operand | null;
  /** Where the operand's own part of the gate's vector starts. */
  readonly first?: number;
}

function prepared(operand: Operand, wanted: Wanted, heads = operand.shape[1]): Rows {
  const [batch, ownHeads, length, dim] = operand.shape;
  const { what, matrix = null, transposed = false, offset = null, first = 0 } = wanted;
  const madeDim = what === "matrix" && matrix !== null ? matrix.shape[transposed ? 3 : 2] : dim;
  const rowStride = Math.ceil(madeDim / 4) * 4 + (what === "gate" ? 4 : 0);
  const rows = batch * heads * length;
  const parameters = layOut(matrix, offset, first, what === "gate" ? dim : null);
  const values: Record<(typeof PREPARE_FIELDS)[number], number> = {
    heads,
    length,
    dim,
    source_b: operand.strides[0],
    source_h: operand.strides[1],
    source_l: operand.strides[2],
    source_group: heads / ownHeads,
    made_dim: madeDim,
    row_stride: rowStride,
    matrix_h: parameters.matrixHead,
    offset_at: parameters.offsetAt,
    offset_h: parameters.offsetHead,
    rows,
    groups_x: 0,
  };
  return {
    load: { dtype: "f32", vec4: true },
    heads,
    dim: rowStride,
    strides: [heads * length * rowStride, length * rowStride, rowStride],
    preparation: {
      kernel: {
        kind: "prepare",
        source: loadOf(operand),
        what,
        transposed,
        identity: what === "matrix" && matrix === null,
        offset: what === "matrix" && offset !== null,
      },
      matrix: parameters.numbers,
      fields: Uint32Array.from(PREPARE_FIELDS, (name) => values[name]),
      threads: what === "matrix" ? rows * rowStride : rows,
      elements: rows * rowStride,
    },
  };
}

/** Lays out a matrix, or for each head its `part` numbers from `first` on, and the offsets after it. A gate without an offset has 0. */
function layOut(
  matrix: Operand | null,
  offset: Operand | null,
  first: number,
  part: number | null,
): { numbers: Float32Array<ArrayBuffer>; matrixHead: number; offsetAt: number; offsetHead: number } {
  const weights = matrix === null ? new Float32Array(0) : numbersOf(matrix);
  const heads = matrix?.shape[1] ?? 1;
  const perHead = weights.length / heads;
  const size = part ?? perHead;
  const offsets = offset === null ? new Float32Array(1) : numbersOf(offset);
  const numbers = new Float32Array(heads * size + offsets.length);
  for (let h = 0; h < heads; h++)
    numbers.set(weights.subarray(h * perHead + first, h * perHead + first + size), h * size);
  numbers.set(offsets, heads * size);
  const offsetHeads = offset?.shape[1] ?? 1;
  return {
    numbers,
    matrixHead: heads > 1 ? size : 0,
    offsetAt: heads * size,
    offsetHead: offsetHeads > 1 ? offsets.length / offsetHeads : 0,
  };
}
