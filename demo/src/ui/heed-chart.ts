// <heed-chart>: lines over a logarithmic or even axis, with a cursor that the pointer and the keyboard move, and a table behind it.

import { behind, goalOf, h, heads, line, setAttributes, svg } from "./dom.js";
import { exact } from "./numbers.js";

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  readonly tone: "query" | "key" | "value" | "share" | "soft";
  /** A law to compare with, rather than something measured. */
  readonly dashed?: boolean;
}

/** A measured point beside the lines: its position and, from 0 to 1, its importance. */
interface ChartDot extends Readonly<Record<"x" | "y" | "weight", number>> {
  readonly name: string;
}

export interface ChartView {
  readonly label: string;
  readonly x: {
    readonly name: string;
    readonly values: readonly number[];
    readonly log: boolean;
    /** What stands on the axis, where the values are too many. */
    readonly ticks?: readonly number[];
    /** What a point stands for, where that is more than its value: "keys 33 to 64". */
    readonly nameOf?: (index: number) => string;
  };
  readonly y: {
    readonly name: string;
    readonly most: number;
    readonly log?: boolean;
    readonly least?: number;
    /** Decimals of the numbers in text. Default 2, and 4 in the table. */
    readonly decimals?: number;
  };
  readonly series: readonly Series[];
  readonly dots?: readonly ChartDot[];
  /** Index into x. */
  readonly cursor: number;
}

const [TOP, RIGHT, BOTTOM, LEFT] = [26, 14, 40, 44];
/** Pixels, as in picture.css. */
const HEIGHT = 236;
const SMALL = 460;

export class HeedChart extends HTMLElement {
  choose: (index: number) => void = () => {};
  /** Somebody draws a curve of their own: a value at a place. While it is there, nothing is chosen by the pointer. */
  draws: ((index: number, value: number) => void) | undefined;
  #view: ChartView | undefined;
  #svg = svg("svg", { "aria-hidden": "true" });
  #stage = h("div", { class: "chart-stage", tabindex: 0, role: "slider" }, this.#svg);
  #keys = h("ul", { class: "chart-keys" });
  #table = h("table");
  #behind = behind(this.#table, "The same as a table");
  #width = 0;

  connectedCallback(): void {
    if (this.firstChild !== null) return;
    this.append(this.#keys, this.#stage, this.#behind);
    this.#behind.addEventListener("toggle", () => this.#tabulate());
    this.#stage.addEventListener("pointerdown", (event) => this.#pointed(event));
    this.#stage.addEventListener("pointermove", (event) => {
      if (event.buttons > 0) this.#pointed(event);
    });
    this.#stage.addEventListener("keydown", (event) => this.#key(event));
    // The observer reports the first width too. Asking for it here would force a layout.
    new ResizeObserver(() => {
      if (this.#width === this.#stage.clientWidth) return;
      this.#width = this.#stage.clientWidth;
      this.#draw();
    }).observe(this.#stage);
  }

  show(view: ChartView): void {
    this.#view = view;
    this.#draw();
    this.#describe(view);
    this.#tabulate();
  }

  #pointed(event: PointerEvent): void {
    const view = this.#view;
    if (view === undefined) return;
    const { left, top } = this.#stage.getBoundingClientRect();
    const distances = view.x.values.map((value) => Math.abs(this.#x(view, value) - (event.clientX - left)));
    const index = distances.indexOf(Math.min(...distances));
    const high = 1 - (event.clientY - top - TOP) / (HEIGHT - TOP - BOTTOM);
    if (this.draws === undefined) this.choose(index);
    else this.draws(index, view.y.most * Math.min(1, Math.max(0, high)));
  }

  #key(event: KeyboardEvent): void {
    const view = this.#view;
    if (view === undefined) return;
    const last = view.x.values.length - 1;
    const [next, before] = [view.cursor + 1, view.cursor - 1];
    const ways = { ArrowRight: next, ArrowUp: next, ArrowLeft: before, ArrowDown: before, Home: 0, End: last };
    const goal = goalOf(event, ways);
    if (goal !== undefined) this.choose(Math.min(last, Math.max(0, goal)));
  }

  #x({ x }: ChartView, value: number): number {
    return LEFT + part(value, x.values[0] ?? 0, x.values.at(-1) ?? 1, x.log) * (this.#width - LEFT - RIGHT);
  }

  #y({ y }: ChartView, value: number): number {
    const height = HEIGHT - TOP - BOTTOM;
    return TOP + height * (1 - Math.min(1, Math.max(0, part(value, y.least ?? 0, y.most, y.log === true))));
  }

  #draw(): void {
    const view = this.#view;
    if (view === undefined) return;
    const place = view.x.nameOf?.(view.cursor);
    const keys = view.series.map(({ name, tone, dashed, values }) => {
      const line = h("i", { class: dashed === true ? "dashed" : undefined });
      const value = exact(values[view.cursor] ?? Number.NaN, view.y.decimals ?? 2);
      return h("li", { class: `tone-${tone}` }, line, `${name} `, h("b", {}, value));
    });
    this.#keys.replaceChildren(...(place === undefined ? [] : [h("li", {}, `${place}:`)]), ...keys);
    // Below it nothing may move when its width is known.
    if (this.#width === 0) return;
    this.#svg.setAttribute("viewBox", `0 0 ${this.#width} ${HEIGHT}`);
    const x = this.#x(view, view.x.values[view.cursor] ?? 0);
    const cursor = svg("line", { class: "chart-cursor", x1: x, x2: x, y1: TOP - 4, y2: HEIGHT - BOTTOM });
    this.#svg.replaceChildren(...this.#axes(view), cursor, ...this.#lines(view), ...this.#dots(view));
  }

