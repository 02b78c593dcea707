// Examples to start from, by their names.

import { button, h } from "./dom.js";

export function presets<Preset extends { readonly name: string }>(
  label: string,
  all: readonly Preset[],
  chosen: (preset: Preset) => void,
): HTMLElement {
  return h(
    "div",
    { class: "presets", role: "group", "aria-label": "Examples" },
    h("span", { class: "small-label" }, label),
    ...all.map((preset) => button(preset.name, () => chosen(preset), "link")),
  );
}
