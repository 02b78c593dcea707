// Draw, then see: bars that a reader draws over a picture, as tall as they expect them; the real ones grow over them.

import { keepGuess } from "../../src/page/kept.js";
import { type Shape, shape } from "../../src/ui/board.js";
import { button, goalOf, h } from "../../src/ui/dom.js";
import type { Question } from "../../src/ui/guess.js";
import { percent } from "../../src/ui/numbers.js";

export interface Sketch {
  readonly ask: string;
  /** What each bar stands for, and how tall it is, of 1. */
  readonly names: readonly string[];
  readonly bars: readonly number[];
  /** The bar that the keyboard is at. */
  readonly cursor: number;
}

type Plot = Readonly<Record<"x" | "y" | "width" | "height", number>>;

/** The sketch in its place on a board, and as long as the answer is not there what it is drawn on. */
export function sketchOver(plot: Plot, { ask, names, bars, cursor }: Sketch, isAnswered: boolean): Shape[] {
  const { x, y, width, height } = plot;
  const step = width / bars.length;
  const tops = bars.map((bar, index) => `L${x + index * step} ${y + height * (1 - bar)}h${step}`);
  const isDrawn = bars.some((bar) => bar > 0);
  const d = `M${x} ${y + height}${tops.join("")}V${y + height}`;
  const bar = bars[cursor] ?? 0;
  const pad = {
    ...{ ...plot, class: "thread-pad", tabindex: 0, role: "slider", "aria-label": ask },
    ...{ "aria-valuemin": 0, "aria-valuemax": 1, "aria-valuenow": bar },
    "aria-valuetext": `${names[cursor]}: ${percent(bar)}`,
  };
  return [
    ...(isDrawn ? [shape("path", "sketch", { class: "thread-sketch", d })] : []),
    ...(isAnswered ? [] : [shape("rect", "pad", pad)]),
  ];
}

/** One bar is set; or all that a stroke passes, from the one that it was at. */
export function drawn({ bars, cursor, ...rest }: Sketch, to: number, value: number, isStroke: boolean): Sketch {
  const last = Math.min(bars.length - 1, Math.max(0, to));
  const [tall, start] = [Math.min(1, Math.max(0, value)), isStroke ? cursor : last];
  const [low, high] = [Math.min(start, last), Math.max(start, last)];
  const next = bars.map((bar, index) => {
    if (index < low || index > high) return bar;
    return last === start
      ? tall
      : (bars[start] ?? 0) + ((tall - (bars[start] ?? 0)) * (index - start)) / (last - start);
  });
  return { ...rest, bars: next, cursor: last };
}

/** How much two distributions have in common, of 1. */
function overlap(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [one, other].map((bars) => bars.reduce((sum, bar) => sum + bar, 0));
  return one.reduce((sum, bar, index) => sum + Math.min(bar / (a || 1), (other[index] ?? 0) / (b || 1)), 0);
}

/** In common with the real bars, from which on a sketch is right. */
const RIGHT = 0.6;

/** What a bar is taller or shorter by at a press of a key. */
const NUDGE = 0.05;

/** Follows the pointer and the keyboard on the pad that a board shows. */
export function listenToSketch(board: HTMLElement, now: () => Sketch | undefined, told: (next: Sketch) => void): void {
  const draw = (event: PointerEvent, isStroke: boolean): void => {
    const [sketch, pad] = [now(), event.target];
    if (sketch === undefined || !(pad instanceof Element) || !pad.matches(".thread-pad")) return;
    if (!isStroke) pad.setPointerCapture(event.pointerId);
    const { left, top, width, height } = pad.getBoundingClientRect();
    const bar = Math.floor(((event.clientX - left) / width) * sketch.bars.length);
    told(drawn(sketch, bar, 1 - (event.clientY - top) / height, isStroke));
  };
  board.addEventListener("pointerdown", (event) => draw(event, false));
  board.addEventListener("pointermove", (event) => {
    if (event.buttons > 0) draw(event, true);
  });
  board.addEventListener("keydown", (event) => {
    const sketch = now();
    if (sketch === undefined || !(event.target instanceof Element) || !event.target.matches(".thread-pad")) return;
    const [right, up] = goalOf<readonly [number, number]>(event, WAYS) ?? [];
    if (right === undefined || up === undefined) return;
    const to = sketch.cursor + right;
    told(drawn(sketch, to, (sketch.bars[to] ?? sketch.bars[sketch.cursor] ?? 0) + NUDGE * up, false));
  });
}

const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] } as const;

/** `show` brings the answer into the picture; `bars`: of the sketch and of the answer. */
export function sketching(
  name: string,
  { ask, why }: Pick<Question, "ask" | "why">,
  show: () => void,
  bars: () => readonly [own: readonly number[], real: readonly number[]],
): HTMLElement {
  const said = h("p", { class: "guess-said", role: "status" });
  const press = (): void => {
    show();
    const [own, real] = bars();
    const common = overlap(own, real);
    if (own.every((bar) => bar === 0)) {
      said.textContent = why;
      return;
    }
    keepGuess(name, common >= RIGHT);
    const verdict = common >= RIGHT ? "Yes: " : "No: ";
    said.replaceChildren(h("b", {}, `${verdict}your sketch is right for ${percent(common)}. `), why);
  };
  const label = h("span", { class: "guess-ask" }, h("b", {}, "Draw, over the picture: "), ask);
  return h("div", { class: "guess" }, label, button("Show it", press, "chip plain"), said);
}
