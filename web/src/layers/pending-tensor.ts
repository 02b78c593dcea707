// A tensor that a file still has to give. Models say which parameters are made of it, and how, before its numbers are there.

import type { AnyTensor } from "./formats/stored.js";

type Step = (tensor: AnyTensor) => AnyTensor;

export class PendingTensor {
  /** The file's name of it. */
  readonly name: string;
  /** A tensor of which the numbers may be the same. */
  readonly twin: PendingTensor | null;
  readonly #from: PendingTensor | null;
  readonly #step: Step | null;

  constructor(
    name: string,
    from: PendingTensor | null = null,
    step: Step | null = null,
    twin: PendingTensor | null = null,
  ) {
    this.name = name;
    this.twin = twin;
    this.#from = from;
    this.#step = step;
  }

  /** What a step will make of it. */
  through(step: Step): PendingTensor {
    return new PendingTensor(this.name, this, step);
  }

  /** The same, which may have another's numbers. */
  like(twin: PendingTensor): PendingTensor {
    return new PendingTensor(this.name, this, null, twin);
  }

  /** Whether it is the file's tensor as it is, and nobody else's. */
  get isPlain(): boolean {
    return this.#from === null && this.twin === null;
  }

  /** What it is, given the file's tensor. `made` has what several of one tensor share. */
  of(tensor: AnyTensor, made: Map<PendingTensor, AnyTensor>): AnyTensor {
    const known = made.get(this);
    if (known !== undefined) return known;
    const whole = this.#from === null ? tensor : this.#from.of(tensor, made);
    const own = this.#step === null ? whole : this.#step(whole);
    made.set(this, own);
    return own;
  }
}

/** A tensor that is there, or is to come. */
export type LoadableTensor = AnyTensor | PendingTensor;

/** A step of either. */
export function through(tensor: LoadableTensor, step: Step): LoadableTensor {
  return tensor instanceof PendingTensor ? tensor.through(step) : step(tensor);
}
