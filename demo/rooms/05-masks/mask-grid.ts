// A grid of pairs that are seen or hidden: painted with the pointer, or with the space bar where the keyboard stands.

import { button, h, heads, oneStop } from "../../src/ui/dom.js";

interface MaskView extends Readonly<Record<"rows" | "cols" | "tile", number>> {
  readonly sees: (row: number, col: number) => boolean;
  /** Hidden by hand. */
  readonly painted: (row: number, col: number) => boolean;
}

interface Handlers {
  readonly inspect: (row: number, col: number, held: boolean) => void;
  readonly leave: () => void;
  readonly paint: (row: number, col: number, hide: boolean) => void;
}

export function maskGrid({ inspect, leave, paint }: Handlers) {
  let view: MaskView | undefined;
  let cells: readonly (readonly HTMLButtonElement[])[] = [];
  /** What the stroke under way does; undefined between strokes. */
  let stroke: boolean | undefined;
  const element = h("div", { class: "mask-grid" });

  function put(row: number, col: number): void {
    if (stroke !== undefined && view?.painted(row, col) !== stroke) paint(row, col, stroke);
  }

  function cellOf(row: number, col: number): HTMLButtonElement {
    const cell = button("", () => {}, "mask-cell");
    cell.dataset["pair"] = `${row} ${col}`;
    // Of the keyboard: a pointer has painted when it went down.
    cell.addEventListener("click", ({ detail }) => {
      if (detail === 0) paint(row, col, view?.painted(row, col) === false);
    });
    cell.addEventListener("focus", () => inspect(row, col, true));
    cell.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      // A finger or pen would otherwise keep sending its moves to the first cell.
      if (cell.hasPointerCapture(event.pointerId)) cell.releasePointerCapture(event.pointerId);
      // Safari gives buttons no focus by themselves.
      cell.focus({ preventScroll: true });
      stroke = view?.painted(row, col) === false;
      put(row, col);
    });
    return cell;
  }

  element.addEventListener("pointermove", ({ clientX, clientY, buttons }) => {
    const under = document.elementFromPoint(clientX, clientY);
    const [row, col] = (under instanceof HTMLElement ? (under.dataset["pair"] ?? "") : "").split(" ").map(Number);
    if (buttons === 0) stroke = undefined;
    if (row === undefined || col === undefined) return;
    inspect(row, col, false);
    put(row, col);
  });
  element.addEventListener("pointerleave", leave);
  for (const type of ["pointerup", "pointercancel"]) {
    addEventListener(type, () => {
      stroke = undefined;
    });
  }

  function rebuild({ rows, cols }: MaskView): void {
    const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
    cells = numbers(rows).map((row) => numbers(cols).map((col) => cellOf(row, col)));
    const lines = cells.map((line, row) =>
      h("tr", {}, h("th", { scope: "row" }, `q${row + 1}`), ...line.map((cell) => h("td", {}, cell))),
    );
    const label = `Mask, ${rows} queries by ${cols} keys; space paints`;
    const names = numbers(cols).map((col) => `k${col + 1}`);
    const table = h("table", { "aria-label": label }, heads("", ...names), h("tbody", {}, ...lines));
    // A new one each time, since the arrows are told how wide the table is.
    const frame = h("div", { class: "mask-frame" }, table);
    oneStop(frame, cells.flat(), cols);
    element.replaceChildren(frame);
  }

  return {
    element,
    show(next: MaskView): void {
      const isNew = view?.rows !== next.rows || view.cols !== next.cols;
      view = next;
      if (isNew) rebuild(next);
      const last = next.tile - 1;
      cells.forEach((line, row) => {
        line.forEach((cell, col) => {
          const [sees, painted] = [next.sees(row, col), next.painted(row, col)];
          cell.textContent = sees ? "sees" : painted ? "hidden by hand" : "hidden";
          cell.classList.toggle("sees", sees);
          cell.classList.toggle("painted", painted);
          cell.classList.toggle("tile-right", col % next.tile === last && col < next.cols - 1);
          cell.classList.toggle("tile-below", row % next.tile === last && row < next.rows - 1);
        });
      });
    },
    light(row: number, col: number): void {
      for (const lit of element.querySelectorAll(".lit")) lit.classList.remove("lit");
      cells[row]?.[col]?.classList.add("lit");
    },
  };
}
