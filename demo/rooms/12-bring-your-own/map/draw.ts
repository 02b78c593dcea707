// What stands on a map and beside it: its tiles, coarse ones below fine ones, the cell in the light, the words along its axes, and the
// table behind it.

import { h } from "../../../src/ui/dom.js";
import { exact, whole } from "../../../src/ui/numbers.js";
import { heads, line } from "../../../src/ui/table.js";
import { nameOf } from "../arrays.js";
import type { BringScene } from "../scene.js";
import { ALL } from "../state.js";
import { type Shader, TILE, type Tile } from "./tile.js";
import type { Tiles } from "./tiles.js";
import { blockFor, tilesIn, within } from "./window.js";

/** The scene, and its weights as far as they are there. */
export interface MapView {
  readonly scene: BringScene;
  readonly tiles: Tiles | undefined;
}

/** Pixels of the mark, where a cell is smaller. */
const LEAST_MARK = 6;
/** Pixels that a line of words takes. */
const PITCH = 13;
/** Rows and columns of the table. */
const SIDE = 16;

/** `width`: of the canvas on the page. */
export function paint(canvas: HTMLCanvasElement, width: number, { scene, tiles }: MapView, shader: Shader): void {
  const context = canvas.getContext("2d");
  const edge = Math.round(width * devicePixelRatio);
  if (context === null || edge === 0) return;
  if (canvas.width !== edge) Object.assign(canvas, { width: edge, height: edge });
  const { source, state, row, col } = scene;
  const { queries, keys } = source;
  const { top, left, span } = within(source, state);
  const scale = edge / span;
  context.clearRect(0, 0, edge, edge);
  context.imageSmoothingEnabled = false;
  for (const place of [...tilesIn(source, ALL), ...tilesIn(source, state)]) {
    const tile = tiles?.get(place);
    if (tile === undefined || tile.rows === 0) continue;
    const [rows, cols] = [Math.ceil(tile.rows / tile.block), Math.ceil((keys - tile.left) / tile.block)];
    const across = Math.min(TILE * tile.block, keys - tile.left) * scale;
    const down = Math.min(rows * tile.block, queries - tile.top) * scale;
    const [x, y] = [(tile.left - left) * scale, (tile.top - top) * scale];
    context.drawImage(tile.shaded(shader, 1 / keys), 0, 0, Math.min(TILE, cols), rows, x, y, across, down);
  }
  context.strokeStyle = getComputedStyle(canvas).color;
  mark(context, (col + 0.5 - left) * scale, (row + 0.5 - top) * scale, scale);
}

/** The cell in the light, about its middle, and lines that lead to it. */
function mark(context: CanvasRenderingContext2D, x: number, y: number, scale: number): void {
  const { width, height } = context.canvas;
  context.lineWidth = devicePixelRatio;
  context.globalAlpha = 0.35;
  context.stroke(new Path2D(`M0 ${y}H${width}M${x} 0V${height}`));
  context.globalAlpha = 1;
  context.lineWidth = 2 * devicePixelRatio;
  const side = Math.max(LEAST_MARK * devicePixelRatio, scale);
  context.strokeRect(x - side / 2, y - side / 2, side, side);
}

type Axis = ReturnType<typeof axisOf>;

/** `from`: the first cell in view; parts of cells as well. `own`: the one in the light. */
function axisOf({ source, state, row, col }: BringScene, way: "across" | "down") {
  const { top, left } = within(source, state);
  return way === "across"
    ? { name: "keys", count: source.keys, from: left, own: col, words: source.words?.k }
    : { name: "queries", count: source.queries, from: top, own: row, words: source.words?.q };
}

/** Which part of the axis is in view, and the words of its tokens, as many as `length` pixels have room for. */
export function showAxis(element: HTMLElement, way: "across" | "down", scene: BringScene, length: number): void {
  const axis = axisOf(scene, way);
  const { name, count, from, own, words } = axis;
  const { span } = within(scene.source, scene.state);
  const range = `${name} ${whole(Math.floor(from + 1))} to ${whole(Math.ceil(Math.min(count, from + span)))} →`;
  const shown = wordsIn(axis, span, length).map((index) => {
    const word = h("span", { class: index === own ? "own" : undefined, dir: "auto" }, words?.[index] ?? "");
    word.style.setProperty("--at", `${(100 * (index + 0.5 - from)) / span}%`);
    return word;
  });
  // The table behind the map has the words for those who hear the page. Their room stays while one zooms, so that the map does.
  const row = h("div", { class: "map-words", "aria-hidden": "true", hidden: words === undefined }, ...shown);
  element.replaceChildren(h("p", {}, range), row);
}

/** Each cell's, or every so many where cells are narrow; the one in the light takes the place of those beside it. */
function wordsIn({ count, from, own, words }: Axis, span: number, length: number): readonly number[] {
  if (words === undefined) return [];
  const step = Math.max(1, Math.ceil((PITCH * span) / length));
  const [first, last] = [Math.ceil(from - 0.5), Math.min(count - 1, Math.floor(from + span - 0.5))];
  const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return all.filter((index) => index === own || (index % step === 0 && Math.abs(index - own) >= step));
}

/** The tile that has a cell, with dots as fine as the window's. */
export function tileAt({ scene: { source, state }, tiles }: MapView, row: number, col: number): Tile | undefined {
  const block = blockFor(within(source, state));
  const side = TILE * block;
  return tiles?.get({ block, row: Math.floor(row / side), col: Math.floor(col / side) });
}

/** What is looked at, a few dots both ways. */
export function tableOf(view: MapView): readonly HTMLElement[] {
  const { source, state } = view.scene;
  const { top, left, span } = within(source, state);
  const placesIn = (first: number, count: number): readonly number[] =>
    Array.from({ length: SIDE }, (_, index) => Math.floor(first + ((index + 0.5) * span) / SIDE)).filter(
      (place) => place < count,
    );
  const cols = placesIn(left, source.keys);
  const weightAt = (row: number, col: number): string => {
    const tile = tileAt(view, row, col);
    return tile === undefined || row - tile.top >= tile.rows ? "…" : exact(tile.max[tile.dotOf(row, col)] ?? 0, 5);
  };
  const lines = placesIn(top, source.queries).map((row) =>
    line(
      nameOf(source, "q", row, ""),
      cols.map((col) => weightAt(row, col)),
    ),
  );
  const block = blockFor({ top, left, span });
  const what = block === 1 ? "Single cells" : `The largest of ${block} × ${block} cells`;
  return [
    h("caption", {}, `${what} at each place; rows are queries, columns are keys.`),
    heads("", ...cols.map((col) => nameOf(source, "k", col, ""))),
    h("tbody", {}, ...lines),
  ];
}
