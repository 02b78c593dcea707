// Weights or probabilities as bars, of which one can be chosen. What is cut off is pale; a mark stands where a bar was, or would be.

import { h } from "../../src/ui/dom.js";

export interface Bar {
  readonly value: number;
  readonly name: string;
  readonly share: number;
  readonly text: string;
  /** The share that the mark stands for. */
  readonly mark?: number | undefined;
  readonly isCut?: boolean;
}

/** Of the longest bar, at least: so that one sees how small all are. */
const LEAST_FULL = 0.3;

export class Bars {
  readonly element: HTMLElement;
  readonly #title = h("h3", {});
  readonly #rows;

  constructor(name: string, count: number, tell: (value: number, held: boolean) => void, leave: () => void = () => {}) {
    this.#rows = Array.from({ length: count }, () => {
      const input = h("input", { type: "radio", name });
      const [word, bar, share] = [h("span", { class: "bar-word" }), h("span", { class: "bar" }), h("span", {})];
      const label = h("label", { class: "bar-row" }, input, word, bar, share);
      input.addEventListener("change", () => tell(Number(input.value), true));
      label.addEventListener("pointerenter", () => tell(Number(input.value), false));
      label.addEventListener("pointerleave", leave);
      return { input, word, bar, share, label };
    });
    const labels = this.#rows.map(({ label }) => label);
    this.element = h("fieldset", { class: "bars" }, h("legend", {}, this.#title), ...labels);
  }

  /** `chosen`: the value that is told about. */
  show(title: string, bars: readonly Bar[], chosen: number | undefined): void {
    this.#title.textContent = title;
    const shown = bars.slice(0, this.#rows.length);
    this.element.classList.toggle(
      "changed",
      shown.some(({ mark }) => mark !== undefined),
    );
    const full = Math.max(LEAST_FULL, ...shown.flatMap(({ share, mark = 0 }) => [share, mark]));
    this.#rows.forEach(({ input, word, bar, share, label }, place) => {
      const one = shown[place];
      label.hidden = one === undefined;
      if (one === undefined) return;
      input.value = String(one.value);
      input.checked = one.value === chosen;
      word.textContent = one.name;
      share.textContent = one.text;
      label.classList.toggle("cut", one.isCut === true);
      bar.style.setProperty("--part", (one.share / full).toFixed(4));
      bar.style.setProperty("--part-before", ((one.mark ?? 0) / full).toFixed(4));
    });
  }
}
