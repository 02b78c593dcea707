// One thing after the other, in order of arrival; each can be aborted, waiting or running.

import { HeedError } from "../../api/errors.js";

/** Set when nobody waits for the result any more. */
export interface Ticket {
  cancelled: boolean;
}

export interface Task<T> {
  run(ticket: Ticket): Promise<T>;
  /** Called when the running task is aborted: stop early, if that can be done. */
  interrupt(): void;
  /** Called once, whether it ran, failed or never started. */
  done(): void;
}

interface Entry {
  start(): Promise<void>;
  /** Rejects the caller's promise; the entry is not started, or its result is dropped. */
  cancel(error: HeedError): void;
  /** Frees what a task that never started holds. */
  drop(): void;
}

export class SerialQueue {
  #waiting: Entry[] = [];
  #running: Entry | null = null;

  /** True when a task would start inside `push`. */
  get idle(): boolean {
    return this.#running === null;
  }

  push<T>(task: Task<T>, signal: AbortSignal | null): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const ticket: Ticket = { cancelled: false };
      const abort = (): void => {
        entry.cancel(new HeedError("aborted", "attention: aborted by its signal", { cause: signal?.reason }));
        if (this.#running === entry) {
          task.interrupt();
          return;
        }
        this.#waiting = this.#waiting.filter((other) => other !== entry);
        entry.drop();
      };
      const entry: Entry = {
        start: async () => {
          await task.run(ticket).then(resolve, reject);
          entry.drop();
        },
        cancel: (error) => {
          ticket.cancelled = true;
          reject(error);
        },
        drop: () => {
          signal?.removeEventListener("abort", abort);
          task.done();
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.push(entry);
      if (this.#running === null) void this.#drain();
    });
  }

  /** Rejects everything. What runs is not waited for. */
  close(error: HeedError): void {
    this.#running?.cancel(error);
    for (const entry of this.#waiting) {
      entry.cancel(error);
      entry.drop();
    }
    this.#waiting = [];
  }

  async #drain(): Promise<void> {
    for (let entry = this.#waiting.shift(); entry !== undefined; entry = this.#waiting.shift()) {
      this.#running = entry;
      await entry.start();
    }
    this.#running = null;
  }
}
