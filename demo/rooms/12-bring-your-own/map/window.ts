// Which part of the map is looked at, and what moving and zooming do to it. Cells are squares of the same size both ways.

import type { Source } from "../source.js";
import { TILE } from "./tile.js";

export interface MapWindow {
  readonly top: number;
  readonly left: number;
  /** Cells from edge to edge. */
  readonly span: number;
}

type MapSize = Pick<Source, "queries" | "keys">;

const LEAST_SPAN = 8;
/** Dots from edge to edge that are looked for: between so many and twice as many. */
const DOTS = 2 * TILE;

export function wholeSpan({ queries, keys }: MapSize): number {
  return Math.max(queries, keys, LEAST_SPAN);
}

/** The nearest that there is; a span of 0 is all of it. */
export function within(size: MapSize, { top, left, span }: MapWindow): MapWindow {
  const whole = wholeSpan(size);
  const fits = span <= 0 ? whole : Math.min(whole, Math.max(LEAST_SPAN, span));
  const inside = (at: number, count: number): number => Math.min(Math.max(0, count - fits), Math.max(0, at));
  return { top: inside(top, size.queries), left: inside(left, size.keys), span: fits };
}

/** What stands at (x, y), shares of the edge, stays there. */
export function zoomed(size: MapSize, window: MapWindow, factor: number, x: number, y: number): MapWindow {
  const now = within(size, window);
  const span = Math.min(wholeSpan(size), Math.max(LEAST_SPAN, now.span / factor));
  return within(size, { span, left: now.left + x * (now.span - span), top: now.top + y * (now.span - span) });
}

/** Moved as little as shows the cell. */
export function showing(size: MapSize, window: MapWindow, row: number, col: number): MapWindow {
  const { top, left, span } = within(size, window);
  const into = (first: number, at: number): number => Math.min(at, Math.max(first, at + 1 - span));
  return within(size, { top: into(top, row), left: into(left, col), span });
}

/** Cells of a dot, both ways: a power of two. */
export function blockFor({ span }: MapWindow): number {
  return Math.max(1, 2 ** Math.floor(Math.log2(span / DOTS)));
}

export interface TilePlace {
  readonly block: number;
  readonly row: number;
  readonly col: number;
}

/** The tiles that a window shows, row by row. */
export function tilesIn(size: MapSize, window: MapWindow): readonly TilePlace[] {
  const { top, left, span } = within(size, window);
  const block = blockFor({ top, left, span });
  const side = TILE * block;
  const range = (from: number, count: number): readonly number[] => {
    const [first, last] = [Math.floor(from / side), Math.ceil(Math.min(count, from + span) / side)];
    return Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  };
  return range(top, size.queries).flatMap((row) => range(left, size.keys).map((col) => ({ block, row, col })));
}
