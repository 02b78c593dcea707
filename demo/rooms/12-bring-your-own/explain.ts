// One number of the room taken apart: a share, a score, a product, or what was brought.

import { at } from "../../src/model/matrix.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { BringAnswer } from "./calls.js";
import { entropyOf } from "./entropy.js";
import { askedOf, type BringScene, rowAt, shareAt, vectorOf } from "./scene.js";
import { MATRICES, type MatrixName } from "./views.js";
import { nameOf } from "./words.js";

/** "sum": of the chosen queries' shares of a key; "entropy": of a query's shares. */
export const TOLD = [...MATRICES, "sum", "entropy"] as const;

/** In places of the whole: query and key, or key and part of the vector. */
export type Spot = NamedSpot<(typeof TOLD)[number]>;

const SHOWN_TERMS = 10;

export function explain(scene: BringScene, spot: Spot, answer: BringAnswer | undefined): Explanation | undefined {
  const { source, vectors } = scene;
  const { name, row, col } = spot;
  if (name === "A") {
    if (row >= source.queries || col >= source.keys) return undefined;
    return vectors === undefined ? explainBrought(scene, row, col) : explainShare(scene, row, col, answer);
  }
  if (name === "sum") return col < source.keys ? explainSum(scene, col) : undefined;
  if (name === "entropy") return row < source.queries ? explainEntropy(scene, row) : undefined;
  if (vectors === undefined) return undefined;
  if (name === "Z") {
    return row < source.queries && col < source.keys ? explainScore(scene, row, col) : undefined;
  }
  const rows = name === "q" ? source.queries : source.keys;
  if (row >= rows || col >= vectors.width) return undefined;
  return explainPart(scene, spot);
}

function explainShare(scene: BringScene, row: number, col: number, answer: BringAnswer | undefined): Explanation {
  const { cells, source } = scene;
  const own = rowAt(scene, row);
  const { scores, most, sum, shares } = own ?? { scores: [], most: 0, sum: 0, shares: [] };
  const [score, result] = [scores[col] ?? Number.NaN, shares[col] ?? Number.NaN];
  const term = (key: number) => ({
    label: nameOf(source, "k", key),
    figures: [
      exact(scores[key] ?? 0, 3),
      exact((scores[key] ?? 0) - most, 3),
      small(Math.exp((scores[key] ?? 0) - most)),
    ],
    own: key === col,
  });
  const strongest = strongestOf(shares, SHOWN_TERMS);
  const listed = strongest.includes(col) ? strongest : [...strongest.slice(0, -1), col];
  const rest = listed.reduce((left, key) => left - (shares[key] ?? 0) * sum, sum);
  const kernel = answer === undefined ? Number.NaN : at(answer.shares, row - cells.top, col - cells.left);
  const hidden = score === Number.NEGATIVE_INFINITY;
  return {
    subject: `share of k${col + 1} for q${row + 1}`,
    sentence: hidden
      ? "This key comes after the query, which does not see it: its score is −∞, its share exactly 0."
      : `Of all keys that q${row + 1} sees, those with the largest shares, and all others together.`,
    head: ["", "score", "− max", "e^"],
    terms: [
      ...listed.map(term),
      ...(shares.length > listed.length
        ? [{ label: "others", figures: ["", "", small(Math.max(rest, 0))], faint: true }]
        : []),
    ],
    last: `${small(Math.exp(score - most))} / ${exact(sum)} = ${small(result, 6)}`,
    result,
    ...(Number.isNaN(kernel) ? {} : { kernel }),
    lights: lightsOf(scene, row, col, ["Z", "A"]),
  };
}

