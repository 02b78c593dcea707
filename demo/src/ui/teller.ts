// What the readout tells about: the cell that is pointed at, else the one that was selected last, else one that the room chooses.

import type { Explanation, NamedLight } from "./explanation.js";
import { Readout } from "./readout.js";

export interface Subject<Spot> {
  /** The cell to begin with. */
  readonly first: () => Spot | undefined;
  /** undefined: there is no such cell, or not any more. */
  readonly explain: (spot: Spot) => Explanation | undefined;
  readonly light: (lights: readonly NamedLight[]) => void;
  /** The number of the cell that is told about was changed in the readout. */
  readonly retype?: (spot: Spot, value: number) => void;
}

export class Teller<Spot> {
  readonly #subject: Subject<Spot>;
  readonly #readout = new Readout();
  #hovered: Spot | undefined;
  #held: Spot | undefined;

  constructor(subject: Subject<Spot>) {
    this.#subject = subject;
    this.#readout.change = (value) => {
      const spot = this.#spot;
      if (spot !== undefined) subject.retype?.(spot, value);
    };
  }

  get element(): HTMLElement {
    return this.#readout.element;
  }

  get #spot(): Spot | undefined {
    return this.#hovered ?? this.#held ?? this.#subject.first();
  }

  /** `held`: it stays in the light when the pointer leaves, and is said aloud. */
  point(spot: Spot, held: boolean): void {
    this.#hovered = spot;
    if (held) this.#held = spot;
    const told = this.tell();
    if (held && told !== undefined) this.#readout.say(told);
  }

  leave(): void {
    this.#hovered = undefined;
    this.tell();
  }

  /** Without a word: whatever changes next will tell. */
  hold(spot: Spot): void {
    this.#held = spot;
  }

  forget(): void {
    this.#hovered = undefined;
    this.#held = undefined;
  }

  tell(): Explanation | undefined {
    const { explain, first, light } = this.#subject;
    const of = (spot: Spot | undefined): Explanation | undefined => (spot === undefined ? undefined : explain(spot));
    const told = of(this.#spot) ?? of(first());
    this.#readout.show(told);
    light(told?.lights ?? []);
    return told;
  }
}
