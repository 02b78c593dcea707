// What the room's five parts have in common: each shows a state, asks the kernel, and takes its numbers apart.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import { apart as gapIn } from "../../src/ui/numbers.js";
import type { Teller } from "../../src/ui/teller.js";
import type { WhatElseState, WhatElseStore } from "./state.js";

export interface Exhibit {
  /** What stands in the menu of its pictures. */
  readonly menu?: HTMLElement;
  readonly element: HTMLElement;
  /** In pieces, where it is too much to be done at a time. */
  readonly show: (state: WhatElseState) => Iterable<unknown> | undefined;
  /** What must be asked for the state that is shown. */
  readonly calls: () => readonly Call[];
  /** Shows the kernel's answers; what is to be said of them. */
  readonly read: (answers: readonly Answer[]) => string;
  /** The cell to begin with. */
  readonly first: () => Cell;
  /** undefined: it has no such cell. */
  readonly explain: (cell: Cell) => Explanation | undefined;
  readonly light?: (lights: readonly NamedLight[]) => void;
  readonly retype?: (cell: Cell, value: number) => void;
  readonly heedCode: () => string;
  readonly torchCode: () => string;
}

/** What the room does for its parts. */
export interface Host {
  readonly change: WhatElseStore["change"];
  readonly teller: Pick<Teller, "point" | "leave">;
}

/** A number that one sets. */
export function setByHand(subject: string, result: number, light: NamedLight): Explanation {
  return { subject, sentence: "Set by hand; change it.", result, lights: [light], editable: true };
}

export function widest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let index = 0; index < a.length; index++) {
    most = Math.max(most, Math.abs((a[index] ?? Number.NaN) - (b[index] ?? Number.NaN)));
  }
  return most;
}

export function figure(name: string, value: string, note: string): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, " ", h("small", {}, note)));
}

export const difference = (apart: number): HTMLElement =>
  figure("Largest difference", gapIn(apart), apart <= 1e-6 ? "the same, to 10⁻⁶" : "not the same yet");
