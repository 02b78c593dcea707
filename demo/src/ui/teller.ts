// What the readout tells about: the cell that is pointed at, else the one that was selected last, else one that the room chooses. The
// one that was selected stands in the address. The readout draws an explanation; on a small screen it is one line at the lower edge, which
// opens.

import { WHAT_IS_TYPED } from "heed/viz";
import type { Cell } from "../model/store.js";
import { button, h, heads, indexed, line, refill, setAttributes } from "./dom.js";
import type { Explanation, NamedLight } from "./explanation.js";
import { agreeing, magnitude, parseNumber, single, small } from "./numbers.js";

interface Keeper {
  readonly cell: Cell | undefined;
  readonly hold: (cell: Cell) => void;
}

interface Subject {
  /** Keeps the cell that was selected; asked each time. */
  readonly keeper: () => Keeper;
  /** The cell to begin with. */
  readonly first: () => Cell | undefined;
  /** undefined: there is no such cell, or not any more. */
  readonly explain: (cell: Cell) => Explanation | undefined;
  readonly light: (lights: readonly NamedLight[]) => void;
  /** The number of the cell that is told about was changed in the readout. */
  readonly retype?: (cell: Cell, value: number) => void;
}

/** Of the slider, to both sides of 0. */
const REACH = 4;

/** The subject, the multiply-adds as a table, the result, and for an input cell the means to change it. */
export class Teller {
  readonly element = h("aside", { class: "readout", "aria-label": "The arithmetic of one cell" });
  readonly #subject: Subject;
  #hovered: Cell | undefined;
  #told: Cell | undefined;
  /** Said to a screen reader when the keyboard moves from cell to cell. */
  #spoken = h("p", { class: "spoken", "aria-live": "polite" });
  #body = h("div", { class: "readout-body" });
  #slider = h("input", { type: "range", min: -REACH, max: REACH, step: 0.1, "aria-label": "Change this number" });
  #field = h("input", { type: "text", inputmode: "decimal", size: 6, "aria-describedby": "readout-trouble" });
  #trouble = h("p", { class: "trouble", id: "readout-trouble", role: "alert" });
  #editor = h("div", { class: "readout-editor" }, this.#slider, this.#field, this.#trouble);

  constructor(subject: Subject) {
    this.#subject = subject;
    const retype = (value: number): void => {
      if (this.#told !== undefined) subject.retype?.(this.#told, value);
    };
    this.#field.ariaLabel = "This number";
    this.#slider.addEventListener("input", () => retype(Number(this.#slider.value)));
    this.#field.addEventListener("change", () => {
      const value = parseNumber(this.#field.value);
      this.#complain(value === null);
      if (value !== null) retype(value);
    });
    this.#field.addEventListener("input", () => {
      if (parseNumber(this.#field.value) !== null) this.#complain(false);
    });
    const open = (): void => {
      toggle.ariaExpanded = String(this.element.classList.toggle("open"));
    };
    const toggle = button("", open, "readout-toggle");
    setAttributes(toggle, { "aria-expanded": "false", "aria-label": "All of the arithmetic" });
    this.element.append(toggle, this.#body, this.#editor, this.#spoken);
  }

  /** `held`: it stays in the light when the pointer leaves, and is said aloud. */
  point(cell: Cell, held: boolean): void {
    this.#hovered = cell;
    if (held) this.#subject.keeper().hold(cell);
    const told = this.tell();
    if (!held || told === undefined) return;
    const { subject, result, sentence, last = "" } = told;
    this.#spoken.textContent = `${subject}: ${small(result)}. ${sentence} ${last}`;
  }

  leave(): void {
    this.forget();
    this.tell();
  }

  /** What is pointed at, without a word: whatever changes next will tell. */
  forget(): void {
    this.#hovered = undefined;
  }

  tell(): Explanation | undefined {
    const { keeper, first, explain, light } = this.#subject;
    let told: Explanation | undefined;
    for (const cell of [() => this.#hovered, () => keeper().cell, first]) {
      this.#told = cell();
      told = this.#told && explain(this.#told);
      if (told !== undefined) break;
    }
    this.#show(told);
    light(told?.lights ?? []);
    return told;
  }

  #show(explanation: Explanation | undefined): void {
    this.#editor.hidden = explanation?.editable !== true;
    if (explanation === undefined) {
      this.#body.replaceChildren(h("p", {}, "Point at a number, and it will tell how it came about."));
      return;
    }
    const { subject, sentence, terms = [], last = "", result, kernel, difference } = explanation;
    const about = [h("span", {}, subject), h("output", { class: "readout-result" }, small(result))];
    refill(
      this.#body,
      h("h3", { class: "readout-subject" }, ...about),
      h("p", {}, ...indexed(sentence)),
      ...(terms.length > 0 ? [table(explanation)] : []),
      ...(last === "" ? [] : [h("p", { class: "readout-last" }, last)]),
      ...besides("A finite difference gives", difference, result),
      ...besides("heed computes", kernel, result),
    );
    if (explanation.editable !== true) return;
    if (document.activeElement !== this.#slider) this.#slider.value = String(result);
    if (document.activeElement === this.#field) return;
    this.#field.value = single(result);
    this.#complain(false);
  }

  /** Where the number is typed; the cell keeps the one that it had. */
  #complain(isWrong: boolean): void {
    this.#field.ariaInvalid = isWrong ? "true" : null;
    this.#trouble.textContent = isWrong ? WHAT_IS_TYPED : "";
  }
}

/** With as many decimals, of six, as both have the same figures; what differs at once has all of them. */
function alike(other: number, result: number): string {
  const decimals = [6, 5, 4].find((decimals) => small(other, decimals) === small(result, decimals)) ?? 6;
  return small(other, decimals);
}

function table({ head = [], terms = [], subject }: Explanation): HTMLElement {
  const lines = terms.map(({ label, figures, faint, own }) =>
    line(h("bdi", {}, label), figures, own === true ? "own" : faint === true ? "faint" : undefined),
  );
  const region = { class: "readout-table", tabindex: 0, role: "region", "aria-label": `Terms of ${subject}` };
  return h("div", region, h("table", {}, heads(...head), h("tbody", {}, ...lines)));
}

function besides(name: string, other: number | undefined, result: number): readonly HTMLElement[] {
  if (other === undefined) return [];
  const apart = Object.is(other, result) ? 0 : Math.abs(other - result);
  if (apart === 0) return [h("p", { class: "readout-kernel" }, `${name} exactly the same.`)];
  const said = apart < 0.05 ? `the same ${agreeing(apart)}` : `${magnitude(apart)}\u00a0apart`;
  return [h("p", { class: "readout-kernel" }, `${name} `, h("b", {}, alike(other, result)), `, ${said}.`)];
}
