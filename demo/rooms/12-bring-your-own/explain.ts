// One number of the room taken apart: a weight, a score, a product, or what was brought.

import { at } from "../../src/model/matrix.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { BringAnswer } from "./calls.js";
import { askedOf, type BringScene, rowAt, shareAt, vectorOf } from "./scene.js";
import type { Vectors } from "./source.js";
import { MATRICES, type MatrixName } from "./views.js";
import { nameOf } from "./words.js";

/** "sum": of the chosen queries' weights of a key. */
export const TOLD = [...MATRICES, "sum"] as const;

/** In places of the whole: query and key, or key and part of the vector. */
export type Spot = NamedSpot<(typeof TOLD)[number]>;

const SHOWN_TERMS = 10;

export function explain(scene: BringScene, spot: Spot, answer: BringAnswer | undefined): Explanation | undefined {
  const { vectors, source } = scene;
  const { name, row, col } = spot;
  const isPair = row < source.queries && col < source.keys;
  if (name === "sum") return col < source.keys ? explainSum(scene, col) : undefined;
  if (name === "A" && isPair) {
    return vectors === undefined ? explainBrought(scene, row, col) : explainShare(scene, row, col, answer);
  }
  if (vectors === undefined || name === "A") return undefined;
  if (name === "Z") return isPair ? explainScore(scene, vectors, row, col) : undefined;
  const rows = name === "q" ? source.queries : source.keys;
  if (row >= rows || col >= vectors.width) return undefined;
  return name === "P" ? explainProduct(scene, vectors, row, col) : explainPart(scene, vectors, spot);
}

function explainShare(scene: BringScene, row: number, col: number, answer: BringAnswer | undefined): Explanation {
  const { cells, source } = scene;
  const { scores, most, sum, shares } = rowAt(scene, row) ?? { scores: [], most: 0, sum: 0, shares: [] };
  const [score, result] = [scores[col] ?? Number.NaN, shares[col] ?? Number.NaN];
  const powerOf = (key: number): number => Math.exp((scores[key] ?? 0) - most);
  const strongest = strongestOf(shares, SHOWN_TERMS);
  const listed = strongest.includes(col) ? strongest : [...strongest.slice(0, -1), col];
  const terms = listed.map((key) => ({
    label: nameOf(source, "k", key),
    figures: [exact(scores[key] ?? 0, 3), exact((scores[key] ?? 0) - most, 3), small(powerOf(key))],
    own: key === col,
  }));
  const rest = listed.reduce((left, key) => left - (shares[key] ?? 0) * sum, sum);
  const others = { label: "others", figures: ["", "", small(Math.max(rest, 0))], faint: true };
  const kernel = answer === undefined ? Number.NaN : at(answer.shares, row - cells.top, col - cells.left);
  return {
    subject: `weight of k${col + 1} for q${row + 1}`,
    sentence:
      score === Number.NEGATIVE_INFINITY
        ? "This key comes after the query, which does not see it: its score is −∞, its weight exactly 0."
        : `The keys with the largest weights of all that q${row + 1} sees, and all others together.`,
    head: ["", "score", "− max", "e^"],
    terms: shares.length > listed.length ? [...terms, others] : terms,
    last: `${small(powerOf(col))} / ${exact(sum)} = ${small(result, 6)}`,
    result,
    kernel: Number.isNaN(kernel) ? undefined : kernel,
    lights: lightsOf(scene, row, col, ["Z", "A"]),
  };
}

function explainSum(scene: BringScene, key: number): Explanation {
  const shares = askedOf(scene).map((query) => ({ query, share: lineOf(scene, query)[key] ?? Number.NaN }));
  const result = shares.reduce((sum, { share }) => sum + share, 0);
  return {
    subject: `${nameOf(scene.source, "k", key)}, from all chosen queries`,
    sentence: "What each of the chosen queries gives this key, in this head.",
    head: ["", "weight"],
    terms: shares.map(({ query, share }) => ({
      label: nameOf(scene.source, "q", query),
      figures: [exact(share, 6)],
      faint: share === 0,
    })),
    last: `sum = ${exact(result, 6)}`,
    result,
    lights: [],
  };
}

/** All weights of a query, computed or as they were brought. */
export function lineOf(scene: BringScene, query: number): ArrayLike<number> {
  const { source, at: headAt } = scene;
  const given = source.weights(headAt.layer, headAt.head);
  return given?.subarray(query * source.keys, (query + 1) * source.keys) ?? rowAt(scene, query)?.shares ?? [];
}

