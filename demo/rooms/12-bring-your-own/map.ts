// <heed-map>: the weights of one head as a picture to point at and zoom into, with words along its axes.

import { nameOf } from "../../src/brought/arrays.js";
import { button, goalOf, h, onRecolour } from "../../src/ui/dom.js";
import { whole } from "../../src/ui/numbers.js";
import { type Dots, LEAST_SPAN } from "./dots.js";
import type { BringScene } from "./scene.js";

interface MapHandlers {
  readonly zoom: (span: number) => void;
  /** `held`: chosen, not only pointed at. */
  readonly inspect: (row: number, col: number, held: boolean) => void;
  readonly leave: () => void;
}

/** Pixels of the mark, where a cell is smaller. */
const LEAST_MARK = 6;
/** Pixels that a line of words takes. */
const PITCH = 13;

/** `dots`: those that are there, of which later ones lie above; the last shows what is looked at. */
export function heedMap({ zoom, inspect, leave }: MapHandlers, first: BringScene, dots: () => readonly Dots[]) {
  let scene = first;
  let frame = 0;
  /** On the page, in pixels. */
  let width = 0;
  const element = document.createElement("heed-map");
  const canvas = h("canvas");
  const stage = h("div", { class: "map-stage", tabindex: 0, role: "application" }, canvas);
  const range = h("p", { class: "small-label" });
  // The matrices of single cells have the words for those who hear the page.
  const axisOf = (way: string): HTMLElement => h("div", { class: `map-words ${way}`, "aria-hidden": "true" });
  const [across, down] = [axisOf("across"), axisOf("down")];

  const showWords = (): void => {
    const { source, window, row, col } = scene;
    const { q = [], k = [] } = source.words ?? {};
    // Their room stays while one zooms, so that the map does.
    [across.hidden, down.hidden] = [k.length === 0, q.length === 0];
    across.replaceChildren(...wordsOf(k, window.left, window.span, col, width));
    down.replaceChildren(...wordsOf(q, window.top, window.span, row, width));
  };
  const draw = (): void => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      const isAsWide = stage.clientWidth === width;
      width = stage.clientWidth;
      if (!isAsWide) showWords();
      paint(canvas, width, scene, dots());
    });
  };
  /** By a factor, about the cell in the light. */
  const closer = (factor: number): void => {
    const { source, window } = scene;
    const span = Math.max(LEAST_SPAN, Math.ceil(window.span * factor));
    zoom(span < Math.max(source.queries, source.keys) ? span : 0);
  };
  const tools = [
    ["Zoom in", "+", () => closer(1 / 2)],
    ["Zoom out", "−", () => closer(2)],
    ["Show all of it", "All", () => zoom(0)],
  ] as const;
  const inspectAt = ({ offsetX, offsetY }: MouseEvent, held: boolean): void => {
    const { source, window } = scene;
    const cellAt = (from: number, offset: number): number => Math.floor(from + (offset / width) * window.span);
    const [row, col] = [cellAt(window.top, offsetY), cellAt(window.left, offsetX)];
    if (row >= source.queries || col >= source.keys) return;
    const shown = dots().at(-1);
    const cell = shown?.cellAt(shown.dotOf(row, col) ?? -1) ?? { row, col };
    inspect(cell.row, cell.col, held);
  };
  const walk = (down: number, right: number): void => {
    const { source, row, col } = scene;
    const step = dots().at(-1)?.block ?? 1;
    const within = (at: number, count: number): number => Math.min(count - 1, Math.max(0, at));
    inspect(within(row + down * step, source.queries), within(col + right * step, source.keys), true);
  };
  // The second click of two is part of a zoom: the window may have moved with the first.
  stage.addEventListener("click", (event) => event.detail < 2 && inspectAt(event, true));
  stage.addEventListener("dblclick", tools[0][2]);
  stage.addEventListener("pointermove", (event) => inspectAt(event, false));
  stage.addEventListener("pointerleave", leave);
  stage.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 16 : 1;
    const [near, far, all] = tools.map(([, , press]) => press);
    goalOf(event, {
      ArrowRight: () => walk(0, step),
      ArrowLeft: () => walk(0, -step),
      ArrowDown: () => walk(step, 0),
      ArrowUp: () => walk(-step, 0),
      ...{ "+": near, "=": near, "-": far, "0": all },
    })?.();
  });
  new ResizeObserver(draw).observe(stage);
  onRecolour(draw);

  const buttons = tools.map(([ariaLabel, text, press]) => Object.assign(button(text, press), { ariaLabel }));
  const hint = h("span", { class: "small-label" }, "Zooms about the chosen cell.");
  const framed = h("div", { class: "map-frame" }, across, down, stage);
  element.append(range, framed, h("div", { class: "race" }, ...buttons, hint));
  return {
    element,
    draw,
    show: (next: BringScene): void => {
      scene = next;
      const { source, at, row, col, window } = next;
      const part = (from: number, count: number): string =>
        `${whole(from + 1)} to ${whole(Math.min(count, from + window.span))}`;
      range.textContent = `queries ${part(window.top, source.queries)} ↓, keys ${part(window.left, source.keys)} →`;
      const what = `Weights of layer ${at.layer + 1}, head ${at.head + 1}, ${source.queries} queries by ${source.keys} keys`;
      const place = `${nameOf(source, "q", row, "query ")}, ${nameOf(source, "k", col, "key ")}`;
      stage.setAttribute("aria-label", `${what}; ${place}. Arrows move, plus and minus zoom, 0 shows all.`);
      showWords();
      draw();
    },
  };
}

