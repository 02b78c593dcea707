// <heed-map>: a matrix of any size as a picture to move and zoom in, by pointer, wheel, fingers and keys, with a table behind it.

import { button, goalOf, h, onRecolour } from "../../../src/ui/dom.js";
import { behind } from "../../../src/ui/table.js";
import { nameOf } from "../words.js";
import { MapAxis } from "./axis.js";
import { MapPainter } from "./paint.js";
import { tableOf } from "./table.js";
import { dotAt, type MapView } from "./view.js";
import { blockFor, type MapWindow, showing, within, zoomed } from "./window.js";

export interface MapHandlers {
  readonly move: (window: MapWindow) => void;
  /** `held`: chosen, not only pointed at. */
  readonly inspect: (row: number, col: number, held: boolean) => void;
  readonly leave: () => void;
}

/** In the window, or as shares of the map's edges. */
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
  readonly #painter = new MapPainter();
  readonly #canvas = h("canvas");
  readonly #stage = h("div", { class: "map-stage", tabindex: 0, role: "application" }, this.#canvas);
  readonly #across = new MapAxis("across");
  readonly #down = new MapAxis("down");
  readonly #table = h("table");
  readonly #behind = behind(this.#table);
  /** Pointers that are down, and where each began. */
  readonly #pointers = new Map<number, Point>();
  #moved = 0;

  connectedCallback(): void {
    if (this.firstChild !== null) return;
    const frame = h("div", { class: "map-frame" }, this.#across.element, this.#down.element, this.#stage);
    this.append(frame, this.#buttons(), this.#behind);
    const stage = this.#stage;
    stage.addEventListener("pointerdown", (event) => this.#pressed(event));
    stage.addEventListener("pointermove", (event) => this.#pointed(event));
    stage.addEventListener("pointerup", (event) => this.#released(event));
    stage.addEventListener("pointercancel", (event) => this.#pointers.delete(event.pointerId));
    stage.addEventListener("pointerleave", () => this.handlers.leave());
    stage.addEventListener("keydown", (event) => this.#key(event));
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#behind.addEventListener("toggle", () => this.#tabulate());
    new ResizeObserver(() => this.#draw()).observe(stage);
    onRecolour(() => {
      this.#painter.forget();
      this.#draw();
    });
  }

  show(view: MapView): void {
    this.#view = view;
    const { size, row, col, label, words } = view;
    const { top, left, span } = within(size, view.window);
    this.#across.show({ name: "keys", count: size.keys, from: left, span, own: col, words: words?.k });
    this.#down.show({ name: "queries", count: size.queries, from: top, span, own: row, words: words?.q });
    const place = `${nameOf(view, "q", row, "query ")}, ${nameOf(view, "k", col, "key ")}`;
    this.#stage.setAttribute("aria-label", `${label}; ${place}. Arrows move, plus and minus zoom, 0 shows all.`);
    // All of it: a finger that moves up or down moves the page.
    this.#stage.classList.toggle("whole", span >= Math.max(size.queries, size.keys));
    this.refresh();
  }

  /** More has come in. */
  refresh(): void {
    this.#draw();
    this.#tabulate();
  }

  #buttons(): HTMLElement {
    const named = (text: string, label: string, press: () => void): HTMLElement => {
      const made = button(text, press);
      made.ariaLabel = label;
      return made;
    };
    return h(
      "div",
      { class: "map-buttons" },
      named("+", "Zoom in", () => this.#zoomOnCell(KEY_ZOOM)),
      named("−", "Zoom out", () => this.#zoomOnCell(1 / KEY_ZOOM)),
      named("All", "Show all of it", () => this.handlers.move({ top: 0, left: 0, span: 0 })),
      h("span", { class: "small-label" }, "Drag to move. To zoom: the wheel, once it is chosen; two fingers; + and −."),
    );
  }

  /** About the cell in the light, or the middle where that is out of sight. */
  #zoomOnCell(factor: number): void {
    const view = this.#view;
    if (view === undefined) return;
    const { top, left, span } = within(view.size, view.window);
    const [x, y] = [(view.col + 0.5 - left) / span, (view.row + 0.5 - top) / span];
    const seen = x >= 0 && x <= 1 && y >= 0 && y <= 1;
    this.handlers.move(zoomed(view.size, view.window, factor, seen ? x : 0.5, seen ? y : 0.5));
  }

  /** A point of the window on the map. */
  #at({ x, y }: Point): Point {
    const box = this.#stage.getBoundingClientRect();
    return { x: (x - box.left) / box.width, y: (y - box.top) / box.height };
  }

  #cellAt(event: MouseEvent): { readonly row: number; readonly col: number } | undefined {
    const view = this.#view;
    if (view === undefined) return undefined;
    const { size } = view;
    const { top, left, span } = within(size, view.window);
    const { x, y } = this.#at(event);
    const [row, col] = [Math.floor(top + y * span), Math.floor(left + x * span)];
    if (row < 0 || col < 0 || row >= size.queries || col >= size.keys) return undefined;
    const block = blockFor({ top, left, span });
    const found = dotAt(view, block, row, col);
    return found === undefined || block === 1 ? { row, col } : found.tile.cellAt(found.dot);
  }

  #pressed(event: PointerEvent): void {
    this.#stage.focus({ preventScroll: true });
    this.#stage.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (this.#pointers.size === 1) this.#moved = 0;
  }

  #pointed(event: PointerEvent): void {
    const [view, before] = [this.#view, this.#pointers.get(event.pointerId)];
    if (view === undefined) return;
    if (before === undefined) {
      const cell = this.#cellAt(event);
      if (cell !== undefined) this.handlers.inspect(cell.row, cell.col, false);
      return;
    }
    const others = Array.from(this.#pointers).filter(([id]) => id !== event.pointerId);
    const now = { x: event.clientX, y: event.clientY };
    this.#moved += Math.hypot(now.x - before.x, now.y - before.y);
    this.#pointers.set(event.pointerId, now);
    const [, other] = others[0] ?? [];
    if (other !== undefined) this.#pinch(view, before, now, other);
    else if (this.#moved > SLACK) this.#drag(view, before, now);
  }

  #drag(view: MapView, before: Point, now: Point): void {
    const window = within(view.size, view.window);
    const cells = window.span / this.#stage.clientWidth;
    const [top, left] = [window.top - (now.y - before.y) * cells, window.left - (now.x - before.x) * cells];
    this.handlers.move(within(view.size, { top, left, span: window.span }));
  }

  #pinch(view: MapView, before: Point, now: Point, fixed: Point): void {
    const distance = (point: Point): number => Math.hypot(point.x - fixed.x, point.y - fixed.y);
    const { x, y } = this.#at(fixed);
    this.handlers.move(zoomed(view.size, view.window, distance(now) / Math.max(1, distance(before)), x, y));
  }

  #released(event: PointerEvent): void {
    const pressed = this.#pointers.delete(event.pointerId);
    if (!pressed || this.#moved > SLACK || this.#pointers.size > 0) return;
    const cell = this.#cellAt(event);
    if (cell !== undefined) this.handlers.inspect(cell.row, cell.col, true);
  }

  /** Only when it was chosen before, or with the key for zooming: else the wheel is the page's. */
  #wheel(event: WheelEvent): void {
    const view = this.#view;
    if (view === undefined || !(event.ctrlKey || document.activeElement === this.#stage)) return;
    event.preventDefault();
    const { x, y } = this.#at(event);
    this.handlers.move(zoomed(view.size, view.window, Math.exp(-event.deltaY * WHEEL), x, y));
  }

  #key(event: KeyboardEvent): void {
    const view = this.#view;
    if (view === undefined) return;
    const { size, row, col } = view;
    const step = blockFor(within(size, view.window)) * (event.shiftKey ? 16 : 1);
    const to = (nextRow: number, nextCol: number) => (): void => {
      const [r, c] = [Math.min(size.queries - 1, Math.max(0, nextRow)), Math.min(size.keys - 1, Math.max(0, nextCol))];
      this.handlers.inspect(r, c, true);
      const window = within(size, view.window);
      const shown = showing(size, window, r, c);
      if (shown.top !== window.top || shown.left !== window.left) this.handlers.move(shown);
    };
    goalOf(event, {
      ArrowRight: to(row, col + step),
      ArrowLeft: to(row, col - step),
      ArrowDown: to(row + step, col),
      ArrowUp: to(row - step, col),
      "+": () => this.#zoomOnCell(KEY_ZOOM),
      "=": () => this.#zoomOnCell(KEY_ZOOM),
      "-": () => this.#zoomOnCell(1 / KEY_ZOOM),
      "0": () => this.handlers.move({ top: 0, left: 0, span: 0 }),
    })?.();
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    if (this.#view === undefined) return;
    const { clientWidth } = this.#stage;
    for (const axis of [this.#across, this.#down]) axis.draw(clientWidth);
    this.#painter.paint(this.#canvas, clientWidth, this.#view);
  }

  #tabulate(): void {
    if (this.#view !== undefined && this.#behind.open) this.#table.replaceChildren(...tableOf(this.#view));
  }
}

customElements.define("heed-map", HeedMap);
