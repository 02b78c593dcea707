// Puts a room's furniture where it stands in every room: the pictures, the readout beside them, and how numbers agree at the end.

import { codeButtons } from "../ui/code.js";
import { h } from "../ui/dom.js";
import { agreeing, magnitude } from "../ui/numbers.js";

/** An element, or what has one. */
type Standing = HTMLElement | { readonly element: HTMLElement };

export interface Furniture {
  /** Above everything: what chooses the picture. */
  readonly above?: readonly Standing[];
  /** The first is what the room is about. */
  readonly pictures: readonly Standing[];
  readonly readout: HTMLElement;
  readonly heedCode?: (() => string) | undefined;
  readonly torchCode?: (() => string) | undefined;
  /** What else stands in the menu of every picture. */
  readonly menu?: readonly HTMLElement[];
}

const elementsOf = (all: readonly Standing[]): HTMLElement[] =>
  all.map((one) => (one instanceof HTMLElement ? one : one.element));

/** The line that says how the page's numbers and the kernel's agree, at the end of all that it adds. */
export function furnish(root: HTMLElement, furniture: Furniture): HTMLElement {
  const { above = [], pictures, readout, heedCode, torchCode, menu = [] } = furniture;
  const agreement = h("p", { class: "agreement", role: "status" });
  root.append(
    ...elementsOf(above),
    h("div", { class: "with-readout" }, h("div", {}, ...elementsOf(pictures)), readout),
    h("div", { class: "room-foot" }, agreement),
  );
  if (heedCode === undefined || torchCode === undefined) return agreement;
  const shared = h("div", { class: "menu-room" }, codeButtons(heedCode, torchCode), ...menu);
  root.querySelector(".menu-items")?.append(shared);
  // One for all menus: it goes to the one that is about to open.
  root.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return;
    target.closest(".menu:not([open])")?.querySelector(".menu-items")?.append(shared);
  });
  return agreement;
}

/** "The two …": how far the kernel's numbers and the page's are apart at most. */
export function agreement(apart: number): string {
  if (apart === 0) return "agree exactly";
  if (apart < 0.05) return `agree ${agreeing(apart)}`;
  return Number.isFinite(apart)
    ? `are up to ${magnitude(apart)} apart`
    : "cannot be compared: some numbers are too large for single precision";
}

/** What comes from the kernel, and how far it is from the page's numbers; `apart`: undefined before it answers. */
export function agreed(what: string, apart: number | undefined): string {
  return apart === undefined
    ? OWN_ARITHMETIC
    : `${what} come from the kernel. The kernel and this page’s arithmetic ${agreement(apart)}.`;
}

/** As long as there is no answer of the kernel's. */
export const OWN_ARITHMETIC = "Shown: this page’s own arithmetic, in double precision.";
