// Holds a room's state, tells whoever listens, and keeps the address bar in step.

export type Listener<S> = (state: S, before: S) => void;

/** How one room's state stands in the address, and which states make sense. */
export interface Codec<S> {
  readonly initial: S;
  /** The nearest state that makes sense. */
  readonly consistent: (state: S) => S;
  readonly fromHash: (hash: string) => Partial<S>;
  /** Only what differs from the initial state; empty for the initial state itself. */
  readonly toHash: (state: S) => string;
}

export class Store<S extends object> {
  readonly #codec: Codec<S>;
  #state: S;
  readonly #listeners: Listener<S>[] = [];
  #written: string;

  constructor(codec: Codec<S>) {
    this.#codec = codec;
    this.#written = location.hash;
    this.#state = this.#read();
    addEventListener("hashchange", () => this.#follow());
  }

  get state(): S {
    return this.#state;
  }

  change(patch: Partial<S>): void {
    this.#follow();
    this.#become(this.#codec.consistent({ ...this.#state, ...patch }));
    const hash = this.#codec.toHash(this.#state);
    this.#written = hash;
    // Safari allows 100 of these in ten seconds; dragging a slider makes more.
    try {
      history.replaceState(null, "", hash === "" ? location.pathname + location.search : hash);
    } catch {
      this.#written = location.hash;
    }
  }

  listen(listener: Listener<S>): void {
    this.#listeners.push(listener);
  }

  /** Becomes what the address says, if somebody else wrote it: the event that tells comes later than a change may. */
  #follow(): void {
    // A hash without "=" is a place on the page, not a state.
    if (location.hash === this.#written || /^#[^=]+$/.test(location.hash)) return;
    this.#written = location.hash;
    this.#become(this.#read());
  }

  #read(): S {
    return this.#codec.consistent({ ...this.#codec.initial, ...this.#codec.fromHash(location.hash) });
  }

  #become(next: S): void {
    const before = this.#state;
    this.#state = next;
    for (const listener of this.#listeners) listener(next, before);
  }
}
