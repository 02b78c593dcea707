// A menu that opens over what stands below it. It closes when one presses Escape, or is somewhere else.

import { h } from "./dom.js";

export function menu(label: string, name: string, ...items: readonly HTMLElement[]): HTMLDetailsElement {
  const button = h(
    "summary",
    { "aria-label": `${label} ${name}` },
    h("span", {}, label),
    h("b", { class: "menu-more" }, "⋯"),
  );
  const element = h("details", { class: "menu" }, button, h("div", { class: "menu-items" }, ...items));
  const closeFor = (elsewhere: EventTarget | null): void => {
    if (elsewhere instanceof Node && !element.contains(elsewhere)) element.open = false;
  };
  addEventListener("pointerdown", ({ target }) => closeFor(target));
  element.addEventListener("focusout", ({ relatedTarget }) => closeFor(relatedTarget));
  element.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !element.open) return;
    element.open = false;
    button.focus();
  });
  return element;
}
