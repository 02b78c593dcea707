// Calls end in the order in which they were made, whichever backend computes them. An aborted call, or one of a disposed engine, ends at once.

import { HeedError } from "../../base/errors.js";
import type { Computed } from "../backend.js";
import { Ending, endOf } from "./ending.js";

export class CallOrder {
  readonly #discard: (computed: readonly Computed[]) => void;
  readonly #disposal = new Ending();
  /** Settles when every call made so far has settled. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `discard` gets the results of calls that were rejected before they were computed. */
  constructor(discard: (computed: readonly Computed[]) => void) {
    this.#discard = discard;
  }

  /** Whether calls are waiting for their end. */
  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  /** Makes later calls wait for this one and for all before it. */
  precede(computing: Promise<unknown>): void {
    const before = this.#last.then(ignore, ignore);
    this.#last = computing.then(
      () => before,
      () => before,
    );
  }

  inOrder(
    operation: string,
    computing: Promise<readonly Computed[]>,
    signal: AbortSignal | null,
  ): Promise<readonly Computed[]> {
    // A failed call waits for earlier calls, too.
    computing.catch(ignore);
    const inOrder = this.#last.then(ignore, ignore).then(() => computing);
    this.#last = inOrder;
    this.#waiting += 1;
    const end = (): void => {
      this.#waiting -= 1;
    };
    inOrder.then(end, end);
    return this.#unlessStopped(operation, inOrder, signal);
  }

  dispose(): void {
    this.#disposal.end(new HeedError("disposed", "the engine was disposed"));
  }

  async #unlessStopped(
    operation: string,
    computing: Promise<readonly Computed[]>,
    signal: AbortSignal | null,
  ): Promise<readonly Computed[]> {
    const abort = new Ending();
    const stop = (): void => {
      abort.end(new HeedError("aborted", `${operation}: aborted by its signal`, { cause: signal?.reason }));
    };
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await this.#disposal.unless(abort.unless(computing));
    } catch (error) {
      computing.then(this.#discard, ignore);
      const { error: disposed } = this.#disposal;
      throw disposed !== null && error === disposed ? endOf(operation, disposed) : error;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }
}

function ignore(): void {}
