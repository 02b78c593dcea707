// A board on which shapes move: what stands on it is a function of the scrubber's place alone, so it scrubs both ways.

import { type Attributes, button, calm, h, setAttributes, svg } from "./dom.js";

export interface Shape {
  /** The same shape at another place has the same key; a rect and its text may share one. */
  readonly key: string;
  readonly tag: "rect" | "circle" | "line" | "path" | "text" | "image";
  readonly attributes: Attributes;
  readonly text?: string;
}

export interface View {
  readonly height: number;
  readonly shapes: readonly Shape[];
  /** What the board shows, in words. */
  readonly said: string;
}

/** `at`: whole numbers are steps, what lies between is on the way. `width`: of the board, in pixels. */
export type Draw = (at: number, width: number) => View;

export interface BoardParts {
  readonly steps: readonly string[];
  /** The scrubber has come to another place, by hand or by playing. */
  readonly moved?: (at: number) => void;
  /** A shape with a `data-pick` was pressed. */
  readonly picked?: (name: string) => void;
}

const SECONDS_A_STEP = 1.6;
const SMALLEST = 0.02;

/** From 0 to 1 while the place goes from `from` to `to`, gently at both ends. */
export function during(at: number, from: number, to: number): number {
  const t = Math.min(1, Math.max(0, (at - from) / (to - from)));
  return t * t * (3 - 2 * t);
}

export const mix = (from: number, to: number, t: number): number => from + (to - from) * t;

export class Board {
  readonly element: HTMLElement;
  readonly #parts: BoardParts;
  readonly #svg = svg("svg", { role: "img" });
  readonly #range: HTMLInputElement;
  readonly #play = button("Play", () => (this.#frame === undefined ? this.#start() : this.stop()));
  readonly #said = h("output", { class: "board-said" });
  readonly #shapes = new Map<string, { readonly element: SVGElement; shown: Shape }>();
  #draw: Draw | undefined;
  #width = 0;
  #at = 0;
  #frame: number | undefined;

  constructor(parts: BoardParts) {
    this.#parts = parts;
    const last = parts.steps.length - 1;
    this.#range = h("input", { type: "range", min: 0, max: last, step: SMALLEST, value: 0, "aria-label": "Step" });
    this.#range.addEventListener("input", () => {
      this.stop();
      this.#go(Number(this.#range.value));
    });
    this.#range.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (way === undefined) return;
      event.preventDefault();
      this.stop();
      this.#go(Math.min(last, Math.max(0, (way > 0 ? Math.floor : Math.ceil)(this.#at) + way)));
    });
    this.#svg.addEventListener("click", (event) => {
      const pick = event.target instanceof Element ? event.target.getAttribute("data-pick") : null;
      if (pick !== null) parts.picked?.(pick);
    });
    const scrubber = h("div", { class: "board-scrubber" }, this.#play, this.#range, this.#said);
    scrubber.hidden = last === 0;
    this.element = h("div", { class: "board" }, h("div", { class: "board-view" }), scrubber);
    this.element.firstElementChild?.append(this.#svg);
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry?.contentRect.width ?? 0);
      if (width === this.#width || width === 0) return;
      this.#width = width;
      this.#paint();
    }).observe(this.element);
  }

  get at(): number {
    return this.#at;
  }

  /** Shows something else, at the place where the scrubber stands unless `at` says another. */
  show(draw: Draw, at = this.#at): void {
    this.#draw = draw;
    this.#at = at;
    this.#paint();
  }

  stop(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    this.#play.textContent = "Play";
  }

  /** Under reduced motion one press is one step. */
  #start(): void {
    const last = this.#parts.steps.length - 1;
    const from = this.#at >= last ? 0 : this.#at;
    if (calm()) {
      this.#go(this.#at >= last ? 0 : Math.floor(this.#at) + 1);
      return;
    }
    this.#play.textContent = "Stop";
    let begin: number | undefined;
    const run = (now: number): void => {
      begin ??= now;
      const at = Math.min(last, from + (now - begin) / (1000 * SECONDS_A_STEP));
      this.#frame = requestAnimationFrame(run);
      this.#go(at);
      if (at === last) this.stop();
    };
    this.#frame = requestAnimationFrame(run);
  }

  #go(at: number): void {
    this.#at = at;
    this.#paint();
    this.#parts.moved?.(at);
  }

  #paint(): void {
    const step = this.#parts.steps[Math.round(this.#at)] ?? "";
    this.#range.value = String(this.#at);
    this.#range.setAttribute("aria-valuetext", step);
    this.#said.textContent = step;
    if (this.#draw === undefined || this.#width === 0) return;
    const { height, shapes, said } = this.#draw(this.#at, this.#width);
    this.#svg.setAttribute("viewBox", `0 0 ${this.#width} ${height}`);
    this.#svg.setAttribute("aria-label", said);
    this.#put(shapes);
  }

  /** In the order of the list; only what differs from the last picture is touched. */
  #put(shapes: readonly Shape[]): void {
    const gone = new Set(this.#shapes.keys());
    let before: ChildNode | null = this.#svg.firstChild;
    for (const shape of shapes) {
      gone.delete(nameOf(shape));
      const element = this.#one(shape);
      if (element === before) before = before.nextSibling;
      else this.#svg.insertBefore(element, before);
    }
    for (const name of gone) {
      this.#shapes.get(name)?.element.remove();
      this.#shapes.delete(name);
    }
  }

  #one(shape: Shape): SVGElement {
    const known = this.#shapes.get(nameOf(shape));
    const element = known?.element ?? svg(shape.tag);
    const shown = known?.shown.attributes ?? {};
    const changed = Object.entries(shape.attributes).filter(([name, value]) => shown[name] !== value);
    for (const name of Object.keys(shown)) if (shape.attributes[name] === undefined) element.removeAttribute(name);
    setAttributes(element, Object.fromEntries(changed));
    if (known?.shown.text !== shape.text) element.textContent = shape.text ?? "";
    this.#shapes.set(nameOf(shape), { element, shown: shape });
    return element;
  }
}

const nameOf = ({ tag, key }: Shape): string => `${tag} ${key}`;
