// Where one's own score is typed; says in words what cannot be read, while the last that could stays on the page.

import { h } from "../../src/ui/dom.js";
import { MOST_CHARACTERS } from "./formula.js";
import type { ScoreScene } from "./scene.js";
import { troubleWith } from "./state.js";

export function formulaField(read: (formula: string) => void) {
  const input = h("input", {
    type: "text",
    id: "formula",
    maxlength: MOST_CHARACTERS,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": "formula-help formula-trouble",
  });
  const help =
    "Use score (scaled dot product / T), q and k (positions from 0; here q = 0), + − * / // % < <= == && || ! ? : and abs, exp, floor, log, max, min, sqrt, tanh, infinity.";
  const message = h("p", { class: "field-message", id: "formula-trouble", role: "status" });
  const say = (text: string, isWrong: boolean): void => {
    message.textContent = text;
    input.setAttribute("aria-invalid", String(isWrong));
  };
  /** What could be read last. */
  let known = "";
  input.addEventListener("input", () => {
    const trouble = troubleWith(input.value);
    if (trouble !== "") {
      say(`Cannot be read: ${trouble}. The last valid formula is shown.`, true);
      return;
    }
    say("", false);
    known = input.value;
    read(known);
  });
  const name = h("label", { for: "formula" }, "Your own score");
  return {
    element: h("div", { class: "field" }, name, input, h("small", { id: "formula-help" }, help), message),
    show({ state: { formula }, strange }: ScoreScene): void {
      // What cannot be read yet is still being typed.
      if (document.activeElement === input && formula === known && input.value !== formula) return;
      known = formula;
      input.value = formula;
      say(strange, false);
    },
  };
}
