// What the readout tells about: the cell that is pointed at, else the one that was selected last, else one that the room chooses. The
// one that was selected stands in the address.

import type { Cell } from "../model/cell.js";
import type { Explanation, NamedLight } from "./explanation.js";
import { Readout } from "./readout.js";

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

export class Teller {
  readonly #subject: Subject;
  readonly #readout = new Readout();
  #hovered: Cell | undefined;
  #told: Cell | undefined;

  constructor(subject: Subject) {
    this.#subject = subject;
    this.#readout.change = (value) => {
      if (this.#told !== undefined) subject.retype?.(this.#told, value);
    };
  }

  get element(): HTMLElement {
    return this.#readout.element;
  }

  /** `held`: it stays in the light when the pointer leaves, and is said aloud. */
  point(cell: Cell, held: boolean): void {
    this.#hovered = cell;
    if (held) this.#subject.keeper().hold(cell);
    const told = this.tell();
    if (held && told !== undefined) this.#readout.say(told);
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
    const { keeper, first, light } = this.#subject;
    const told = this.#explained(this.#hovered) ?? this.#explained(keeper().cell) ?? this.#explained(first());
    this.#told = told?.cell;
    this.#readout.show(told?.explanation);
    light(told?.explanation.lights ?? []);
    return told?.explanation;
  }

  #explained(cell: Cell | undefined): { readonly cell: Cell; readonly explanation: Explanation } | undefined {
    const explanation = cell === undefined ? undefined : this.#subject.explain(cell);
    return cell === undefined || explanation === undefined ? undefined : { cell, explanation };
  }
}
