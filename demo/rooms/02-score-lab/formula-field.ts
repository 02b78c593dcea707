// Where one's own score is typed; says in words what cannot be read, while the last that could stays on the page.

import { h } from "../../src/ui/dom.js";
import { MOST_CHARACTERS } from "./formula.js";
import type { ScoreScene } from "./scene.js";
import { troubleWith } from "./state.js";

export class FormulaField {
  readonly element: HTMLElement;
  readonly #input = h("input", {
    type: "text",
    id: "formula",
    maxlength: MOST_CHARACTERS,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": "formula-help formula-trouble",
  });
  /** What could be read last. */
  #read = "";
  readonly #message = h("p", { class: "field-message", id: "formula-trouble", role: "status" });

  constructor(read: (formula: string) => void) {
    this.element = h(
      "div",
      { class: "field" },
      h("label", { for: "formula" }, "Your own score"),
      this.#input,
      h(
        "small",
        { id: "formula-help" },
        "Use score (scaled dot product / T), q and k (positions from 0; here q = 0), + − * / // % < <= == && || ! ? : and abs, exp, floor, log, max, min, sqrt, tanh, infinity.",
      ),
      this.#message,
    );
    this.#input.addEventListener("input", () => {
      const trouble = troubleWith(this.#input.value);
      const message = `Cannot be read: ${trouble}. The last valid formula is shown.`;
      this.#say(trouble === "" ? "" : message, trouble !== "");
      if (trouble !== "") return;
      this.#read = this.#input.value;
      read(this.#read);
    });
  }

  show(scene: ScoreScene): void {
    const { formula } = scene.state;
    // What cannot be read yet is still being typed.
    if (document.activeElement === this.#input && formula === this.#read && this.#input.value !== formula) return;
    this.#read = formula;
    this.#input.value = formula;
    this.#say(scene.strange, false);
  }

  #say(text: string, isWrong: boolean): void {
    this.#message.textContent = text;
    this.#input.setAttribute("aria-invalid", String(isWrong));
  }
}
