// The table behind a map: what is looked at, a few dots both ways.

import { h } from "../../../src/ui/dom.js";
import { exact } from "../../../src/ui/numbers.js";
import { nameOf } from "../words.js";
import { dotAt, type MapView } from "./view.js";
import { blockFor, within } from "./window.js";

const SIDE = 16;

export function tableOf(view: MapView): readonly HTMLElement[] {
  const { size, pool } = view;
  const { top, left, span } = within(size, view.window);
  const block = blockFor({ top, left, span });
  const marks = Array.from({ length: SIDE }, (_, index) => ((index + 0.5) * span) / SIDE);
  const rows = marks.map((mark) => Math.floor(top + mark)).filter((row) => row < size.queries);
  const cols = marks.map((mark) => Math.floor(left + mark)).filter((col) => col < size.keys);
  const weightAt = (row: number, col: number): string => {
    const { tile, dot = 0 } = dotAt(view, block, row, col) ?? {};
    if (tile === undefined || row - tile.top >= tile.rows) return "…";
    return exact(pool === "max" ? (tile.max[dot] ?? 0) : tile.mean(dot, size.queries, size.keys), 5);
  };
  const what = block === 1 ? "Single cells" : `The ${pool} of ${block} × ${block} cells`;
  const line = (row: number): HTMLElement =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, nameOf(view, "q", row, "")),
      ...cols.map((col) => h("td", {}, weightAt(row, col))),
    );
  return [
    h("caption", {}, `${what} at each place; rows are queries, columns are keys.`),
    h("thead", {}, h("tr", {}, h("td"), ...cols.map((col) => h("th", { scope: "col" }, nameOf(view, "k", col, ""))))),
    h("tbody", {}, ...rows.map(line)),
  ];
}
