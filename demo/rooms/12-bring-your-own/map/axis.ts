// One axis of the map: which part is in view, and the words of its tokens, as many as there is room for.

import { h } from "../../../src/ui/dom.js";
import { whole } from "../../../src/ui/numbers.js";

export interface AxisView {
  /** "keys" */
  readonly name: string;
  readonly count: number;
  /** The first cell in view, and how many are; parts of cells as well. */
  readonly from: number;
  readonly span: number;
  /** The one in the light. */
  readonly own: number;
  readonly words: readonly string[] | undefined;
}

/** Pixels that a line of words takes. */
const PITCH = 13;

export class MapAxis {
  readonly element: HTMLElement;
  readonly #range = h("p");
  /** The table behind the map has them for those who hear the page. */
  readonly #words = h("div", { class: "map-words", "aria-hidden": "true" });
  #view: AxisView | undefined;

  constructor(direction: "across" | "down") {
    this.element = h("div", { class: `map-axis ${direction}` }, this.#range, this.#words);
  }

  show(view: AxisView): void {
    this.#view = view;
    const { name, count, from, span, words } = view;
    this.#range.textContent = `${name} ${whole(Math.floor(from + 1))} to ${whole(Math.ceil(Math.min(count, from + span)))} →`;
    // Their room stays while one zooms, so that the map does.
    this.#words.hidden = words === undefined;
  }

  /** `length`: pixels of the whole axis. */
  draw(length: number): void {
    if (this.#view === undefined || this.#words.hidden) return;
    const { from, span, own, words = [] } = this.#view;
    this.#words.replaceChildren(
      ...wordsIn(this.#view, length).map((index) => {
        const word = h("span", { class: index === own ? "own" : undefined, dir: "auto" }, words[index] ?? "");
        word.style.setProperty("--at", `${(100 * (index + 0.5 - from)) / span}%`);
        return word;
      }),
    );
  }
}

/** Each cell's, or every so many where cells are narrow; the one in the light takes the place of those beside it. */
function wordsIn({ count, from, span, own }: AxisView, length: number): readonly number[] {
  const step = Math.max(1, Math.ceil((PITCH * span) / length));
  const [first, last] = [Math.ceil(from - 0.5), Math.min(count - 1, Math.floor(from + span - 0.5))];
  const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return all.filter((index) => index === own || (index % step === 0 && Math.abs(index - own) >= step));
}
