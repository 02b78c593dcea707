// The picture of the idea: the characters of a text above, those of the date below, and between them ink lines as thick as the attention
// weights. The character that is pointed at, or was written last, shows its own lines alone, with their figures.

import { at } from "../../src/model/matrix.js";
import { h, svg } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { ANSWER, type Reading } from "./reading.js";

/** Pixels: a line of all the weight, the lines of text, and how far they are from the date. */
const THICKEST = 14;
const [LINE, DROP] = [50, 150];
const [NARROWEST, WIDEST] = [14, 34];
/** Of a character of the date, as in translation.css. */
const [OUTPUT, SMALL_OUTPUT] = [44, 34];
const SMALL = 600;
/** Weights below them have no line, and no figure. */
const [LEAST_LINE, LEAST_FIGURE] = [0.01, 0.03];

interface Spot {
  readonly x: number;
  readonly y: number;
}

export class Lines {
  readonly element: HTMLElement;
  readonly #svg = svg("svg", { "aria-hidden": "true" });
  readonly #buttons: readonly HTMLButtonElement[];
  readonly #pointed: (character: number, held: boolean) => void;
  #reading: Reading | undefined;
  #written = ANSWER;
  #hovered = -1;
  #held = -1;
  #width = 0;

  /** `pointed`: at a character of the date; `held`: it was pressed, or the keyboard came to it. */
  constructor(pointed: (character: number, held: boolean) => void) {
    this.#pointed = pointed;
    this.#buttons = Array.from({ length: ANSWER }, (_, character) => this.#button(character));
    const date = h("div", { class: "written", role: "group", "aria-label": "The date, character by character" });
    date.append(...this.#buttons);
    date.addEventListener("keydown", (event) => this.#key(event));
    this.element = h("div", { class: "lines" }, this.#svg, date);
    new ResizeObserver(() => {
      if (this.#width === this.#svg.clientWidth) return;
      this.#width = this.#svg.clientWidth;
      this.#draw();
    }).observe(this.#svg);
  }

  #button(character: number): HTMLButtonElement {
    const button = h("button", { type: "button", tabindex: character === 0 ? 0 : -1 });
    const look = (hovered: number): void => {
      this.#hovered = hovered;
      this.#draw();
    };
    button.addEventListener("pointerenter", () => {
      look(character);
      this.#pointed(character, false);
    });
    button.addEventListener("pointerleave", () => look(-1));
    button.addEventListener("focus", () => this.#hold(character));
    button.addEventListener("click", () => this.#hold(character));
    button.addEventListener("blur", () => this.#hold(-1));
    return button;
  }

  #hold(character: number): void {
    this.#held = character;
    this.#draw();
    if (character >= 0) this.#pointed(character, true);
  }

  /** One tab stop; the arrows go from character to character. */
  #key(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = this.#buttons[Math.min(this.#held + (by ?? 0), this.#written - 1)];
    if (by === undefined || next === undefined) return;
    event.preventDefault();
    for (const button of this.#buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }

  show(reading: Reading, written: number): void {
    this.#reading = reading;
    this.#written = written;
    this.#draw();
  }

  /** The character whose lines are shown alone; -1: all are shown. */
  get chosen(): number {
    const chosen = this.#hovered >= 0 ? this.#hovered : this.#held;
    if (chosen >= 0 && chosen < this.#written) return chosen;
    return this.#written < ANSWER ? this.#written - 1 : -1;
  }

  #draw(): void {
    const [reading, width] = [this.#reading, this.#width];
    if (reading === undefined) return;
    const { chosen } = this;
    this.#buttons.forEach((button, character) => {
      const isWritten = character < this.#written;
      button.textContent = isWritten ? (reading.date[character] ?? "") : "·";
      button.disabled = !isWritten;
      button.setAttribute("aria-label", isWritten ? saidOf(reading, character) : "not written yet");
      button.classList.toggle("chosen", character === chosen);
    });
    if (width === 0) return;
    const rows = wrapped(reading.text, Math.floor(width / NARROWEST));
    const cell = Math.min(WIDEST, width / Math.max(1, ...rows.map((row) => row.length)));
    const height = rows.length * LINE + DROP;
    const spots = rows.flatMap((row, line) =>
      Array.from(row, (_, column) => ({
        x: width / 2 + (column - (row.length - 1) / 2) * cell,
        y: LINE * (line + 1) - 14,
      })),
    );
    const spotOf = (index: number): Spot => spots[index] ?? { x: 0, y: 0 };
    const outputWidth = width < SMALL ? SMALL_OUTPUT : OUTPUT;
    const outputOf = (index: number): Spot => ({ x: width / 2 + (index - (ANSWER - 1) / 2) * outputWidth, y: height });
    this.#svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#svg.style.height = `${height}px`;
    const shown = Array.from({ length: this.#written }, (_, character) => character);
    this.#svg.replaceChildren(
      ...shown.flatMap((character) => this.#linesOf(reading, character, spotOf, outputOf(character))),
      ...Array.from(reading.text).flatMap((letter, index) => {
        const weight = chosen < 0 ? 0 : at(reading.weights, chosen, index);
        const { x, y } = spotOf(index);
        return [
          ...text("letter", { x, y }, letter, Math.min(30, cell * 1.25), weight),
          ...(weight < LEAST_FIGURE ? [] : text("figure", { x, y: y - 25 }, String(Math.round(100 * weight)), 11, 1)),
        ];
      }),
    );
  }

  #linesOf(reading: Reading, character: number, spotOf: (index: number) => Spot, to: Spot): SVGElement[] {
    const { chosen } = this;
    if (chosen >= 0 && chosen !== character) return [];
    return Array.from(reading.text).flatMap((_, index) => {
      const weight = at(reading.weights, character, index);
      if (weight < LEAST_LINE) return [];
      const from = spotOf(index);
      const y = from.y + 9;
      const half = (y + to.y) / 2;
      const d = `M${from.x} ${y}C${from.x} ${half} ${to.x} ${half} ${to.x} ${to.y}`;
      return [svg("path", { d, "stroke-width": (THICKEST * weight).toFixed(2), class: chosen < 0 ? "" : "alone" })];
    });
  }
}

/** Lines of so many characters at most, which end with words, and are the whole text together. */
function wrapped(text: string, most: number): readonly string[] {
  if (text.length <= most) return [text];
  const space = text.lastIndexOf(" ", most - 1) + 1;
  const end = space > 0 ? space : most;
  return [text.slice(0, end), ...wrapped(text.slice(end), most)];
}

function text(kind: string, { x, y }: Spot, words: string, size: number, weight: number): SVGElement[] {
  if (words === " ") return [];
  const element = svg("text", { class: kind, x, y, "font-size": size.toFixed(1), "text-anchor": "middle" });
  element.textContent = words;
  element.style.setProperty("--weight", `${Math.min(100, 160 * weight).toFixed(0)}%`);
  return [element];
}

/** "“3” looks at “r” 42 %, “d” 30 %": the three largest weights. */
export function saidOf({ text, date, weights }: Reading, character: number): string {
  const looks = Array.from(text, (letter, index) => ({ letter, weight: at(weights, character, index) }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, 3)
    .filter(({ weight }) => weight >= LEAST_FIGURE)
    .map(({ letter, weight }) => `${nameOf(letter)} ${percent(weight)}`);
  return `${nameOf(date[character] ?? "")} looks at ${looks.join(", ")}`;
}

export function nameOf(letter: string): string {
  return letter === " " ? "the space" : `“${letter}”`;
}
