// Calls with a cache run one after the other, in the order in which they were made.

import { HeedError } from "../errors.js";

export class Turns {
  /** Those that are under way or wait for it. */
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** At once, if none is under way. Whoever aborts while it waits need not wait; its turn comes all the same, and is for `act` to decline. */
  async take<T>(act: () => T | Promise<T>, signal: AbortSignal | null = null): Promise<T> {
    const before = this.isIdle ? null : this.#last;
    this.#count += 1;
    const turn = this.#run(before, act);
    this.#last = turn.catch(() => {});
    if (before !== null && signal !== null) await unlessAborted("attention", before, signal);
    return turn;
  }

  async #run<T>(before: Promise<unknown> | null, act: () => T | Promise<T>): Promise<T> {
    try {
      if (before !== null) await before;
      return await act();
    } finally {
      this.#count -= 1;
    }
  }
}

/** Waits, but no longer than until the signal is aborted. */
export async function unlessAborted(where: string, waiting: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new HeedError("aborted", `${where}: aborted by its signal`, { cause: signal.reason }));
  });
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) stop();
    await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