function explainSum(scene: BringScene, key: number): Explanation {
  const shares = askedOf(scene).map((query) => ({ query, share: lineOf(scene, query)[key] ?? Number.NaN }));
  const result = shares.reduce((sum, { share }) => sum + share, 0);
  return {
    subject: `${nameOf(scene.source, "k", key)}, of all that ask`,
    sentence:
      shares.length === 1
        ? "One query asks; choose more, and their shares are added up."
        : "The shares that the chosen queries give to this key.",
    head: ["", "share"],
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

function explainEntropy(scene: BringScene, query: number): Explanation {
  const line = lineOf(scene, query);
  const strongest = strongestOf(line, SHOWN_TERMS);
  const result = entropyOf(line);
  const termOf = (share: number): number => (share > 0 ? -share * Math.log(share) : 0);
  const listed = strongest.map((key) => ({ key, share: line[key] ?? 0 }));
  const rest = result - listed.reduce((sum, { share }) => sum + termOf(share), 0);
  return {
    subject: `entropy of ${nameOf(scene.source, "q", query)}`,
    sentence: "Each share times its logarithm, and all of that together, with the sign turned.",
    head: ["", "a", "−a ln a"],
    terms: [
      ...listed.map(({ key, share }) => ({
        label: nameOf(scene.source, "k", key),
        figures: [exact(share, 5), exact(termOf(share), 5)],
      })),
      { label: "others", figures: ["", exact(Math.max(0, rest), 5)], faint: true },
    ],
    last: `sum = ${exact(result)} nats, as of ${exact(Math.exp(result), 1)} equal shares`,
    result,
    lights: [],
  };
}

/** All shares of a query, computed or as they were brought. */
export function lineOf(scene: BringScene, query: number): ArrayLike<number> {
  const { source, at: headAt } = scene;
  const given = source.weights(headAt.layer, headAt.head);
  return given?.subarray(query * source.keys, (query + 1) * source.keys) ?? rowAt(scene, query)?.shares ?? [];
}

function explainBrought(scene: BringScene, row: number, col: number): Explanation {
  const { source } = scene;
  const line = Array.from(lineOf(scene, row));
  const strongest = strongestOf(line, SHOWN_TERMS);
  const result = shareAt(scene, row, col);
  return {
    subject: `weight of ${nameOf(source, "k", col)} for ${nameOf(source, "q", row)}`,
    sentence: `The weights ${source.origin}: the largest of this row, and what the row adds up to.`,
    head: ["", "weight"],
    terms: strongest.map((key) => ({
      label: nameOf(source, "k", key),
      figures: [exact(line[key] ?? 0, 6)],
      own: key === col,
    })),
    last: `sum of the row = ${exact(
      line.reduce((sum, weight) => sum + weight, 0),
      6,
    )}`,
    result,
    lights: lightsOf(scene, row, col, ["A"]),
  };
}

function explainScore(scene: BringScene, row: number, col: number): Explanation {
  const { vectors, cells } = scene;
  if (vectors === undefined) throw new RangeError("weights as they were brought have no scores");
  const [query, key] = [vectorOf(vectors, vectors.q, row), vectorOf(vectors, vectors.k, col)];
  const told = products(
    Array.from({ length: vectors.width }, (_, part) => String(part + 1)),
    (part) => at(query, 0, part),
    (part) => at(key, 0, part),
    ["", "q", "k"],
  );
  const dot = Array.from(query.data).reduce((sum, value, part) => sum + value * at(key, 0, part), 0);
  const root = Math.sqrt(vectors.width);
  const hidden = (rowAt(scene, row)?.scores[col] ?? 0) === Number.NEGATIVE_INFINITY;
  const result = hidden ? Number.NEGATIVE_INFINITY : dot / root;
  return {
    subject: `score of k${col + 1} for q${row + 1}`,
    sentence: hidden
      ? "This key comes after the query, which does not see it: whatever the product, its score is −∞."
      : `The sum of ${vectors.width} products, over the root of ${vectors.width}.`,
    ...told,
    last: `${exact(dot)} / ${exact(root)} = ${exact(dot / root)}${hidden ? ", hidden → −∞" : ""}`,
    result,
    lights: [
      ...lightsOf(scene, row, col, ["Z", "A"]),
      ...(row === scene.row
        ? [
            { name: "P", row: col - cells.left },
            { name: "K", row: col - cells.left },
            { name: "q", row: 0 },
          ]
        : []),
    ],
  };
}

/** Of a query, a key, or their product: `row` counts queries for the first, else keys. */
function explainPart(scene: BringScene, { name, row, col }: Spot): Explanation {
  const { vectors, cells, source } = scene;
  const of = (data: Float32Array | undefined, index: number): number =>
    data?.[index * (vectors?.width ?? 0) + col] ?? Number.NaN;
  const [q, k] = [of(vectors?.q, name === "q" ? row : scene.row), of(vectors?.k, row)];
  const part = `part ${col + 1}`;
  if (name !== "P") {
    return {
      subject: `${part} of ${name === "q" ? `q${row + 1}` : `k${row + 1}`}`,
      sentence: `One of the numbers ${source.origin}.`,
      head: [],
      terms: [],
      last: "",
      result: name === "q" ? q : k,
      lights: [{ name, row: name === "q" ? 0 : row - cells.left, col }],
    };
  }
  return {
    subject: `${part} of q${scene.row + 1} · k${row + 1}`,
    sentence: "One of the products that the score adds up: what this part of the vectors says about the pair.",
    head: [],
    terms: [],
    last: `${exact(q)} × ${exact(k)} = ${exact(q * k)}`,
    result: q * k,
    lights: [
      { name: "P", row: row - cells.left, col },
      { name: "K", row: row - cells.left, col },
      { name: "q", row: 0, col },
    ],
  };
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
