// The probabilities of the next word as bars. Words that sampling cuts off are pale; where heads are off, a mark stands where the bar was.

import { h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import type { LanguageScene } from "./scene.js";

const COUNT = 10;
/** Of the longest bar, at least: so that one sees how sure the model is. */
const LEAST_FULL = 0.3;

export class Bars {
  readonly element: HTMLElement;
  readonly #title = h("h3", {});
  readonly #rows = Array.from({ length: COUNT }, () => {
    const input = h("input", { type: "radio", name: "told-word" });
    const [word, bar, share] = [h("span", { class: "bar-word" }), h("span", { class: "bar" }), h("span", {})];
    return { input, word, bar, share, label: h("label", { class: "bar-row" }, input, word, bar, share) };
  });

  /** `tell`: about a token. */
  constructor(tell: (id: number, held: boolean) => void, leave: () => void) {
    for (const { input, label } of this.#rows) {
      input.addEventListener("change", () => tell(Number(input.value), true));
      label.addEventListener("pointerenter", () => tell(Number(input.value), false));
      label.addEventListener("pointerleave", leave);
    }
    const rows = this.#rows.map(({ label }) => label);
    this.element = h("fieldset", { class: "bars" }, h("legend", {}, this.#title), ...rows);
  }

  /** `told`: the token that the arithmetic is about. */
  show({ state, bars, before }: LanguageScene, told: number | undefined): void {
    this.#title.textContent = state.kind === "masked" ? "What is in the blank?" : "What comes next?";
    this.element.classList.toggle("changed", before !== undefined);
    const shown = bars.slice(0, COUNT).flatMap(({ id, share }) => [share, before?.get(id) ?? 0]);
    const full = Math.max(LEAST_FULL, ...shown);
    this.#rows.forEach(({ input, word, bar, share, label }, place) => {
      const one = bars[place];
      label.hidden = one === undefined;
      if (one === undefined) return;
      const was = before?.get(one.id);
      input.value = String(one.id);
      input.checked = one.id === told;
      word.textContent = one.word;
      share.textContent = was === undefined ? percent(one.share) : `${percent(was)} → ${percent(one.share)}`;
      label.classList.toggle("cut", !one.isKept);
      bar.style.setProperty("--part", (one.share / full).toFixed(4));
      bar.style.setProperty("--part-before", ((was ?? 0) / full).toFixed(4));
    });
  }
}
