// A labelled slider over a list of values or a range; says its value in words, to the eye and to screen readers.

import { h } from "./dom.js";

interface Slider {
  readonly element: HTMLElement;
  readonly show: (value: number, said: string) => void;
  /** Changes the largest value. */
  readonly limit: (most: number) => void;
  readonly enable: (enabled: boolean) => void;
}

export type Range = Readonly<Record<"least" | "most" | "step", number>>;

let sliders = 0;

export function slider(label: string, range: Range | readonly number[], changed: (value: number) => void): Slider {
  const id = `slider-${++sliders}`;
  const list = "step" in range ? undefined : range;
  const { least, most, step } = "step" in range ? range : { least: 0, most: range.length - 1, step: 1 };
  const input = h("input", { type: "range", id, min: least, max: most, step });
  const output = h("output", { for: id });
  input.addEventListener("input", () => {
    const position = Number(input.value);
    changed(list === undefined ? position : (list[position] ?? position));
  });
  return {
    element: h("div", { class: "slider" }, h("label", { for: id }, label), input, output),
    show: (value, said) => {
      input.value = String(list === undefined ? value : nearest(list, value));
      input.setAttribute("aria-valuetext", said);
      output.textContent = said;
    },
    limit: (largest) => {
      input.max = String(largest);
    },
    enable: (enabled) => {
      input.disabled = !enabled;
    },
  };
}

/** The index of the value in an ascending list, or of the last one below it. */
function nearest(list: readonly number[], value: number): number {
  return Math.max(0, list.filter((one) => one <= value).length - 1);
}
