// A word that one turns: radio buttons above each other, of which the chosen one stands in the line. Keyboard and screen readers know it.

import { h } from "../../src/ui/dom.js";

/** Pixels that a finger drags for one word. */
const NOTCH = 26;

let wheels = 0;

export class Wheel {
  readonly element: HTMLFieldSetElement;
  readonly #values: readonly string[];
  readonly #turned: (value: string) => void;
  readonly #inputs: readonly HTMLInputElement[];
  #draggedFrom: number | undefined;

  constructor(values: readonly string[], turned: (value: string) => void) {
    const name = `wheel-${++wheels}`;
    this.#values = values;
    this.#turned = turned;
    this.#inputs = values.map((value) => {
      const input = h("input", { type: "radio", name, value });
      input.addEventListener("change", () => turned(value));
      return input;
    });
    const labels = this.#inputs.map((input) => h("label", {}, input, h("span", {}, input.value)));
    this.element = h("fieldset", { class: "wheel" }, h("legend", { class: "spoken" }, "The last word"), ...labels);
    this.element.addEventListener("pointerdown", ({ clientY }) => {
      this.#draggedFrom = clientY;
    });
    this.element.addEventListener("pointermove", (event) => this.#drag(event));
    addEventListener("pointerup", () => {
      this.#draggedFrom = undefined;
    });
  }

  show(value: string, isOpen: boolean): void {
    const [count, chosen] = [this.#values.length, this.#values.indexOf(value)];
    this.element.disabled = !isOpen;
    this.#inputs.forEach((input, index) => {
      input.checked = index === chosen;
      // The nearest way around; two words make no circle.
      const ahead = (index - chosen + count) % count;
      const place = count > 2 && ahead > count / 2 ? ahead - count : ahead;
      const label = input.parentElement;
      label?.style.setProperty("--place", String(place));
      label?.classList.toggle("far", Math.abs(place) > 1);
      label?.classList.toggle("before", place < 0);
    });
  }

  #drag({ clientY, buttons }: PointerEvent): void {
    if (this.#draggedFrom === undefined || buttons === 0 || Math.abs(clientY - this.#draggedFrom) < NOTCH) return;
    const by = clientY < this.#draggedFrom ? 1 : -1;
    this.#draggedFrom = clientY;
    const count = this.#values.length;
    const now = this.#inputs.findIndex(({ checked }) => checked);
    const next = this.#values[(now + by + count) % count];
    if (next !== undefined) this.#turned(next);
  }
}
