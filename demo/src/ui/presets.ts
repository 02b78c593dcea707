// Examples to start from, by their names.

import { button, h } from "./dom.js";

export function presets<P extends { name: string }>(label: string, all: readonly P[], chosen: (one: P) => void) {
  const group = { class: "presets", role: "group", "aria-label": "Examples" };
  const buttons = all.map((one) => button(one.name, () => chosen(one), "link"));
  return h("div", group, h("span", { class: "small-label" }, label), ...buttons);
}
