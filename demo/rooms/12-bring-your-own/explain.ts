// One number of the room taken apart: a weight, a score, or what was brought.

import { nameOf } from "../../src/brought/arrays.js";
import { at } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { strongestOf } from "../../src/model/strongest.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import { numbered } from "../../src/ui/named-matrices.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { Row } from "./rows.js";
import { type BringAnswer, type BringScene, rowAt, vectorOf } from "./scene.js";
import type { Vectors } from "./source.js";

const SHOWN_TERMS = 10;

/** `cell`: in places of the whole, query and key. */
export function explain(scene: BringScene, cell: Cell, answer: BringAnswer | undefined): Explanation | undefined {
  const { vectors, source } = scene;
  const { name, row, col } = cell;
  if (row >= source.queries || col >= source.keys) return undefined;
  const made = rowAt(scene, row);
  if (name === "A") return explainWeight(scene, made, cell, answer);
  return name === "Z" && vectors && made.scores ? explainScore(scene, vectors, made.scores, cell) : undefined;
}

function explainWeight(scene: BringScene, made: Row, { row, col }: Cell, answer?: BringAnswer): Explanation {
  const { cells, source } = scene;
  const { weights } = made;
  const result = weights[col] ?? Number.NaN;
  const [y, x] = [row - cells.top, col - cells.left];
  const isComputed = answer !== undefined && x >= 0 && x < answer.weights.cols;
  const kernel = isComputed ? at(answer.weights, y, x) : undefined;
  const strongest = strongestOf(weights, SHOWN_TERMS);
  const listed = strongest.includes(col) ? strongest : [...strongest.slice(0, -1), col];
  const terms = (figures: (key: number) => readonly string[]) =>
    listed.map((key) => ({ label: nameOf(source, "k", key), figures: figures(key), own: key === col }));
  const told = {
    subject: `weight of ${nameOf(source, "k", col)} for ${nameOf(source, "q", row)}`,
    result,
    kernel: Number.isNaN(kernel) ? undefined : kernel,
    lights: lightsOf(scene, row, col, "Z", "A"),
  };
  if (made.scores === undefined) {
    const sum = Array.from(weights).reduce((total, weight) => total + weight, 0);
    return {
      ...told,
      sentence: `The weights ${source.origin}: the largest of this row, and what the row adds up to.`,
      head: ["", "weight"],
      terms: terms((key) => [exact(weights[key] ?? 0, 6)]),
      last: `sum of the row = ${exact(sum, 6)}`,
    };
  }
  const { scores, most, sum } = made;
  const powerOf = (key: number): number => Math.exp((scores[key] ?? 0) - most);
  const rest = listed.reduce((left, key) => left - (weights[key] ?? 0) * sum, sum);
  const others = { label: "others", figures: ["", "", small(Math.max(rest, 0))], faint: true };
  const own = terms((key) => {
    const score = scores[key] ?? 0;
    return [exact(score, 3), exact(score - most, 3), small(powerOf(key))];
  });
  return {
    ...told,
    sentence:
      scores[col] === Number.NEGATIVE_INFINITY
        ? "This key comes after the query, which does not see it: its score is −∞, its weight exactly 0."
        : `The keys with the largest weights of all that q${row + 1} sees, and all others together.`,
    head: ["", "score", "− max", "e^"],
    terms: weights.length > listed.length ? [...own, others] : own,
    last: `${small(powerOf(col))} / ${exact(sum)} = ${small(result, 6)}`,
  };
}

function explainScore(scene: BringScene, vectors: Vectors, scores: Float64Array, { row, col }: Cell): Explanation {
  const [query, key] = [vectorOf(vectors, vectors.q, row), vectorOf(vectors, vectors.k, col)];
  const partOf = (vector: Float32Array) => (part: number) => vector[part] ?? Number.NaN;
  const dot = query.reduce((sum, value, part) => sum + value * partOf(key)(part), 0);
  const root = Math.sqrt(vectors.width);
  const hidden = scores[col] === Number.NEGATIVE_INFINITY;
  return {
    subject: `score of k${col + 1} for q${row + 1}`,
    sentence: hidden
      ? "This key comes after the query, which does not see it: whatever the product, its score is −∞."
      : `The sum of ${vectors.width} products, over the root of ${vectors.width}.`,
    ...products(numbered("", vectors.width), partOf(query), partOf(key), ["", "q", "k"]),
    last: `${exact(dot)} / ${exact(root)} = ${exact(dot / root)}${hidden ? ", hidden → −∞" : ""}`,
    result: hidden ? Number.NEGATIVE_INFINITY : dot / root,
    lights: lightsOf(scene, row, col, "Z", "A"),
  };
}

/** In the small window, where the cell is in it. */
function lightsOf({ cells }: BringScene, query: number, key: number, ...names: readonly string[]) {
  const [row, col] = [query - cells.top, key - cells.left];
  const isInside = row >= 0 && col >= 0 && row < cells.rows.length && col < cells.cols;
  return isInside ? names.map((name) => ({ name, row, col })) : [];
}
