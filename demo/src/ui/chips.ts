// A row of buttons of which any number may be pressed.

import { button, h } from "./dom.js";

/** `toggled`: all that are pressed now, in their order. */
export function chips(label: string, toggled: (pressed: readonly number[]) => void, look = "chip") {
  const element = h("div", { class: "chips", dir: "auto", role: "group", "aria-label": label });
  let pressed: readonly number[] = [];
  const press = (one: number) => () =>
    toggled(pressed.includes(one) ? pressed.filter((other) => other !== one) : [...pressed, one].sort((a, b) => a - b));
  return {
    element,
    show: (names: readonly string[], now: readonly number[]): void => {
      pressed = now;
      const known = Array.from(element.children, (chip) => chip.textContent);
      if (known.join("\n") !== names.join("\n"))
        element.replaceChildren(...names.map((name, index) => button(name, press(index), look)));
      Array.from(element.children).forEach((chip, index) => {
        chip.setAttribute("aria-pressed", String(now.includes(index)));
      });
    },
  };
}
