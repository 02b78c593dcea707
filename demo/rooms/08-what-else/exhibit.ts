// What the room's five parts have in common: each shows a state, asks the kernel, and takes its numbers apart.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import type { Teller } from "../../src/ui/teller.js";
import type { WhatElseState, WhatElseStore } from "./state.js";

export interface Exhibit {
  /** What stands in the menu of its pictures. */
  readonly menu?: HTMLElement;
  readonly element: HTMLElement;
  readonly show: (state: WhatElseState) => void;
  /** The same, where it is too much to be done at a time. */
  readonly showing?: (state: WhatElseState) => Iterable<unknown>;
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
