// Probabilities of the next word as bars, of which one can be chosen. What is cut off is pale; a mark stands where a bar was with all heads.

import { h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import type { LanguageScene } from "./scene.js";

const BARS = 10;
/** Of the longest bar, at least: so that one sees how small all are. */
const LEAST_FULL = 0.3;

/** `tell`: of a word by its id; `held`: it was chosen, not only pointed at. */
export function barList(tell: (id: number, held: boolean) => void, leave: () => void) {
  const title = h("h3", {});
  const rows = Array.from({ length: BARS }, () => {
    const input = h("input", { type: "radio", name: "told-word" });
    const [word, bar, figure] = [h("span", { class: "bar-word" }), h("span", { class: "bar" }), h("span", {})];
    const label = h("label", { class: "bar-row" }, input, word, bar, figure);
    input.addEventListener("change", () => tell(Number(input.value), true));
    label.addEventListener("pointerenter", () => tell(Number(input.value), false));
    label.addEventListener("pointerleave", leave);
    return { input, word, bar, figure, label };
  });
  const element = h("fieldset", { class: "bars" }, h("legend", {}, title), ...rows.map(({ label }) => label));
  return {
    element,
    /** `chosen`: the word that is told about. */
    show: ({ state, bars, before }: LanguageScene, chosen: number | undefined): void => {
      title.textContent = state.kind === "masked" ? "What is in the blank?" : "What comes next?";
      element.classList.toggle("changed", before !== undefined);
      const sizes = bars.slice(0, BARS).flatMap(({ id, probability }) => [probability, before?.get(id) ?? 0]);
      const full = Math.max(LEAST_FULL, ...sizes);
      for (const [place, { input, word, bar, figure, label }] of rows.entries()) {
        const one = bars[place];
        label.hidden = one === undefined;
        if (one === undefined) continue;
        const was = before?.get(one.id) ?? 0;
        input.value = String(one.id);
        input.checked = one.id === chosen;
        word.textContent = one.word;
        figure.textContent = before ? `${percent(was)} → ${percent(one.probability)}` : percent(one.probability);
        label.classList.toggle("cut", !one.isKept);
        bar.style.setProperty("--part", (one.probability / full).toFixed(4));
        bar.style.setProperty("--part-before", (was / full).toFixed(4));
      }
    },
  };
}
