// The numbers of one state: the few cells around the one in the light, computed by the page in double precision.

import { at, fill, type Matrix } from "../../src/model/matrix.js";
import type { Library } from "./library.js";
import { type OwnRow, ownRow } from "./own-rows.js";
import { type HeadAt, lastSeen } from "./rows.js";
import type { Source, Vectors } from "./source.js";
import type { BringState } from "./state.js";

/** Queries and keys of the small window. */
export const SIDE = 8;

/** Some queries and some keys around a cell, and all that their rows are made of. */
export interface Cells {
  readonly top: number;
  readonly left: number;
  readonly rows: number;
  readonly cols: number;
  /** undefined: the weights are as they were brought. */
  readonly own: readonly OwnRow[] | undefined;
  readonly shares: Matrix;
  /** Scaled; only where they are computed. */
  readonly scores: Matrix | undefined;
}

export interface BringScene {
  readonly state: BringState;
  readonly source: Source;
  readonly at: HeadAt;
  readonly vectors: Vectors | undefined;
  readonly row: number;
  readonly col: number;
  readonly cells: Cells;
}

/** The source keeps what it was asked for. */
export function* prepare(library: Library, state: BringState): Generator<undefined> {
  const source = library.sourceOf(state);
  yield;
  source.vectors(Math.min(state.layer, source.layers - 1), Math.min(state.head, source.heads - 1));
  yield;
}

/** Cells are computed anew only where they are others: moving over the map changes the state many times a second. */
export function scenesOf(library: Library): (state: BringState) => BringScene {
  let last: { readonly key: string; readonly source: Source; readonly cells: Cells } | undefined;
  return (state) => {
    const source = library.sourceOf(state);
    const [layer, head] = [Math.min(state.layer, source.layers - 1), Math.min(state.head, source.heads - 1)];
    const [row, col] = [Math.min(state.row, source.queries - 1), Math.min(state.col, source.keys - 1)];
    const headAt: HeadAt = { layer, head, causal: state.causal === "yes" };
    const vectors = source.vectors(layer, head);
    const key = [layer, head, state.causal, row, col].join();
    if (last?.key !== key || last.source !== source) {
      last = { key, source, cells: cellsOf(source, headAt, vectors, row, col) };
    }
    return { state, source, at: headAt, vectors, row, col, cells: last.cells };
  };
}

function cellsOf(source: Source, headAt: HeadAt, vectors: Vectors | undefined, row: number, col: number): Cells {
  const { queries, keys } = source;
  const [rows, cols] = [Math.min(SIDE, queries), Math.min(SIDE, keys)];
  const top = Math.min(queries - rows, Math.max(0, row - (rows >> 1)));
  const left = Math.min(keys - cols, Math.max(0, col - (cols >> 1)));
  const place = { top, left, rows, cols };
  if (vectors === undefined) {
    const given = source.weights(headAt.layer, headAt.head) ?? new Float32Array(0);
    const shares = fill(rows, cols, (r, c) => given[(top + r) * keys + left + c] ?? Number.NaN);
    return { ...place, own: undefined, scores: undefined, shares };
  }
  const own = Array.from({ length: rows }, (_, r) =>
    ownRow(vectors, top + r, keys, lastSeen(source, headAt.causal, top + r)),
  );
  const part = (of: (one: OwnRow) => Float64Array): Matrix =>
    fill(rows, cols, (r, c) => {
      const one = own[r];
      return one === undefined ? Number.NaN : (of(one)[left + c] ?? Number.NaN);
    });
  return { ...place, own, shares: part(({ shares }) => shares), scores: part(({ scores }) => scores) };
}

/** A key's, or a query's, numbers. */
export function vectorOf({ width }: Vectors, data: Float32Array, index: number): Matrix {
  return { rows: 1, cols: width, data: Float64Array.from(data.subarray(index * width, (index + 1) * width)) };
}

/** The queries that were chosen, else the one in the light. */
export function askedOf({ state, source, row }: BringScene): readonly number[] {
  const there = state.chosen.filter((query) => query < source.queries);
  return there.length > 0 ? there : [row];
}

/** The share of any cell: of the window, or made for it. */
export function rowAt({ cells, source, vectors, at: headAt }: BringScene, row: number): OwnRow | undefined {
  if (vectors === undefined) return undefined;
  return cells.own?.[row - cells.top] ?? ownRow(vectors, row, source.keys, lastSeen(source, headAt.causal, row));
}

export function shareAt(scene: BringScene, row: number, col: number): number {
  const { source, at: headAt, cells } = scene;
  const own = rowAt(scene, row);
  if (own !== undefined) return own.shares[col] ?? Number.NaN;
  const inside = row >= cells.top && row < cells.top + cells.rows && col >= cells.left && col < cells.left + cells.cols;
  if (inside) return at(cells.shares, row - cells.top, col - cells.left);
  return source.weights(headAt.layer, headAt.head)?.[row * source.keys + col] ?? Number.NaN;
}
