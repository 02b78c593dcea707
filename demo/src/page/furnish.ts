// Puts a room's furniture where it stands in every room: the picture first, its controls below it, other pictures, the readout beside them,
// agreement and code at the end.

import { codeButtons } from "../ui/code.js";
import { h } from "../ui/dom.js";
import { magnitude } from "../ui/numbers.js";

export interface Furniture {
  /** Above everything: what chooses the picture. */
  readonly above?: readonly HTMLElement[];
  /** Below the first picture. */
  readonly controls?: readonly HTMLElement[];
  /** The first is what the room is about. */
  readonly pictures: readonly HTMLElement[];
  readonly readout: HTMLElement;
  readonly agreement: HTMLElement;
  readonly heedCode: () => string;
  readonly torchCode: () => string;
}

export function furnish(root: HTMLElement, furniture: Furniture): void {
  const { above = [], controls = [], pictures, readout, agreement, heedCode, torchCode } = furniture;
  const [main, ...more] = pictures;
  const below = controls.length === 0 ? [] : [h("div", { class: "below-picture" }, ...controls)];
  root.append(
    ...above,
    h("div", { class: "with-readout" }, h("div", {}, ...(main ? [main] : []), ...below, ...more), readout),
    h("div", { class: "room-foot" }, agreement, codeButtons(heedCode, torchCode)),
  );
}

/** Says how the page's numbers and the kernel's agree. */
export function agreementLine(): HTMLElement {
  return h("p", { class: "agreement", role: "status" });
}

/** "The two …": how far the kernel's numbers and the page's are apart at most. */
export function agreement(apart: number): string {
  if (apart === 0) return "agree exactly";
  return Number.isFinite(apart)
    ? `agree to ${magnitude(apart)}`
    : "cannot be compared: some numbers are too large for single precision";
}

/** As long as there is no answer of the kernel's. */
export const OWN_ARITHMETIC = "Shown: this page’s own arithmetic, in double precision.";