function explainBrought(scene: BringScene, row: number, col: number): Explanation {
  const { source } = scene;
  const line = Array.from(lineOf(scene, row));
  const sum = line.reduce((total, weight) => total + weight, 0);
  return {
    subject: `weight of ${nameOf(source, "k", col)} for ${nameOf(source, "q", row)}`,
    sentence: `The weights ${source.origin}: the largest of this row, and what the row adds up to.`,
    head: ["", "weight"],
    terms: strongestOf(line, SHOWN_TERMS).map((key) => ({
      label: nameOf(source, "k", key),
      figures: [exact(line[key] ?? 0, 6)],
      own: key === col,
    })),
    last: `sum of the row = ${exact(sum, 6)}`,
    result: shareAt(scene, row, col),
    lights: lightsOf(scene, row, col, ["A"]),
  };
}

function explainScore(scene: BringScene, vectors: Vectors, row: number, col: number): Explanation {
  const [query, key] = [vectorOf(vectors, vectors.q, row), vectorOf(vectors, vectors.k, col)];
  const names = Array.from(query.data, (_, part) => String(part + 1));
  const told = products(
    names,
    (part) => at(query, 0, part),
    (part) => at(key, 0, part),
    ["", "q", "k"],
  );
  const dot = query.data.reduce((sum, value, part) => sum + value * at(key, 0, part), 0);
  const root = Math.sqrt(vectors.width);
  const hidden = rowAt(scene, row)?.scores[col] === Number.NEGATIVE_INFINITY;
  return {
    subject: `score of k${col + 1} for q${row + 1}`,
    sentence: hidden
      ? "This key comes after the query, which does not see it: whatever the product, its score is −∞."
      : `The sum of ${vectors.width} products, over the root of ${vectors.width}.`,
    ...told,
    last: `${exact(dot)} / ${exact(root)} = ${exact(dot / root)}${hidden ? ", hidden → −∞" : ""}`,
    result: hidden ? Number.NEGATIVE_INFINITY : dot / root,
    lights: [
      ...lightsOf(scene, row, col, ["Z", "A"]),
      ...(row === scene.row ? productLights(col - scene.cells.left) : []),
    ],
  };
}

/** A number of a query, or of a key. */
function explainPart({ source, cells }: BringScene, vectors: Vectors, { name, row, col }: Spot): Explanation {
  const isQuery = name === "q";
  return {
    subject: `part ${col + 1} of ${isQuery ? "q" : "k"}${row + 1}`,
    sentence: `One of the numbers ${source.origin}.`,
    result: at(vectorOf(vectors, isQuery ? vectors.q : vectors.k, row), 0, col),
    lights: [{ name, row: isQuery ? 0 : row - cells.left, col }],
  };
}

/** Of a key and the query in the light. */
function explainProduct(scene: BringScene, vectors: Vectors, key: number, col: number): Explanation {
  const q = at(vectorOf(vectors, vectors.q, scene.row), 0, col);
  const k = at(vectorOf(vectors, vectors.k, key), 0, col);
  return {
    subject: `part ${col + 1} of q${scene.row + 1} · k${key + 1}`,
    sentence: "One of the products that the score adds up: what this part of the vectors says about the pair.",
    last: `${exact(q)} × ${exact(k)} = ${exact(q * k)}`,
    result: q * k,
    lights: productLights(key - scene.cells.left).map((light) => ({ ...light, col })),
  };
}

/** Both vectors of a score, and their products. */
function productLights(row: number) {
  return [
    { name: "P", row },
    { name: "K", row },
    { name: "q", row: 0 },
  ];
}

/** In the small window, where the cell is in it. */
function lightsOf({ cells }: BringScene, row: number, col: number, names: readonly MatrixName[]) {
  const [r, c] = [row - cells.top, col - cells.left];
  const inside = r >= 0 && c >= 0 && r < cells.rows && c < cells.cols;
  return inside ? names.map((name) => ({ name, row: r, col: c })) : [];
}

/** Of so many, largest first. */
export function strongestOf(shares: ArrayLike<number>, count: number): readonly number[] {
  const best: number[] = [];
  for (let key = 0; key < shares.length; key++) {
    const share = shares[key] ?? 0;
    if (share <= 0 || (best.length === count && share <= (shares[best.at(-1) ?? 0] ?? 0))) continue;
    const place = best.findIndex((other) => share > (shares[other] ?? 0));
    best.splice(place < 0 ? best.length : place, 0, key);
    best.length = Math.min(best.length, count);
  }
  return best;
}
