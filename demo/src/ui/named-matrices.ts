// A room’s matrices by their names: made, shown, lit and listened to together; and turned, where a word is a column instead of a row.

import { HeedMatrix, type Light, type MatrixEdit, type MatrixSelection, type MatrixView } from "heed/viz";
import type { By } from "../model/fields.js";
import { at, largest, type Matrix, transpose } from "../model/matrix.js";
import type { Cell, Store } from "../model/store.js";
import { boundChoice } from "./controls.js";
import { h, on } from "./dom.js";
import { type Explanation, lit, type NamedLight } from "./explanation.js";

export interface NamedSpot<Name extends string> extends Cell {
  readonly name: Name;
}

/** What was typed or pasted, from this cell on. */
export type EditNamed<N extends string> = (name: N, row: number, col: number, values: MatrixEdit["values"]) => void;

export type View = Omit<MatrixView, "name">;
/** A matrix that has none is hidden. */
export type Views<Name extends string> = Readonly<Partial<Record<Name, View>>>;
type Labels = readonly string[];

/** "k1", "k2" … */
export const numbered = (name: string, count: number): Labels =>
  Array.from({ length: count }, (_, index) => `${name}${index + 1}`);

/** Blue above 0 and brown below, the stronger the nearer to the largest number, or to 1. */
export function signed(title: string, about: string, matrix: Matrix, rowLabels: Labels, colLabels: Labels): View {
  return { title, about, matrix, rowLabels, colLabels, tone: "signed", full: Math.max(1, largest(matrix)) };
}

/** Attention weights. */
export const weighed = (...parts: Parameters<typeof signed>): View => ({ ...signed(...parts), tone: "share", full: 1 });

/** A matrix, and how one of its numbers comes about: `own` are the page's, where the kernel's are shown. */
export interface Telling extends View {
  readonly own?: Matrix;
  readonly tell: (row: number, col: number, result: number) => Told;
}

/** What is told of a number besides where it stands. The cell is lit, and this may light others. */
export type Told = Pick<Explanation, "sentence"> & Partial<Explanation>;

/** undefined: there is no such cell. */
export function told(view: Telling, { name, row, col }: Cell): Explanation | undefined {
  const { title, matrix, own = matrix, rowLabels, colLabels, editable = false } = view;
  const result = at(own, row, col);
  if (Number.isNaN(result)) return undefined;
  const { lights = [], subject = "", ...more } = view.tell(row, col, result);
  const named = subject || `${title.replaceAll("_", "")} [${rowLabels[row]}, ${colLabels[col]}]`;
  const kernel = own === matrix ? undefined : at(matrix, row, col);
  return { editable, ...more, subject: named, result, kernel, lights: [...lights, lit(name, row, col)] };
}

export class NamedMatrices<Name extends string> {
  readonly #matrices: ReadonlyMap<Name, HeedMatrix>;
  readonly #store: { readonly state: object };

  /** What is a row for the room is shown as a column where the state in the store says so. */
  constructor(names: readonly Name[], store: { readonly state: object } = { state: {} }) {
    this.#store = store;
    this.#matrices = new Map(names.map((name) => [name, new HeedMatrix()]));
  }

  get isTurned(): boolean {
    const { state } = this.#store;
    return "by" in state && state.by === "columns";
  }

  of(...names: readonly Name[]): HTMLElement[] {
    return names.flatMap((name) => this.#matrices.get(name) ?? []);
  }

  /** Beside each other. */
  line(...names: readonly Name[]): HTMLElement {
    return h("div", { class: "matrices" }, ...this.of(...names));
  }

  /** Once for each room. */
  listen(
    teller: { readonly point: (spot: NamedSpot<Name>, held: boolean) => void; readonly leave: () => void },
    edit: EditNamed<Name> = () => {},
  ): void {
    for (const [name, matrix] of this.#matrices) {
      for (const type of ["inspect", "select"] as const) {
        on<MatrixSelection>(matrix, type, (cell) => {
          const [row, col] = this.#placed(cell);
          // `held`: the cell stays in the light when the pointer leaves.
          teller.point({ name, row, col }, type === "select");
        });
      }
      on<MatrixEdit>(matrix, "edit", (typed) => {
        edit(name, ...this.#placed(typed), this.isTurned ? columnsOf(typed.values) : typed.values);
      });
      matrix.addEventListener("leave", () => teller.leave());
    }
  }

  /** From the room's rows and columns to those that are shown, and back. */
  #placed({ row, col }: Pick<Cell, "row" | "col">): [number, number] {
    return this.isTurned ? [col, row] : [row, col];
  }

  /** Those without a view are hidden. `names`: of which there is something new. Default: all. */
  show(viewOf: (name: Name) => MatrixView | undefined, names: Iterable<Name> = this.#matrices.keys()): void {
    for (const name of names) {
      const [matrix, view] = [this.#matrices.get(name), viewOf(name)];
      if (matrix === undefined) continue;
      matrix.hidden = view === undefined;
      if (view !== undefined) matrix.show(this.isTurned ? turned(view) : view);
    }
  }

  showAll(views: Views<Name>): void {
    this.show((name) => {
      const view = views[name];
      return view && { name, ...view };
    });
  }

  /** undefined: none of these matrices has such a cell to show. */
  find(cell: Cell): NamedSpot<Name> | undefined {
    const [row, col] = this.#placed(cell);
    for (const [name, { view, hidden }] of this.#matrices) {
      if (name !== cell.name || hidden || view === undefined) continue;
      if (row < view.matrix.rows && col < view.matrix.cols) return { ...cell, name };
    }
    return undefined;
  }

  /** What is told of such a cell, as the matrices stand. */
  told(
    cell: Cell,
    explain: (spot: NamedSpot<Name>) => Explanation | undefined,
    explainOther: (cell: Cell) => Explanation | undefined = () => undefined,
  ): Explanation | undefined {
    const spot = this.find(cell);
    const told = spot === undefined ? explainOther(cell) : explain(spot);
    return told !== undefined && this.isTurned ? { ...told, sentence: worded(told.sentence) } : told;
  }

  light(lights: readonly NamedLight[]): void {
    for (const [name, matrix] of this.#matrices) {
      const own = lights.filter((light) => light.name === name);
      matrix.light(this.isTurned ? own.map(turnedLight) : own);
    }
  }
}

const TEXTS: Readonly<Record<By, string>> = { rows: "row", columns: "column" };

/** In a room in which `what` stands in a row or a column: a word, say. */
export function byChoice<S extends { readonly by: By }>(store: Store<S>, what: string): HTMLElement {
  return boundChoice(store, "by", `A ${what} is a`, TEXTS);
}

function turned(view: MatrixView): MatrixView {
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
function turnedLight({ row, col }: Light): Light {
  return { ...(col === undefined ? {} : { row: col }), ...(row === undefined ? {} : { col: row }) };
}

/** Transposes a pasted block; missing numbers of a short row are 0. */
function columnsOf(values: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const wide = Math.max(...values.map((line) => line.length));
  return Array.from({ length: wide }, (_, col) => values.map((line) => line[col] ?? 0));
}
