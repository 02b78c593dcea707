// A large sentence whose last word is a wheel, with an arc from one word to all that it attends to. Where the sentence takes several
// lines, arcs go between them.

import { button, h, svg } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { Wheel } from "./wheel.js";

export interface SentenceParts {
  readonly words: readonly string[];
  readonly endings: readonly string[];
  /** The word that attends. */
  readonly asker: string;
  readonly turned: (ending: string) => void;
  /** A word was pressed, counted from 1; without it words are no buttons. */
  readonly guessed?: (place: number) => void;
}

export interface SentenceView {
  readonly ending: string;
  /** The start mark first, then each word; undefined as long as there is no answer. */
  readonly shares: readonly number[] | undefined;
  /** Counted from 1; 0: none. */
  readonly guess: number;
}

/** Weights below them have no arc, and no figure under their word. */
const LEAST_ARC = 0.01;
const LEAST_FIGURE = 0.03;
/** Pixels: the arc of all the weight, and what it leaves free above a word and below it, where the figure stands. */
const THICKEST = 30;
const [ABOVE, BELOW] = [2, 18];

export class Sentence {
  readonly element: HTMLElement;
  readonly #wheel: Wheel;
  readonly #line: HTMLElement;
  /** The start mark, then each word; the wheel is the last. */
  readonly #words: readonly HTMLElement[];
  readonly #asker: number;
  readonly #arcs: readonly SVGPathElement[];
  readonly #svg: SVGSVGElement;

  constructor({ words, endings, asker, turned, guessed }: SentenceParts) {
    this.#wheel = new Wheel(endings, turned);
    this.#asker = 1 + words.indexOf(asker);
    const spoken = words.map((word, index) => {
      if (guessed === undefined || word === asker) {
        return h("span", { class: word === asker ? "asked-word asker" : "asked-word" }, word);
      }
      return button(word, () => guessed(index + 1), "asked-word");
    });
    const start = h("span", {}, "start");
    this.#words = [start, ...spoken, this.#wheel.element];
    for (const word of this.#words) word.append(h("small", {}));
    this.#arcs = this.#words.map(() => svg("path", { pathLength: 1 }));
    this.#svg = svg("svg", { "aria-hidden": "true" }, ...this.#arcs);
    this.#line = h("div", { class: "asked-line" }, h("span", { class: "asked-start" }, start, " "));
    for (const word of this.#words.slice(1)) this.#line.append(word, " ");
    this.element = h("div", { class: "asked" }, this.#svg, this.#line);
    new ResizeObserver(() => this.#layOut()).observe(this.#line);
  }

  show({ ending, shares, guess }: SentenceView): void {
    const isAnswered = shares !== undefined;
    this.element.classList.toggle("answered", isAnswered);
    this.#wheel.show(ending, isAnswered);
    this.#words.forEach((word, place) => {
      const share = shares?.[place] ?? 0;
      if (word instanceof HTMLButtonElement) word.setAttribute("aria-pressed", String(place === guess));
      const figure = word.querySelector("small");
      if (figure) figure.textContent = share >= LEAST_FIGURE ? percent(share) : "";
      this.#arcs[place]?.style.setProperty("--weight", share < LEAST_ARC ? "0" : share.toFixed(3));
      this.#arcs[place]?.style.setProperty("stroke-width", `${(share * THICKEST).toFixed(2)}px`);
    });
  }

  #layOut(): void {
    const own = this.element.getBoundingClientRect();
    if (own.width === 0) return;
    this.#svg.setAttribute("viewBox", `0 0 ${own.width} ${own.height}`);
    const boxes = this.#words.map((word) => word.getBoundingClientRect());
    const asker = boxes[this.#asker];
    const places = boxes.map((box) => ({
      x: (box.left + box.right) / 2 - own.left,
      top: box.top - own.top,
      bottom: box.bottom - own.top,
    }));
    const from = places[this.#asker];
    if (from === undefined || asker === undefined) return;
    const isBeside = ({ top }: Spot): boolean => Math.abs(top - from.top) < asker.height / 2;
    const room = places.every(isBeside) ? from.top - THICKEST : asker.height / 2;
    places.forEach((to, place) => {
      if (place === this.#asker) return;
      this.#arcs[place]?.setAttribute("d", isBeside(to) ? arch(from, to, room) : acrossLines(from, to));
    });
  }
}

interface Spot {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

/** Over one line, `room` pixels high at most. */
function arch(from: Spot, to: Spot, room: number): string {
  // A cubic rises to three quarters of its handles.
  const rise = Math.min(room, 24 + 0.42 * Math.abs(to.x - from.x)) / 0.75;
  const [y0, y1] = [from.top - ABOVE, to.top - ABOVE];
  return `M ${from.x} ${y0} C ${from.x} ${y0 - rise}, ${to.x} ${y1 - rise}, ${to.x} ${y1}`;
}

function acrossLines(from: Spot, to: Spot): string {
  const isUp = to.top < from.top;
  const [y0, y1] = isUp ? [from.top - ABOVE, to.bottom + BELOW] : [from.bottom + BELOW, to.top - ABOVE];
  const bend = Math.sign(y1 - y0) * Math.max(24, 0.45 * Math.abs(y1 - y0));
  return `M ${from.x} ${y0} C ${from.x} ${y0 + bend}, ${to.x} ${y1 - bend}, ${to.x} ${y1}`;
}
