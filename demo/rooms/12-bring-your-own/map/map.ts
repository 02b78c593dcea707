// <heed-map>: a matrix of any size as a picture to move and zoom in, by pointer, wheel, fingers and keys, with words along its axes and a
// table behind it.

import { nameOf } from "../../../src/brought/arrays.js";
import { behind, button, goalOf, h, heads, line, onRecolour } from "../../../src/ui/dom.js";
import { exact, whole } from "../../../src/ui/numbers.js";
import type { BringScene } from "../scene.js";
import { ALL } from "../state.js";
import { blockFor, type MapWindow, type Shader, shaderOf, showing, TILE, tilesIn, within, zoomed } from "./tile.js";
import type { Tiles } from "./tiles.js";

export interface MapHandlers {
  readonly move: (window: MapWindow) => void;
  /** `held`: chosen, not only pointed at. */
  readonly inspect: (row: number, col: number, held: boolean) => void;
  readonly leave: () => void;
}

/** The scene, and its weights as far as they are there. */
type MapView = BringScene & Pick<Tiles, "get">;

/** Pixels of the mark, where a cell is smaller. */
const LEAST_MARK = 6;
/** Pixels that a line of words takes. */
const PITCH = 13;
/** Rows and columns of the table. */
const SIDE = 16;

type Point = Pick<DOMPoint, "x" | "y">;

const WHEEL = 0.0016;
const KEY_ZOOM = 2;
/** A press that moves less chooses a cell. */
const SLACK = 5;