/** `width`: of the canvas on the page. */
function paint(canvas: HTMLCanvasElement, width: number, scene: BringScene, dots: readonly Dots[]): void {
  const context = canvas.getContext("2d");
  const edge = Math.round(width * devicePixelRatio);
  if (context === null || edge === 0) return;
  if (canvas.width !== edge) Object.assign(canvas, { width: edge, height: edge });
  const { source, window, row, col } = scene;
  const { color, backgroundColor } = getComputedStyle(canvas);
  const scale = edge / window.span;
  context.clearRect(0, 0, edge, edge);
  context.imageSmoothingEnabled = false;
  context.fillStyle = backgroundColor;
  for (const one of dots) {
    const [x, y] = [(one.window.left - window.left) * scale, (one.window.top - window.top) * scale];
    context.fillRect(x, y, one.wide * scale, one.rows * scale);
    context.drawImage(one.picture(color, 1 / source.keys), x, y, one.wide * scale, one.high * scale);
  }
  // The cell in the light, about its middle, and lines that lead to it.
  const [x, y] = [(col + 0.5 - window.left) * scale, (row + 0.5 - window.top) * scale];
  const side = Math.max(LEAST_MARK * devicePixelRatio, scale);
  context.strokeStyle = getComputedStyle(canvas.parentElement ?? canvas).color;
  context.lineWidth = devicePixelRatio;
  context.globalAlpha = 0.35;
  context.stroke(new Path2D(`M0 ${y}H${edge}M${x} 0V${edge}`));
  context.globalAlpha = 1;
  context.lineWidth = 2 * devicePixelRatio;
  context.strokeRect(x - side / 2, y - side / 2, side, side);
}

/** The words of tokens that are in view, as many as `length` pixels have room for. */
function wordsOf(words: readonly string[], from: number, span: number, own: number, length: number): HTMLElement[] {
  // Each cell's, or every so many where cells are narrow; the one in the light takes the place of those beside it.
  const step = Math.max(1, Math.ceil((PITCH * span) / length));
  return words.flatMap((word, index) => {
    const middle = index + 0.5 - from;
    const hasRoom = index === own || (index % step === 0 && Math.abs(index - own) >= step);
    if (!hasRoom || middle < 0 || middle > span) return [];
    const made = h("span", { class: index === own ? "own" : undefined, dir: "auto" }, word);
    made.style.setProperty("--at", `${(100 * middle) / span}%`);
    return [made];
  });
}
