// The table behind a map: what is looked at, a few dots both ways.

import { h } from "../../../src/ui/dom.js";
import { exact } from "../../../src/ui/numbers.js";
import { heads, line } from "../../../src/ui/table.js";
import { nameOf } from "../words.js";
import { dotAt, type MapView } from "./view.js";
import { blockFor, within } from "./window.js";

const SIDE = 16;

export function tableOf(view: MapView): readonly HTMLElement[] {
  const { size } = view;
  const { top, left, span } = within(size, view.window);
  const block = blockFor({ top, left, span });
  const marks = Array.from({ length: SIDE }, (_, index) => ((index + 0.5) * span) / SIDE);
  const rows = marks.map((mark) => Math.floor(top + mark)).filter((row) => row < size.queries);
  const cols = marks.map((mark) => Math.floor(left + mark)).filter((col) => col < size.keys);
  const weightAt = (row: number, col: number): string => {
    const { tile, dot = 0 } = dotAt(view, block, row, col) ?? {};
    return tile === undefined || row - tile.top >= tile.rows ? "…" : exact(tile.max[dot] ?? 0, 5);
  };
  const lineOf = (row: number): HTMLElement =>
    line(
      nameOf(view, "q", row, ""),
      cols.map((col) => weightAt(row, col)),
    );
  const what = block === 1 ? "Single cells" : `The largest of ${block} × ${block} cells`;
  return [
    h("caption", {}, `${what} at each place; rows are queries, columns are keys.`),
    heads("", ...cols.map((col) => nameOf(view, "k", col, ""))),
    h("tbody", {}, ...rows.map(lineOf)),
  ];
}
