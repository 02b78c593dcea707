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

export class HeedMap extends HTMLElement {
  handlers: MapHandlers = { move: () => {}, inspect: () => {}, leave: () => {} };
  #view: MapView | undefined;
  #frame = 0;
  /** Of the map on the page, in pixels, when it was last drawn. */
  #width = 0;
  #shader: Shader | undefined;
  readonly #canvas = h("canvas");
  readonly #stage = h("div", { class: "map-stage", tabindex: 0, role: "application" }, this.#canvas);
  readonly #axes = {
    across: h("div", { class: "map-axis across small-label" }),
    down: h("div", { class: "map-axis down small-label" }),
  };
  readonly #table = h("table");
  readonly #behind = behind(this.#table);
  /** Where pointers that are down were last. */
  readonly #pointers = new Map<number, Point>();
  #moved = 0;

  connectedCallback(): void {
    if (this.firstChild !== null) return;
    const stage = this.#stage;
    const tool = (ariaLabel: string, text: string, press: () => void): HTMLElement =>
      Object.assign(button(text, press), { ariaLabel });
    const help = "Drag to move. To zoom: the wheel, once it is chosen; two fingers; + and −.";
    const buttons = [
      tool("Zoom in", "+", () => this.#zoomOnCell(KEY_ZOOM)),
      tool("Zoom out", "−", () => this.#zoomOnCell(1 / KEY_ZOOM)),
      tool("Show all of it", "All", () => this.handlers.move(ALL)),
    ];
    this.append(
      h("div", { class: "map-frame" }, this.#axes.across, this.#axes.down, stage),
      h("div", { class: "race" }, ...buttons, h("span", { class: "small-label" }, help)),
      this.#behind,
    );
    stage.addEventListener("pointerdown", (event) => {
      stage.focus({ preventScroll: true });
      stage.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, event);
      if (this.#pointers.size === 1) this.#moved = 0;
    });
    stage.addEventListener("pointermove", (event) => this.#pointed(event));
    stage.addEventListener("pointerup", (event) => {
      const wasDown = this.#pointers.delete(event.pointerId);
      if (wasDown && this.#moved <= SLACK && this.#pointers.size === 0) this.#inspect(event, true);
    });
    stage.addEventListener("pointercancel", (event) => this.#pointers.delete(event.pointerId));
    stage.addEventListener("pointerleave", () => this.handlers.leave());
    stage.addEventListener("keydown", (event) => this.#key(event));
    // Only when the map was chosen before, or with the key for zooming: else the wheel is the page's.
    const wheel = (event: WheelEvent): void => {
      if (!(event.ctrlKey || document.activeElement === stage)) return;
      event.preventDefault();
      this.#zoom(Math.exp(-event.deltaY * WHEEL), this.#at(event));
    };
    stage.addEventListener("wheel", wheel, { passive: false });
    this.#behind.addEventListener("toggle", () => this.#tabulate());
    new ResizeObserver(() => this.#draw()).observe(stage);
    onRecolour(() => {
      this.#shader = undefined;
      this.#draw();
    });
  }

  show(view: MapView): void {
    this.#view = view;
    const { source, state, at, row, col } = view.scene;
    const { queries, keys } = source;
    const what = `Weights of layer ${at.layer + 1}, head ${at.head + 1}, ${queries} queries by ${keys} keys`;
    const place = `${nameOf(source, "q", row, "query ")}, ${nameOf(source, "k", col, "key ")}`;
    this.#stage.setAttribute("aria-label", `${what}; ${place}. Arrows move, plus and minus zoom, 0 shows all.`);
    // All of it: a finger that moves up or down moves the page.
    this.#stage.classList.toggle("whole", within(source, state).span >= wholeSpan(source));
    this.#showAxes(view);
    this.refresh();
  }

  /** More has come in. */
  refresh(): void {
    this.#draw();
    this.#tabulate();
  }

  /** What stands at a point of the map, in parts of its edges, stays there. */
  #zoom(factor: number, { x, y }: Point): void {
    if (this.#view === undefined) return;
    const { source, state } = this.#view.scene;
    this.handlers.move(zoomed(source, state, factor, x, y));
  }

  /** About the cell in the light, or the middle where that is out of sight. */
  #zoomOnCell(factor: number): void {
    if (this.#view === undefined) return;
    const { source, state, row, col } = this.#view.scene;
    const { top, left, span } = within(source, state);
    const [x, y] = [(col + 0.5 - left) / span, (row + 0.5 - top) / span];
    this.#zoom(factor, x >= 0 && x <= 1 && y >= 0 && y <= 1 ? { x, y } : { x: 0.5, y: 0.5 });
  }

  /** A point of the page in parts of the map's edges. */
  #at({ x, y }: Point): Point {
    const box = this.#stage.getBoundingClientRect();
    return { x: (x - box.left) / box.width, y: (y - box.top) / box.height };
  }

  #inspect(event: PointerEvent, held: boolean): void {
    if (this.#view === undefined) return;
    const { source, state } = this.#view.scene;
    const { top, left, span } = within(source, state);
    const { x, y } = this.#at(event);
    const [row, col] = [Math.floor(top + y * span), Math.floor(left + x * span)];
    if (row < 0 || col < 0 || row >= source.queries || col >= source.keys) return;
    const tile = tileAt(this.#view, row, col);
    const cell = tile === undefined || tile.block === 1 ? { row, col } : tile.cellAt(tile.dotOf(row, col));
    this.handlers.inspect(cell.row, cell.col, held);
  }

  /** One pointer that is down drags the map; two that part or close zoom about the one that rests. */
  #pointed(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) this.#inspect(event, false);
    if (before === undefined || this.#view === undefined) return;
    const [fixed] = Array.from(this.#pointers).flatMap(([id, point]) => (id === event.pointerId ? [] : [point]));
    this.#pointers.set(event.pointerId, event);
    this.#moved += distance(event, before);
    if (fixed !== undefined) {
      this.#zoom(distance(event, fixed) / Math.max(1, distance(before, fixed)), this.#at(fixed));
    } else if (this.#moved > SLACK) {
      const { source, state } = this.#view.scene;
      const { top, left, span } = within(source, state);
      const cells = span / this.#stage.clientWidth;
      const to = { top: top - (event.y - before.y) * cells, left: left - (event.x - before.x) * cells, span };
      this.handlers.move(within(source, to));
    }
  }

  #key(event: KeyboardEvent): void {
    if (this.#view === undefined) return;
    const { source, state, row, col } = this.#view.scene;
    const window = within(source, state);
    const step = blockFor(window) * (event.shiftKey ? 16 : 1);
    const to = (down: number, right: number) => (): void => {
      const nextRow = Math.min(source.queries - 1, Math.max(0, row + down * step));
      const nextCol = Math.min(source.keys - 1, Math.max(0, col + right * step));
      this.handlers.inspect(nextRow, nextCol, true);
      const shown = showing(source, window, nextRow, nextCol);
      if (shown.top !== window.top || shown.left !== window.left) this.handlers.move(shown);
    };
    const closer = (): void => this.#zoomOnCell(KEY_ZOOM);
    const goals = {
      ...{ ArrowRight: to(0, 1), ArrowLeft: to(0, -1), ArrowDown: to(1, 0), ArrowUp: to(-1, 0) },
      ...{ "+": closer, "=": closer, "-": () => this.#zoomOnCell(1 / KEY_ZOOM), "0": () => this.handlers.move(ALL) },
    };
    goalOf(event, goals)?.();
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (this.#view === undefined) return;
      const { clientWidth } = this.#stage;
      const isWider = clientWidth !== this.#width;
      this.#width = clientWidth;
      if (isWider) this.#showAxes(this.#view);
      this.#shader ??= shaderOf(this.#stage);
      paint(this.#canvas, clientWidth, this.#view, this.#shader);
    });
  }

  #showAxes({ scene }: MapView): void {
    for (const way of ["across", "down"] as const) showAxis(this.#axes[way], way, scene, this.#width);
  }

  #tabulate(): void {
    if (this.#view !== undefined && this.#behind.open) this.#table.replaceChildren(...tableOf(this.#view));
  }
}

function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

customElements.define("heed-map", HeedMap);
