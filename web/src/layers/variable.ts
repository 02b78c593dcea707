// The values of parameters that learn. Tied parameters share one variable.

import type { Resident, RootBackend } from "../backends/backend.js";

export class Variable {
  readonly backend: RootBackend;
  readonly shape: readonly number[];
  /** Grows with every new value, so that what was made of an old one can be told. */
  version = 0;
  /** The sum of the gradients since the last step; null: none. */
  gradient: Resident | null = null;
  #value: Resident;
  #isDisposed = false;

  /** Takes the resident. */
  constructor(backend: RootBackend, value: Resident, shape: readonly number[]) {
    this.backend = backend;
    this.shape = shape;
    this.#value = value;
  }

  get value(): Resident {
    return this.#value;
  }

  /** Takes a new value, and frees the old one. */
  set(value: Resident): void {
    // What a call made while its layer was disposed of belongs to nobody.
    this.backend.free(this.#isDisposed ? value : this.#value);
    if (this.#isDisposed) return;
    this.#value = value;
    this.version += 1;
  }

  /** Takes a new gradient, or null for none, and frees the old one. */
  setGradient(gradient: Resident | null): void {
    if (this.gradient !== null) this.backend.free(this.gradient);
    this.gradient = this.#isDisposed ? null : gradient;
    if (this.#isDisposed && gradient !== null) this.backend.free(gradient);
  }

  /** May be called twice, as tied parameters do. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.setGradient(null);
    this.#isDisposed = true;
    this.backend.free(this.#value);
  }
}