  #axes(view: ChartView): SVGElement[] {
    const bottom = HEIGHT - BOTTOM;
    const everyOther = this.#width < SMALL ? 2 : 1;
    const all = view.x.ticks ?? ticksOf(view.x.values, view.x.log);
    const ticks = all.filter((_, index) => index % everyOther === 0);
    const even = evenSteps(view.y.most).filter((value) => value >= (view.y.least ?? 0));
    const rises = view.y.log === true ? powers(view.y.least ?? 1, view.y.most) : even;
    const right = this.#width - RIGHT;
    const text = (said: string, x: number, y: number, anchor: string): SVGElement =>
      svg("text", { class: "chart-text", x, y, "text-anchor": anchor }, said);
    return [
      ...rises.flatMap((value) => {
        const y = this.#y(view, value);
        const line = svg("line", { class: "chart-rule", x1: LEFT, x2: right, y1: y, y2: y });
        return [line, text(exact(value, 3), LEFT - 7, y + 4, "end")];
      }),
      ...ticks.map((value) => text(exact(value, 2), this.#x(view, value), bottom + 17, "middle")),
      text(view.x.name, right, HEIGHT - 4, "end"),
      text(view.y.name, 2, 12, "start"),
    ];
  }

  /** The more one counts, the larger and fuller it is. */
  #dots(view: ChartView): SVGElement[] {
    return (view.dots ?? []).map(({ name, x, y, weight }) => {
      const look = { class: "chart-point", r: 3.5 + 7 * Math.sqrt(weight), "fill-opacity": 0.25 + 0.6 * weight };
      return svg("circle", { ...look, cx: this.#x(view, x), cy: this.#y(view, y) }, svg("title", {}, name));
    });
  }

  #lines(view: ChartView): SVGElement[] {
    return view.series.flatMap(({ values, tone, dashed = false }) => {
      const xs = values.map((_, index) => this.#x(view, view.x.values[index] ?? 0));
      const points = values.map((value, index) => `${xs[index]},${this.#y(view, value)}`).join(" ");
      const line = svg("polyline", { class: `chart-line tone-${tone}${dashed ? " dashed" : ""}`, points });
      const now = values[view.cursor];
      if (dashed || now === undefined) return [line];
      const place = { cx: xs[view.cursor], cy: this.#y(view, now) };
      return [line, svg("circle", { class: `chart-dot tone-${tone}`, r: 4, ...place })];
    });
  }

  #describe(view: ChartView): void {
    const { x, y, series, cursor } = view;
    const said = series.map(({ name, values }) => `${name} ${exact(values[cursor] ?? Number.NaN, y.decimals ?? 2)}`);
    const place = x.nameOf?.(cursor) ?? `${x.name} ${exact(x.values[cursor] ?? 0, 2)}`;
    setAttributes(this.#stage, {
      "aria-label": view.label,
      "aria-valuemin": x.values[0] ?? 0,
      "aria-valuemax": x.values.at(-1) ?? 0,
      "aria-valuenow": x.values[cursor] ?? 0,
      "aria-valuetext": `${place}: ${said.join(", ")}`,
    });
  }

  /** The table is made only while it is open: its cells are more work than the picture. */
  #tabulate(): void {
    if (this.#view === undefined || !this.#behind.open) return;
    const { label, x, y, series, cursor } = this.#view;
    // An axis may have room for what is not known yet.
    const known = Math.max(0, ...series.filter(({ dashed }) => dashed !== true).map(({ values }) => values.length));
    const lines = x.values.slice(0, known).map((value, index) => {
      const figures = series.map(({ values }) => exact(values[index] ?? Number.NaN, y.decimals));
      return line(x.nameOf?.(index) ?? exact(value, 3), figures, index === cursor ? "own" : undefined);
    });
    this.#table.replaceChildren(
      h("caption", {}, label),
      heads(x.name, ...series.map(({ name }) => name)),
      h("tbody", {}, ...lines),
    );
  }
}

/** Where a value lies between two others, from 0 to 1; in the middle where they are one. */
function part(value: number, least: number, most: number, log: boolean): number {
  if (least === most) return 0.5;
  if (log) return (Math.log(Math.max(value, Number.MIN_VALUE)) - Math.log(least)) / (Math.log(most) - Math.log(least));
  return (value - least) / (most - least);
}

/** About five round steps from zero. */
function evenSteps(most: number): readonly number[] {
  const rough = most / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((times) => times * unit).find((candidate) => candidate >= rough) ?? rough;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, index) => index * step);
}

function powers(least: number, most: number): readonly number[] {
  const first = Math.ceil(Math.log10(least) - 1e-9);
  return Array.from({ length: Math.floor(Math.log10(most) + 1e-9) - first + 1 }, (_, index) => 10 ** (first + index));
}

/** Those values of the axis that are round: powers of two, or of ten. */
function ticksOf(values: readonly number[], log: boolean): readonly number[] {
  if (!log) return values;
  const round = values.filter((value) => Number.isInteger(Math.log2(value)) && value >= 1);
  return (values[0] ?? 1) >= 1 ? round : powers(values[0] ?? 1, values.at(-1) ?? 1);
}

customElements.define("heed-chart", HeedChart);
