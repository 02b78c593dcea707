// A board on which shapes move: what stands on it is a function of the scrubber's place alone, so it scrubs both ways.

import { type Attributes, button, calm, goalOf, h, setAttributes, svg } from "./dom.js";
import { LAID_OUT } from "./pieces.js";

export interface Shape {
  /** The same shape at another place has the same key; a rect and its text may share one. */
  readonly key: string;
  readonly tag: "g" | "rect" | "circle" | "line" | "path" | "text" | "image";
  readonly attributes: Attributes;
  readonly text?: string;
  /** What moves together: of a group. */
  readonly inside?: readonly Shape[];
}

export interface View {
  readonly height: number;
  readonly shapes: readonly Shape[];
  /** What the board shows, in words. */
  readonly said: string;
  /** Beside the scrubber. Default: the name of the nearest step. */
  readonly step?: string;
  /** Paints what lies below the shapes, for pictures of many pixels. */
  readonly paint?: (canvas: HTMLCanvasElement) => void;
}

/** `at`: whole numbers are steps, what lies between is on the way. `width`: of the board, in pixels. */
export type Draw = (at: number, width: number) => View;

interface BoardParts {
  readonly steps: readonly string[];
  /** Their short names, on buttons below the scrubber. */
  readonly ticks?: readonly string[];
  /** What a step takes when it is played. */
  readonly seconds?: number;
  /** The scrubber has come to another place, by hand or by playing; `leaps`: a key or a button sent it there; `isOwn`: nobody did. */
  readonly moved?: (at: number, leaps: boolean, isOwn: boolean) => void;
  /** Plays once by itself when it first comes into view, and rests there. Not where an address says what is shown. */
  readonly rests?: number;
  /** A shape with a `data-pick` was pressed. */
  readonly picked?: (name: string) => void;
  /** A shape with a `data-drag` is being dragged there. */
  readonly dragged?: (name: string, x: number, y: number) => void;
  /** An arrow key was pressed on a shape with a `data-drag`, which needs a `tabindex`. */
  readonly nudged?: (name: string, right: number, down: number) => void;
}

const SECONDS_A_STEP = 1.6;
/** Of a step that a key or a button asks for. */
const SECONDS_A_LEAP = 0.9;
const SMALLEST = 0.002;
/** Of all that a board plays by itself. */
const MOST_OWN_SECONDS = 6;
const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] } as const;

/** From 0 to 1 while the place goes from `from` to `to`, gently at both ends. */
export function during(at: number, from: number, to: number): number {
  const t = Math.min(1, Math.max(0, (at - from) / (to - from)));
  return t * t * (3 - 2 * t);
}

export const mix = (from: number, to: number, t: number): number => from + (to - from) * t;

export function shape(tag: Shape["tag"], key: string, attributes: Attributes, text?: string): Shape {
  return { key, tag, attributes, ...(text === undefined ? {} : { text }) };
}

/** Small text; `x` is its middle unless `look` says otherwise. */
export function figure(key: string, text: string, [x, y]: readonly [number, number], look: Attributes = {}): Shape {
  return shape("text", key, { x, y, "text-anchor": "middle", class: "board-small", ...look }, text);
}

export class Board {
  readonly element: HTMLElement;
  readonly #parts: BoardParts;
  readonly #canvas = h("canvas", { "aria-hidden": "true" });
  readonly #svg;
  readonly #range: HTMLInputElement;
  readonly #play = button("Play", () => (this.#isPlaying ? this.stop() : this.play()));
  readonly #said = h("output", { class: "board-said" });
  readonly #shapes: Known = new Map();
  #draw: Draw | undefined;
  #width = 0;
  #at = 0;
  /** Where it is going. */
  #goal = 0;
  #ticks: readonly HTMLElement[];
  #frame: number | undefined;
  /** Rather than on its way to a place that was asked for. */
  #isPlaying = false;

