// Score functions by their formulae, for one query and one key.

import { numbersOf, type ReferenceNumbers, type ReferenceTensor } from "./numbers.js";

type PlainScore = "scaled-dot" | "dot" | "cosine" | "distance";

/** As in `heed.attention`. */
export type ReferenceScore =
  | PlainScore
  | "additive"
  | { readonly type: PlainScore }
  | { readonly type: "general"; readonly w: ReferenceTensor }
  | {
      readonly type: "additive";
      readonly wq?: ReferenceTensor | undefined;
      readonly wk?: ReferenceTensor | undefined;
      readonly b?: ReferenceNumbers | undefined;
      readonly v?: ReferenceNumbers | undefined;
    }
  | {
      readonly type: "gated";
      readonly w: ReferenceNumbers;
      readonly b?: number | ReferenceNumbers | undefined;
    }
  | { readonly type: "rbf"; readonly bandwidth: number | ReferenceNumbers };

type Vector = readonly number[];

/** The score of a query and a key of a head, before scale. */
export function scoreFunction(score: ReferenceScore): (head: number, q: Vector, k: Vector) => number {
  const given = asObject(score);
  switch (given.type) {
    case "scaled-dot":
    case "dot":
      return (_, q, k) => dot(q, k);
    case "cosine":
      return (_, q, k) => (dot(q, k) === 0 ? 0 : dot(q, k) / (Math.sqrt(dot(q, q)) * Math.sqrt(dot(k, k))));
    case "distance":
      return (_, q, k) => -Math.sqrt(squaredDistance(q, k));
    case "rbf": {
      const bandwidth = perHead(given.bandwidth);
      return (head, q, k) => -squaredDistance(q, k) / (2 * bandwidth(head) ** 2);
    }
    case "general": {
      const w = matrix(given.w);
      return (head, q, k) => dot(q, w(head, k));
    }
    case "gated": {
      const [w, b] = [vector(given.w), perHead(given.b ?? 0)];
      return (head, q, k) => dot(q, k) / (1 + Math.exp(-dot(w(head, q.length + k.length), [...q, ...k]) - b(head)));
    }
    case "additive": {
      const [wq, wk, b] = [matrix(given.wq), matrix(given.wk), vector(given.b)];
      const v = given.v === undefined ? null : vector(given.v);
      return (head, q, k) => {
        const [ofQuery, ofKey] = [wq(head, q), wk(head, k)];
        const offsets = b(head, ofQuery.length);
        const weights = v === null ? ofQuery.map(() => 1) : v(head, ofQuery.length);
        return ofQuery.reduce((sum, x, c) => sum + at(weights, c) * Math.tanh(x + at(ofKey, c) + at(offsets, c)), 0);
      };
    }
  }
}

function asObject(score: ReferenceScore): Exclude<ReferenceScore, string> {
  if (typeof score !== "string") return score;
  return score === "additive" ? { type: score } : { type: score };
}

/** 1, except for scaled dot products. */
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

/** A number for all heads, or one for each, in f32 as the engine has them. */
function perHead(given: number | ReferenceNumbers): (head: number) => number {
  const numbers = typeof given === "number" ? [given] : numbersOf(given);
  return (head) => Math.fround(numbers[numbers.length === 1 ? 0 : head] ?? Number.NaN);
}

/** The vector of a head; zeros where it is absent. */
function vector(given: ReferenceNumbers | undefined): (head: number, length: number) => Vector {
  if (given === undefined) return (_, length) => new Array<number>(length).fill(0);
  const numbers = numbersOf(given);
  return (head, length) => {
    const first = numbers.length === length ? 0 : head * length;
    return Array.from({ length }, (_, i) => numbers[first + i] ?? Number.NaN);
  };
}

/** The matrix of a head times a vector; without a matrix, the vector itself. */
function matrix(given: ReferenceTensor | undefined): (head: number, x: Vector) => Vector {
  if (given === undefined) return (_, x) => x;
  const numbers = numbersOf(given);
  const [rows = 0, columns = 0] = given.shape.slice(-2);
  return (head, x) => {
    const first = given.shape.length === 3 ? head * rows * columns : 0;
    return Array.from({ length: rows }, (_, row) =>
      x.reduce((sum, number, column) => sum + (numbers[first + row * columns + column] ?? Number.NaN) * number, 0),
    );
  };
}
