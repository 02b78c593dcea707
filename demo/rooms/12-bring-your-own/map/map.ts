// <heed-map>: a matrix of any size as a picture to move and zoom in, by pointer, wheel, fingers and keys, with a table behind it.

import { button, goalOf, h, onRecolour } from "../../../src/ui/dom.js";
import { behind } from "../../../src/ui/table.js";
import { nameOf } from "../arrays.js";
import { ALL } from "../state.js";
import { type MapView, paint, showAxis, tableOf, tileAt } from "./draw.js";
import { type Shader, shaderOf } from "./tile.js";
import { blockFor, type MapWindow, showing, wholeSpan, within, zoomed } from "./window.js";

export interface MapHandlers {
  readonly move: (window: MapWindow) => void;
  /** `held`: chosen, not only pointed at. */
  readonly inspect: (row: number, col: number, held: boolean) => void;
  readonly leave: () => void;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const WHEEL = 0.0016;
const KEY_ZOOM = 2;
/** A press that moves less chooses a cell. */
const SLACK = 5;

export function heedMap({ move, inspect, leave }: MapHandlers) {
  let view: MapView | undefined;
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

  const showAxes = ({ scene }: MapView): void => {
    for (const way of ["across", "down"] as const) showAxis(axes[way], way, scene, width);
  };
  const draw = (): void => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (view === undefined) return;
      const isAsWide = stage.clientWidth === width;
      width = stage.clientWidth;
      if (!isAsWide) showAxes(view);
      shader ??= shaderOf(stage);
      paint(canvas, width, view, shader);
    });
  };
  const tabulate = (): void => {
    if (view !== undefined && numbers.open) table.replaceChildren(...tableOf(view));
  };
  /** More has come in. */
  const refresh = (): void => {
    draw();
    tabulate();
  };

  /** A point of the page in parts of the map's edges. */
  const partsOf = ({ x, y }: Point): Point => {
    const box = stage.getBoundingClientRect();
    return { x: (x - box.left) / box.width, y: (y - box.top) / box.height };
  };
  /** What stands at a point of the map, in parts of its edges, stays there. */
  const zoom = (factor: number, { x, y }: Point): void => {
    if (view !== undefined) move(zoomed(view.scene.source, view.scene.state, factor, x, y));
  };
  /** About the cell in the light, or the middle where that is out of sight. */
  const zoomOnCell = (factor: number): void => {
    if (view === undefined) return;
    const { source, state, row, col } = view.scene;
    const { top, left, span } = within(source, state);
    const [x, y] = [(col + 0.5 - left) / span, (row + 0.5 - top) / span];
    zoom(factor, x >= 0 && x <= 1 && y >= 0 && y <= 1 ? { x, y } : { x: 0.5, y: 0.5 });
  };
  const closer = (): void => zoomOnCell(KEY_ZOOM);
  const further = (): void => zoomOnCell(1 / KEY_ZOOM);
  const inspectAt = (event: PointerEvent, held: boolean): void => {
    if (view === undefined) return;
    const { source, state } = view.scene;
    const { top, left, span } = within(source, state);
    const { x, y } = partsOf(event);
    const [row, col] = [Math.floor(top + y * span), Math.floor(left + x * span)];
    if (row < 0 || col < 0 || row >= source.queries || col >= source.keys) return;
    const tile = tileAt(view, row, col);
    const cell = tile === undefined || tile.block === 1 ? { row, col } : tile.cellAt(tile.dotOf(row, col));
    inspect(cell.row, cell.col, held);
  };
  /** One pointer that is down drags the map; two that part or close zoom about the one that rests. */
  const dragTo = (event: PointerEvent, before: Point): void => {
    const [fixed] = Array.from(pointers).flatMap(([id, point]) => (id === event.pointerId ? [] : [point]));
    pointers.set(event.pointerId, event);
    moved += distance(event, before);
    if (fixed !== undefined) {
      zoom(distance(event, fixed) / Math.max(1, distance(before, fixed)), partsOf(fixed));
    } else if (moved > SLACK && view !== undefined) {
      const { source, state } = view.scene;
      const { top, left, span } = within(source, state);
      const cells = span / stage.clientWidth;
      move(
        within(source, { top: top - (event.y - before.y) * cells, left: left - (event.x - before.x) * cells, span }),
      );
    }
  };
  const walk = (down: number, right: number): void => {
    if (view === undefined) return;
    const { source, state, row, col } = view.scene;
    const window = within(source, state);
    const [nextRow, nextCol] = [
      Math.min(source.queries - 1, Math.max(0, row + down * blockFor(window))),
      Math.min(source.keys - 1, Math.max(0, col + right * blockFor(window))),
    ];
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
  numbers.addEventListener("toggle", tabulate);
  new ResizeObserver(draw).observe(stage);
  onRecolour(() => {
    shader = undefined;
    draw();
  });

  const tool = (ariaLabel: string, text: string, press: () => void): HTMLElement =>
    Object.assign(button(text, press), { ariaLabel });
  const help = "Drag to move. To zoom: the wheel, once it is chosen; two fingers; + and −.";
  element.append(
    h("div", { class: "map-frame" }, axes.across, axes.down, stage),
    h(
      "div",
      { class: "race" },
      tool("Zoom in", "+", closer),
      tool("Zoom out", "−", further),
      tool("Show all of it", "All", () => move(ALL)),
      h("span", { class: "small-label" }, help),
    ),
    numbers,
  );
  return {
    element,
    refresh,
    show: (next: MapView): void => {
      view = next;
      const { source, state, at, row, col } = next.scene;
      const { queries, keys } = source;
      const what = `Weights of layer ${at.layer + 1}, head ${at.head + 1}, ${queries} queries by ${keys} keys`;
      const place = `${nameOf(source, "q", row, "query ")}, ${nameOf(source, "k", col, "key ")}`;
      stage.setAttribute("aria-label", `${what}; ${place}. Arrows move, plus and minus zoom, 0 shows all.`);
      // All of it: a finger that moves up or down moves the page.
      stage.classList.toggle("whole", within(source, state).span >= wholeSpan(source));
      showAxes(next);
      refresh();
    },
  };
}

function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
