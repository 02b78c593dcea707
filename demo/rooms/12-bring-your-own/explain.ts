// One number of the room taken apart: a weight, a score, a product, or what was brought.

import { nameOf } from "../../src/brought/arrays.js";
import { at } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { strongestOf } from "../../src/model/strongest.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import { numbered } from "../../src/ui/named-matrices.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { MadeRow } from "./rows.js";
import { askedOf, type BringAnswer, type BringScene, rowAt, vectorOf } from "./scene.js";
import type { Vectors } from "./source.js";

const SHOWN_TERMS = 10;

/** `cell`: in places of the whole, query and key, or key and part of the vector; "sum": the chosen queries' weights of a key. */
export function explain(scene: BringScene, cell: Cell, answer: BringAnswer | undefined): Explanation | undefined {
  const { vectors, source } = scene;
  const { name, row, col } = cell;
  if (name === "sum") return col < source.keys ? explainSum(scene, col) : undefined;
  if (name === "A" || name === "Z") {
    if (row >= source.queries || col >= source.keys) return undefined;
    const made = rowAt(scene, row);
    if (vectors === undefined || made.scores === undefined) {
      return name === "A" ? explainBrought(scene, made.weights, cell) : undefined;
    }
    return name === "Z" ? explainScore(scene, vectors, made, cell) : explainWeight(scene, made, cell, answer);
  }
  const rows = name === "q" ? source.queries : /^[KP]$/.test(name) ? source.keys : 0;
  if (vectors === undefined || row >= rows || col >= vectors.width) return undefined;
  return name === "P" ? explainProduct(scene, vectors, cell) : explainPart(scene, vectors, cell);
}

function explainWeight(scene: BringScene, made: MadeRow, { row, col }: Cell, answer?: BringAnswer): Explanation {
  const { cells, source } = scene;
  const { scores, most, sum, weights } = made;
  const [score = Number.NaN, result = Number.NaN] = [scores[col], weights[col]];
  const powerOf = (key: number): number => Math.exp((scores[key] ?? 0) - most);
  const strongest = strongestOf(weights, SHOWN_TERMS);
  const listed = strongest.includes(col) ? strongest : [...strongest.slice(0, -1), col];
  const terms = listed.map((key) => ({
    label: nameOf(source, "k", key),
    figures: [exact(scores[key] ?? 0, 3), exact((scores[key] ?? 0) - most, 3), small(powerOf(key))],
    own: key === col,
  }));
  const rest = listed.reduce((left, key) => left - (weights[key] ?? 0) * sum, sum);
  const others = { label: "others", figures: ["", "", small(Math.max(rest, 0))], faint: true };
  const kernel = answer === undefined ? Number.NaN : at(answer.weights, row - cells.top, col - cells.left);
  return {
    subject: `weight of k${col + 1} for q${row + 1}`,
    sentence:
      score === Number.NEGATIVE_INFINITY
        ? "This key comes after the query, which does not see it: its score is −∞, its weight exactly 0."
        : `The keys with the largest weights of all that q${row + 1} sees, and all others together.`,
    head: ["", "score", "− max", "e^"],
    terms: weights.length > listed.length ? [...terms, others] : terms,
    last: `${small(powerOf(col))} / ${exact(sum)} = ${small(result, 6)}`,
    result,
    kernel: Number.isNaN(kernel) ? undefined : kernel,
    lights: lightsOf(scene, row, col, "Z", "A"),
  };
}

/** Weights with their names, as they are added up. */
function weightTerms(weights: readonly (readonly [label: string, weight: number, own: boolean])[]) {
  return {
    head: ["", "weight"],
    terms: weights.map(([label, weight, own]) => ({ label, figures: [exact(weight, 6)], own, faint: weight === 0 })),
  };
}

function explainSum(scene: BringScene, key: number): Explanation {
  const { source } = scene;
  const weights = askedOf(scene).map((query) => {
    return [nameOf(source, "q", query), rowAt(scene, query).weights[key] ?? Number.NaN, false] as const;
  });
  const result = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return {
    subject: `${nameOf(source, "k", key)}, from all chosen queries`,
    sentence: "The attention weight that each of the chosen queries gives this key, in this head.",
    ...weightTerms(weights),
    last: `sum = ${exact(result, 6)}`,
    result,
    lights: [],
  };
}

function explainBrought(scene: BringScene, weights: ArrayLike<number>, { row, col }: Cell): Explanation {
  const { source } = scene;
  const sum = Array.from(weights).reduce((total, weight) => total + weight, 0);
  const strongest = strongestOf(weights, SHOWN_TERMS);
  return {
    subject: `weight of ${nameOf(source, "k", col)} for ${nameOf(source, "q", row)}`,
    sentence: `The weights ${source.origin}: the largest of this row, and what the row adds up to.`,
    ...weightTerms(strongest.map((key) => [nameOf(source, "k", key), weights[key] ?? 0, key === col])),
    last: `sum of the row = ${exact(sum, 6)}`,
    result: weights[col] ?? Number.NaN,
    lights: lightsOf(scene, row, col, "A"),
  };
}

function explainScore(scene: BringScene, vectors: Vectors, { scores }: MadeRow, { row, col }: Cell): Explanation {
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
    lights: [...lightsOf(scene, row, col, "Z", "A"), ...(row === scene.row ? productLights(scene, col) : [])],
  };
}

/** A number of a query, or of a key. */
function explainPart({ source, cells }: BringScene, vectors: Vectors, { name, row, col }: Cell): Explanation {
  const letter = name === "q" ? "q" : "k";
  return {
    subject: `part ${col + 1} of ${letter}${row + 1}`,
    sentence: `One of the numbers ${source.origin}.`,
    result: vectorOf(vectors, vectors[letter], row)[col] ?? Number.NaN,
    lights: [{ name, row: name === "q" ? 0 : row - cells.left, col }],
  };
}

/** Of a key and the query in the light. */
function explainProduct(scene: BringScene, vectors: Vectors, { row: key, col }: Cell): Explanation {
  const q = vectorOf(vectors, vectors.q, scene.row)[col] ?? Number.NaN;
  const k = vectorOf(vectors, vectors.k, key)[col] ?? Number.NaN;
  return {
    subject: `part ${col + 1} of q${scene.row + 1} · k${key + 1}`,
    sentence: "One of the products that the score adds up: what this part of the vectors says about the pair.",
    last: `${exact(q)} × ${exact(k)} = ${exact(q * k)}`,
    result: q * k,
    lights: productLights(scene, key).map((light) => ({ ...light, col })),
  };
}

/** Both vectors of a score, and their products. */
function productLights({ cells }: BringScene, key: number) {
  const row = key - cells.left;
  return [{ name: "q", row: 0 }, ...["P", "K"].map((name) => ({ name, row }))];
}

/** In the small window, where the cell is in it. */
function lightsOf({ cells }: BringScene, query: number, key: number, ...names: readonly string[]) {
  const [row, col] = [query - cells.top, key - cells.left];
  const isInside = row >= 0 && col >= 0 && row < cells.rows.length && col < cells.cols;
  return isInside ? names.map((name) => ({ name, row, col })) : [];
}
