// Draws an explanation: the subject, the multiply-adds as a table, the result, and for an input cell the means to change it. On a small
// screen it is one line at the lower edge, which opens.

import { WHAT_IS_TYPED } from "heed/viz";
import { h, indexed } from "./dom.js";
import type { Explanation } from "./explanation.js";
import { agreeing, magnitude, parseNumber, single, small } from "./numbers.js";
import { heads, line } from "./table.js";

const REACH = 4;

export class Readout {
  readonly element = h("aside", { class: "readout", "aria-label": "The arithmetic of one cell" });
  change: (value: number) => void = () => {};
  /** Said to a screen reader when the keyboard moves from cell to cell. */
  #spoken = h("p", { class: "spoken", "aria-live": "polite" });
  #toggle = h("button", {
    type: "button",
    class: "readout-toggle",
    "aria-expanded": "false",
    "aria-label": "All of the arithmetic",
  });
  #body = h("div", { class: "readout-body" });
  #slider = h("input", { type: "range", min: -REACH, max: REACH, step: 0.1, "aria-label": "Change this number" });
  #field = h("input", {
    type: "text",
    inputmode: "decimal",
    size: 6,
    "aria-label": "This number",
    "aria-describedby": "readout-trouble",
  });
  #trouble = h("p", { class: "trouble", id: "readout-trouble", role: "alert" });
  #editor = h("div", { class: "readout-editor" }, this.#slider, this.#field, this.#trouble);

  constructor() {
    this.#slider.addEventListener("input", () => this.change(Number(this.#slider.value)));
    this.#field.addEventListener("change", () => {
      const value = parseNumber(this.#field.value);
      this.#complain(value === null);
      if (value !== null) this.change(value);
    });
    this.#field.addEventListener("input", () => {
      if (parseNumber(this.#field.value) !== null) this.#complain(false);
    });
    this.#toggle.addEventListener("click", () => {
      this.#toggle.ariaExpanded = String(this.element.classList.toggle("open"));
    });
    this.element.append(this.#toggle, this.#body, this.#editor, this.#spoken);
  }

  show(explanation: Explanation | undefined): void {
    this.#editor.hidden = explanation?.editable !== true;
    if (explanation === undefined) {
      this.#body.replaceChildren(h("p", {}, "Point at a number, and it will tell how it came about."));
      return;
    }
    const { subject, sentence, terms = [], last = "", result, kernel, difference } = explanation;
    this.#body.replaceChildren(
      h(
        "h3",
        { class: "readout-subject" },
        h("span", {}, subject),
        h("output", { class: "readout-result" }, small(result)),
      ),
      h("p", {}, ...indexed(sentence)),
      ...(terms.length > 0 ? [table(explanation)] : []),
      ...(last === "" ? [] : [h("p", { class: "readout-last" }, last)]),
      ...besides("A finite difference gives", difference, result),
      ...besides("heed computes", kernel, result),
    );
    if (explanation.editable === true) this.#showEditor(result);
  }

  say({ subject, result, sentence, last = "" }: Explanation): void {
    this.#spoken.textContent = `${subject}: ${small(result)}. ${sentence} ${last}`;
  }

  #showEditor(value: number): void {
    if (document.activeElement !== this.#slider) this.#slider.value = String(value);
    if (document.activeElement === this.#field) return;
    this.#field.value = single(value);
    this.#complain(false);
  }

  /** Where the number is typed; the cell keeps the one that it had. */
  #complain(isWrong: boolean): void {
    this.#field.ariaInvalid = isWrong ? "true" : null;
    this.#trouble.textContent = isWrong ? WHAT_IS_TYPED : "";
  }
}

function table({ head = [], terms = [], subject }: Explanation): HTMLElement {
  const lines = terms.map(({ label, figures, faint, own }) =>
    line(h("bdi", {}, label), figures, own === true ? "own" : faint === true ? "faint" : undefined),
  );
  return h(
    "div",
    { class: "readout-table", tabindex: 0, role: "region", "aria-label": `Terms of ${subject}` },
    h("table", {}, heads(...head), h("tbody", {}, ...lines)),
  );
}

function besides(name: string, other: number | undefined, result: number): readonly HTMLElement[] {
  if (other === undefined) return [];
  const apart = Object.is(other, result) ? 0 : Math.abs(other - result);
  if (apart === 0) return [h("p", { class: "readout-kernel" }, `${name} exactly the same.`)];
  const said = apart < 0.05 ? `the same ${agreeing(apart)}` : `${magnitude(apart)}\u00a0apart`;
  return [h("p", { class: "readout-kernel" }, `${name} `, h("b", {}, small(other, 6)), `, ${said}.`)];
}