export function heedMap({ move, inspect, leave }: MapHandlers, first: BringScene, get: Tiles["get"]) {
  let view: MapView = { ...first, get };
  let frame = 0;
  /** Of the map on the page, in pixels, when it was last drawn. */
  let width = 0;
  let shader: Shader | undefined;
  /** Where pointers that are down were last. */
  const pointers = new Map<number, Point>();
  let moved = 0;
  const element = document.createElement("heed-map");
  const canvas = h("canvas");
  const stage = h("div", { class: "map-stage", tabindex: 0, role: "application" }, canvas);
  const axes = {
    across: h("div", { class: "map-axis across small-label" }),
    down: h("div", { class: "map-axis down small-label" }),
  };
  const table = h("table");
  const numbers = behind(table);

  const showAxes = (): void => {
    for (const way of ["across", "down"] as const) axes[way].replaceChildren(...axisOf(way, view, width));
  };
  const draw = (): void => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      const isAsWide = stage.clientWidth === width;
      width = stage.clientWidth;
      if (!isAsWide) showAxes();
      shader ??= shaderOf(stage);
      paint(canvas, width, view, shader);
    });
  };
  /** More has come in. */
  const refresh = (): void => {
    draw();
    if (numbers.open) table.replaceChildren(...tableOf(view));
  };

  /** A point of the page in parts of the map's edges. */
  const partsOf = ({ x, y }: Point): Point => {
    const box = stage.getBoundingClientRect();
    return { x: (x - box.left) / box.width, y: (y - box.top) / box.height };
  };
  /** What stands at a point of the map, in parts of its edges, stays there. */
  const zoom = (factor: number, { x, y }: Point): void => move(zoomed(view.source, view.window, factor, x, y));
  /** About the cell in the light, or the middle where that is out of sight. */
  const zoomOnCell = (factor: number): void => {
    const { window, row, col } = view;
    const [x, y] = [(col + 0.5 - window.left) / window.span, (row + 0.5 - window.top) / window.span];
    zoom(factor, Math.min(x, y) >= 0 && Math.max(x, y) <= 1 ? { x, y } : { x: 0.5, y: 0.5 });
  };
  const closer = (): void => zoomOnCell(KEY_ZOOM);
  const further = (): void => zoomOnCell(1 / KEY_ZOOM);
  const inspectAt = (event: PointerEvent, held: boolean): void => {
    const { source, window } = view;
    const { x, y } = partsOf(event);
    const [row, col] = [Math.floor(window.top + y * window.span), Math.floor(window.left + x * window.span)];
    if (row < 0 || col < 0 || row >= source.queries || col >= source.keys) return;
    const tile = tileAt(view, row, col);
    const cell = tile?.cellAt(tile.dotOf(row, col)) ?? { row, col };
    inspect(cell.row, cell.col, held);
  };
  /** One pointer that is down drags the map; two that part or close zoom about the one that rests. */
  const dragTo = (event: PointerEvent, before: Point): void => {
    const [fixed] = Array.from(pointers).flatMap(([id, point]) => (id === event.pointerId ? [] : [point]));
    pointers.set(event.pointerId, event);
    moved += distance(event, before);
    if (fixed !== undefined) {
      zoom(distance(event, fixed) / Math.max(1, distance(before, fixed)), partsOf(fixed));
    } else if (moved > SLACK) {
      const { top, left, span } = view.window;
      const cells = span / stage.clientWidth;
      const [down, right] = [(event.y - before.y) * cells, (event.x - before.x) * cells];
      move(within(view.source, { top: top - down, left: left - right, span }));
    }
  };
  const walk = (down: number, right: number): void => {
    const { source, window, row, col } = view;
    const step = blockFor(window);
    const nextRow = Math.min(source.queries - 1, Math.max(0, row + down * step));
    const nextCol = Math.min(source.keys - 1, Math.max(0, col + right * step));
    inspect(nextRow, nextCol, true);
    const shown = showing(source, window, nextRow, nextCol);
    if (shown.top !== window.top || shown.left !== window.left) move(shown);
  };

  stage.addEventListener("pointerdown", (event) => {
    stage.focus({ preventScroll: true });
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    if (pointers.size === 1) moved = 0;
  });
  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) inspectAt(event, false);
    else dragTo(event, before);
  });
  stage.addEventListener("pointerup", (event) => {
    const wasDown = pointers.delete(event.pointerId);
    if (wasDown && moved <= SLACK && pointers.size === 0) inspectAt(event, true);
  });
  stage.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
  stage.addEventListener("pointerleave", leave);
  stage.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 16 : 1;
    goalOf(event, {
      ArrowRight: () => walk(0, step),
      ArrowLeft: () => walk(0, -step),
      ArrowDown: () => walk(step, 0),
      ArrowUp: () => walk(-step, 0),
      ...{ "+": closer, "=": closer, "-": further, "0": () => move(ALL) },
    })?.();
  });
  // Only when the map was chosen before, or with the key for zooming: else the wheel is the page's.
  const wheel = (event: WheelEvent): void => {
    if (!(event.ctrlKey || document.activeElement === stage)) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * WHEEL), partsOf(event));
  };
  stage.addEventListener("wheel", wheel, { passive: false });
  numbers.addEventListener("toggle", refresh);
  new ResizeObserver(draw).observe(stage);
  onRecolour(() => {
    shader = undefined;
    draw();
  });

  const tool = (ariaLabel: string, text: string, press: () => void): HTMLElement =>
    Object.assign(button(text, press), { ariaLabel });
  const tools = [
    tool("Zoom in", "+", closer),
    tool("Zoom out", "−", further),
    tool("Show all of it", "All", () => move(ALL)),
    h("span", { class: "small-label" }, "Drag to move. To zoom: the wheel, once it is chosen; two fingers; + and −."),
  ];
  const frameOf = h("div", { class: "map-frame" }, axes.across, axes.down, stage);
  element.append(frameOf, h("div", { class: "race" }, ...tools), numbers);
  return {
    element,
    refresh,
    show: (next: BringScene): void => {
      view = { ...next, get };
      const { source, window, at, row, col } = next;
      const { queries, keys } = source;
      const what = `Weights of layer ${at.layer + 1}, head ${at.head + 1}, ${queries} queries by ${keys} keys`;
      const place = `${nameOf(source, "q", row, "query ")}, ${nameOf(source, "k", col, "key ")}`;
      stage.setAttribute("aria-label", `${what}; ${place}. Arrows move, plus and minus zoom, 0 shows all.`);
      // All of it: a finger that moves up or down moves the page.
      stage.classList.toggle("whole", window.span >= within(source, ALL).span);
      showAxes();
      refresh();
    },
  };
}

const distance = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y);

