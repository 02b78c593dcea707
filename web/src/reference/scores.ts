// Score functions by their formulae: one query, one key, a number.

/** A dense array and its shape; with one axis more than the parameter has, one for each query head. */
export interface ReferenceParameter {
  readonly data: Float32Array | Float64Array;
  readonly shape: readonly number[];
}

type PlainScore = "scaled-dot" | "dot" | "cosine" | "distance";

/** As in `heed.attention`. */
export type ReferenceScore =
  | PlainScore
  | "additive"
  | { readonly type: PlainScore }
  | { readonly type: "general"; readonly w: ReferenceParameter }
  | {
      readonly type: "additive";
      readonly wq?: ReferenceParameter | undefined;
      readonly wk?: ReferenceParameter | undefined;
      readonly b?: ReferenceParameter | Float32Array | undefined;
      readonly v?: ReferenceParameter | Float32Array | undefined;
    }
  | {
      readonly type: "gated";
      readonly w: ReferenceParameter | Float32Array;
      readonly b?: number | ArrayLike<number> | undefined;
    }
  | { readonly type: "rbf"; readonly bandwidth: number | ArrayLike<number> };

type Vector = readonly number[];

/** The score of query head `head`, before any scale. */
export function pairScore(score: ReferenceScore, head: number, q: Vector, k: Vector): number {
  const given = spelt(score);
  switch (given.type) {
    case "scaled-dot":
    case "dot":
      return dot(q, k);
    case "cosine":
      return dot(q, k) === 0 ? 0 : dot(q, k) / (Math.sqrt(dot(q, q)) * Math.sqrt(dot(k, k)));
    case "distance":
      return -Math.sqrt(squaredDistance(q, k));
    case "rbf":
      return -squaredDistance(q, k) / (2 * ofHead(given.bandwidth, head) ** 2);
    case "general":
      return dot(q, times(given.w, head, k));
    case "gated": {
      const gate = dot(vectorOf(given.w, head, q.length + k.length), [...q, ...k]) + ofHead(given.b ?? 0, head);
      return dot(q, k) / (1 + Math.exp(-gate));
    }
    case "additive": {
      const { wq, wk, b, v } = given;
      const [ofQuery, ofKey] = [times(wq, head, q), times(wk, head, k)];
      const offsets = vectorOf(b, head, ofQuery.length);
      const weights = v === undefined ? ofQuery.map(() => 1) : vectorOf(v, head, ofQuery.length);
      return ofQuery.reduce((sum, x, c) => sum + at(weights, c) * Math.tanh(x + at(ofKey, c) + at(offsets, c)), 0);
    }
  }
}

function spelt(score: ReferenceScore): Exclude<ReferenceScore, string> {
  if (typeof score !== "string") return score;
  return score === "additive" ? { type: score } : { type: score };
}

/** 1 for all but scaled dot products. */
export function defaultScale(score: ReferenceScore | undefined, headDim: number): number {
  const type = typeof score === "object" ? score.type : score;
  return type === undefined || type === "scaled-dot" ? 1 / Math.sqrt(headDim) : 1;
}

function at(vector: Vector, index: number): number {
  return vector[index] ?? Number.NaN;
}

function dot(a: Vector, b: Vector): number {
  return a.reduce((sum, x, d) => sum + x * at(b, d), 0);
}

function squaredDistance(a: Vector, b: Vector): number {
  return a.reduce((sum, x, d) => sum + (x - at(b, d)) ** 2, 0);
}

function ofHead(numbers: number | ArrayLike<number>, head: number): number {
  if (typeof numbers === "number") return Math.fround(numbers);
  return Math.fround(numbers[numbers.length === 1 ? 0 : head] ?? Number.NaN);
}

/** A vector of `length`; zeros where it is absent. */
function vectorOf(parameter: ReferenceParameter | Float32Array | undefined, head: number, length: number): Vector {
  if (parameter === undefined) return new Array<number>(length).fill(0);
  const data = "shape" in parameter ? parameter.data : parameter;
  const first = data.length === length ? 0 : head * length;
  return Array.from(data.subarray(first, first + length));
}

/** The matrix of a head times a vector; the vector where there is none. */
function times(matrix: ReferenceParameter | undefined, head: number, x: Vector): Vector {
  if (matrix === undefined) return x;
  const { data, shape } = matrix;
  const [rows = 0, columns = 0] = shape.slice(-2);
  const first = shape.length === 3 ? head * rows * columns : 0;
  return Array.from({ length: rows }, (_, row) =>
    x.reduce((sum, number, column) => sum + (data[first + row * columns + column] ?? Number.NaN) * number, 0),
  );
}
