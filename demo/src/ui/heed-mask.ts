// <heed-mask>: a grid of pairs that are seen or hidden; painted with the pointer, or with the space bar where the keyboard stands.

import { goalOf, h } from "./dom.js";

export interface MaskView {
  readonly label: string;
  readonly rows: number;
  readonly cols: number;
  readonly rowName: (row: number) => string;
  readonly colName: (col: number) => string;
  readonly sees: (row: number, col: number) => boolean;
  /** Hidden by hand. */
  readonly painted: (row: number, col: number) => boolean;
  /** Tiles are outlined; a tile that is hidden as a whole is marked. */
  readonly tile: number;
}

interface MaskHandlers {
  readonly inspect: (row: number, col: number, held: boolean) => void;
  readonly leave: () => void;
  readonly paint: (row: number, col: number, hide: boolean) => void;
}

export class HeedMask extends HTMLElement {
  handlers: MaskHandlers | undefined;
  #view: MaskView | undefined;
  #table = h("table", { role: "grid" });
  #cells: HTMLTableCellElement[][] = [];
  #at: readonly [number, number] = [0, 0];
  /** What the stroke under way does; undefined between strokes. */
  #stroke: boolean | undefined;

  connectedCallback(): void {
    if (this.firstChild !== null) return;
    this.append(h("div", { class: "mask-frame" }, this.#table));
    this.#table.addEventListener("pointerdown", (event) => this.#begin(event));
    this.#table.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"] as const) {
      this.#table.addEventListener(end, () => {
        this.#stroke = undefined;
      });
    }
    this.#table.addEventListener("pointerleave", () => this.handlers?.leave());
    this.#table.addEventListener("focusin", (event) => this.#focused(event));
    this.#table.addEventListener("keydown", (event) => this.#key(event));
  }

  show(view: MaskView): void {
    const before = this.#view;
    this.#view = view;
    this.#table.setAttribute("aria-label", view.label);
    const isNew = before?.rows !== view.rows || before.cols !== view.cols || before.rowName(0) !== view.rowName(0);
    if (isNew) this.#rebuild(view);
    this.#each((cell, row, col) => paint(cell, view, row, col));
  }

  light(row: number, col: number): void {
    this.#each((cell, r, c) => cell.classList.toggle("lit", r === row && c === col));
  }

  #each(change: (cell: HTMLTableCellElement, row: number, col: number) => void): void {
    for (const [row, line] of this.#cells.entries()) for (const [col, cell] of line.entries()) change(cell, row, col);
  }

  #rebuild(view: MaskView): void {
    const hadFocus = this.#table.contains(document.activeElement);
    const columns = Array.from({ length: view.cols }, (_, col) => col);
    const head = h("tr", {}, h("td"), ...columns.map((col) => h("th", { scope: "col" }, view.colName(col))));
    this.#cells = Array.from({ length: view.rows }, (_, row) =>
      columns.map((col) => h("td", { role: "gridcell", tabindex: -1, "data-row": row, "data-col": col })),
    );
    const body = this.#cells.map((line, row) => h("tr", {}, h("th", { scope: "row" }, view.rowName(row)), ...line));
    this.#table.replaceChildren(h("thead", {}, head), h("tbody", {}, ...body));
    this.#at = [Math.min(this.#at[0], view.rows - 1), Math.min(this.#at[1], view.cols - 1)];
    this.#reach(0);
    if (hadFocus) this.#cell(...this.#at)?.focus();
  }

  #cell(row: number, col: number): HTMLTableCellElement | undefined {
    return this.#cells[row]?.[col];
  }

  /** Tab comes to the cell where the keyboard stands. */
  #reach(tabIndex: 0 | -1): void {
    const cell = this.#cell(...this.#at);
    if (cell !== undefined) cell.tabIndex = tabIndex;
  }

  #begin(event: PointerEvent): void {
    const place = placeOf(event.target);
    const view = this.#view;
    if (place === undefined || view === undefined || event.button !== 0) return;
    event.preventDefault();
    this.#cell(...place)?.focus({ preventScroll: true });
    // A finger or pen would otherwise keep sending its moves to the first cell.
    if (event.target instanceof Element && event.target.hasPointerCapture(event.pointerId)) {
      event.target.releasePointerCapture(event.pointerId);
    }
    this.#stroke = !view.painted(...place);
    this.#put(place);
  }

  #move(event: PointerEvent): void {
    const place = placeOf(document.elementFromPoint(event.clientX, event.clientY));
    if (place === undefined) return;
    this.handlers?.inspect(...place, false);
    if (event.buttons === 0) this.#stroke = undefined;
    this.#put(place);
  }

  #put([row, col]: readonly [number, number]): void {
    const view = this.#view;
    if (view === undefined || this.#stroke === undefined || view.painted(row, col) === this.#stroke) return;
    this.handlers?.paint(row, col, this.#stroke);
  }

  #focused(event: Event): void {
    const place = placeOf(event.target);
    if (place === undefined) return;
    this.#reach(-1);
    this.#at = place;
    this.#reach(0);
    this.handlers?.inspect(...place, true);
  }

  #key(event: KeyboardEvent): void {
    const view = this.#view;
    if (view === undefined) return;
    const [row, col] = this.#at;
    const goal = goalOf<readonly [number, number]>(event, {
      ArrowRight: [row, Math.min(view.cols - 1, col + 1)],
      ArrowLeft: [row, Math.max(0, col - 1)],
      ArrowDown: [Math.min(view.rows - 1, row + 1), col],
      ArrowUp: [Math.max(0, row - 1), col],
      Home: [row, 0],
      End: [row, view.cols - 1],
    });
    if (goal !== undefined) this.#cell(...goal)?.focus();
    if (goalOf(event, { " ": true, Enter: true })) this.handlers?.paint(row, col, !view.painted(row, col));
  }
}

/** Exchanges queries and keys. */
export function turnedMask(view: MaskView): MaskView {
  return {
    ...view,
    rows: view.cols,
    cols: view.rows,
    rowName: view.colName,
    colName: view.rowName,
    sees: (row, col) => view.sees(col, row),
    painted: (row, col) => view.painted(col, row),
  };
}

function paint(cell: HTMLTableCellElement, view: MaskView, row: number, col: number): void {
  const seen = view.sees(row, col);
  const [painted, last] = [view.painted(row, col), view.tile - 1];
  cell.textContent = seen ? "sees" : painted ? "hidden by hand" : "hidden";
  cell.classList.toggle("sees", seen);
  cell.classList.toggle("painted", painted);
  cell.classList.toggle("tile-right", col % view.tile === last && col < view.cols - 1);
  cell.classList.toggle("tile-below", row % view.tile === last && row < view.rows - 1);
}

function placeOf(target: EventTarget | null): readonly [number, number] | undefined {
  const cell = target instanceof Element ? target.closest("td[data-row]") : null;
  if (!(cell instanceof HTMLTableCellElement)) return undefined;
  return [Number(cell.dataset["row"]), Number(cell.dataset["col"])];
}

customElements.define("heed-mask", HeedMask);
