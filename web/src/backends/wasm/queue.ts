// One thing after the other, in order of arrival; each can be aborted, waiting or running.

import { causeText, HeedError } from "../../api/errors.js";

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

/** None of these throws. */
interface Entry {
  start(): Promise<void>;
  /** Rejects the caller's promise; the entry is not started, or its result is dropped. */
  cancel(error: HeedError): void;
  /** Frees what a task holds that is over or never started. Can be repeated. */
  drop(): void;
}

export class SerialQueue {
  #waiting: Entry[] = [];
  #running: Entry | null = null;

  /** True when a task would start inside `push`. */
  get idle(): boolean {
    return this.#running === null;
  }

  /** `operation` is the caller's function, for messages. */
  push<T>(task: Task<T>, signal: AbortSignal | null, operation = "attention"): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const ticket: Ticket = { cancelled: false };
      let dropped = false;
      const stop = (error: HeedError): void => {
        entry.cancel(error);
        if (this.#running === entry) {
          quietly(() => task.interrupt());
          return;
        }
        this.#waiting = this.#waiting.filter((other) => other !== entry);
        entry.drop();
      };
      const abort = (): void => {
        const cause = quietly((): unknown => signal?.reason);
        stop(new HeedError("aborted", `${operation}: aborted by its signal`, { cause }));
      };
      const entry: Entry = {
        start: async () => {
          try {
            resolve(await task.run(ticket));
          } catch (error) {
            reject(error);
          }
          entry.drop();
        },
        cancel: (error) => {
          ticket.cancelled = true;
          reject(error);
        },
        drop: () => {
          if (dropped) return;
          dropped = true;
          quietly(() => signal?.removeEventListener("abort", abort));
          quietly(() => task.done());
        },
      };
      this.#waiting.push(entry);
      if (this.#running === null) void this.#drain();
      // After the start, which reads the inputs: a signal may be anybody's object, and run anything here.
      try {
        signal?.addEventListener("abort", abort, { once: true });
      } catch (cause) {
        stop(new HeedError("option", `${operation}: signal takes no listener: ${causeText(cause)}`, { cause }));
      }
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

/** For what must not keep later tasks from running, and has no caller left to tell. */
function quietly<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