  constructor(parts: BoardParts) {
    this.#parts = parts;
    // What can be reached is no part of an image.
    this.#svg = svg("svg", { role: parts.dragged === undefined ? "img" : "group" });
    const last = parts.steps.length - 1;
    this.#range = h("input", { type: "range", min: 0, max: last, step: SMALLEST, value: 0, "aria-label": "Step" });
    this.#range.addEventListener("input", () => {
      this.stop();
      this.#go(Number(this.#range.value));
    });
    this.#range.addEventListener("keydown", (event) => {
      const way = goalOf(event, { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 });
      if (way === undefined) return;
      this.leap(Math.min(last, Math.max(0, (way > 0 ? Math.floor : Math.ceil)(this.#goal) + way)));
    });
    this.#svg.addEventListener("click", (event) => {
      const pick = event.target instanceof Element ? event.target.getAttribute("data-pick") : null;
      if (pick !== null) parts.picked?.(pick);
    });
    this.#svg.addEventListener("pointerdown", (event) => this.#grab(event));
    this.#svg.addEventListener("keydown", (event) => this.#nudge(event));
    // The keyboard has the arrows.
    this.#ticks = (parts.ticks ?? []).map((name, step) => button(name, () => this.leap(step), "board-tick"));
    for (const tick of this.#ticks) tick.tabIndex = -1;
    const ticks = h("div", { class: "board-ticks" }, ...this.#ticks);
    ticks.style.setProperty("--steps", String(parts.steps.length));
    const scrubber = h("div", { class: "board-scrubber" }, this.#play, this.#range, this.#said, ticks);
    scrubber.hidden = last === 0;
    this.element = h("div", { class: "board" }, h("div", { class: "board-view" }), scrubber);
    this.element.firstElementChild?.append(this.#canvas, this.#svg);
    new ResizeObserver(() => this.#fit()).observe(this.element);
    this.element.addEventListener(LAID_OUT, () => this.#fit());
    if (parts.rests !== undefined && !calm() && location.hash === "") this.#playWhenSeen(parts.rests);
  }

  #playWhenSeen(rests: number): void {
    const seconds = Math.min(MOST_OWN_SECONDS, rests * (this.#parts.seconds ?? SECONDS_A_STEP));
    const seen = new IntersectionObserver(
      ([one]) => {
        if (one?.isIntersecting !== true) return;
        seen.disconnect();
        this.#run(0, rests, seconds, true, true);
      },
      { threshold: 0.6 },
    );
    seen.observe(this.element);
    // Whoever works it first has seen it.
    for (const type of ["pointerdown", "keydown"]) {
      this.element.addEventListener(type, () => seen.disconnect(), { once: true });
    }
  }

  get at(): number {
    return this.#at;
  }

  /** Where it stands, or goes to. */
  get goal(): number {
    return this.#goal;
  }

  /** Shows something else, at the place where the scrubber stands unless `at` says another. */
  show(draw: Draw, at = this.#at): void {
    if (at !== this.#at) this.stop();
    this.#draw = draw;
    this.#at = at;
    this.#goal = this.#frame === undefined ? at : this.#goal;
    this.#paint();
  }

  stop(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    this.#label(false);
  }

  #label(isPlaying: boolean): void {
    this.#isPlaying = isPlaying;
    this.#play.textContent = isPlaying ? "Stop" : "Play";
  }

  /** Under reduced motion one press is one step. */
  play(): void {
    this.stop();
    const last = this.#parts.steps.length - 1;
    const from = this.#at >= last ? 0 : this.#at;
    if (calm()) {
      this.leap(this.#at >= last ? 0 : Math.floor(this.#at) + 1);
      return;
    }
    this.#run(from, last, (last - from) * (this.#parts.seconds ?? SECONDS_A_STEP), true);
  }

  /** Glides to a place; under reduced motion it is there at once. */
  goTo(to: number): void {
    this.stop();
    this.#goal = to;
    if (calm()) this.#go(to, false);
    else this.#run(this.#at, to, SECONDS_A_LEAP * Math.sqrt(Math.abs(to - this.#at)), false);
  }

  /** As a key or a button does: says at once where it goes. */
  leap(to: number): void {
    this.goTo(to);
    this.#parts.moved?.(to, true, false);
  }

  #run(from: number, to: number, seconds: number, tells: boolean, isOwn = false): void {
    let begin: number | undefined;
    this.#label(tells);
    const run = (now: number): void => {
      begin ??= now;
      const part = seconds === 0 ? 1 : Math.min(1, (now - begin) / (1000 * seconds));
      this.#frame = requestAnimationFrame(run);
      this.#go(mix(from, to, part), tells, isOwn);
      if (part === 1) this.stop();
    };
    this.#frame = requestAnimationFrame(run);
  }

  #grab(event: PointerEvent): void {
    const { target, pointerId } = event;
    const name = target instanceof SVGElement ? target.dataset["drag"] : undefined;
    if (name === undefined || !(target instanceof SVGElement) || event.button !== 0) return;
    target.setPointerCapture(pointerId);
    target.onpointermove = ({ clientX, clientY }) => {
      const { left, top } = this.#svg.getBoundingClientRect();
      this.#parts.dragged?.(name, clientX - left, clientY - top);
    };
    target.onlostpointercapture = () => {
      target.onpointermove = null;
    };
  }

  #nudge(event: KeyboardEvent): void {
    const name = event.target instanceof SVGElement ? event.target.dataset["drag"] : undefined;
    const way = name === undefined ? undefined : goalOf<readonly [number, number]>(event, WAYS);
    if (name !== undefined && way !== undefined) this.#parts.nudged?.(name, ...way);
  }

  #fit(): void {
    const width = this.element.clientWidth;
    if (width === this.#width || width === 0) return;
    this.#width = width;
    this.#paint();
  }

  #go(at: number, tells = true, isOwn = false): void {
    this.#at = at;
    if (tells) this.#goal = at;
    this.#paint();
    if (tells) this.#parts.moved?.(at, false, isOwn);
  }

  #paint(): void {
    const view = this.#width === 0 ? undefined : this.#draw?.(this.#at, this.#width);
    const step = view?.step ?? this.#parts.steps[Math.round(this.#at)] ?? "";
    this.#range.value = String(this.#at);
    this.#range.setAttribute("aria-valuetext", step);
    this.#said.textContent = step;
    this.#ticks.forEach((tick, index) => {
      tick.ariaCurrent = index === Math.round(this.#at) ? "step" : null;
    });
    if (view === undefined) return;
    const { height, shapes, said, paint } = view;
    this.#canvas.hidden = paint === undefined;
    paint?.(this.#canvas);
    setAttributes(this.#svg, { viewBox: `0 0 ${this.#width} ${height}`, "aria-label": said });
    put(this.#svg, this.#shapes, shapes);
  }
}

/** What is on the board, by the names of shapes. */
type Known = Map<string, { readonly element: SVGElement; readonly inside: Known; shown: Shape }>;

/** In the order of the list; only what differs from the last picture is touched, and a group with the same array inside is not entered. */
function put(into: SVGElement, known: Known, shapes: readonly Shape[]): void {
  const names = new Set(shapes.map(nameOf));
  for (const [name, { element }] of known) {
    if (names.has(name)) continue;
    element.remove();
    known.delete(name);
  }
  let before = into.firstChild;
  for (const shape of shapes) {
    const one = known.get(nameOf(shape)) ?? { element: svg(shape.tag), inside: new Map(), shown: BLANK };
    known.set(nameOf(shape), one);
    const { element, shown, inside } = one;
    one.shown = shape;
    if (element === before) before = before.nextSibling;
    else into.insertBefore(element, before);
    for (const name of Object.keys(shown.attributes)) {
      if (shape.attributes[name] === undefined) element.removeAttribute(name);
    }
    const changed = Object.entries(shape.attributes).filter(([name, value]) => shown.attributes[name] !== value);
    setAttributes(element, Object.fromEntries(changed));
    if (shown.text !== shape.text) element.textContent = shape.text ?? "";
    if (shape.inside !== shown.inside) put(element, inside, shape.inside ?? []);
  }
}

const BLANK: Shape = { key: "", tag: "g", attributes: {} };
const nameOf = ({ tag, key }: Shape): string => `${tag} ${key}`;
