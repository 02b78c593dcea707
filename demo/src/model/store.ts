// Holds the state, tells whoever listens, and keeps the address bar in step.

import { consistent, INITIAL, type State } from "./state.js";
import { fromHash, toHash } from "./url.js";

export type Listener = (state: State, before: State) => void;

export class Store {
  #state: State;
  readonly #listeners: Listener[] = [];
  #written: string;

  constructor() {
    this.#written = location.hash;
    this.#state = consistent({ ...INITIAL, ...fromHash(location.hash) });
    addEventListener("hashchange", () => {
      // A hash without "=" is a place on the page, not a state.
      if (location.hash === this.#written || /^#[^=]+$/.test(location.hash)) return;
      this.#written = location.hash;
      this.#become(consistent({ ...INITIAL, ...fromHash(location.hash) }));
    });
  }

  get state(): State {
    return this.#state;
  }

  change(patch: Partial<State>): void {
    this.#become(consistent({ ...this.#state, ...patch }));
    const hash = toHash(this.#state);
    this.#written = hash;
    // Safari allows 100 of these in ten seconds; dragging a slider makes more.
    try {
      history.replaceState(null, "", hash === "" ? location.pathname + location.search : hash);
    } catch {
      this.#written = location.hash;
    }
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  #become(next: State): void {
    const before = this.#state;
    this.#state = next;
    for (const listener of this.#listeners) listener(next, before);
  }
}
