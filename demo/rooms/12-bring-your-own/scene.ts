// The numbers of one state: the rows about the cell in the light, computed by the page in double precision; the small matrices that show
// a part of them; and the same rows as a call of heed.

import type { Answer, Call } from "../../src/engine/engine.js";
import { at, columns, fill, largest, unstack, widestGap } from "../../src/model/matrix.js";
import type { View, Views } from "../../src/ui/named-matrices.js";
import { windowAbout } from "./dots.js";
import { exampleSource } from "./example.js";
import { rowOf } from "./rows.js";
import type { Source, Vectors } from "./source.js";
import type { BringState } from "./state.js";

/** The sources that there are: an example, which is made when it is first looked at, and what was brought, which lives as long as the page. */
export class Library {
  own: Source | undefined;
  #example: Source | undefined;

  /** The example stands in for what is not there (yet). */
  sourceOf({ source, tokens }: BringState): Source {
    if (source === "own" && this.own !== undefined) return this.own;
    if (this.#example?.keys !== tokens) this.#example = exampleSource(tokens);
    return this.#example;
  }
}

/** Queries and keys of the small window. */
const SIDE = 8;

export type BringScene = ReturnType<ReturnType<typeof scenesOf>>;

/** The source keeps what it was asked for. */
export function* prepare(library: Library, state: BringState): Generator<undefined> {
  const source = library.sourceOf(state);
  yield;
  source.vectors(Math.min(state.layer, source.layers - 1), Math.min(state.head, source.heads - 1));
  yield;
}

export function scenesOf(library: Library) {
  return (state: BringState) => {
    const source = library.sourceOf(state);
    const { queries, keys } = source;
    const [layer, head] = [Math.min(state.layer, source.layers - 1), Math.min(state.head, source.heads - 1)];
    const [row, col] = [Math.min(state.row, queries - 1), Math.min(state.col, keys - 1)];
    const at = { layer, head, causal: state.causal === "yes" };
    // Some queries and some keys around a cell, and the whole rows of the queries.
    const [high, cols] = [Math.min(SIDE, queries), Math.min(SIDE, keys)];
    const top = Math.min(queries - high, Math.max(0, row - (high >> 1)));
    const left = Math.min(keys - cols, Math.max(0, col - (cols >> 1)));
    const rows = Array.from({ length: high }, (_, index) => rowOf(source, at, top + index));
    const window = windowAbout(source, state.span, row, col);
    return {
      state,
      source,
      at,
      vectors: source.vectors(layer, head),
      row,
      col,
      cells: { top, left, cols, rows },
      window,
    };
  };
}

/** A row of the window, or one made for it. */
export const rowAt = ({ cells, source, at }: BringScene, query: number) =>
  cells.rows[query - cells.top] ?? rowOf(source, at, query);

/** A key's, or a query's, numbers. */
export function vectorOf({ width }: Vectors, data: Float32Array, index: number): Float32Array {
  return data.subarray(index * width, (index + 1) * width);
}

export const MATRICES = ["Z", "A"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** Only A where weights are as they were brought. */
export function viewsOf({ cells, vectors, source }: BringScene, answer?: BringAnswer): Views<MatrixName> {
  const { top, left, cols, rows } = cells;
  const labels = (letter: "q" | "k", first: number, count: number): Labels =>
    Array.from({ length: count }, (_, at) => source.words?.[letter]?.[first + at] ?? `${letter}${first + at + 1}`);
  const [queries, keys] = [labels("q", top, rows.length), labels("k", left, cols)];
  const view = (title: string, about: string, rowLabels: Labels, colLabels: Labels, number: Entry): View => {
    const matrix = fill(rowLabels.length, colLabels.length, number);
    const tone = title === "A" ? "share" : "signed";
    return { title, about, matrix, rowLabels, colLabels, tone, full: largest(matrix) || 1 };
  };
  const A = view("A", "attention weights; full colour: the largest here", queries, keys, (r, c) =>
    answer === undefined ? (rows[r]?.weights[left + c] ?? Number.NaN) : at(answer.weights, r, c),
  );
  if (vectors === undefined) return { A };
  const scoreAt: Entry = (r, c) => rows[r]?.scores?.[left + c] ?? Number.NaN;
  return { A, Z: view("Z", "scores, scaled", queries, keys, scoreAt) };
}

type Labels = readonly string[];
type Entry = (row: number, col: number) => number;

/** None where weights are as they were brought. */
export function callsOf({ source, vectors, cells, at: { causal } }: BringScene): readonly Call[] {
  if (vectors === undefined) return [];
  const { width, q, k } = vectors;
  const { queries, keys } = source;
  const { top, rows } = cells;
  return [
    {
      q: { data: q.subarray(top * width, (top + rows.length) * width), shape: [1, 1, rows.length, width] },
      k: { data: k, shape: [1, 1, keys, width] },
      // Only the weights are looked at.
      v: { data: new Float32Array(keys), shape: [1, 1, keys, 1] },
      options: causal ? { causal: true, qOffset: top + keys - queries } : {},
    },
  ];
}

export type BringAnswer = NonNullable<ReturnType<typeof readAnswers>>;

/** The weights of the window; the largest difference over whole rows, all keys; and how many were compared. */
export function readAnswers({ source, cells: { rows, cols, left } }: BringScene, [found]: readonly Answer[]) {
  if (found === undefined) return undefined;
  const all = unstack(rows.length, source.keys, found.weights.data);
  const own = fill(rows.length, source.keys, (row, key) => rows[row]?.weights[key] ?? Number.NaN);
  return { weights: columns(all, left, cols), difference: widestGap(all, own), compared: all.data.length };
}
