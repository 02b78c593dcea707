// Weights or probabilities as bars, of which one can be chosen. What is cut off is pale; a mark stands where a bar was, or would be.

import { h } from "../../src/ui/dom.js";

export interface Bar {
  readonly value: number;
  readonly name: string;
  readonly size: number;
  readonly text: string;
  /** The size that the mark stands for. */
  readonly mark?: number | undefined;
  readonly isCut?: boolean;
}

/** Of the longest bar, at least: so that one sees how small all are. */
const LEAST_FULL = 0.3;

export function barList(name: string, count: number, tell: (value: number, held: boolean) => void, leave: () => void) {
  const title = h("h3", {});
  const rows = Array.from({ length: count }, () => {
    const input = h("input", { type: "radio", name });
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
    /** `chosen`: the value that is told about. */
    show: (name: string, bars: readonly Bar[], chosen: number | undefined): void => {
      title.textContent = name;
      const shown = bars.slice(0, count);
      const isMarked = shown.some(({ mark }) => mark !== undefined);
      element.classList.toggle("changed", isMarked);
      const full = Math.max(LEAST_FULL, ...shown.flatMap(({ size, mark = 0 }) => [size, mark]));
      for (const [place, { input, word, bar, figure, label }] of rows.entries()) {
        const one = shown[place];
        label.hidden = one === undefined;
        if (one === undefined) continue;
        input.value = String(one.value);
        input.checked = one.value === chosen;
        word.textContent = one.name;
        figure.textContent = one.text;
        label.classList.toggle("cut", one.isCut === true);
        bar.style.setProperty("--part", (one.size / full).toFixed(4));
        bar.style.setProperty("--part-before", ((one.mark ?? 0) / full).toFixed(4));
      }
    },
  };
}
