// Calls with a cache run one after the other, in the order in which they were made.

import { unlessAborted } from "../../base/unless-aborted.js";

export class Mutex {
  /** Calls that run or wait. */
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  get isIdle(): boolean {
    return this.#count === 0;
  }

  /**
   * Runs `act` when the calls before it are done, at once if there are none. The promise rejects as soon as a signal aborts the wait.
   * `act` still runs then, and looks at the signal itself.
   */
  async run<T>(act: () => T | Promise<T>, signal: AbortSignal | null = null): Promise<T> {
    const before = this.isIdle ? null : this.#last;
    this.#count += 1;
    const call = this.#runAfter(before, act);
    this.#last = call.catch(() => {});
    if (before !== null) await unlessAborted("attention", signal, () => before);
    return call;
  }

  async #runAfter<T>(before: Promise<unknown> | null, act: () => T | Promise<T>): Promise<T> {
    try {
      if (before !== null) await before;
      return await act();
    } finally {
      this.#count -= 1;
    }
  }
}
