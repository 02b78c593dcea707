// One panel for each step: its title, its two sentences, its formula, and its matrices laid out as they are multiplied.

import { HeedMatrix } from "heed/viz";
import type { Cell } from "../../src/model/cell.js";
import type { Role, State, StepName } from "../../src/model/state.js";
import { h } from "../../src/ui/dom.js";
import { handle, type MatrixHandlers, shows } from "../../src/ui/matrix-handlers.js";
import { turned, turnedLight, turningHandlers, worded } from "../../src/ui/orientation.js";
import type { MatrixName, Scene } from "./spots.js";
import { TEXTS } from "./steps.js";
import { viewOf } from "./views.js";

/** Pixels, as in matrix.css and walk.css. */
const [ROW_LABEL, CELL, COMPACT_CELL, GAP, PADDING] = [64, 36, 18, 24, 24];

/** Where a matrix stands in the picture of a product: left times top gives result. */
type Place = "left" | "top" | "result" | "beside";

interface Slot {
  readonly place: Place;
  readonly name: (state: State) => MatrixName;
}

const PROJECTION: Readonly<Record<Role, MatrixName>> = { q: "Wq", k: "Wk", v: "Wv" };
const PROJECTED: Readonly<Record<Role, MatrixName>> = { q: "Q", k: "K", v: "V" };

const SLOTS: Readonly<Record<StepName, readonly Slot[]>> = {
  words: [slot("left", "X")],
  project: [
    slot("left", "X"),
    { place: "top", name: ({ role }) => PROJECTION[role] },
    { place: "result", name: ({ role }) => PROJECTED[role] },
  ],
  scores: [slot("left", "Q"), slot("top", "Kt"), slot("result", "S")],
  scale: [slot("left", "S"), slot("beside", "Z")],
  mask: [slot("left", "Z"), slot("beside", "M")],
  softmax: [slot("left", "M"), slot("beside", "A"), slot("beside", "lse")],
  output: [slot("left", "A"), slot("top", "V"), slot("result", "O")],
};

function slot(place: Place, name: MatrixName): Slot {
  return { place, name: () => name };
}

export class Panel {
  readonly element: HTMLElement;
  readonly step: StepName;
  #title = h("h2");
  #text = h("p", { class: "step-text" });
  #note = h("p", { class: "step-note" });
  #formula = h("div", { class: "step-formula" });
  #matrices: HeedMatrix[];
  #columns: boolean | undefined;
  #width = 0;
  #words = 0;

  constructor(step: StepName, handlers: MatrixHandlers, tools?: HTMLElement) {
    this.step = step;
    const slots = SLOTS[step];
    const turning = turningHandlers(handlers, () => this.#columns === true);
    this.#matrices = slots.map(() => {
      const matrix = new HeedMatrix();
      handle(matrix, turning);
      return matrix;
    });
    scrollTogether(this.#matrices);
    const crossed = slots.some(({ place }) => place === "top");
    this.#title.textContent = TEXTS[step].title;
    const head = h(
      "div",
      { class: "panel-head" },
      h("div", {}, this.#title, this.#text),
      this.#formula,
      ...(tools === undefined ? [] : [tools]),
    );
    const aside = step === "words" ? [h("div", { class: "aside" }, legend(), this.#note)] : [];
    this.element = h(
      "section",
      { class: "panel", "data-step": step },
      ...(crossed ? [] : [head]),
      h(
        "div",
        { class: `product ${crossed ? "crossed" : "in-line"}` },
        ...(crossed ? [head] : []),
        ...this.#matrices,
        ...aside,
      ),
      ...(aside.length > 0 ? [] : [this.#note]),
    );
    new ResizeObserver(() => {
      if (this.element.clientWidth === this.#width) return;
      this.#width = this.element.clientWidth;
      this.#fit();
    }).observe(this.element);
  }

  show(scene: Scene): void {
    const texts = TEXTS[this.step];
    const { columns } = scene.state;
    const say = columns ? worded : (text: string): string => text;
    this.#text.textContent = say(texts.text(scene.walk, scene.state));
    this.#note.textContent = say(texts.note(scene.walk, scene.state));
    if (columns !== this.#columns) this.#turn(columns);
    SLOTS[this.step].forEach(({ name }, index) => {
      const view = viewOf(name(scene.state), scene);
      this.#matrices[index]?.show(columns ? turned(view) : view);
    });
    this.#words = scene.walk.labels.length;
    this.#fit();
  }

  /** What stood left of a product stands above it, and the other way round. */
  #turn(columns: boolean): void {
    this.#columns = columns;
    this.#formula.replaceChildren(TEXTS[this.step].formula(columns));
    SLOTS[this.step].forEach(({ place }, index) => {
      const other = place === "left" ? "top" : place === "top" ? "left" : place;
      const matrix = this.#matrices[index];
      const crossed = matrix?.matches(".crossed *") === true;
      matrix?.classList.remove("left", "top", "result", "beside");
      matrix?.classList.add(columns && crossed ? other : place);
    });
    this.element.classList.toggle("by-columns", columns);
  }

  /** Before and after: where they are too wide, the first gives up its numbers, which the step before showed. */
  #fit(): void {
    const [before, , ...more] = this.#matrices;
    if (before === undefined || this.#width === 0 || this.#matrices.length < 2 || before.matches(".crossed *")) return;
    const room = this.#width - 2 * PADDING;
    const square = ROW_LABEL + this.#words * CELL;
    const small = ROW_LABEL + this.#words * COMPACT_CELL;
    const gaps = this.#matrices.length * GAP;
    const beside = 2 * square + gaps <= room;
    const besideSmall = small + square + gaps <= room;
    before.classList.toggle("compact", !beside && (besideSmall || square > room));
    for (const matrix of more)
      matrix.classList.toggle("rows-shared", (beside || besideSmall) && this.#columns !== true);
  }

  shows(cell: Cell): boolean {
    const matrix = this.#matrices.find(({ view }) => view?.name === cell.name);
    return !this.element.hidden && shows(matrix, cell, this.#columns === true);
  }

  light(lights: readonly { readonly name: string; readonly row?: number; readonly col?: number }[]): void {
    for (const matrix of this.#matrices) {
      const own = lights.filter(({ name }) => name === matrix.view?.name);
      matrix.light(this.#columns === true ? own.map(turnedLight) : own);
    }
  }

  appear(): void {
    this.#matrices.at(-1)?.appear();
  }
}

function legend(): HTMLElement {
  const line = (from: string, kind: string, to: string): readonly HTMLElement[] => [
    h("span", {}, from),
    h("span", { class: `legend-bar ${kind}` }),
    h("span", {}, to),
  ];
  return h(
    "div",
    { class: "legend" },
    ...line("below 0", "of-numbers", "above 0"),
    ...line("share 0", "of-shares", "share 1"),
  );
}

const STACKED = ".top, .result";

/** Columns that stand above each other stay above each other. */
function scrollTogether(matrices: readonly HeedMatrix[]): void {
  for (const matrix of matrices) {
    matrix.addEventListener(
      "scroll",
      () => {
        if (!matrix.matches(STACKED)) return;
        for (const other of matrices) if (other !== matrix && other.matches(STACKED)) other.scrolled = matrix.scrolled;
      },
      { capture: true },
    );
  }
}
