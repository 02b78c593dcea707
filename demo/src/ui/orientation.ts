// The other convention: a word is a column instead of a row, so that every matrix is turned and products stand the other way round.

import type { Light, MatrixView } from "heed/viz";
import type { By } from "../model/fields.js";
import { transpose } from "../model/matrix.js";
import type { Store } from "../model/store.js";
import { boundChoice } from "./bound.js";

const TEXTS: Readonly<Record<By, string>> = { rows: "row", columns: "column" };

/** In a room in which `what` stands in a row or a column: a word, say. */
export function byChoice<S extends { readonly by: By }>(store: Store<S>, what: string): HTMLElement {
  return boundChoice(store, "by", `A ${what} is a`, TEXTS);
}

export function turned(view: MatrixView): MatrixView {
  const { struck, rowLabels, colLabels } = view;
  return {
    ...view,
    about: worded(view.about),
    matrix: transpose(view.matrix),
    rowLabels: colLabels,
    colLabels: rowLabels,
    ...(struck === undefined ? {} : { struck: (row: number, col: number) => struck(col, row) }),
  };
}

/** Rows where columns are meant, and the other way round. */
export function worded(text: string): string {
  return text.replace(/\b(row|column)(s?)\b/gi, (_, word: string, many: string) => {
    const other = word.toLowerCase() === "row" ? "column" : "row";
    const isUpper = word.startsWith(word.charAt(0).toUpperCase());
    return (isUpper ? other.charAt(0).toUpperCase() + other.slice(1) : other) + many;
  });
}

/** What is lit on a matrix, on the turned one. */
export function turnedLight({ row, col }: Light): Light {
  return { ...(col === undefined ? {} : { row: col }), ...(row === undefined ? {} : { col: row }) };
}

/** Transposes a pasted block; missing numbers of a short row are 0. */
export function columnsOf(values: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const wide = Math.max(...values.map((line) => line.length));
  return Array.from({ length: wide }, (_, col) => values.map((line) => line[col] ?? 0));
}
