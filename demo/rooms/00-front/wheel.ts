// A word as a wheel of several, of which one stands in its sentence: it is turned by dragging, by the wheel's own words, or by keyboard.

import { h } from "../../src/ui/dom.js";

/** Pixels that a finger drags for one word. */
const NOTCH = 26;

let wheels = 0;

/** Radio buttons above each other, of which the chosen one stands in the line. Keyboard and screen readers know it. */
export function wheelOf(values: readonly string[], turned: (value: string) => void) {
  const name = `wheel-${++wheels}`;
  const inputs = values.map((value) => {
    const input = h("input", { type: "radio", name, value });
    input.addEventListener("change", () => turned(value));
    return input;
  });
  const labels = inputs.map((input) => h("label", {}, input, h("span", {}, input.value)));
  const element = h("fieldset", { class: "wheel" }, h("legend", { class: "spoken" }, "The last word"), ...labels);
  let draggedFrom: number | undefined;
  element.addEventListener("pointerdown", ({ clientY }) => {
    draggedFrom = clientY;
  });
  element.addEventListener("pointermove", ({ clientY, buttons }) => {
    if (draggedFrom === undefined || buttons === 0 || Math.abs(clientY - draggedFrom) < NOTCH) return;
    const by = clientY < draggedFrom ? 1 : -1;
    draggedFrom = clientY;
    const next = values.at((inputs.findIndex(({ checked }) => checked) + by) % values.length);
    if (next !== undefined) turned(next);
  });
  addEventListener("pointerup", () => {
    draggedFrom = undefined;
  });
  return {
    element,
    show: (value: string, isOpen: boolean): void => {
      const [count, chosen] = [values.length, values.indexOf(value)];
      element.disabled = !isOpen;
      for (const [index, label] of labels.entries()) {
        // The nearest way around; two words make no circle.
        const ahead = (index - chosen + count) % count;
        const place = count > 2 && ahead > count / 2 ? ahead - count : ahead;
        label.style.setProperty("--place", String(place));
        label.classList.toggle("far", Math.abs(place) > 1);
        label.classList.toggle("before", place < 0);
      }
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}