/** `width`: of the canvas on the page. */
function paint(canvas: HTMLCanvasElement, width: number, view: MapView, shader: Shader): void {
  const context = canvas.getContext("2d");
  const edge = Math.round(width * devicePixelRatio);
  if (context === null || edge === 0) return;
  if (canvas.width !== edge) Object.assign(canvas, { width: edge, height: edge });
  const { source, window, row, col, get } = view;
  const { queries, keys } = source;
  const { top, left, span } = window;
  const scale = edge / span;
  context.clearRect(0, 0, edge, edge);
  context.imageSmoothingEnabled = false;
  for (const place of [...tilesIn(source, ALL), ...tilesIn(source, window)]) {
    const tile = get(place);
    if (tile === undefined || tile.rows === 0) continue;
    const [rows, cols] = [Math.ceil(tile.rows / tile.block), Math.ceil((keys - tile.left) / tile.block)];
    const across = Math.min(TILE * tile.block, keys - tile.left) * scale;
    const down = Math.min(rows * tile.block, queries - tile.top) * scale;
    const [x, y] = [(tile.left - left) * scale, (tile.top - top) * scale];
    context.drawImage(tile.shaded(shader, 1 / keys), 0, 0, Math.min(TILE, cols), rows, x, y, across, down);
  }
  context.strokeStyle = getComputedStyle(canvas).color;
  // The cell in the light, about its middle, and lines that lead to it.
  const [x, y] = [(col + 0.5 - left) * scale, (row + 0.5 - top) * scale];
  const side = Math.max(LEAST_MARK * devicePixelRatio, scale);
  context.lineWidth = devicePixelRatio;
  context.globalAlpha = 0.35;
  context.stroke(new Path2D(`M0 ${y}H${edge}M${x} 0V${edge}`));
  context.globalAlpha = 1;
  context.lineWidth = 2 * devicePixelRatio;
  context.strokeRect(x - side / 2, y - side / 2, side, side);
}

/** Which part of an axis is in view, and the words of its tokens, as many as `length` pixels have room for. */
function axisOf(way: "across" | "down", { source, window, row, col }: BringScene, length: number): HTMLElement[] {
  const { top, left, span } = window;
  const [name, count, from, own, words] =
    way === "across"
      ? (["keys", source.keys, left, col, source.words?.k] as const)
      : (["queries", source.queries, top, row, source.words?.q] as const);
  const range = `${name} ${whole(Math.floor(from + 1))} to ${whole(Math.ceil(Math.min(count, from + span)))} →`;
  // Each cell's, or every so many where cells are narrow; the one in the light takes the place of those beside it.
  const step = Math.max(1, Math.ceil((PITCH * span) / length));
  const shown = (words ?? []).flatMap((word, index) => {
    const middle = index + 0.5 - from;
    const hasRoom = index === own || (index % step === 0 && Math.abs(index - own) >= step);
    if (!hasRoom || middle < 0 || middle > span) return [];
    const made = h("span", { class: index === own ? "own" : undefined, dir: "auto" }, word);
    made.style.setProperty("--at", `${(100 * middle) / span}%`);
    return [made];
  });
  // The table behind the map has the words for those who hear the page. Their room stays while one zooms, so that the map does.
  return [
    h("p", {}, range),
    h("div", { class: "map-words", "aria-hidden": "true", hidden: words === undefined }, ...shown),
  ];
}

/** The tile that has a cell, with dots as fine as the window's. */
function tileAt({ window, get }: MapView, row: number, col: number) {
  const block = blockFor(window);
  const side = TILE * block;
  return get({ block, row: Math.floor(row / side), col: Math.floor(col / side) });
}

/** What is looked at, a few dots both ways. */
function tableOf(view: MapView): readonly HTMLElement[] {
  const { source, window } = view;
  const placesIn = (first: number, count: number): readonly number[] => {
    const places = Array.from({ length: SIDE }, (_, index) => Math.floor(first + ((index + 0.5) * window.span) / SIDE));
    return places.filter((place) => place < count);
  };
  const [rows, cols] = [placesIn(window.top, source.queries), placesIn(window.left, source.keys)];
  const weightAt = (row: number, col: number): string => {
    const tile = tileAt(view, row, col);
    return tile === undefined || row - tile.top >= tile.rows ? "…" : exact(tile.max[tile.dotOf(row, col)] ?? 0, 5);
  };
  const lineOf = (row: number): HTMLElement => {
    const figures = cols.map((col) => weightAt(row, col));
    return line(nameOf(source, "q", row, ""), figures);
  };
  const block = blockFor(window);
  const what = block === 1 ? "Single cells" : `The largest of ${block} × ${block} cells`;
  return [
    h("caption", {}, `${what} at each place; rows are queries, columns are keys.`),
    heads("", ...cols.map((col) => nameOf(source, "k", col, ""))),
    h("tbody", {}, ...rows.map(lineOf)),
  ];
}
